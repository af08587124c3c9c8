"""The settings file: what it gives and when, and why it is refused."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from audiencekit import load_settings
from audiencekit.errors import AudiencekitError, InputOutputFailed, UsageError
from audiencekit.settings import SECRET_NAMES
from audiencekit.settings_file import read_settings_file, settings_path, toml_text, write_settings_file
from tests.cases import each_case

KEPT = {
    "profile": "spec", "ads_url": "https://ads.example", "base_url": "https://login.example", "account_id": "18ce1",
    "allow_host": "ads.example login.example",
}  # fmt: skip


@pytest.fixture
def path() -> Path:
    """Where the file of this test would be."""
    found = settings_path()
    assert found is not None
    return found


def _write(path: Path, text: str, mode: int = 0o600) -> None:
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    path.chmod(mode)


def test_a_settings_file_is_read_as_it_was_written(path: Path) -> None:
    """For its owner alone, without what is empty; nothing is left beside it."""
    assert read_settings_file() == {}
    assert write_settings_file({**KEPT, "ads_sandbox_url": ""}) == path
    assert read_settings_file() == KEPT
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    write_settings_file({"profile": "x"})
    assert read_settings_file() == {"profile": "x"}
    assert [each.name for each in path.parent.iterdir()] == [path.name]


@pytest.mark.parametrize("text", ['a "b" \\ c', "tab\there", "del\x7f", "ü😀", "line\nend"])
def test_any_text_is_written_as_toml(path: Path, text: str) -> None:
    """And read as the same."""
    _write(path, f"form = 1\naccount_id = {toml_text(text)}\n")
    assert read_settings_file() == {"account_id": text}


@each_case(
    "environment, options, account, ads_url, origin",
    [
        ({}, {}, "18ce1", "https://ads.example", "settings file"),
        ({"ACCOUNT_ID": "18ce2"}, {}, "18ce2", "https://ads.example", "environment"),
        ({"ACCOUNT_ID": "18ce2"}, {"account_id": "18ce3"}, "18ce3", "https://ads.example", "option"),
        ({"ADS_URL": "https://ads.example"}, {}, "18ce1", "https://ads.example", "settings file"),
        ({}, {"profile": "spec"}, "18ce1", "https://ads.example", "settings file"),
        # Of another service neither the account nor an address is taken: they belong together.
        ({"ADS_URL": "https://other.example"}, {}, None, "https://other.example", None),
        ({"PROFILE": "x"}, {}, None, None, None),
        ({}, {"base_url": "https://other.example"}, None, None, None),
        ({}, {"user_file": False}, None, None, None),
    ],
)
def test_a_settings_file_comes_last_and_counts_for_one_service(
    environment: dict[str, str], options: dict[str, str], account: str | None, ads_url: str | None, origin: str | None
) -> None:
    """Options and the environment come before it; one that names another service leaves nothing of it."""
    write_settings_file(KEPT)
    given = {f"AUDIENCEKIT_{name}": value for name, value in environment.items()}
    settings = load_settings(given, directory=None, **options)
    assert (settings.account_id, settings.ads_url, settings.origins.get("account_id")) == (account, ads_url, origin)
    assert ("https://ads.example" in settings.named_addresses) is (ads_url == "https://ads.example")
    assert settings.allowed_hosts == ({"ads.example", "login.example"} if account else set())


def test_a_file_of_the_working_directory_comes_before_it_and_chooses_no_service(tmp_path: Path) -> None:
    """As ever: it gives the pace alone."""
    write_settings_file(KEPT)
    tmp_path.joinpath("audiencekit.toml").write_text("requests_per_minute = 60\n")
    settings = load_settings({}, directory=tmp_path)
    assert (settings.requests_per_minute, settings.account_id) == (60, "18ce1")
    assert settings.origins == {"requests_per_minute": "setup", **dict.fromkeys(KEPT, "settings file")}
    tmp_path.joinpath("audiencekit.toml").write_text('ads_url = "https://other.example"\n')
    with pytest.raises(UsageError, match="must not have"):
        load_settings({}, directory=tmp_path)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("form = 1\nacount_id = 'x'\n", "did you mean account_id?"),
        ("form = 1\nrequests_per_minute = 60\n", "it may have profile"),
        *((f"form = 1\n{name} = 'x'\n", "") for name in SECRET_NAMES),
        ("form = 2\n", "this version of audiencekit reads form 1 only"),
        ("form = true\n", "form = 1"),
        ("profile = 'x'\n", "form = 1"),
        ("form = 1\naccount_id = 18\n", "account_id must be a text"),
        ("form = 1\nprofile = x\n", "is not TOML"),
        ("\x00", "is not TOML"),
        ("form = 1" + "0" * 5_000, "is not TOML"),
        ("#" * 70_000, "is larger than"),
    ],
)
def test_a_settings_file_in_another_form_is_refused(path: Path, text: str, words: str) -> None:
    """With the file, and what to do; never with a value of it."""
    _write(path, text)
    with pytest.raises(UsageError) as caught:
        load_settings({}, directory=None)
    told = f"{caught.value}; {caught.value.hint}"
    assert str(path) in told
    assert words in told
    assert "'x'" not in told


@pytest.mark.parametrize("mode", [0o620, 0o602, 0o666])
def test_a_settings_file_that_others_may_write_is_refused(path: Path, mode: int) -> None:
    """It chooses a host. Others may read it: there are no secrets in it."""
    write_settings_file(KEPT)
    path.chmod(mode)
    with pytest.raises(InputOutputFailed, match="others may write the settings file") as caught:
        read_settings_file()
    assert f"chmod 600 {path}" in caught.value.hint
    with pytest.raises(InputOutputFailed, match="others may write"):
        write_settings_file(KEPT)
    path.chmod(0o644)
    assert read_settings_file() == KEPT


def test_a_settings_file_of_another_user_is_refused(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its directory, too."""
    write_settings_file(KEPT)
    monkeypatch.setattr(os, "geteuid", lambda: os.getuid() + 1)
    with pytest.raises(InputOutputFailed, match=r"configuration directory .* belongs to another user") as caught:
        read_settings_file()
    assert "XDG_CONFIG_HOME" in caught.value.hint
    monkeypatch.setattr("audiencekit.settings_file.check_root", lambda *_: None)
    with pytest.raises(InputOutputFailed, match=r"the settings file .* belongs to another user"):
        read_settings_file()


def test_a_settings_file_that_is_no_file_is_refused(path: Path, tmp_path: Path) -> None:
    """A link, also one to nowhere, a directory and a pipe."""
    write_settings_file(KEPT)
    path.rename(tmp_path / "elsewhere")
    for target in ("elsewhere", "nowhere"):
        path.symlink_to(tmp_path / target)
        for work in (read_settings_file, lambda: write_settings_file(KEPT)):
            with pytest.raises(InputOutputFailed, match="is a link, which is not followed"):
                work()
        path.unlink()
    path.mkdir()
    with pytest.raises(InputOutputFailed):
        read_settings_file()
    path.rmdir()
    os.mkfifo(path)
    with pytest.raises(InputOutputFailed, match="is no file"):
        read_settings_file()


def test_a_directory_that_others_may_write_is_refused(path: Path) -> None:
    """Any of them could put another file there. Nothing is written there either."""
    write_settings_file(KEPT)
    path.parent.chmod(0o777)
    for work in (read_settings_file, lambda: write_settings_file({"profile": "x"})):
        with pytest.raises(AudiencekitError, match="others may write in the configuration directory"):
            work()
    path.parent.chmod(0o700)
    assert read_settings_file() == KEPT


def test_a_user_without_a_home_has_no_settings_file(monkeypatch: pytest.MonkeyPatch) -> None:
    """Runs go on without one."""
    monkeypatch.setattr("audiencekit.settings_file.user_directory", lambda kind: None)
    assert read_settings_file() == {}
    with pytest.raises(UsageError, match="no home directory"):
        write_settings_file(KEPT)
