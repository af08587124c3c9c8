"""A connection gives settings, and never a place where credentials may go."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from audiencekit.api.opening import open_client
from audiencekit.errors import HostRefused, UsageError
from audiencekit.integrations.airflow.connection import LABELS, settings_from
from audiencekit.limits import DEFAULT_CONCURRENCY
from audiencekit.settings import SECRET_NAMES, Settings
from tests.cases import each_case

SECRETS = {name: f"value-of-{name}" for name in SECRET_NAMES}
ENVIRONMENT = {
    "AUDIENCEKIT_STATE_DIR": "/var/lib/audiencekit",
    "AUDIENCEKIT_ACCOUNT_ID": "ofworker",
    **{f"AUDIENCEKIT_{name.upper()}": f"worker-{name}" for name in SECRET_NAMES},
}


def _settings(host: str | None = "https://ads.example", /, **extra: Any) -> Settings:
    return settings_from("ads", host, extra, ENVIRONMENT)


def test_every_field_of_the_form_is_heeded() -> None:
    """The address and what is ours."""
    given = {"profile": "x", "account_id": "1a", "state_dir": "/srv", "requests_per_minute": 60, "concurrency": "2"}
    settings = _settings("https://ads-api.x.com", **given, **SECRETS)
    assert set(LABELS) == set(given) | set(SECRETS)
    assert (settings.profile.name, settings.ads_url, settings.account_id) == ("x", "https://ads-api.x.com", "1a")
    assert (str(settings.state_dir), settings.requests_per_minute, settings.concurrency) == ("/srv", 60, 2)
    assert {name: secret.unwrap() for name, secret in settings.secrets.items()} == SECRETS


def test_fields_left_empty_come_from_the_worker() -> None:
    """All four credentials, too; a form gives empty fields as empty text."""
    settings = _settings(None, account_id="", consumer_key=None)
    assert settings.account_id == "ofworker"
    assert str(settings.state_dir) == "/var/lib/audiencekit"
    assert settings.secrets["access_token"].unwrap() == "worker-access_token"
    assert settings.ads_url is None


def test_credentials_are_not_mixed() -> None:
    """Some of the connection and some of the worker would belong to no user."""
    with pytest.raises(UsageError, match="lacks access_token, access_token_secret") as caught:
        _settings(consumer_key="value-of-key", consumer_secret="value-of-secret")
    assert "value-of" not in str(caught.value) + caught.value.hint


@each_case("name", ["allow_host", "key", "limiter", "acount_id", "base_url"])
def test_nothing_else_is_taken_from_a_connection(name: str) -> None:
    """Neither a host that credentials may go to, nor a word that was mistyped; its value is not shown."""
    with pytest.raises(UsageError, match=f"connection 'ads' has fields that it must not have: {name}$") as caught:
        _settings(**{name: "evil.example"})
    assert "evil" not in str(caught.value) + caught.value.hint


def test_credentials_go_to_no_host_that_a_connection_names() -> None:
    """Unless the worker allows it."""
    with pytest.raises(HostRefused):
        open_client(_settings("https://evil.example", **SECRETS))
    allowed = ENVIRONMENT | {"AUDIENCEKIT_ALLOW_HOST": "ads.example"}
    open_client(settings_from("ads", "https://ads.example", SECRETS, allowed))


@each_case("host", ["http://127.0.0.1:8080", "http://localhost:22", "http://[::1]:8080"])
def test_a_connection_leads_to_no_port_of_the_worker(host: str) -> None:
    """Unless the worker's environment names it: any user of the worker can listen on one."""
    with pytest.raises(HostRefused):
        open_client(_settings(host, **SECRETS))
    for named in (
        {"AUDIENCEKIT_ALLOW_HOST": host.removeprefix("http://")},
        {"AUDIENCEKIT_ADS_URL": host},
    ):
        open_client(settings_from("ads", host, SECRETS, ENVIRONMENT | named))


def test_no_file_of_the_directory_that_a_worker_runs_in_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Neither what it may give nor what it must not."""
    (tmp_path / "audiencekit.toml").write_text('concurrency = 3\nstate_dir = "evil"\n')
    monkeypatch.chdir(tmp_path)
    settings = _settings(None)
    assert (settings.concurrency, str(settings.state_dir)) == (DEFAULT_CONCURRENCY, "/var/lib/audiencekit")


def test_a_state_directory_of_a_connection_is_given_in_full() -> None:
    """It would depend on the directory that a worker happens to run in."""
    with pytest.raises(UsageError, match="not an absolute path"):
        _settings(state_dir="state")


def test_settings_show_no_secret() -> None:
    """They stand in the frames that a task's traceback is made of."""
    assert "value-of" not in repr(_settings(**SECRETS))
