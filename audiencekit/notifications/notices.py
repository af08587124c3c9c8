"""Which notices follow from the end of a run: pure rules over its report and the one before.

Some notices are always told; others are chosen, as `NAME=VALUE`.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final

from audiencekit.durations import parse_duration
from audiencekit.errors import UsageError
from audiencekit.records.plan_times import parse_time
from audiencekit.reporting.page.privacy import FLOOR
from audiencekit.text import shown

FAILED, REFUSED, KILLED, WARNINGS, RECOVERED = "failed", "refused", "killed", "warnings", "recovered"
ALWAYS: Final = (FAILED, REFUSED, KILLED, WARNINGS, RECOVERED)
BAD: Final = (FAILED, REFUSED, KILLED)
REJECTED, FEWER, MATCH_RATE, MINUTES, EMPTY, EXPIRY = "rejected", "fewer", "match-rate", "minutes", "empty", "expiry"
CHOSEN: Final = (REJECTED, FEWER, MATCH_RATE, MINUTES, EMPTY, EXPIRY)
_SHARES: Final = (REJECTED, FEWER, MATCH_RATE)
_ID_BYTES: Final = 16
FORMS: Final = "rejected=SHARE, fewer=SHARE, match-rate=SHARE, minutes=N, empty or expiry=SPAN"


@dataclass(frozen=True, slots=True)
class Rules:
    """The chosen notices by their names, with their bounds: shares from 0 to 1, minutes, a span, or None for none."""

    bounds: Mapping[str, float | timedelta | None]

    @classmethod
    def read(cls, texts: Iterable[str]) -> Rules:
        """Return the rules that `texts` say. Raises UsageError for anything else, and for one that comes twice."""
        bounds: dict[str, float | timedelta | None] = {}
        for text in texts:
            name, separator, value = text.strip().partition("=")
            if name not in CHOSEN or (name == EMPTY) == bool(separator):
                raise UsageError(f"`notify_on=` is not a rule: {shown(text)}", hint=f"give {FORMS}")
            if name in bounds:
                raise UsageError(f"`notify_on=` gives {name} twice", hint="give it once")
            bounds[name] = _bound(name, value) if separator else None
        return cls(bounds)


def _bound(name: str, value: str) -> float | timedelta:
    if name == EXPIRY:
        return parse_duration(value, f"`notify_on=` {name}")
    number = float(value) if value.isascii() and value.replace(".", "", 1).isdigit() else -1.0
    if not 0 <= number <= (1 if name in _SHARES else 1_000_000):
        form = "a share from 0 to 1" if name in _SHARES else "a number of minutes"
        raise UsageError(f"`notify_on=` {name} is {form}", hint=f"give {FORMS}")
    return number


@dataclass(frozen=True, slots=True, kw_only=True)
class Ending:
    """The end of a run, as far as rules look at it.

    `report` is its report or receipt, empty where there was no run; `before` is the last complete one of the same
    target and operation. `has_failed_before` is true when the run before of the same target failed, or an earlier
    attempt of this run. `match_rates` are those of the last two sizes, the earlier first. `expiring` counts the
    members whose entries expire within the span of the rule.
    """

    state: str
    report: Mapping[str, Any]
    was_killed: bool = False
    has_failed_before: bool = False
    before: Mapping[str, Any] | None = None
    match_rates: tuple[float, float] | None = None
    expiring: int | None = None
    now: datetime

    @property
    def rows(self) -> Mapping[str, int | None]:
        """The counts of rows; empty when they are not known."""
        return self.report.get("rows") or {}

    @property
    def seconds(self) -> float | None:
        """How long it took, in seconds."""
        started, finished = self.report.get("started_at"), self.report.get("finished_at")
        if not started or not finished:
            return None
        return (parse_time(finished, "finished_at") - parse_time(started, "started_at")).total_seconds()


def find_notices(ending: Ending, rules: Rules) -> tuple[str, ...]:
    """Return the names of the notices of a run, in the order of ALWAYS and CHOSEN."""
    found = [name for name in ALWAYS if _IS_ALWAYS[name](ending)]
    return (*found, *(name for name in CHOSEN if name in rules.bounds and _CHECKS[name](ending, rules.bounds[name])))


def notice_id(run_id: str, name: str) -> str:
    """Return the id of a notice, the same whenever it is told: 32 hex digits, a digest of the run and the rule."""
    return hashlib.blake2b(f"{run_id} {name}".encode(), digest_size=_ID_BYTES).hexdigest()


def people_of(report: Mapping[str, Any]) -> int | None:
    """Return how many people the audience has from the list: the members of a sync, else the rows that arrived."""
    members = (report.get("changes") or {}).get("members_after")
    if members is not None:
        return int(members)
    rows = report.get("rows") or {}
    return None if rows.get("sent") is None else int(rows["sent"]) + int(rows.get("unchanged") or 0)


def _is_empty(ending: Ending, _: Any) -> bool:
    return ending.rows.get("read") == 0 and ending.state in ("complete", "refused")


def _is_rejected(ending: Ending, share: Any) -> bool:
    read, rejected = ending.rows.get("read"), ending.rows.get("rejected")
    return bool(read) and rejected is not None and rejected / (read or 1) > share


def _is_fewer(ending: Ending, share: Any) -> bool:
    if ending.state != "complete" or ending.before is None:
        return False
    people, before = people_of(ending.report), people_of(ending.before)
    return people is not None and before is not None and before - people >= FLOOR and people < before * (1 - share)


def _has_lower_rate(ending: Ending, share: Any) -> bool:
    return ending.match_rates is not None and ending.match_rates[1] < ending.match_rates[0] * (1 - share)


def _takes_long(ending: Ending, minutes: Any) -> bool:
    return ending.seconds is not None and ending.seconds > 60 * minutes


def _expires(ending: Ending, span: Any) -> bool:
    if ending.expiring is not None:
        return ending.expiring > 0
    end = ending.report.get("expires_at")
    return ending.state == "complete" and bool(end) and parse_time(str(end), EXPIRY) <= ending.now + span


def _has_other_warnings(ending: Ending) -> bool:
    """Whether a warning is new, or gone while others are left, since the run before, or its share has doubled."""
    now, before = _shares(ending.report), _shares(ending.before or {})
    return bool(now) and (now.keys() != before.keys() or any(now[each] >= 2 * before[each] for each in now))


def _shares(report: Mapping[str, Any]) -> dict[tuple[Any, Any], float]:
    return {(one.get("code"), one.get("column")): one.get("share") or 1.0 for one in report.get("warnings") or ()}


_IS_ALWAYS: Final[Mapping[str, Callable[[Ending], bool]]] = {
    FAILED: lambda ending: ending.state == "incomplete" and not ending.was_killed,
    REFUSED: lambda ending: ending.state == "refused",
    KILLED: lambda ending: ending.was_killed,
    WARNINGS: lambda ending: ending.state == "complete" and _has_other_warnings(ending),
    RECOVERED: lambda ending: ending.state == "complete" and ending.has_failed_before,
}
_CHECKS: Final[Mapping[str, Callable[[Ending, Any], bool]]] = {
    REJECTED: _is_rejected,
    FEWER: _is_fewer,
    MATCH_RATE: _has_lower_rate,
    MINUTES: _takes_long,
    EMPTY: _is_empty,
    EXPIRY: _expires,
}
