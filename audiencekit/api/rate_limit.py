"""The numbers that headers carry: rate limits, Retry-After, Date. Garbage reads as None and never raises."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final

_DIGITS: Final = re.compile(r"[0-9]{1,18}", re.ASCII)
_EPOCH_SECONDS: Final = re.compile(r"[0-9]{1,10}", re.ASCII)  # eleven digits and more are milliseconds, or noise
_MONTHS: Final = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
_MONTH: Final = f"(?P<month>{'|'.join(_MONTHS)})"
_TIME: Final = r"(?P<hour>[0-9]{2}):(?P<minute>[0-9]{2}):(?P<second>[0-9]{2})"
_SHORT_DAY: Final = "(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)"
_LONG_DAY: Final = "(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day"

# RFC 9110, section 5.6.7: the form of today and the two old ones; nothing else.
_HTTP_DATES: Final = tuple(
    re.compile(pattern, re.ASCII)
    for pattern in (
        rf"{_SHORT_DAY}, (?P<day>[0-9]{{2}}) {_MONTH} (?P<year>[0-9]{{4}}) {_TIME} GMT",
        rf"{_LONG_DAY}, (?P<day>[0-9]{{2}})-{_MONTH}-(?P<year>[0-9]{{2}}) {_TIME} GMT",
        rf"{_SHORT_DAY} {_MONTH} (?P<day>[0-9 ][0-9]) {_TIME} (?P<year>[0-9]{{4}})",
    )
)
_FIRST_YEAR: Final = 1970
_CENTURY_TURN: Final = 70  # two-digit years from here on are of the last century


@dataclass(frozen=True, slots=True, kw_only=True)
class RateLimit:
    """The window that an answer names: `limit` and `remaining` in requests, `reset_at` in epoch seconds."""

    limit: int | None = None
    remaining: int | None = None
    reset_at: int | None = None


def read_rate_limit(headers: Mapping[str, str]) -> RateLimit:
    """The window of the account when the answer names one, else that of the user's token.

    Source: the public service's page on rate limiting; the specification names no headers.
    """
    account = _read_window(headers, "x-account-rate-limit-")
    return account if account != RateLimit() else _read_window(headers, "x-rate-limit-")


def _read_window(headers: Mapping[str, str], prefix: str) -> RateLimit:
    return RateLimit(
        limit=_whole(_DIGITS, headers.get(f"{prefix}limit")),
        remaining=_whole(_DIGITS, headers.get(f"{prefix}remaining")),
        reset_at=_whole(_EPOCH_SECONDS, headers.get(f"{prefix}reset")),
    )


def read_retry_after(headers: Mapping[str, str], *, received_at: float) -> float | None:
    """Seconds to wait, 0 or more, from `Retry-After` in seconds or as a date; None when it is not usable.

    A date counts from the `Date` of the same answer, so that a wrong clock on our side does not matter.
    """
    text = headers.get("retry-after", "").strip(" \t")
    seconds = _whole(_DIGITS, text)
    if seconds is not None:
        return float(seconds)
    moment = read_http_date(text)
    if moment is None:
        return None
    answered_at = read_date(headers)
    return max(0.0, moment - (received_at if answered_at is None else answered_at))


def read_date(headers: Mapping[str, str]) -> int | None:
    """Epoch seconds of the `Date` header: the clock of the service."""
    return read_http_date(headers.get("date", "").strip(" \t"))


def read_http_date(text: str) -> int | None:
    """Epoch seconds of a date in a form of RFC 9110, section 5.6.7; None for anything else."""
    match = next(filter(None, (form.fullmatch(text) for form in _HTTP_DATES)), None)
    if match is None:
        return None
    year = int(match["year"])
    if len(match["year"]) == 2:
        year += 1900 if year >= _CENTURY_TURN else 2000
    clock = (int(match["hour"]), int(match["minute"]), int(match["second"]))
    try:
        moment = datetime(year, _MONTHS.index(match["month"]) + 1, int(match["day"]), *clock, tzinfo=UTC)
    except ValueError:
        return None
    return int(moment.timestamp()) if year >= _FIRST_YEAR else None


def _whole(pattern: re.Pattern[str], text: str | None) -> int | None:
    text = (text or "").strip(" \t")
    return int(text) if pattern.fullmatch(text) else None
