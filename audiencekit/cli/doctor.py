"""`doctor`: checks of everything that a run needs besides a list."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from datetime import timedelta
from typing import TYPE_CHECKING, Any, Final

import click

from audiencekit.cli.command_help import Command
from audiencekit.cli.command_settings import MAKE_PRIVATE, READABLE_FILE, command_settings
from audiencekit.cli.options import json_option
from audiencekit.cli.output import COMPILE, NOT_IN_USE, kernels_warning, print_told, say_document
from audiencekit.cli.sending_commands import service_options
from audiencekit.errors import AudiencekitError, InputOutputFailed, Refused
from audiencekit.process.programs import own_environment
from audiencekit.text import install_extra, shown

if TYPE_CHECKING:
    from audiencekit.settings import Settings


LEAST_FREE_BYTES: Final = 10_000_000  # journal, locks, limiter and reports of one small run
FREE_BYTES: Final = 2_000_000_000  # on the disk of the state directory: a spool of some ten million records
CLOSE_SECONDS: Final = 30  # of our clock to that of the service
FAR_SECONDS: Final = 300  # from here on signatures are refused
_CREDENTIALS: Final = 77
_ALWAYS: Final = (
    "profile",
    "ads_url",
    "base_url",
    "account_id",
    "state_dir",
    "requests_per_minute",
    "concurrency",
    "retention",
)
_ATTRIBUTES: Final = {"allow_host": "allowed_hosts"}
# Addresses that may hold a password, or are secrets; and a command, which may hold one among its words.
_SECRETS: Final = frozenset(
    {"limiter", "proxy", "notify_url", "notify_secret", "notify_command", "ping_url", "otel_url", "otel_headers"}
)
# The name of each form, the package that it needs, and the extra that installs it.
OPTIONAL_FORMS: Final = (
    ("lists encrypted with age", "pyrage", "age"),
    ("lists in buckets (s3://, gs://, az://)", "obstore", "cloud"),
    ("lists behind SFTP", "asyncssh", "sftp"),
    ("queries to PostgreSQL", "adbc_driver_postgresql", "postgresql"),
    ("queries to Snowflake", "adbc_driver_snowflake", "snowflake"),
    ("queries to BigQuery", "adbc_driver_bigquery", "bigquery"),
    ("queries to Flight SQL", "adbc_driver_flightsql", "flightsql"),
)
# The same of those that a program of the machine reads.
OPTIONAL_PROGRAMS: Final = (("lists encrypted with PGP", "gpg", "GnuPG"),)


@dataclass(frozen=True, slots=True)
class DoctorCheck:
    """The result of one check: `status` is ok, warning or problem; `remedy` says what to do about the latter two."""

    name: str
    status: str
    message: str
    remedy: str | None = None
    exit_code: int = 0


@click.command(cls=Command, examples=("doctor", "doctor --json"))
@service_options
@json_option
def doctor(as_json: bool, **given: Any) -> None:
    """Check settings, credentials, clock, disk and kernels.

    It says what to do about each problem.
    """
    origins: list[SettingFound] = []
    checks = list(_checks(given, origins))
    if as_json:
        shown_checks = [{name: value for name, value in asdict(one).items() if name != "exit_code"} for one in checks]
        found = [{"name": one.name, "value": one.value, "from": one.origin} for one in origins]
        print_told({"checks": shown_checks, "settings": found, "verdict": _verdict(checks)})
    else:
        lines = [*map(_line, checks), "", "settings and where they are from", *_table(origins)]
        say_document("\n".join([*lines, "", f"verdict: {_verdict(checks)}"]))
    sys.exit(next((one.exit_code for one in checks if one.exit_code), 0))


def _verdict(checks: list[DoctorCheck]) -> str:
    if any(one.status == "problem" for one in checks):
        return "not ready"
    return "ready with warnings" if any(one.status == "warning" for one in checks) else "ready"


def _line(one: DoctorCheck) -> str:
    start = f"{one.name}: {one.message}" if one.status == "ok" else f"{one.status}: {one.name}: {one.message}"
    return shown(f"{start}; {one.remedy}" if one.remedy else start)


def _table(origins: list[SettingFound]) -> Iterator[str]:
    widths = [max((len(shown(getattr(one, name))) for one in origins), default=0) for name in ("name", "value")]
    for one in origins:
        yield f"  {one.name:<{widths[0]}}  {shown(one.value or 'none'):<{widths[1]}}  {one.origin}"


def _checks(given: dict[str, Any], origins: list[SettingFound]) -> Iterator[DoctorCheck]:
    from audiencekit.settings import open_secret_files

    yield _kernels()
    yield from _lists()
    try:
        settings = command_settings(**given)
    except AudiencekitError as error:
        yield _failed("settings", error)
        return
    origins += _settings_found(settings)
    yield _settings_file(settings)
    for variable in open_secret_files(own_environment()):
        yield DoctorCheck("secrets", "warning", READABLE_FILE.format(variable), MAKE_PRIVATE)
    yield DoctorCheck("settings", "ok", f"profile {settings.profile.name}, account {settings.account_id or 'none'}")
    yield from _state(settings)
    yield from _service(settings)


def _failed(name: str, error: AudiencekitError) -> DoctorCheck:
    return DoctorCheck(name, "problem", str(error), error.hint or None, error.exit_code)


@dataclass(frozen=True, slots=True)
class SettingFound:
    """A setting, its value as it may be shown (None: not set), and the origin of the value."""

    name: str
    value: str | None
    origin: str


def _settings_found(settings: Settings) -> Iterator[SettingFound]:
    """The settings that every run has, others where they were given, and the two pairs of credentials."""
    from audiencekit.settings import PAIRS
    from audiencekit.settings_file import ADDRESSES

    for name in (*_ALWAYS, *(one for one in sorted(settings.origins) if one not in _ALWAYS)):
        origin: str = settings.origins.get(name, "default")
        value = getattr(settings, _ATTRIBUTES.get(name, name), None)
        if name == "profile":
            value = settings.profile.name
        elif name in ADDRESSES and value is None:
            value, origin = getattr(settings.profile, name), f"profile {settings.profile.name}"
        if name in _SECRETS:
            value = "set"
        elif isinstance(value, timedelta):
            value = f"{value / timedelta(days=1):g}d"
        elif isinstance(value, frozenset):
            value = ", ".join(sorted(value))
        yield SettingFound(name, None if value is None else str(value), origin)
    with contextlib.suppress(AudiencekitError):  # which the check of the credentials tells
        places = settings.find_credentials().origins
        for pair in PAIRS:
            yield SettingFound(pair, "set" if pair in places else None, str(places.get(pair, "nowhere")))


def _settings_file(settings: Settings) -> DoctorCheck:
    from audiencekit.settings_file import read_settings_file, settings_path

    path = settings_path()
    kept = read_settings_file()
    if not kept or path is None:
        return DoctorCheck("settings file", "ok", "none: `audiencekit init` writes it")
    if "settings file" in settings.origins.values() or all(name in settings.origins for name in kept):
        return DoctorCheck("settings file", "ok", shown(path))
    return DoctorCheck("settings file", "ok", f"{shown(path)} is not used: another service is named before it")


def _kernels() -> DoctorCheck:
    if kernels_warning() is None:
        return DoctorCheck("kernels", "ok", "in use")
    return DoctorCheck("kernels", "warning", NOT_IN_USE, COMPILE)


def _lists() -> Iterator[DoctorCheck]:
    """The forms of lists that are read, and those that need an extra which is not installed."""
    from importlib.util import find_spec

    from audiencekit.process.programs import find_program
    from audiencekit.sources.bytes.compression import COMPRESSIONS
    from audiencekit.sources.formats import FORMATS

    packed = ", ".join(compression.name for compression in COMPRESSIONS)
    yield DoctorCheck("queries to SQLite", "ok", "available")
    yield DoctorCheck("lists", "ok", f"{', '.join(one.shown for one in FORMATS)}; packed as {packed}")
    for name, package, extra in OPTIONAL_FORMS:
        if find_spec(package) is not None:
            yield DoctorCheck(name, "ok", "available")
        else:
            yield DoctorCheck(name, "ok", "not installed", install_extra(extra))
    for name, program, package in OPTIONAL_PROGRAMS:
        if find_program(program) is not None:
            yield DoctorCheck(name, "ok", "available")
        else:
            yield DoctorCheck(name, "ok", "not installed", f"install {package}, which has the program {program}")


def _state(settings: Settings) -> Iterator[DoctorCheck]:
    import shutil

    from audiencekit.state.keys import check_state

    place = shown(settings.state_dir)
    try:
        check_state(settings.state_dir, settings.key)
        free = shutil.disk_usage(settings.state_dir).free
    except AudiencekitError as error:
        yield _failed("state directory", error)
        return
    yield DoctorCheck("state directory", "ok", place)
    yield _key(settings)
    gigabytes = f"{free / 1e9:,.1f} GB are free on the disk of {place}"
    if free >= FREE_BYTES:
        yield DoctorCheck("disk", "ok", gigabytes)
    elif free < LEAST_FREE_BYTES:
        code = InputOutputFailed.exit_code
        yield DoctorCheck("disk", "problem", gigabytes, "no run can begin: free some space", code)
    else:
        yield DoctorCheck(
            "disk", "warning", gigabytes, "a run keeps its records there, sealed: 80 bytes for an address"
        )


def _key(settings: Settings) -> DoctorCheck:
    """Where the state key is: a copy of the state directory opens nothing when it is elsewhere."""
    from audiencekit.audiences.key_rotation import count_sealed
    from audiencekit.state.key_places import place_of_key
    from audiencekit.state.keys import existing_state_key, refuse_lost_key

    try:
        settings.check_key_place()
        refuse_lost_key(settings.state_dir, settings.key)
        place = place_of_key(settings.state_dir, settings.key)
        found = existing_state_key(settings.state_dir, settings.key)
        sealed = {} if found is None else count_sealed(settings.state_dir, found)
    except AudiencekitError as error:
        return _failed("state key", error)
    if closed := sum(counts["refused"] for counts in sealed.values()):
        what = f"{closed:,} of the sealed files are damaged, or of another key than this one ({place})"
        hint = "give the key of then: `audiencekit key show` counts the files"
        return DoctorCheck("state key", "problem", what, hint, Refused.exit_code)
    if place == "file":
        beside = "in the state directory, beside the files that it opens: a copy of the directory opens them"
        return DoctorCheck("state key", "warning", beside, "`audiencekit key move --to keyring` moves it")
    return DoctorCheck("state key", "ok", place or "none yet: the first run makes one, in the state directory")


def _service(settings: Settings) -> Iterator[DoctorCheck]:
    import asyncio

    try:
        found = asyncio.run(_ask(settings))
    except AudiencekitError as error:
        yield _failed("credentials", error)
        return
    yield from found


async def _ask(settings: Settings) -> list[DoctorCheck]:
    import time

    from audiencekit.api.login import who_am_i
    from audiencekit.api.opening import open_client
    from audiencekit.destinations.audience_look import READS_ONLY, READS_ONLY_HINT, VIEWING, may_only_read

    who = await who_am_i(settings)
    user = f"{who.user_id or 'unknown'}" + (f" ({who.screen_name})" if who.screen_name else "")
    found = [DoctorCheck("credentials", "ok", f"user {user} of {who.ads_url}")]
    if settings.account_id is None or who.permissions is None:
        accounts = ", ".join(who.accounts) or "none"
        remedy = f"`audiencekit init` keeps it; or set AUDIENCEKIT_ACCOUNT_ID, to one of: {accounts}"
        return [*found, DoctorCheck("permission", "problem", "no ads account is set", remedy, _CREDENTIALS)]
    if set(who.permissions) <= VIEWING:
        told = ", ".join(who.permissions) or "none"
        remedy = "ask the owner of the account for a role that may change audiences"
        message = f"account {settings.account_id} may only be looked at ({told})"
        return [*found, DoctorCheck("permission", "problem", message, remedy, _CREDENTIALS)]
    async with open_client(settings) as client:
        answer = await client.list_custom_audiences(count=1)
    if may_only_read(answer):
        found.append(DoctorCheck("permission", "problem", READS_ONLY, READS_ONLY_HINT, _CREDENTIALS))
    else:
        found.append(DoctorCheck("permission", "ok", f"account {settings.account_id}: {', '.join(who.permissions)}"))
    return [*found, _clock(answer.answered_at, time.time())]


def _clock(service: int | None, ours: float) -> DoctorCheck:
    """The clocks of this machine and of the service, in epoch seconds."""
    if service is None:
        return DoctorCheck("clock", "ok", "the service does not say its time")
    off = round(ours - service)
    message = f"{abs(off)} seconds {'ahead of' if off > 0 else 'behind'} the service"
    if abs(off) < CLOSE_SECONDS:
        return DoctorCheck("clock", "ok", message)
    remedy = "set the clock of this machine, or have it set by NTP"
    return DoctorCheck("clock", "problem" if abs(off) >= FAR_SECONDS else "warning", message, remedy)
