"""Times as the service writes them (specification part 1, section 2: ISO 8601, UTC)."""

from __future__ import annotations

from datetime import UTC, datetime


def read_moment(text: str) -> datetime | None:
    """`text` (ISO 8601; a date alone is its midnight; without an offset UTC) in UTC; None when it is no time."""
    try:
        moment = datetime.fromisoformat(text)
        return moment.replace(tzinfo=moment.tzinfo or UTC).astimezone(UTC)
    except (ValueError, OverflowError):
        return None


def write_moment(moment: datetime) -> str:
    """`moment` in UTC and whole seconds, which end in `Z`."""
    return moment.astimezone(UTC).replace(tzinfo=None, microsecond=0).isoformat() + "Z"


def is_whole_hour(moment: datetime) -> bool:
    """Whether nothing is left over the hour."""
    return (moment.minute, moment.second, moment.microsecond) == (0, 0, 0)


def is_under_months(moment: datetime, now: datetime, months: int) -> bool:
    """Whether `moment` comes before the same day and time of the month that is `months` after that of `now`."""
    ahead = (moment.year - now.year) * 12 + moment.month - now.month
    if ahead != months:
        return ahead < months
    return (moment.day, moment.timetz()) < (now.day, now.timetz())
