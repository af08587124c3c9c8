"""Where credentials, addresses and state come from."""

from __future__ import annotations

import errno
from pathlib import Path

import pytest

from audiencekit.errors import CredentialsRefused, UsageError
from audiencekit.settings import load_settings

SECRETS = {
    f"AUDIENCEKIT_{name}": f"invented-{name}"
    for name in ("CONSUMER_KEY", "CONSUMER_SECRET", "ACCESS_TOKEN", "ACCESS_TOKEN_SECRET")
}


def test_flags_come_before_environment_before_file(tmp_path: Path) -> None:
    """The nearest word wins."""
    (tmp_path / "audiencekit.toml").write_text('account_id = "file"\nprofile = "x"\nconcurrency = 3\n')
    settings = load_settings(
        {"AUDIENCEKIT_ACCOUNT_ID": "environment", "AUDIENCEKIT_CONCURRENCY": "5"}, directory=tmp_path, concurrency=7
    )
    assert (settings.account_id, settings.profile.name, settings.concurrency) == ("environment", "x", 7)


@pytest.mark.parametrize("line", ['ads_url = "https://evil.invalid"', 'consumer_secret = "x"', 'allow_host = "a.b"'])
def test_a_file_in_the_working_directory_gives_no_hosts_and_no_secrets(tmp_path: Path, line: str) -> None:
    """Somebody may have put it there."""
    (tmp_path / "audiencekit.toml").write_text(line)
    with pytest.raises(UsageError, match="must not"):
        load_settings({}, directory=tmp_path)


def test_secrets_are_wrapped(tmp_path: Path) -> None:
    """repr of the settings shows none."""
    settings = load_settings(SECRETS, directory=tmp_path)
    assert "invented-" not in repr(settings)
    assert settings.require_secrets()["consumer_key"].unwrap() == "invented-CONSUMER_KEY"


def test_missing_credentials_are_named(tmp_path: Path) -> None:
    """By the names of their variables."""
    partial = {name: value for name, value in SECRETS.items() if name != "AUDIENCEKIT_ACCESS_TOKEN"}
    with pytest.raises(CredentialsRefused, match=r"AUDIENCEKIT_ACCESS_TOKEN$"):
        load_settings(partial, directory=tmp_path).require_secrets()


@pytest.mark.parametrize(
    "environment",
    [
        {"AUDIENCEKIT_PROFILE": "nonsense"},
        {"AUDIENCEKIT_CONCURRENCY": "0"},
        {"AUDIENCEKIT_CONCURRENCY": "many"},
        {"AUDIENCEKIT_REQUESTS_PER_MINUTE": "1501"},
    ],
)
def test_settings_that_cannot_be_are_refused(tmp_path: Path, environment: dict[str, str]) -> None:
    """Before anything else happens."""
    with pytest.raises(UsageError):
        load_settings(environment, directory=tmp_path)


def test_the_public_service_has_its_own_address(tmp_path: Path) -> None:
    """The specification has none: there it must be given."""
    assert load_settings({"AUDIENCEKIT_PROFILE": "x"}, directory=tmp_path).require_ads_url() == "https://ads-api.x.com"
    with pytest.raises(UsageError, match="address"):
        load_settings({}, directory=tmp_path).require_ads_url()


def test_the_limiter_is_the_hosts_unless_redis_is_named(tmp_path: Path) -> None:
    """Its address may hold a password, so it is wrapped."""
    assert load_settings({}, directory=tmp_path).limiter is None
    assert load_settings({"AUDIENCEKIT_LIMITER": "host"}, directory=tmp_path).limiter is None
    settings = load_settings({"AUDIENCEKIT_LIMITER": "redis://:invented-word@h:6379/0"}, directory=tmp_path)
    assert "invented-word" not in repr(settings)
    assert settings.limiter is not None
    assert settings.limiter.unwrap() == "redis://:invented-word@h:6379/0"


def test_a_limiter_that_cannot_be_is_refused_and_not_shown(tmp_path: Path) -> None:
    """Nor may the file in the working directory name one: it is a host."""
    with pytest.raises(UsageError) as caught:
        load_settings({"AUDIENCEKIT_LIMITER": "http://:invented-word@h"}, directory=tmp_path)
    assert "invented-word" not in str(caught.value)
    (tmp_path / "audiencekit.toml").write_text('limiter = "redis://127.0.0.1"')
    with pytest.raises(UsageError, match="must not"):
        load_settings({}, directory=tmp_path)


@pytest.mark.usefixtures("gone_directory")
def test_a_working_directory_that_cannot_be_looked_into_has_no_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One that was removed meanwhile, and one of somebody else."""
    assert load_settings({}).profile.name == "spec"

    def forbid(_: Path) -> bool:
        raise PermissionError(errno.EACCES, "Permission denied")

    monkeypatch.setattr(Path, "is_file", forbid)
    assert load_settings({}, directory=tmp_path).profile.name == "spec"
