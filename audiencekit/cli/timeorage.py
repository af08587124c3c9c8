"""A moment as options give it: a time, or the age of what is older than it, such as 7d."""

from __future__ import annotations

import re
from datetime import datetime
from typing import Final

from audiencekit.durations import parse_duration
from audiencekit.preparation.plantimes import format_time, parse_time

_AGE: Final = re.compile(r"[0-9]+[a-z]", re.ASCII)


def moment_of(given: str, name: str, now: datetime) -> str:
    """Return the moment that the option `name` gives, as reports write times. Raises UsageError."""
    if _AGE.fullmatch(given):
        return format_time(now - parse_duration(given, name))
    return format_time(parse_time(given, name))
