"""Spans of time as people write them: `45s`, `30m`, `8h`, `30d`."""

from __future__ import annotations

import re
from datetime import timedelta
from typing import Final

from audiencekit.errors import UsageError

_SPAN: Final = re.compile(r"([0-9]{1,6})([smhd])", re.ASCII)
_UNITS: Final = {"s": "seconds", "m": "minutes", "h": "hours", "d": "days"}


def parse_duration(text: str, name: str) -> timedelta:
    """The span that `text` says; `name` is the option it came from. Raises UsageError for anything else."""
    match = _SPAN.fullmatch(text.strip().lower())
    if match is None:
        raise UsageError(f"{name} is a number and a unit", hint="such as 45s, 30m, 8h or 30d")
    return timedelta(**{_UNITS[match[2]]: int(match[1])})
