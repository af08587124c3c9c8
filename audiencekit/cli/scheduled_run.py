"""A `run` that another system starts every night: its command, its name, and the settings that it needs there.

Only the variables of secrets are held here, never their values.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import time
from pathlib import Path
from typing import Final

from audiencekit.audiences.setups.setup import AudienceSetup, Setup
from audiencekit.errors import UsageError
from audiencekit.process.programs import own_environment
from audiencekit.settings import (
    AGE_IDENTITY,
    FILE_SUFFIX,
    FILED,
    KEY_NAME,
    KNOWN_HOSTS,
    PREFIX,
    SECRET_NAMES,
    SETTINGS_FILE,
    Settings,
    is_read,
    state_address,
)
from audiencekit.sources.remote.addresses import is_address
from audiencekit.state.directory import user_directory
from audiencekit.state.durability import STATE, WITNESS, is_bucket
from audiencekit.state.key_command import COMMAND_VARIABLE
from audiencekit.text import shown

# A schedule may do two things with an exit code: repeat the command, which goes on where the last one ended, or leave
# it, since the same would be refused again. The codes are those of the classes in `errors.py`.
REPEATED: Final = (69, 74, 75)
LEFT: Final = (1, 2, 3, 77)
ENDED_BY_SIGNAL: Final = (137, 143)  # SIGKILL and SIGTERM, as a shell and a container tell them

KEY_VARIABLE: Final = PREFIX + KEY_NAME.upper()
NAMED: Final = f"{PREFIX}ACCOUNT_"  # the beginning of the variables of accounts of a setup
_COPIED: Final = (
    *("profile", "ads_url", "ads_sandbox_url", "base_url", "account_id", "allow_host"),
    *("few_people", "retention", "requests_per_minute", "concurrency"),
)
_PATHS: Final = ("ca_bundle", AGE_IDENTITY, KNOWN_HOSTS)  # settings that name a file of this machine
_WITNESS: Final = WITNESS.removeprefix(PREFIX)
_SYSTEM_USER: Final = "audiencekit"  # of a service that root sets up
_LONGEST_NAME: Final = 52  # of a CronJob, whose jobs add to it (RFC 1123 labels have 63 letters)
_NO_LETTER: Final = re.compile(r"[^a-z0-9]+")


@dataclass(frozen=True, slots=True, kw_only=True)
class ScheduledRun:
    """A `run` of the audiences of `setup`, or those of `names`, every night `at` a time.

    `program` is the command of this installation. `settings` are variables without secrets, and `paths` those that name
    files of this machine. `secrets` are the variables of secrets that this environment sets, each with the file that it
    is in, or could be put into. `bucket` are the variables of a state that is in a bucket. `has_key_command` says that
    it sets a program that prints the state key.
    """

    setup: Setup
    names: tuple[str, ...]
    at: time
    program: tuple[str, ...]
    user: str
    state_dir: Path
    bucket: Mapping[str, str] = field(default_factory=dict)
    log: Path
    settings: Mapping[str, str] = field(default_factory=dict)
    paths: Mapping[str, str] = field(default_factory=dict)
    secrets: Mapping[str, Path] = field(default_factory=dict)
    has_key_command: bool = False

    @property
    def audiences(self) -> tuple[AudienceSetup, ...]:
        """The audiences that it fills. Raises UsageError for an unknown name."""
        return self.setup.chosen(self.names or None)

    @property
    def name(self) -> str:
        """A name for units, jobs and DAGs: of the setup, else of its directory, and of chosen audiences."""
        path = self.setup.path
        stem = path.parent.name if path.name == SETTINGS_FILE else path.stem
        words = [word for text in ("audiencekit", stem, *self.names) if (word := _name_of(text))]
        return "-".join(dict.fromkeys(words))[:_LONGEST_NAME].rstrip("-")

    def words(self, setup: str | None = None, *options: str) -> list[str]:
        """The words behind the program; `setup` is its path where the schedule runs."""
        chosen = ["--", *self.names] if self.names else ["--all"]
        return ["run", "--setup", setup or str(self.setup.path), *options, *chosen]

    @property
    def needed_secrets(self) -> tuple[str, ...]:
        """The variables of the secrets that a machine without a login needs.

        The common credentials are among them, unless this environment sets those of named accounts alone.
        """
        common = [PREFIX + name.upper() for name in SECRET_NAMES]
        others = [name for name in self.secrets if name not in common]
        has_named = any(name.startswith(NAMED) for name in others)
        wanted = [] if has_named and not set(common) & set(self.secrets) else common
        return tuple(dict.fromkeys([KEY_VARIABLE, *wanted, *others]))

    @property
    def accounts(self) -> list[str]:
        """The names of the accounts that the setup gives to its audiences."""
        return list(dict.fromkeys(one.account for one in self.audiences if one.account))

    def files(self) -> Iterator[Path]:
        """Yield the lists and suppression sources that are files."""
        for one in self.audiences:
            for path in (*one.sources, *one.keywords.get("suppress", ())):
                if not is_address(str(path)):
                    yield Path(path)

    def files_below(self, directory: Path) -> list[str]:
        """Return those files as paths from `directory`. Raises UsageError for one that lies elsewhere."""
        found = []
        for path in map(_normal, self.files()):
            if not path.is_relative_to(directory):
                hint = "put the lists below the directory of the setup, or name an address such as s3://…"
                raise UsageError(f"the list {str(path)!r} lies outside of {str(directory)!r}", hint=hint)
            found.append(path.relative_to(directory).as_posix())
        return list(dict.fromkeys(found))


def scheduled_run(setup: Setup, names: Sequence[str], at: time, settings: Settings) -> ScheduledRun:
    """The run of `setup` with the settings of this process. Raises UsageError for a text that no file could hold."""
    environment = own_environment()
    found = ScheduledRun(
        setup=Setup(_normal(setup.path), setup.audiences),
        names=tuple(names),
        at=at,
        program=_program(),
        user=_user(),
        state_dir=settings.state_dir,
        bucket=_bucket(environment),
        log=_log_directory(_normal(setup.path)) / "audiencekit-nights.jsonl",
        settings=_copied(settings, environment),
        paths={
            PREFIX + name.upper(): value
            for name in (*_PATHS, _WITNESS)
            if (value := _given(environment, name)) and not is_bucket(value)
        },
        secrets=_secrets(settings, environment),
        has_key_command=COMMAND_VARIABLE in environment,
    )
    _ = found.audiences
    _refuse_unwritable([*found.program, str(found.setup.path), str(found.state_dir), str(found.log)])
    _refuse_unwritable(map(str, found.files()))
    _refuse_unwritable([*found.settings.values(), *found.paths.values(), *map(str, found.secrets.values())])
    return found


def _program() -> tuple[str, ...]:
    script = Path(sys.executable).with_name("audiencekit")
    return (str(script),) if script.is_file() else (sys.executable, "-m", "audiencekit")


def _user() -> str:
    """The user whose lists and program these are; for root a user of the service."""
    if sys.platform == "win32" or os.geteuid() == 0:
        return _SYSTEM_USER
    import pwd

    try:
        return pwd.getpwuid(os.geteuid()).pw_name
    except KeyError:
        return str(os.geteuid())


def _log_directory(setup: Path) -> Path:
    """The directory of the setup, else that of the user: each is there before the first night."""
    home = Path(os.path.expanduser("~"))
    return setup.parent if os.access(setup.parent, os.W_OK) or not home.is_absolute() else home


def _copied(settings: Settings, environment: Mapping[str, str]) -> dict[str, str]:
    """The settings of the environment and of the settings file; those of the setup are read from there."""
    known = {"profile": settings.profile.name, "account_id": settings.account_id, "ads_url": settings.ads_url}
    known |= {"ads_sandbox_url": settings.ads_sandbox_url, "base_url": settings.base_url}
    known |= {"allow_host": " ".join(sorted(settings.allowed_hosts))}
    found = {}
    for name in _COPIED:
        value = known[name] if name in known else _given(environment, name)
        if value and settings.origins.get(name) in ("environment", "settings file"):
            found[PREFIX + name.upper()] = value
    return found


def _bucket(environment: Mapping[str, str]) -> dict[str, str]:
    """Return the variables of a state in a bucket: its address, and that of its witness where it has one in another."""
    if not is_bucket(address := state_address(environment)):
        return {}
    witness = _given(environment, _WITNESS)
    return {STATE: address} | ({WITNESS: witness} if is_bucket(witness) else {})


def _given(environment: Mapping[str, str], name: str) -> str:
    return environment.get(PREFIX + name.upper(), "").strip()


def _secrets(settings: Settings, environment: Mapping[str, str]) -> dict[str, Path]:
    """The variables of secrets, in their order, each with its file."""
    directory = (user_directory("configuration") or settings.state_dir) / "secrets"
    first = [PREFIX + name.upper() for name in (*FILED, *SECRET_NAMES)]
    given = [name for name in environment if name.startswith(NAMED) and is_read(name)]
    named = [name.removesuffix(FILE_SUFFIX) for name in sorted(given) if name != f"{NAMED}ID"]
    found = {}
    for variable in dict.fromkeys([*first, *named]):
        if file := environment.get(variable + FILE_SUFFIX, "").strip():
            found[variable] = Path(file).expanduser()
        elif environment.get(variable, "").strip():
            found[variable] = directory / file_name(variable)
    return found


def file_name(variable: str) -> str:
    """The name of the file that holds the secret of `variable`: `access_token`."""
    return variable.removeprefix(PREFIX).lower()


def _normal(path: Path) -> Path:
    return Path(os.path.normpath(path.absolute()))


def _name_of(text: str) -> str:
    return _NO_LETTER.sub("-", text.lower()).strip("-")


def _refuse_unwritable(texts: Iterable[str]) -> None:
    for text in texts:
        if shown(text) != text:
            hint = "rename it: the file of a schedule could not hold it"
            raise UsageError(f"a path or a setting has a control character, or is not UTF-8: {text!r}", hint=hint)
        if "@" in text and "://" in text:
            hint = "take the user out of it: what is printed may be kept where others read it"
            raise UsageError("an address among the settings holds a user and perhaps a password", hint=hint)
