"""Spans of time as people write them: `45s`, `30m`, `8h`, `30d`, `4w`."""

from __future__ import annotations

import re
from datetime import timedelta
from typing import Final

from audiencekit.errors import UsageError

# Longer than anything that a run has left in doubt can still be applied: no run that others have to heed is as old.
SHORTEST_AGE: Final = timedelta(hours=1)

_LONGEST: Final = timedelta(days=36_525)  # a moment so long ago still has a date
_SPAN: Final = re.compile(r"([0-9]{1,6})([smhdw])", re.ASCII)
_UNITS: Final = {"s": "seconds", "m": "minutes", "h": "hours", "d": "days", "w": "weeks"}


def parse_duration(text: str, name: str) -> timedelta:
    """The span that `text` says; `name` is the option it came from. Raises UsageError for anything else."""
    match = _SPAN.fullmatch(text.strip().lower())
    if match is None:
        raise UsageError(f"{name} is a number and a unit", hint="such as 45s, 30m, 8h, 30d or 4w")
    span = timedelta(**{_UNITS[match[2]]: int(match[1])})
    if span > _LONGEST:
        raise UsageError(f"{name} is more than a hundred years", hint="give a shorter time")
    return span


def parse_age(text: str, name: str) -> timedelta:
    """The age that `text` says, from which on something may go. Raises UsageError, also for one below an hour."""
    age = parse_duration(text, name)
    if age < SHORTEST_AGE:
        raise UsageError(
            f"{name} is less than an hour", hint="requests of a younger run may still be applied: give 1h or more"
        )
    return age
