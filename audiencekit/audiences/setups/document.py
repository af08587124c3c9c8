"""The file of a setup, TOML -> audiences; every broken rule with its place in the file.

    [accounts.shop]
    account_id = "18ce54d4x5t"

    [lists.customers]
    source = "exports/customers.csv"
    country = "DE"

    [audiences.spring-customers]
    list = "customers"
    audience = "h1ab2"
    account = "shop"

The other keys of a list and of an audience are the keywords of `sync` and `upload`; an audience comes before its list.
With `command = "do-not-reach"` an audience stands for the do-not-reach list of its account.
Paths count from the directory of the file. It never holds a secret, an address or a state directory.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from difflib import get_close_matches
from pathlib import Path
from typing import Any, Final, get_args

from audiencekit.audiences.setups.one_audience import find_conflicts
from audiencekit.audiences.setups.setup import AudienceSetup, Command, Setup, read_definition
from audiencekit.destinations.ads import DO_NOT_REACH_LIST
from audiencekit.errors import AudiencekitError, DefinitionRefused, UsageError
from audiencekit.planning.options import Keywords, Options, SyncKeywords, read_keywords
from audiencekit.planning.plan_inputs import PlanTerms
from audiencekit.profile import SPEC
from audiencekit.service_words import is_service_id
from audiencekit.settings import (
    AGE_IDENTITY,
    BASES,
    CHOICES,
    COLLECTOR,
    FILE_KEYS,
    KEY_COMMAND,
    KEY_NAME,
    NETWORK,
    NOTIFICATIONS,
    RULES,
    SECRET_NAMES,
    SETUP_TABLES,
    variable_part,
)
from audiencekit.settings_file import ADDRESSES
from audiencekit.sources.files import FilePath
from audiencekit.sources.remote.addresses import is_address, is_stored_whole, stored_address

_NAME: Final = re.compile(r"[A-Za-z0-9_-]{1,64}", re.ASCII)
_ACCOUNT_KEYS: Final = frozenset({"account_id", "note"})
_OWN_KEYS: Final = frozenset(
    {
        "list",
        "source",
        "audience",
        "account",
        "command",
        "allow_shrink",
        "schedule",
        "notify",
        "notify_on",
        "purpose",
        "basis",
    }
)
_KEYWORDS: Final = frozenset(Keywords.__annotations__)
_SECRETS: Final = frozenset(
    {
        *SECRET_NAMES,
        KEY_NAME,
        KEY_COMMAND,
        AGE_IDENTITY,
        "proxy",
        "limiter",
        "notify_url",
        "notify_secret",
        "ping_url",
        *COLLECTOR,
        "password",
        "token",
        "secret",
        "credentials",
        "api_key",
    }
)
_ELSEWHERE: Final = (
    frozenset({*CHOICES, *ADDRESSES, *NETWORK, *RULES, *NOTIFICATIONS})
    - _SECRETS
    - {"account_id", "few_people", "purpose", "basis"}
)
_KEEPS_OUT: Final = "a do-not-reach list keeps people out: leave suppression and consent out"
_NOT_OF_THE_LIST: Final = {
    "effective_at": "a do-not-reach list takes effect at once: leave this out",
    "suppress": _KEEPS_OUT,
    "consent_column": _KEEPS_OUT,
}


def read_setup(path: Path, *, now: datetime | None = None) -> Setup:
    """Return the setup in the file at `path`; `now` is the time from which its times count.

    Raises InputOutputFailed when it cannot be read, DefinitionRefused with every broken rule. No value of a secret is
    in its message.
    """
    content = _load(path)
    reader = _Reader(path.absolute(), now or datetime.now(UTC))
    audiences = reader.read(content)
    if reader.problems:
        raise DefinitionRefused(str(path), reader.problems)
    return Setup(path.absolute(), audiences)


def _load(path: Path) -> dict[str, Any]:
    content = read_definition(path)
    try:
        return tomllib.loads(content.decode())
    except (UnicodeDecodeError, RecursionError):
        problem = "it is not TOML"
    except tomllib.TOMLDecodeError as error:
        problem = f"it is not TOML: {error}"
    except ValueError:  # of Python, which reads no number of so many digits
        problem = "it holds a number that is too long"
    raise DefinitionRefused(str(path), [("", problem)])


class _Reader:
    """Read on after a broken rule, so that all of them are reported at once."""

    def __init__(self, path: Path, now: datetime) -> None:
        self._directory, self._now = path.parent, now
        self.problems: list[tuple[str, str]] = []

    def read(self, content: dict[str, Any]) -> tuple[AudienceSetup, ...]:
        """Return the audiences in the order of the file, without those that break a rule."""
        self.problems += _forbidden(content)
        self._refuse_unknown("", content, FILE_KEYS | SETUP_TABLES)
        accounts, lists, audiences = (self._tables(content, kind) for kind in ("accounts", "lists", "audiences"))
        self._refuse_alike(accounts)
        for name, account in accounts.items():
            self._refuse_unknown(f"accounts.{name}", account, _ACCOUNT_KEYS)
            if not is_service_id(account.get("account_id")):
                self.problems.append((f"accounts.{name}.account_id", "the id of an ads account is needed, in quotes"))
        for name, one in lists.items():
            self._refuse_unknown(f"lists.{name}", one, _KEYWORDS | {"source"})
        if not audiences and "audiences" not in dict(self.problems):
            self.problems.append(("audiences", "at least one audience is needed: [audiences.NAME]"))
        found = [self._audience(name, one, accounts, lists) for name, one in audiences.items()]
        sound = tuple(one for one in found if one is not None)
        self.problems += find_conflicts(sound, lambda one: (one.account_id, one.audience))
        return sound

    def _refuse_alike(self, accounts: Mapping[str, Any]) -> None:
        """Refuse two names with the same variables of the environment: they would share their credentials."""
        known: dict[str, str] = {}
        for name in accounts:
            if (other := known.setdefault(variable_part(name), name)) != name:
                self.problems.append((f"accounts.{name}", f"in variables it reads like {other!r}: rename one of them"))

    def _tables(self, content: Mapping[str, Any], kind: str) -> dict[str, dict[str, Any]]:
        tables = content.get(kind, {})
        found = tables if isinstance(tables, dict) else {}
        if not isinstance(tables, dict) or not all(isinstance(one, dict) for one in found.values()):
            self.problems.append((kind, f"this is a table of tables: [{kind}.NAME]"))
        for name in found:
            if not _NAME.fullmatch(name):
                self.problems.append((f"{kind}.{name}", "a name has letters, digits, - and _, 64 at most"))
        return {name: one for name, one in found.items() if isinstance(one, dict)}

    def _audience(
        self,
        name: str,
        content: dict[str, Any],
        accounts: Mapping[str, dict[str, Any]],
        lists: Mapping[str, dict[str, Any]],
    ) -> AudienceSetup | None:
        place, before = f"audiences.{name}", len(self.problems)
        self._refuse_unknown(place, content, _KEYWORDS | _OWN_KEYS)
        command = content.get("command", "sync")
        if command not in get_args(Command):
            self.problems.append((f"{place}.command", "it must be sync, upload or do-not-reach"))
        account = self._named(place, "account", content, accounts)
        given = {**self._named(place, "list", content, lists), **content}
        audience, sources = self._target(place, command, given), self._paths(place, "source", given)
        if not sources:
            self.problems.append((place, "it has no list: `list` names one, or `source` is the path of a file"))
        keywords = self._keywords(place, command, given)
        self._check_notify(place, content)
        self._check_purpose(place, content)
        if len(self.problems) > before:
            return None
        return AudienceSetup(
            name=name,
            command=command,
            audience=audience,
            sources=sources,
            account=content.get("account"),
            account_id=account.get("account_id"),
            schedule=str(content.get("schedule", "")),
            notify=content.get("notify"),
            notify_on=tuple(content.get("notify_on", ())),
            purpose=content.get("purpose", ""),
            basis=content.get("basis"),
            keywords=keywords,
        )

    def _target(self, place: str, command: str, given: Mapping[str, Any]) -> str:
        """Return the id or the name of the audience; empty for the do-not-reach list, and for a broken rule."""
        audience = given.get("audience")
        if command not in get_args(Command):  # which may need none
            return ""
        if command == "do-not-reach":
            if audience is not None:
                self.problems.append((f"{place}.audience", "an account has one do-not-reach list: leave this out"))
            return ""
        if isinstance(audience, str) and audience.strip():
            return audience
        self.problems.append((f"{place}.audience", "the id or the name of a custom audience is needed, in quotes"))
        return ""

    def _named(
        self, place: str, key: str, content: Mapping[str, Any], known: Mapping[str, dict[str, Any]]
    ) -> dict[str, Any]:
        """Return the table that `key` names; empty when it names none."""
        name = content.get(key)
        if name is None:
            return {}
        if not isinstance(name, str) or name not in known:
            self.problems.append((f"{place}.{key}", f"there is no [{key}s.{name}]"))
            return {}
        return known[name]

    def _keywords(self, place: str, command: str, given: Mapping[str, Any]) -> dict[str, Any]:
        """Return the keywords of the function. They are checked here, before anything is sent for any audience."""
        known = frozenset(SyncKeywords.__annotations__) if command == "sync" else _KEYWORDS
        for key in sorted((_KEYWORDS - known) & given.keys()):
            self.problems.append((f"{place}.{key}", "a sync does not take this: its list says who is to be in"))
        if command == "do-not-reach":
            self.problems += [(f"{place}.{key}", why) for key, why in _NOT_OF_THE_LIST.items() if key in given]
        keywords = {name: given[name] for name in given if name in known}
        if suppress := self._paths(place, "suppress", given):
            keywords["suppress"] = [str(path) for path in suppress]
        try:
            self._check_times(command, read_keywords(keywords, SPEC))  # type: ignore[arg-type]  # this checks them
        except AudiencekitError as error:
            self.problems.append((place, str(error)))
        return keywords | self._shrink(place, command, given)

    def _check_times(self, command: str, options: Options) -> None:
        """Raise UsageError for times that the destination does not take."""
        if command == "do-not-reach":  # that it takes no effective time is reported already
            PlanTerms.pinned(replace(options, effective_at=None), SPEC, now=self._now, destination=DO_NOT_REACH_LIST)
        else:
            PlanTerms.pinned(options, SPEC, now=self._now)

    def _check_notify(self, place: str, content: Mapping[str, Any]) -> None:
        """Refuse anything but the name of a receiver, and a list of rules, which the command reads."""
        name = content.get("notify")
        if name is not None and not (isinstance(name, str) and _NAME.fullmatch(name)):
            self.problems.append((f"{place}.notify", "the name of a receiver in your settings file is needed, or env"))
        rules = content.get("notify_on", [])
        if not isinstance(rules, list) or not all(isinstance(rule, str) for rule in rules):
            self.problems.append((f"{place}.notify_on", 'a list of rules is needed, such as ["fewer=0.2", "empty"]'))

    def _check_purpose(self, place: str, content: Mapping[str, Any]) -> None:
        if not isinstance(content.get("purpose", ""), str):
            self.problems.append((f"{place}.purpose", "a text is needed, such as 'Spring sale'"))
        if content.get("basis", BASES[0]) not in BASES:
            self.problems.append((f"{place}.basis", f"it must be one of {', '.join(BASES)}"))

    def _shrink(self, place: str, command: str, given: Mapping[str, Any]) -> dict[str, Any]:
        if "allow_shrink" not in given:
            return {}
        share = given["allow_shrink"]
        if command != "sync" or isinstance(share, bool) or not isinstance(share, int | float) or not 0 <= share <= 1:
            self.problems.append((f"{place}.allow_shrink", "a share from 0 to 1, for a sync only"))
        return {"allow_shrink": share}

    def _paths(self, place: str, key: str, given: Mapping[str, Any]) -> tuple[FilePath, ...]:
        """Return paths relative to the directory of the file, and addresses unchanged."""
        value = given.get(key, [])
        paths = [value] if isinstance(value, str) else value
        if not isinstance(paths, list) or not all(isinstance(path, str) and path.strip() for path in paths):
            self.problems.append((f"{place}.{key}", "the path of a file is needed, or a list of paths"))
            return ()
        if "-" in paths:
            self.problems.append((f"{place}.{key}", "standard input cannot be named in a setup"))
        addresses = [path for path in paths if is_address(path)]
        self.problems += [(f"{place}.{key}", why) for path in addresses if (why := _wrong_address(path))]
        return tuple(path if path in addresses else self._directory / path for path in paths)

    def _refuse_unknown(self, place: str, content: Mapping[str, Any], known: frozenset[str]) -> None:
        reported = {place for place, _ in self.problems}
        for key in sorted(content.keys() - known):
            if f"{place}.{key}".lstrip(".") in reported:
                continue
            near = get_close_matches(key, known, n=1)
            instead = f"perhaps {near[0]}" if near else f"allowed: {', '.join(sorted(known))}"
            self.problems.append((f"{place}.{key}".lstrip("."), f"this is not known here; {instead}"))


def _wrong_address(text: str) -> str:
    """Return why an address is not allowed in a setup; an empty text if it is."""
    try:
        if is_stored_whole(stored_address(text)):
            return ""
    except UsageError as error:
        return str(error)
    return "an address with a query does not belong in this file: it may be a signature, which is a secret"


def _forbidden(content: Any, place: str = "") -> Iterator[tuple[str, str]]:
    """Yield the places of keys that no setup may have, at any depth but in a mapping of columns."""
    for key, value in content.items() if isinstance(content, dict) else ():
        path = f"{place}.{key}".lstrip(".")
        if key.lower() in _SECRETS:
            yield path, "a secret does not belong in this file: set it in the environment, or `audiencekit login`"
        elif key.lower() in _ELSEWHERE or (key == "account_id" and not place):
            yield path, "this file does not choose it: set it in the environment"
        elif key not in ("columns", "suppress_columns"):
            yield from _forbidden(value, path)
