"""Times on the wire: ISO 8601 in UTC, whole seconds."""

from __future__ import annotations

import calendar
import re
from datetime import UTC, datetime, timedelta, timezone
from typing import Final

# A date alone, or date and time with Z, +HHMM, +HH:MM or +HH (public documentation, "timezones"). A fraction of a
# second is ISO 8601, and cut off. Times without an offset are documented nowhere, so they are not taken.
_FORM: Final = re.compile(
    r"(?P<date>\d{4}-\d\d-\d\d)"
    r"(?:T(?P<time>\d\d:\d\d:\d\d)(?:\.\d{1,9})?(?:Z|(?P<sign>[+-])(?P<hours>\d\d):?(?P<minutes>\d\d)?))?",
    re.ASCII,
)


def parse_time(text: object) -> int | None:
    """Return epoch seconds of an ISO 8601 time, None when `text` is not one."""
    found = _FORM.fullmatch(text) if isinstance(text, str) and not text.endswith(":") else None
    if found is None:
        return None
    try:
        moment = datetime.fromisoformat(f"{found['date']}T{found['time'] or '00:00:00'}")
        offset = timedelta(hours=int(found["hours"] or 0), minutes=int(found["minutes"] or 0))
        zone = timezone(-offset if found["sign"] == "-" else offset)
        return int(moment.replace(tzinfo=zone).astimezone(UTC).timestamp())
    except (ValueError, OverflowError):
        return None


def format_time(epoch: float) -> str:
    """`epoch` as the service prints it: UTC, without a fraction."""
    return datetime.fromtimestamp(int(epoch // 1), UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def add_months(epoch: float, months: int) -> int:
    """Return the same day and time `months` calendar months later; a day that month lacks becomes its last one."""
    start = datetime.fromtimestamp(int(epoch // 1), UTC)
    year, month = divmod(start.year * 12 + start.month - 1 + months, 12)
    day = min(start.day, calendar.monthrange(year, month + 1)[1])
    return int(start.replace(year=year, month=month + 1, day=day).timestamp())
