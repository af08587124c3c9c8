"""How long something took, for people."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any, Final

_MINUTE: Final = 60
_HOUR: Final = 3_600


def seconds_of(document: Mapping[str, Any]) -> int | None:
    """The seconds from `started_at` to `finished_at` of a report; None where it has not ended."""
    started, finished = document.get("started_at"), document.get("finished_at")
    if not started or not finished:
        return None
    return round((datetime.fromisoformat(finished) - datetime.fromisoformat(started)).total_seconds())


def in_short(seconds: int) -> str:
    """`3 s`, `4:05 min`, `2:07 h`."""
    if seconds < _MINUTE:
        return f"{seconds} s"
    if seconds < _HOUR:
        return f"{seconds // _MINUTE}:{seconds % _MINUTE:02} min"
    return f"{seconds // _HOUR}:{seconds % _HOUR // _MINUTE:02} h"
