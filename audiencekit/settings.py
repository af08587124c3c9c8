"""Where credentials, addresses and state come from: options, then the environment, then `audiencekit.toml`, then the
settings file of the user, then defaults.

Credentials that the environment does not give are those that `login` keeps for the profile and its base address.

A file in the working directory never chooses where data or credentials come from or go to: others may have put
it there. Nor does it say how long runs are kept. It gives the pace, and what is taken from it is told.
"""

from __future__ import annotations

import math
import os
import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import timedelta
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final, Literal, TypeAlias, TypeVar, get_args
from urllib.parse import urlsplit

from audiencekit.durations import parse_age
from audiencekit.errors import CredentialsRefused, UsageError
from audiencekit.limits import (
    DEFAULT_CONCURRENCY,
    DEFAULT_GRACE_SECONDS,
    DEFAULT_RETENTION_DAYS,
    GRACE_MARGIN_SECONDS,
    PACED_REQUESTS_PER_MINUTE,
    REQUESTS_PER_WINDOW,
)
from audiencekit.personal import Secret
from audiencekit.process.programs import own_environment
from audiencekit.profile import Profile, find_profile
from audiencekit.settings_file import ADDRESSES, DEFAULT_PROFILE, fits_service, read_settings_file
from audiencekit.state.credentials import APPLICATION, TOKEN, CredentialPlace, CredentialStore, StoredCredentials
from audiencekit.state.directory import is_volume, user_directory
from audiencekit.state.durability import STATE, WITNESS, is_bucket, working_copy
from audiencekit.state.files import others_may, read_file
from audiencekit.state.key_command import COMMAND_VARIABLE, GivenKey, KeyCommand
from audiencekit.state.key_places import place_of_key

PREFIX: Final = "AUDIENCEKIT_"
SETTINGS_FILE: Final = "audiencekit.toml"
FILE_KEYS: Final = frozenset({"requests_per_minute", "concurrency"})
SETUP_TABLES: Final = frozenset({"accounts", "lists", "audiences"})  # of a setup, which only `run` reads
CHOICES: Final = frozenset({"profile", "account_id", "state_dir"})  # of where data and credentials come from or go to
MAX_FILE_BYTES: Final = 64_000
NETWORK: Final = ("proxy", "ca_bundle")
RULES: Final = (
    "allow_host",
    "limiter",
    "few_people",
    "retention",
    "grace_seconds",
    "audit_names",
    "purpose",
    "basis",
    "require",
    "key_place",
)
HOST_LIMITER: Final = "host"
REDIS_ADDRESSES: Final = ("redis://", "rediss://", "unix://")
SECRET_NAMES: Final = (*APPLICATION, *TOKEN)
KEY_NAME, KEY_COMMAND, AGE_IDENTITY, KNOWN_HOSTS = "key", "key_command", "age_identity", "known_hosts"
NOTIFICATIONS: Final = ("notify_url", "notify_command", "notify_secret", "ping_url", "status_file")
COLLECTOR: Final = ("otel_url", "otel_headers")
FILED: Final = (
    KEY_NAME,
    "limiter",
    "proxy",
    "notify_url",
    "notify_secret",
    "ping_url",
    *COLLECTOR,
)  # they hold secrets
FILE_SUFFIX: Final = "_FILE"  # behind the name of a variable: it names a file with the secret
_QUOTES: Final = ("'", '"')
_OTHERS: Final = ("state", "state_head", "state_witness", KEY_NAME, KEY_COMMAND, "new_key", AGE_IDENTITY, KNOWN_HOSTS)
VARIABLES: Final = frozenset(
    name.upper()
    for name in (
        *FILE_KEYS,
        *CHOICES,
        *ADDRESSES,
        *NETWORK,
        *RULES,
        *NOTIFICATIONS,
        *COLLECTOR,
        *SECRET_NAMES,
        *_OTHERS,
    )
)  # behind the prefix

_BEGIN: Final = "`audiencekit init` asks for the service and keeps it"
_HERE: Final = Path()
MOST_GRACE_SECONDS: Final = 3_600
_MOST_DIGITS: Final = 9  # of a number: Python refuses to read many thousands
_NAMED: Final = re.compile(rf"{PREFIX}ACCOUNT_([A-Z0-9_]+)_({'|'.join(SECRET_NAMES).upper()})")

R = TypeVar("R", bound=str)
AuditNames: TypeAlias = Literal["clear", "keyed"]
# The legal bases of the General Data Protection Regulation, article 6 (1).
Basis: TypeAlias = Literal[
    "consent", "contract", "legal_obligation", "vital_interests", "public_task", "legitimate_interests"
]
BASES: Final[tuple[Basis, ...]] = get_args(Basis)
KeyRule: TypeAlias = Literal["anywhere", "apart"]
KEY_RULES: Final[tuple[KeyRule, ...]] = ("anywhere", "apart")
KEPT_FOR_GOOD: Final = "never"  # as a retention: no run is purged by itself
REQUIRABLE: Final = ("basis", "purpose")
AUDIT_NAMES_RULES: Final[tuple[AuditNames, ...]] = ("clear", "keyed")
FewPeople: TypeAlias = Literal["tell", "refuse", "allow"]
FEW_PEOPLE_RULES: Final[tuple[FewPeople, ...]] = ("tell", "refuse", "allow")
Pair: TypeAlias = Literal["application", "token"]
Origin: TypeAlias = Literal["environment"] | CredentialPlace
SettingOrigin: TypeAlias = Literal["option", "environment", "setup", "settings file"]
PAIRS: Final[Mapping[Pair, tuple[str, ...]]] = MappingProxyType({"application": APPLICATION, "token": TOKEN})


@dataclass(frozen=True, slots=True, kw_only=True)
class Watch:
    """The receiver, by its name, and the rules of a run that notifies, also when its process is killed."""

    receiver: str
    rules: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """The settings of all runs of one user on one machine. Secrets are wrapped; None where nothing was given."""

    profile: Profile
    ads_url: str | None
    ads_sandbox_url: str | None
    base_url: str | None
    allowed_hosts: frozenset[str]
    account_id: str | None
    secrets: Mapping[str, Secret]
    state_dir: Path
    key: GivenKey = None  # of what is sealed in the state directory; see `keys`
    requests_per_minute: int = PACED_REQUESTS_PER_MINUTE
    concurrency: int = DEFAULT_CONCURRENCY
    limiter: Secret | None = None  # the address of a Redis server, which may hold a password; None: this host's own
    retention: timedelta | None = None  # how long runs are kept; None: until `purge`
    key_place: KeyRule = "anywhere"  # where the state key may be; apart: not beside the files that it opens
    grace_seconds: int = DEFAULT_GRACE_SECONDS  # from a signal to the end of the process at most
    proxy: Secret | None = None  # its address, which may hold a password; None: connections are made straight
    ca_bundle: Path | None = None  # the authorities that alone are believed; None: those of the machine
    named_addresses: frozenset[str] = frozenset()  # by the environment or the program: loopback must be one of them
    few_people: FewPeople = "tell"  # when a run changes so few people of an audience that others can tell about them
    audit_names: AuditNames = "clear"  # of users and hosts in the audit log
    purpose: str = ""  # of runs, for the audit log
    basis: Basis | None = None  # the legal one of runs, for the audit log
    require: frozenset[str] = frozenset()  # those of REQUIRABLE without which no run begins
    notify_url: Secret | None = None  # of the receiver of notifications, and how it takes them; see `notifications`
    notify_command: str = ""  # the program that gets notifications
    notify_secret: Secret | None = None  # by which notifications are signed
    ping_url: Secret | None = None  # the address that each good run calls
    status_file: Path | None = None  # where a run writes how far it is
    events: Path | None = None  # the file that its runs append their events to; - is stdout
    otel_url: Secret | None = None  # of the collector of OpenTelemetry that gets a trace of each run
    otel_headers: Secret | None = None  # of what is sent there
    longest_wait_seconds: float = math.inf  # without a confirmed request; a longer wait ends a run, as LongWait says
    watch: Watch | None = None  # of its runs, which are those of a command that notifies
    named_secrets: Mapping[str, Mapping[str, Secret]] = field(
        default_factory=dict
    )  # of accounts of a setup, by their names
    has_own_account: bool = False  # the account was given for this command, and is not that of the environment
    account_name: str = ""  # that of the account in its setup, whose own credentials come before the common ones
    file_note: str = ""  # what was taken from a file in the working directory, for people; empty when nothing was
    origins: Mapping[str, SettingOrigin] = field(default_factory=dict)  # of what was given, by the names of settings

    def require_account(self) -> str:
        """The account id. Raises CredentialsRefused when none was given."""
        if not self.account_id:
            hint = f"`audiencekit init` asks for it and keeps it; or set {PREFIX}ACCOUNT_ID"
            raise CredentialsRefused("no ads account was given", hint=hint)
        return self.account_id

    def check_key_place(self) -> None:
        """Check that the state key is where the settings allow it. Raises CredentialsRefused.

        Without a key yet, one would be made beside the files.
        """
        if self.key_place == "apart" and place_of_key(self.state_dir, self.key) in (None, "file"):
            raise CredentialsRefused(
                f"the state key is, or would be, beside the files that it opens, and {PREFIX}KEY_PLACE refuses that:"
                " nothing was sent",
                hint="`audiencekit key move` moves it to the keyring; or give one by AUDIENCEKIT_KEY or"
                " AUDIENCEKIT_KEY_COMMAND",
            )

    def require_ads_url(self) -> str:
        """The address of the ads API. Raises UsageError when neither the settings nor the profile give one."""
        url = self.ads_url or self.profile.ads_url
        if not url:
            hint = f"{_BEGIN}; or set {PREFIX}ADS_URL, or choose the public service with {PREFIX}PROFILE=x"
            raise UsageError("the address of the ads API is not known", hint=hint)
        return url

    @property
    def address(self) -> str:
        """The address of the ads API as runs remember it; empty when there is none."""
        return (self.ads_url or self.profile.ads_url or "").rstrip("/")

    def require_base_url(self) -> str:
        """The address where people log in. Raises UsageError when neither the settings nor the profile give one."""
        url = self.base_url or self.profile.base_url
        if not url:
            hint = f"{_BEGIN}; or set {PREFIX}BASE_URL, or choose the public service with {PREFIX}PROFILE=x"
            raise UsageError("the base address of the service is not known", hint=hint)
        return url.rstrip("/")

    @property
    def drain_seconds(self) -> float:
        """The seconds that exchanges under way have after a signal, so that the process ends within its grace."""
        return max(self.grace_seconds - GRACE_MARGIN_SECONDS, self.grace_seconds / 2)

    def for_account(self, name: str, account_id: str | None = None) -> Settings:
        """These settings for the account that a setup calls `name`. Without an id that of these settings stays."""
        is_own = self.has_own_account or bool(account_id)
        return replace(self, account_name=name, account_id=account_id or self.account_id, has_own_account=is_own)

    @property
    def own_secrets(self) -> Mapping[str, Secret]:
        """The credentials that the environment gives for the named account; without a name the common ones."""
        return self.named_secrets.get(variable_part(self.account_name), {}) if self.account_name else self.secrets

    def open_store(self) -> CredentialStore:
        """The credentials kept for this profile, base address and named account.

        Raises UsageError when there is no such address.
        """
        service = f"{self.profile.name} {self.require_base_url()}"
        if self.account_name:
            service += f" {variable_part(self.account_name)}"
        return CredentialStore(self.state_dir, service, self.key)

    def find_credentials(self) -> FoundCredentials:
        """Return the credentials of application and person, each pair from the first place that has a part of it.

        The places are the environment, the keyring, and the file of the state directory; the two are asked only
        for what the environment does not give. A named account has all three for itself, which come first. A kept token
        of another application counts as none. Raises CredentialsRefused and InputOutputFailed for kept credentials that
        cannot be read.
        """
        if not self.account_name:
            return self._completed(FoundCredentials({}, {}))
        common = replace(self, account_name="")
        # The application comes first, wherever it is from: only by it a kept token is known as one of its own.
        application = common._completed(self._completed(FoundCredentials({}, {}))).only("application")
        return common._completed(self._completed(application))

    def _completed(self, found: FoundCredentials) -> FoundCredentials:
        found = found.with_environment(self.own_secrets)
        if len(found.origins) < len(PAIRS) and (self.base_url or self.profile.base_url):
            for place, stored in self.open_store().read():
                found = found.completed(place, stored)
        return found

    def require_secrets(self) -> Mapping[str, Secret]:
        """The four OAuth 1.0a credentials. Raises CredentialsRefused naming those that are missing."""
        found = self.find_credentials().secrets
        missing = [PREFIX + name.upper() for name in SECRET_NAMES if name not in found]
        if missing:
            hint = "set them in the environment, or `audiencekit login`; `audiencekit init` sets up all of it"
            if self.is_rehearsal:
                hint = (
                    f"paste the `export` lines of `audiencekit emulator` into this terminal; for a service here {hint}"
                )
            if self.account_name:
                hint += f"; for this account alone {own_prefix(self.account_name)}…, or `login` with its name"
            raise CredentialsRefused(f"credentials are missing: {', '.join(missing)}", hint=hint)
        return found

    @property
    def is_rehearsal(self) -> bool:
        """Whether the ads API is on this machine."""
        from audiencekit.process.exchanges import is_loopback_host

        try:
            return is_loopback_host(urlsplit(self.address).hostname or "")
        except ValueError:
            return False


@dataclass(frozen=True, slots=True)
class FoundCredentials:
    """Credentials, where each pair of them is from, and who the person is, where that is kept with the token."""

    secrets: Mapping[str, Secret]
    origins: Mapping[Pair, Origin]
    user_id: str = ""
    screen_name: str = ""

    def only(self, pair: Pair) -> FoundCredentials:
        """This with one pair alone."""
        secrets = {name: secret for name, secret in self.secrets.items() if name in PAIRS[pair]}
        return FoundCredentials(secrets, {one: origin for one, origin in self.origins.items() if one == pair})

    def with_environment(self, given: Mapping[str, Secret]) -> FoundCredentials:
        """This with the pairs of `given` that it lacks; one that is not whole is taken, and its rest is missing."""
        pairs = [pair for pair in PAIRS if pair not in self.origins and _any(given, pair)]
        secrets = {name: given[name] for pair in pairs for name in PAIRS[pair] if name in given}
        origins: dict[Pair, Origin] = dict.fromkeys(pairs, "environment")
        return replace(self, secrets={**self.secrets, **secrets}, origins={**self.origins, **origins})

    def completed(self, place: CredentialPlace, stored: StoredCredentials) -> FoundCredentials:
        """This with the pairs of `stored` that it lacks."""
        found = self
        if "application" not in found.origins and _all(stored.secrets, "application"):
            found = found._with("application", place, stored)
        if "token" not in found.origins and _all(stored.secrets, "token") and found._is_application_of(stored):
            found = replace(found._with("token", place, stored), user_id=stored.user_id, screen_name=stored.screen_name)
        return found

    def _with(self, pair: Pair, place: CredentialPlace, stored: StoredCredentials) -> FoundCredentials:
        secrets = {**self.secrets, **{name: stored.secrets[name] for name in PAIRS[pair]}}
        return replace(self, secrets=secrets, origins={**self.origins, pair: place})

    def _is_application_of(self, stored: StoredCredentials) -> bool:
        # A token works only with the application that it was given to.
        return self.secrets.get("consumer_key") == stored.secrets.get("consumer_key")


def _any(secrets: Mapping[str, Secret], pair: Pair) -> bool:
    return any(name in secrets for name in PAIRS[pair])


def _all(secrets: Mapping[str, Secret], pair: Pair) -> bool:
    return all(name in secrets for name in PAIRS[pair])


def load_settings(
    environment: Mapping[str, str] | None = None,
    *,
    directory: Path | None = _HERE,
    file: Path | None = None,
    user_file: bool = True,
    **given: Any,
) -> Settings:
    """The settings from `given` (flags), the environment, the toml file of `directory` and the settings file of the
    user, in this order.

    The directory is the working directory; with None no file of it is read. A `file` that is named is read in its
    place. Without `user_file` the settings file is not read. Raises UsageError for values that are invalid, and for
    keys that a file must not hold; InputOutputFailed for a settings file that another user could have changed.
    """
    environment = own_environment() if environment is None else environment
    path = file or (None if directory is None else directory / SETTINGS_FILE)
    in_file = {} if path is None else _read_file(path)
    found: dict[str, Any] = {}
    for name in (*FILE_KEYS, *CHOICES, *ADDRESSES, *NETWORK, *RULES, *NOTIFICATIONS, *COLLECTOR):
        variable = PREFIX + name.upper()
        value = _read_secret(environment, variable) if name in FILED else environment.get(variable, "").strip()
        if value:
            found[name] = value
    if "state_dir" in found:
        found["state_dir"] = _read_state_dir(found["state_dir"])
    origins: dict[str, SettingOrigin] = dict.fromkeys(found, "environment")
    flags = {name: value for name, value in given.items() if value is not None}
    found.update(flags)
    origins.update(dict.fromkeys(flags, "option"))
    taken = {name: in_file[name] for name in sorted(in_file) if name not in found}
    found.update(taken)
    origins.update(dict.fromkeys(taken, "setup"))
    kept = read_settings_file() if user_file else {}
    if fits_service(kept, found):
        kept = {name: value for name, value in kept.items() if name not in found}
        found.update(kept)
        origins.update(dict.fromkeys(kept, "settings file"))
    return Settings(
        profile=find_profile(str(found.get("profile", DEFAULT_PROFILE))),
        ads_url=found.get("ads_url"),
        ads_sandbox_url=found.get("ads_sandbox_url"),
        base_url=found.get("base_url"),
        allowed_hosts=frozenset(str(found.get("allow_host", "")).replace(",", " ").split()),
        account_id=found.get("account_id"),
        has_own_account=given.get("account_id") is not None,
        secrets=_read_secrets(environment, SECRET_NAMES),
        named_secrets=_read_named_secrets(environment),
        state_dir=_expanded(given["state_dir"]).absolute()
        if given.get("state_dir")
        else _state_dir(environment, found),
        key=read_key(environment),
        requests_per_minute=_number(found, "requests_per_minute", PACED_REQUESTS_PER_MINUTE, REQUESTS_PER_WINDOW),
        concurrency=_number(found, "concurrency", DEFAULT_CONCURRENCY, 256),
        limiter=_read_limiter(str(found.get("limiter", HOST_LIMITER))),
        retention=_read_retention(str(found.get("retention", f"{DEFAULT_RETENTION_DAYS}d"))),
        key_place=choice_of(str(found.get("key_place", "anywhere")), KEY_RULES, f"{PREFIX}KEY_PLACE"),
        grace_seconds=_number(found, "grace_seconds", DEFAULT_GRACE_SECONDS, MOST_GRACE_SECONDS),
        few_people=choice_of(str(found.get("few_people", "tell")), FEW_PEOPLE_RULES, f"{PREFIX}FEW_PEOPLE"),
        audit_names=choice_of(str(found.get("audit_names", "clear")), AUDIT_NAMES_RULES, f"{PREFIX}AUDIT_NAMES"),
        purpose=str(found.get("purpose", "")).strip(),
        basis=choice_of(str(found["basis"]), BASES, "the basis") if "basis" in found else None,
        require=_read_require(str(found.get("require", ""))),
        proxy=_secret_of(found, "proxy"),
        ca_bundle=_read_bundle(found["ca_bundle"]) if "ca_bundle" in found else None,
        notify_url=_secret_of(found, "notify_url"),
        notify_command=str(found.get("notify_command", "")),
        notify_secret=_secret_of(found, "notify_secret"),
        ping_url=_secret_of(found, "ping_url"),
        status_file=_read_status_file(found["status_file"]) if "status_file" in found else None,
        events=_expanded(found["events"]) if "events" in found else None,
        otel_url=_secret_of(found, "otel_url"),
        otel_headers=_secret_of(found, "otel_headers"),
        named_addresses=frozenset(str(found[name]) for name in ADDRESSES if name in found),
        file_note=_in_words(taken, path),
        origins=origins,
    )


def _secret_of(found: Mapping[str, Any], name: str) -> Secret | None:
    return Secret(str(found[name])) if name in found else None


def _read_limiter(text: str) -> Secret | None:
    if text == HOST_LIMITER:
        return None
    if not text.startswith(REDIS_ADDRESSES):
        raise UsageError(f"the limiter is neither {HOST_LIMITER!r} nor an address that begins with redis://")
    return Secret(text)


def read_key(environment: Mapping[str, str]) -> GivenKey:
    key, command = _read_secrets(environment, (KEY_NAME,)).get(KEY_NAME), environment.get(COMMAND_VARIABLE, "").strip()
    if key is not None and command:
        raise UsageError(f"{PREFIX}KEY and {COMMAND_VARIABLE} are both set", hint="give the state key in one way")
    return KeyCommand(command) if command else key


def choice_of(text: str, choices: tuple[R, ...], named: str) -> R:
    """Return the one of `choices` that `text` is. Raises UsageError."""
    for choice in choices:
        if text == choice:
            return choice
    raise UsageError(f"{named} must be {', '.join(choices[:-1])} or {choices[-1]}")


def _read_retention(text: str) -> timedelta | None:
    return None if text == KEPT_FOR_GOOD else parse_age(text, f"{PREFIX}RETENTION")


def _read_require(text: str) -> frozenset[str]:
    found = frozenset(text.replace(",", " ").split())
    if not found <= {*REQUIRABLE}:
        raise UsageError(f"{PREFIX}REQUIRE must be {' or '.join(REQUIRABLE)}, or both with a comma between them")
    return found


def _read_secrets(environment: Mapping[str, str], names: Iterable[str]) -> dict[str, Secret]:
    values = {name: _read_secret(environment, PREFIX + name.upper()) for name in names}
    return {name: Secret(value) for name, value in values.items() if value}


def _read_secret(environment: Mapping[str, str], variable: str) -> str:
    """The value of `variable`, or of the file that `variable`_FILE names; empty for neither.

    Raises UsageError, which never shows it, for both, for a file that cannot be read, and for what was written so that
    it cannot be a secret.
    """
    given, file = environment.get(variable, "").strip(), environment.get(variable + FILE_SUFFIX, "").strip()
    if given and file:
        raise UsageError(f"{variable} and {variable}{FILE_SUFFIX} are both set", hint="give the secret in one way")
    name = variable + FILE_SUFFIX if file else variable
    value = _read_secret_file(name, file) if file else given
    if value.startswith("\ufeff"):
        raise UsageError(f"{name}: the value begins with a byte order mark", hint="save it without one")
    if len(value) > 1 and value[0] == value[-1] and value[0] in _QUOTES:
        hint = "take the quotes out: a shell removes them, docker and files of secrets keep them"
        raise UsageError(f"{name}: the value begins and ends with a quotation mark", hint=hint)
    return value


def _read_secret_file(variable: str, file: str) -> str:
    path = _expanded(file)
    if not path.is_absolute():
        raise UsageError(f"{variable} is not an absolute path", hint="give the full path, from / or ~/")
    reason = "it is not text in UTF-8"
    try:
        value = read_file(path.resolve(), MAX_FILE_BYTES).decode("utf-8").strip()
    except OSError as error:
        value, reason = "", error.strerror or type(error).__name__
    except UnicodeDecodeError:
        value = ""
    else:
        reason = "it is empty"
    if not value:
        raise UsageError(f"the file that {variable} names cannot be taken: {reason}", hint="it holds the secret alone")
    return value


def open_secret_files(environment: Mapping[str, str]) -> Iterator[str]:
    """Yield each variable that names a file with a secret which other users may read.

    Files of root in a volume are exempt: containers get their secrets open to all, and all there is one user.
    """
    for variable in sorted(environment):
        named = variable.removesuffix(FILE_SUFFIX)
        is_filed = named.removeprefix(PREFIX).lower() in (*SECRET_NAMES, *FILED) or _NAMED.fullmatch(named)
        is_file = (named != variable and is_filed) or variable == PREFIX + AGE_IDENTITY.upper()
        if is_file and environment[variable].strip():
            path = _expanded(environment[variable].strip())
            with suppress(OSError):
                if others_may(status := path.stat()) and not (status.st_uid == 0 and _is_mounted(path.resolve())):
                    yield variable


def _is_mounted(file: Path) -> bool:
    # Kubernetes has the files of a secret in a directory below the volume.
    return any(is_volume(one) for one in (file, *file.parents[:2]) if one != Path(file.anchor))


def variable_part(account_name: str) -> str:
    """The name of an account as it stands in variables of the environment: `shop-de` is SHOP_DE."""
    return account_name.upper().replace("-", "_")


def own_prefix(account_name: str) -> str:
    """The begin of the variables that hold the credentials of a named account."""
    return f"{PREFIX}ACCOUNT_{variable_part(account_name)}_"


def is_read(variable: str) -> bool:
    """Whether a variable of the environment with our prefix is a setting, or a credential of a named account."""
    name = variable.removeprefix(PREFIX)
    if (secret := name.removesuffix(FILE_SUFFIX)) != name and secret.lower() in (*SECRET_NAMES, *FILED):
        return True
    return name in VARIABLES or _NAMED.fullmatch(variable.removesuffix(FILE_SUFFIX)) is not None


def _read_named_secrets(environment: Mapping[str, str]) -> dict[str, dict[str, Secret]]:
    found: dict[str, dict[str, Secret]] = {}
    for variable in dict.fromkeys(each.removesuffix(FILE_SUFFIX) for each in environment):
        if (match := _NAMED.fullmatch(variable)) and (value := _read_secret(environment, variable)):
            found.setdefault(match[1], {})[match[2].lower()] = Secret(value)
    return found


def _read_file(path: Path) -> dict[str, Any]:
    try:
        if not path.is_file():
            return {}
    except OSError:  # of a working directory that is not ours to look into, as after `sudo -u` in /root
        return {}
    import tomllib  # few have such a file

    try:
        content = tomllib.loads(read_file(path.resolve(), MAX_FILE_BYTES).decode("utf-8-sig"))
    except (OSError, UnicodeDecodeError):
        raise UsageError(f"{str(path.absolute())!r} cannot be read as TOML") from None
    except tomllib.TOMLDecodeError as error:
        raise UsageError(f"{str(path.absolute())!r} is not TOML: {error}") from None
    except ValueError:  # of Python, which reads no number of so many digits
        raise UsageError(f"{str(path.absolute())!r} holds a number that is too long") from None
    content = {name: value for name, value in content.items() if not _is_of_a_setup(name, value)}
    if alien := sorted(set(content) - FILE_KEYS):
        raise UsageError(
            f"{str(path.absolute())!r} has fields that it must not have: {', '.join(map(ascii, alien))}",
            hint=f"a file in the working directory may give {' and '.join(sorted(FILE_KEYS))} only, since others can"
            f" put one there: {_elsewhere(alien)}; or remove the file, where it is not yours",
        )
    if wrong := sorted(name for name, value in content.items() if not isinstance(value, str | int)):
        raise UsageError(f"{SETTINGS_FILE}: {', '.join(wrong)} must be text or a whole number")
    return {name: str(value) for name, value in content.items()}


def _is_of_a_setup(name: str, value: Any) -> bool:
    return name in SETUP_TABLES and isinstance(value, dict)


def _number(found: Mapping[str, Any], name: str, default: int, most: int) -> int:
    text = str(found.get(name, default))
    if not text.isdecimal() or len(text) > _MOST_DIGITS or not 1 <= int(text) <= most:
        raise UsageError(f"{name} must be a whole number from 1 to {most}")
    return int(text)


def _elsewhere(alien: list[str]) -> str:
    """Where keys that the file must not hold belong."""
    names = [PREFIX + name.upper() for name in alien if name == name.lower() and name.upper() in VARIABLES]
    return f"set {', '.join(names)} in the environment" if names else "take the rest out"


def _in_words(taken: Mapping[str, str], path: Path | None) -> str:
    if not taken or path is None:
        return ""
    given = ", ".join(f"{name} = {value}" for name, value in taken.items())
    return f"{str(path.absolute())!r} gives {given}"


def _expanded(path: str | os.PathLike[str]) -> Path:
    return Path(os.path.expanduser(path))  # which leaves a user who is not there as it is


def _read_state_dir(text: str) -> Path:
    """Raises UsageError for a path that means another directory wherever the program is started."""
    path = _expanded(text)
    if not path.is_absolute():
        raise UsageError(
            f"{PREFIX}STATE_DIR is not an absolute path: it would mean another directory in every working directory,"
            " with other credentials and another memory of erasures",
            hint="give the full path, from / or ~/",
        )
    return path


def _read_status_file(text: str | os.PathLike[str]) -> Path:
    """Raises UsageError for a path that means another file wherever the program is started."""
    path = _expanded(text)
    if not path.is_absolute():
        message = f"{PREFIX}STATUS_FILE is not an absolute path: it would depend on the working directory"
        raise UsageError(message, hint="give the full path, from / or ~/")
    return path


def _read_bundle(text: str | os.PathLike[str]) -> Path:
    """Raises UsageError for a path that means other authorities wherever the program is started."""
    path = _expanded(text)
    if not path.is_absolute():
        raise UsageError(
            f"{PREFIX}CA_BUNDLE is not an absolute path: its authorities would depend on the working directory",
            hint="give the full path, from / or ~/",
        )
    return path


def _state_dir(environment: Mapping[str, str], found: Mapping[str, Any]) -> Path:
    """Raises UsageError for a state in a bucket that is not open, and for one that is given twice."""
    address = state_address(environment)
    if not address:
        return _expanded(found["state_dir"]).absolute() if "state_dir" in found else _default_state_dir()
    if not is_bucket(address):
        return _read_state_dir(address)
    if (copy := working_copy(address)) is None:
        raise UsageError(
            f"{STATE} names a bucket, and its state is not open", hint="in Python: `with audiencekit.open_state():`"
        )
    return copy


def state_address(environment: Mapping[str, str]) -> str:
    """Return the address that AUDIENCEKIT_STATE gives. Raises UsageError if the state is given in two ways, and for a
    witness of a state that is not in a bucket."""
    address = environment.get(STATE, "").strip()
    if environment.get(WITNESS, "").strip() and not is_bucket(address):
        raise UsageError(
            f"{WITNESS} is given, and {STATE} names no bucket", hint="a state in a directory has no witness"
        )
    if address and environment.get(f"{PREFIX}STATE_DIR", "").strip():
        raise UsageError(f"{STATE} and {PREFIX}STATE_DIR are both given", hint="give one of them")
    return address


def _default_state_dir() -> Path:
    if (path := user_directory("state")) is None:
        hint = f"set {PREFIX}STATE_DIR to a directory that only this user can write in"
        raise UsageError("this user has no home directory that state could be kept in", hint=hint)
    return path
