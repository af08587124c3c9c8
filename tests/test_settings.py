"""Where credentials, addresses and state come from."""

from __future__ import annotations

import errno
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from audiencekit import settings
from audiencekit.api.opening import open_client
from audiencekit.errors import CredentialsRefused, HostRefused, UsageError
from audiencekit.limits import DEFAULT_CONCURRENCY
from audiencekit.personal import Secret
from audiencekit.settings import (
    ADDRESSES,
    CHOICES,
    COLLECTOR,
    FILE_KEYS,
    KEY_NAME,
    NETWORK,
    NOTIFICATIONS,
    RULES,
    SECRET_NAMES,
    Settings,
    is_read,
    load_settings,
)
from audiencekit.state.credentials import TOKEN, StoredCredentials

SETTABLE = {*FILE_KEYS, *CHOICES, *ADDRESSES, *NETWORK, *RULES, *NOTIFICATIONS, *COLLECTOR, *SECRET_NAMES, KEY_NAME}
SECRETS = {
    f"AUDIENCEKIT_{name}": f"invented-{name}"
    for name in ("CONSUMER_KEY", "CONSUMER_SECRET", "ACCESS_TOKEN", "ACCESS_TOKEN_SECRET")
}


def test_flags_come_before_environment_before_file(tmp_path: Path) -> None:
    """The nearest word wins."""
    (tmp_path / "audiencekit.toml").write_text("concurrency = 3\nrequests_per_minute = 30\n")
    environment = {"AUDIENCEKIT_REQUESTS_PER_MINUTE": "50", "AUDIENCEKIT_CONCURRENCY": "5"}
    found = load_settings(environment, directory=tmp_path, concurrency=7)
    assert (found.requests_per_minute, found.concurrency) == (50, 7)
    found = load_settings({"AUDIENCEKIT_CONCURRENCY": "5"}, directory=tmp_path)
    assert (found.requests_per_minute, found.concurrency) == (30, 5)


def test_a_file_may_begin_with_a_byte_order_mark(tmp_path: Path) -> None:
    """As some editors write it."""
    (tmp_path / "audiencekit.toml").write_bytes(b"\xef\xbb\xbfconcurrency = 3\r\n")
    assert load_settings({}, directory=tmp_path).concurrency == 3


def test_a_file_that_is_not_toml_is_refused_with_the_place(tmp_path: Path) -> None:
    (tmp_path / "audiencekit.toml").write_text("concurrency = 3\nrequests_per_minute: 4\n")
    with pytest.raises(UsageError, match=r"audiencekit.toml' is not TOML: .* \(at line 2, column 20\)"):
        load_settings({}, directory=tmp_path)


def test_a_number_that_python_does_not_read_refuses_the_file(tmp_path: Path) -> None:
    """It has thousands of digits."""
    (tmp_path / "audiencekit.toml").write_text(f"concurrency = {'9' * 5_000}\n")
    with pytest.raises(UsageError, match=r"audiencekit.toml' holds a number that is too long"):
        load_settings({}, directory=tmp_path)


def test_a_file_gives_the_pace_and_nothing_else() -> None:
    """All others say where data and credentials come from or go to, or what is destroyed, or are secrets."""
    assert {*FILE_KEYS} == {"requests_per_minute", "concurrency"}


@pytest.mark.parametrize("name", sorted(SETTABLE - {"requests_per_minute", "concurrency"}))
def test_a_file_in_the_working_directory_says_nothing_of_where_from_and_where_to(tmp_path: Path, name: str) -> None:
    """Another user may have put it there: the account, the state with its credentials, the service, hosts, secrets."""
    (tmp_path / "audiencekit.toml").write_text(f'concurrency = 3\n{name} = "canary"\n')
    with pytest.raises(UsageError, match=f"audiencekit.toml' has fields that it must not have: '{name}'$") as caught:
        load_settings({}, directory=tmp_path)
    assert f"set AUDIENCEKIT_{name.upper()} in the environment" in caught.value.hint
    assert caught.value.hint.endswith("or remove the file, where it is not yours")
    assert "canary" not in str(caught.value) + caught.value.hint


def test_the_settings_of_a_file_are_told(tmp_path: Path) -> None:
    """The values in force, and none that is overridden; nothing without a file, or when none is to be read."""
    file = tmp_path / "audiencekit.toml"
    file.write_text('concurrency = 3\nrequests_per_minute = "30"\n')
    assert (
        load_settings({}, directory=tmp_path).file_note
        == f"{str(file)!r} gives concurrency = 3, requests_per_minute = 30"
    )
    assert load_settings({}, directory=tmp_path, concurrency=4).file_note.endswith(" gives requests_per_minute = 30")
    unread = load_settings({}, directory=None)
    assert (unread.file_note, unread.concurrency) == ("", DEFAULT_CONCURRENCY)
    file.unlink()
    assert load_settings({}, directory=tmp_path).file_note == ""


@pytest.mark.parametrize("path", ["state", "./state", "..", "state/../../x", "~unknown-user/x"])
def test_a_state_directory_does_not_follow_the_working_directory(tmp_path: Path, path: str) -> None:
    """Of the environment it is given in full; a program may mean its own working directory, of now."""
    with pytest.raises(UsageError, match="not an absolute path"):
        load_settings({"AUDIENCEKIT_STATE_DIR": path}, directory=tmp_path)
    assert load_settings({}, directory=tmp_path, state_dir=path).state_dir == Path.cwd() / path


def test_a_user_without_a_home_says_where(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As a container may have one."""
    monkeypatch.setattr(settings, "user_directory", lambda kind: None)
    with pytest.raises(UsageError, match="no home directory") as caught:
        load_settings({}, directory=tmp_path)
    assert "AUDIENCEKIT_STATE_DIR" in caught.value.hint


def test_only_the_environment_and_the_program_name_loopback(tmp_path: Path) -> None:
    """A service on a port of this machine may belong to any user."""
    named = "http://127.0.0.1:8080"
    credentials = SECRETS | {"AUDIENCEKIT_ACCOUNT_ID": "1a"}
    open_client(load_settings(credentials | {"AUDIENCEKIT_ADS_URL": named}, directory=tmp_path))
    open_client(load_settings(credentials, directory=tmp_path, ads_url=named))
    with pytest.raises(HostRefused):
        open_client(replace(load_settings(credentials, directory=tmp_path), ads_url=named))


def test_secrets_are_wrapped(tmp_path: Path) -> None:
    """repr of the settings shows none."""
    found = load_settings(SECRETS, directory=tmp_path)
    assert "invented-" not in repr(found)
    assert found.require_secrets()["consumer_key"].unwrap() == "invented-CONSUMER_KEY"


def test_missing_credentials_are_named(tmp_path: Path) -> None:
    """By the names of their variables."""
    partial = {name: value for name, value in SECRETS.items() if name != "AUDIENCEKIT_ACCESS_TOKEN"}
    with pytest.raises(CredentialsRefused, match=r"AUDIENCEKIT_ACCESS_TOKEN$"):
        load_settings(partial, directory=tmp_path).require_secrets()
    for url, is_rehearsal in (("http://127.0.0.1:1", True), ("https://ads.example.com", False), ("http://[", False)):
        with pytest.raises(CredentialsRefused) as caught:
            load_settings({**partial, "AUDIENCEKIT_ADS_URL": url}, directory=tmp_path).require_secrets()
        assert ("lines of `audiencekit emulator`" in caught.value.hint) is is_rehearsal


def test_a_named_account_has_its_own_credentials_first(tmp_path: Path) -> None:
    """A pair that it lacks is the common one; those of another account are never its own."""
    own = {
        "AUDIENCEKIT_ACCOUNT_SHOP_DE_ACCESS_TOKEN": "invented-own-token",
        "AUDIENCEKIT_ACCOUNT_SHOP_DE_ACCESS_TOKEN_SECRET": "invented-own-secret",
        "AUDIENCEKIT_ACCOUNT_OTHER_CONSUMER_KEY": "invented-other",
    }
    common = load_settings({**SECRETS, **own}, directory=tmp_path)
    shop = common.for_account("shop-de", "acc2")
    found = {name: secret.unwrap() for name, secret in shop.require_secrets().items()}
    assert found == {
        "access_token": "invented-own-token", "access_token_secret": "invented-own-secret",
        "consumer_key": "invented-CONSUMER_KEY", "consumer_secret": "invented-CONSUMER_SECRET",
    }  # fmt: skip
    assert (shop.account_id, "invented-" in repr(shop)) == ("acc2", False)
    assert common.require_secrets()["access_token"].unwrap() == "invented-ACCESS_TOKEN"


def test_missing_credentials_of_a_named_account_are_named(tmp_path: Path) -> None:
    """A pair that is given in part is not completed with another's."""
    half = {**SECRETS, "AUDIENCEKIT_ACCOUNT_SHOP_ACCESS_TOKEN": "invented-own"}
    with pytest.raises(CredentialsRefused, match=r"AUDIENCEKIT_ACCESS_TOKEN_SECRET$") as caught:
        load_settings(half, directory=tmp_path).for_account("shop").require_secrets()
    assert "AUDIENCEKIT_ACCOUNT_SHOP_…" in caught.value.hint


def test_the_login_of_a_named_account_comes_before_the_common_environment(tmp_path: Path) -> None:
    """And is no one else's."""
    environment = {**SECRETS, "AUDIENCEKIT_PROFILE": "x"}
    common = load_settings(environment, directory=tmp_path, state_dir=tmp_path / "state")
    shop = common.for_account("shop")
    token = {name: Secret(f"invented-kept-{name}") for name in TOKEN}
    shop.open_store().keep(StoredCredentials(secrets={**token, "consumer_key": Secret("invented-of-another")}))
    assert shop.require_secrets()["access_token"].unwrap() == "invented-ACCESS_TOKEN"
    shop.open_store().keep(StoredCredentials(secrets={**token, "consumer_key": Secret("invented-CONSUMER_KEY")}))
    assert shop.require_secrets()["access_token"].unwrap() == "invented-kept-access_token"
    assert common.require_secrets()["access_token"].unwrap() == "invented-ACCESS_TOKEN"


@pytest.mark.parametrize(
    "environment",
    [
        {"AUDIENCEKIT_PROFILE": "nonsense"},
        {"AUDIENCEKIT_CONCURRENCY": "0"},
        {"AUDIENCEKIT_CONCURRENCY": "many"},
        {"AUDIENCEKIT_CONCURRENCY": "-1"},
        {"AUDIENCEKIT_CONCURRENCY": "nan"},
        {"AUDIENCEKIT_CONCURRENCY": "9" * 5_000},
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
    found = load_settings({"AUDIENCEKIT_LIMITER": "redis://:invented-word@h:6379/0"}, directory=tmp_path)
    assert "invented-word" not in repr(found)
    assert found.limiter is not None
    assert found.limiter.unwrap() == "redis://:invented-word@h:6379/0"


def test_runs_are_kept_for_a_time_by_default(tmp_path: Path) -> None:
    """Another one by the environment or a program, as an age; or for good."""
    assert load_settings({}, directory=tmp_path).retention == timedelta(days=400)
    assert load_settings({"AUDIENCEKIT_RETENTION": "never"}, directory=tmp_path).retention is None
    assert load_settings({"AUDIENCEKIT_RETENTION": "30d"}, directory=tmp_path).retention == timedelta(days=30)
    assert load_settings({}, directory=tmp_path, retention="2w").retention == timedelta(days=14)
    for text in ("30", "0d", "-1d"):
        with pytest.raises(UsageError, match="AUDIENCEKIT_RETENTION"):
            load_settings({"AUDIENCEKIT_RETENTION": text}, directory=tmp_path)


def test_a_limiter_that_cannot_be_is_refused_and_not_shown(tmp_path: Path) -> None:
    """Nor may the file in the working directory name one: it is a host."""
    with pytest.raises(UsageError) as caught:
        load_settings({"AUDIENCEKIT_LIMITER": "http://:invented-word@h"}, directory=tmp_path)
    assert "invented-word" not in str(caught.value)
    (tmp_path / "audiencekit.toml").write_text('limiter = "redis://127.0.0.1"')
    with pytest.raises(UsageError, match="must not"):
        load_settings({}, directory=tmp_path)


def test_a_proxy_is_wrapped_and_only_one_of_ours_is_heeded(tmp_path: Path) -> None:
    """Its address may hold a password; variables of other programs name none."""
    given = {"AUDIENCEKIT_PROXY": "http://ann:invented-word@h:3128"}
    found = load_settings(given, directory=tmp_path)
    assert "invented-word" not in repr(found)
    assert found.proxy is not None
    assert found.proxy.unwrap() == given["AUDIENCEKIT_PROXY"]
    assert load_settings({"HTTPS_PROXY": given["AUDIENCEKIT_PROXY"]}, directory=tmp_path).proxy is None


@pytest.mark.parametrize("path", ["company.pem", "./company.pem", "../company.pem"])
def test_authorities_do_not_follow_the_working_directory(tmp_path: Path, path: str) -> None:
    """The file that would be found there may belong to any user."""
    with pytest.raises(UsageError, match="AUDIENCEKIT_CA_BUNDLE is not an absolute path"):
        load_settings({"AUDIENCEKIT_CA_BUNDLE": path}, directory=tmp_path)
    found = load_settings({"AUDIENCEKIT_CA_BUNDLE": "/etc/company.pem"}, directory=tmp_path)
    assert found.ca_bundle == Path("/etc/company.pem")


@pytest.mark.usefixtures("gone_directory")
def test_a_working_directory_that_cannot_be_looked_into_has_no_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A file that was removed meanwhile, and a file of another user."""
    assert load_settings({}).profile.name == "spec"

    def forbid(_: Path) -> bool:
        raise PermissionError(errno.EACCES, "Permission denied")

    monkeypatch.setattr(Path, "is_file", forbid)
    assert load_settings({}, directory=tmp_path).profile.name == "spec"


FILED = ["CONSUMER_KEY", "CONSUMER_SECRET", "ACCESS_TOKEN", "ACCESS_TOKEN_SECRET", "ACCOUNT_SHOP_DE_ACCESS_TOKEN"]


def _secret_of(settings: Settings, name: str) -> str:
    if name.startswith("ACCOUNT_"):
        return settings.named_secrets["SHOP_DE"]["access_token"].unwrap()
    return settings.secrets[name.lower()].unwrap()


@pytest.mark.parametrize("name", FILED)
@pytest.mark.parametrize("end", ["", "\n", "\r\n"])
def test_a_secret_can_lie_in_a_file(tmp_path: Path, name: str, end: str) -> None:
    """As docker and Kubernetes hand it over, behind links; the end of its line is no part of it."""
    (tmp_path / "data").write_bytes(f"s3cret{end}".encode())
    (tmp_path / "secret").symlink_to(tmp_path / "data")
    variable = f"AUDIENCEKIT_{name}_FILE"
    settings = load_settings({variable: str(tmp_path / "secret")}, directory=None, state_dir=tmp_path)
    assert _secret_of(settings, name) == "s3cret"
    assert is_read(variable)
    with pytest.raises(UsageError, match="are both set") as caught:
        load_settings({variable: str(tmp_path / "secret"), f"AUDIENCEKIT_{name}": "other"}, directory=None)
    assert "other" not in str(caught.value) + caught.value.hint


def test_the_other_secrets_can_lie_in_files(tmp_path: Path) -> None:
    """The state key, and addresses that hold a password."""
    texts = {"KEY": "ab" * 32, "LIMITER": "redis://:s3cret@127.0.0.1/1", "PROXY": "http://u:s3cret@127.0.0.1:3128"}
    for name, text in texts.items():
        (tmp_path / name).write_text(f"{text}\n")
    environment = {f"AUDIENCEKIT_{name}_FILE": str(tmp_path / name) for name in texts}
    settings = load_settings(environment, directory=None, state_dir=tmp_path)
    found = (settings.key, settings.limiter, settings.proxy)
    assert [each.unwrap() for each in found if isinstance(each, Secret)] == list(texts.values())


@pytest.mark.parametrize(
    ("content", "told"), [(None, "No such file"), (b"", "empty"), (b"\n", "empty"), (b"\xff\xfes", "not text in UTF-8")]
)
def test_a_file_that_holds_no_secret_is_refused(tmp_path: Path, content: bytes | None, told: str) -> None:
    """So is a path that depends on the working directory."""
    path = tmp_path / "secret"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(UsageError, match=told):
        load_settings({"AUDIENCEKIT_ACCESS_TOKEN_FILE": str(path)}, directory=None)
    with pytest.raises(UsageError, match="not an absolute path"):
        load_settings({"AUDIENCEKIT_ACCESS_TOKEN_FILE": "secret"}, directory=None)


@pytest.mark.parametrize("in_file", [False, True])
@pytest.mark.parametrize(
    ("value", "told"), [("'s3cret'", "quotation"), ('"s3cret"', "quotation"), ("\ufeffs3cret", "order mark")]
)
@pytest.mark.parametrize("name", ["CONSUMER_SECRET", "KEY", "ACCOUNT_SHOP_DE_ACCESS_TOKEN"])
def test_a_secret_that_was_written_wrongly_is_told_without_it(
    tmp_path: Path, name: str, value: str, told: str, in_file: bool
) -> None:
    """Before a request is made: the service would only say that it does not know us."""
    (tmp_path / "secret").write_text(value, encoding="utf-8")
    given = {f"AUDIENCEKIT_{name}_FILE": str(tmp_path / "secret")} if in_file else {f"AUDIENCEKIT_{name}": value}
    with pytest.raises(UsageError, match=told) as caught:
        load_settings(given, directory=None)
    assert next(iter(given)) in str(caught.value)
    assert "s3cret" not in str(caught.value) + caught.value.hint
