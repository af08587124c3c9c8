"""Receivers: what an address and a command may be, and where they come from."""

from __future__ import annotations

from pathlib import Path

import pytest

from audiencekit.errors import AudiencekitError, InputOutputFailed, UsageError
from audiencekit.notifications.receivers import Receiver, find_receiver
from audiencekit.personal import Secret
from audiencekit.settings import Settings, load_settings
from audiencekit.settings_file import read_settings_file, settings_path, write_settings_file

LONG = "0123456789abcdef"


def _settings(tmp_path: Path, **variables: str) -> Settings:
    environment = {f"AUDIENCEKIT_{name}": value for name, value in variables.items()}
    return load_settings(environment, directory=None, state_dir=tmp_path / "state", user_file=False)


def test_the_environment_describes_a_receiver(tmp_path: Path) -> None:
    """An address, with its form and secret, or a program by its full path; without either there is none."""
    url = tmp_path / "url"
    url.write_text("slack:https://hooks.example.com/x\n")
    found = find_receiver(_settings(tmp_path, NOTIFY_URL_FILE=str(url), NOTIFY_SECRET=LONG), None)
    assert isinstance(found, Receiver)
    assert (found.form, found.secret, found.name) == ("slack", Secret(LONG), "env")
    found = find_receiver(_settings(tmp_path, NOTIFY_COMMAND="sh -c 'cat > /dev/null'"), "env")
    assert isinstance(found, Receiver)
    assert Path(found.words[0]).is_absolute()
    assert found.words[1:] == ("-c", "cat > /dev/null")
    assert find_receiver(_settings(tmp_path), None) is None


@pytest.mark.parametrize(
    ("name", "variables"),
    [
        ("env", {}),
        ("unknown", {}),
        (None, {"NOTIFY_URL": "https://a.example/s3cret", "NOTIFY_COMMAND": "true"}),
        (None, {"NOTIFY_URL": "https://a.example/s3cret", "NOTIFY_SECRET": "short-s3cret"}),
        (None, {"NOTIFY_URL": "discord:https://a.example/s3cret"}),
        (None, {"NOTIFY_COMMAND": "./s3cret"}),
        (None, {"NOTIFY_COMMAND": "no-such-program-s3cret"}),
        (None, {"NOTIFY_COMMAND": "'s3cret"}),
    ],
)
def test_an_invalid_receiver_is_refused(tmp_path: Path, name: str | None, variables: dict[str, str]) -> None:
    with pytest.raises(UsageError) as caught:
        find_receiver(_settings(tmp_path, **variables), name)
    assert "s3cret" not in f"{caught.value}{caught.value.hint}"


@pytest.fixture
def settings_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "configuration"))
    write_settings_file({"profile": "x"})
    path = settings_path()
    assert path is not None
    return path


def test_the_settings_file_names_receivers(tmp_path: Path, settings_file: Path) -> None:
    """For every service; and `init`, which writes the file, keeps them."""
    url, secret = tmp_path / "url", tmp_path / "secret"
    for path, text in ((url, "https://hooks.example.com/x"), (secret, LONG)):
        path.write_text(f"{text}\n")
        path.chmod(0o600)
    tables = f'[notify.night]\nurl_file = "{url}"\nsecret_file = "{secret}"\n\n[notify.pager]\ncommand = "true"\n'
    settings_file.write_text(f'form = 1\nprofile = "x"\n\n{tables}')
    write_settings_file({"profile": "spec", "account_id": "abc1"})
    assert read_settings_file() == {"profile": "spec", "account_id": "abc1"}
    found = find_receiver(_settings(tmp_path), "night")
    assert isinstance(found, Receiver)
    assert (found.name, found.secret) == ("night", Secret(LONG))
    pager = find_receiver(_settings(tmp_path), "pager")
    assert isinstance(pager, Receiver)
    assert Path(pager.words[0]).name == "true"
    url.chmod(0o644)
    with pytest.raises(InputOutputFailed):
        find_receiver(_settings(tmp_path), "night")


@pytest.mark.parametrize(
    "table",
    [
        '[notify.a]\nurl = "https://s3cret.example/x"\n',
        "[notify.a]\n",
        '[notify.a]\nurl_file = "/x"\ncommand = "true"\n',
        '[notify.a]\nsecret_file = "/x"\ncommand = "true"\n',
        '[notify.a]\nurl_file = "relative"\n',
        '[notify."a b"]\ncommand = "true"\n',
        'notify = "x"\n',
        "[notify]\na = 1\n",
    ],
)
def test_the_settings_file_holds_no_address_and_no_secret(tmp_path: Path, settings_file: Path, table: str) -> None:
    """It names files, and nothing else is taken there."""
    settings_file.write_text(f"form = 1\n{table}")
    with pytest.raises(AudiencekitError) as caught:
        find_receiver(_settings(tmp_path), "a")
    assert "s3cret" not in f"{caught.value}{caught.value.hint}"
