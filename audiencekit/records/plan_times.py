"""The pinned times of a plan (specification part 2, section 4.4)."""

from __future__ import annotations

import calendar
from dataclasses import dataclass
from datetime import MAXYEAR, UTC, datetime, timedelta

from audiencekit.errors import UsageError
from audiencekit.limits import DO_NOT_REACH_MARGIN_DAYS, EXPIRY_MONTHS
from audiencekit.text import option


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanTimes:
    """`plan_time` is when the plan was made; `effective_at` is None unless it was asked for. UTC, whole seconds.

    `expires_at` is None for a destination whose entries never expire.
    """

    plan_time: datetime
    expires_at: datetime | None = None
    effective_at: datetime | None = None

    @property
    def end(self) -> datetime:
        """When the entries expire, of a destination where they do."""
        assert self.expires_at is not None  # noqa: S101
        return self.expires_at

    def is_over(self, now: datetime) -> bool:
        """Whether the entries have expired."""
        return self.expires_at is not None and self.expires_at <= now

    def to_json(self) -> dict[str, str | None]:
        """plan_time, expires_at, effective_at; the last two may be None."""
        names = ("plan_time", "expires_at", "effective_at")
        return {name: moment and format_time(moment) for name in names for moment in [getattr(self, name)]}


def pin_plan_time(wanted: str | None, now: datetime) -> datetime:
    """Return the time of a plan: `wanted`, else `now`. Raises UsageError for a text that is no time."""
    return parse_time(wanted, option("plan_time")) if wanted else now.astimezone(UTC)


def pin_times(
    plan_time: datetime,
    *,
    expires_at: str | None = None,
    ttl_days: int | None = None,
    effective_at: str | None = None,
) -> PlanTimes:
    """The times of a plan made at `plan_time`; without a wish, entries expire 13 calendar months after it.

    Raises UsageError for times that cannot be read, or that do not follow each other.
    """
    try:
        return _pin(plan_time, expires_at, ttl_days, effective_at)
    except OverflowError:
        raise UsageError("a time lies beyond the year 9999 or before the year 1") from None


def pin_list_times(
    plan_time: datetime,
    now: datetime,
    *,
    expires_at: str | None = None,
    ttl_days: int | None = None,
    effective_at: str | None = None,
) -> PlanTimes:
    """The times of a plan for a do-not-reach list, which wants less than 13 months (specification part 2, section 4.6).

    Without a wish it is that less a day, so that clocks which differ do not matter. Raises UsageError like `pin_times`,
    for longer times, and for an effective time, since that of a list is always the moment of the request.
    """
    if effective_at is not None:
        raise UsageError("a do-not-reach list takes effect at once", hint="leave `effective_at=` out")
    if expires_at is None and ttl_days is None:
        latest = add_months(plan_time, EXPIRY_MONTHS) - timedelta(days=DO_NOT_REACH_MARGIN_DAYS)
        expires_at = format_time(latest)
    times = pin_times(plan_time, expires_at=expires_at, ttl_days=ttl_days)
    if times.end >= add_months(min(plan_time, now), EXPIRY_MONTHS):
        hint = "leave `expires_at=` and `ttl_days=` out, or choose an earlier time"
        raise UsageError(f"entries of a do-not-reach list expire in less than {EXPIRY_MONTHS} months", hint=hint)
    return times


def _pin(plan_time: datetime, expires_at: str | None, ttl_days: int | None, effective_at: str | None) -> PlanTimes:
    plan_time = plan_time.astimezone(UTC).replace(microsecond=0)
    effective = parse_time(effective_at, option("effective_at")) if effective_at else None
    if expires_at and ttl_days is not None:
        raise UsageError("`expires_at=` and `ttl_days=` were both given", hint="give one of them")
    if ttl_days is not None and ttl_days < 1:
        raise UsageError("`ttl_days=` must be at least 1")
    if expires_at:
        expires = parse_time(expires_at, option("expires_at"))
    elif ttl_days is not None:
        expires = _days_later(plan_time, ttl_days)
    else:
        expires = add_months(plan_time, EXPIRY_MONTHS)
    if expires <= max(plan_time, effective or plan_time):
        raise UsageError("entries would expire before they take effect", hint="choose a later `expires_at=`")
    return PlanTimes(plan_time=plan_time, expires_at=expires, effective_at=effective)


def _days_later(moment: datetime, days: int) -> datetime:
    try:
        return moment + timedelta(days=days)
    except OverflowError:
        raise UsageError("`ttl_days=` ends beyond the year 9999") from None


def parse_time(text: str, named: str) -> datetime:
    """`text` (ISO 8601; a date alone is midnight; without an offset UTC) as UTC in whole seconds. Raises UsageError."""
    try:
        moment = datetime.fromisoformat(text)
    except (ValueError, TypeError):
        raise UsageError(f"{named} is not a time", hint="write it like 2026-12-31T00:00:00Z") from None
    moment = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    try:
        return moment.astimezone(UTC).replace(microsecond=0)
    except OverflowError:
        raise UsageError(f"{named} lies beyond the year 9999 or before the year 1") from None


def add_months(moment: datetime, months: int) -> datetime:
    """The same day `months` later, or the last day of that month when it has no such day."""
    years, month = divmod(moment.month - 1 + months, 12)
    year = moment.year + years
    if year > MAXYEAR:
        raise OverflowError
    day = min(moment.day, calendar.monthrange(year, month + 1)[1])
    return moment.replace(year=year, month=month + 1, day=day)


def format_time(moment: datetime) -> str:
    """`moment` as the service writes times: UTC, seconds, `Z`."""
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
