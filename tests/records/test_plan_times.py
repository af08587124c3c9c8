"""The pinned times of a plan."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from audiencekit.errors import UsageError
from audiencekit.records.plan_times import add_months, format_time, parse_time, pin_list_times, pin_times
from tests.cases import each_case

NOW = datetime(2026, 11, 21, 10, 30, 15, 999_999, tzinfo=UTC)


@each_case(
    "start, months, expected",
    [
        ("2026-11-21T10:30:15Z", 13, "2027-12-21T10:30:15Z"),
        ("2026-01-31T00:00:00Z", 13, "2027-02-28T00:00:00Z"),
        ("2027-01-31T00:00:00Z", 13, "2028-02-29T00:00:00Z"),
        ("2026-12-01T23:59:59Z", 13, "2028-01-01T23:59:59Z"),
        ("2026-11-30T00:00:00Z", 1, "2026-12-30T00:00:00Z"),
        ("2026-11-30T00:00:00Z", 12, "2027-11-30T00:00:00Z"),
    ],
)
def test_months_are_calendar_months(start: str, months: int, expected: str) -> None:
    """The same day of a later month, or its last day."""
    assert format_time(add_months(parse_time(start, "start"), months)) == expected


@each_case(
    "text, expected",
    [
        ("2027-12-31T00:00:00Z", "2027-12-31T00:00:00Z"),
        ("2017-07-10T08:00:00-0800", "2017-07-10T16:00:00Z"),
        ("2017-07-10T08:00:00-08:00", "2017-07-10T16:00:00Z"),
        ("2017-07-10T08:00:00-08", "2017-07-10T16:00:00Z"),
        ("2022-06-15", "2022-06-15T00:00:00Z"),
        ("2022-06-15T12:00:00.75Z", "2022-06-15T12:00:00Z"),
    ],
)
def test_times_are_read_in_every_form_the_service_knows(text: str, expected: str) -> None:
    """Offsets become UTC, a date alone is midnight, fractions are cut."""
    assert format_time(parse_time(text, "--expires-at")) == expected


def test_expiry_is_pinned_to_13_months_after_the_plan() -> None:
    """The default of the service is written out, in whole seconds."""
    times = pin_times(NOW)
    assert format_time(times.expires_at) == "2027-12-21T10:30:15Z"
    assert times.effective_at is None
    assert times.plan_time.microsecond == 0


def test_a_time_to_live_counts_days() -> None:
    """--ttl-days counts from the plan."""
    assert format_time(pin_times(NOW, ttl_days=30).expires_at) == "2026-12-21T10:30:15Z"


@each_case(
    "wanted",
    [
        {"expires_at": "2026-11-21T10:30:15Z"},
        {"expires_at": "2020-01-01"},
        {"expires_at": "2027-01-01", "effective_at": "2027-01-01"},
        {"expires_at": "2027-01-01", "ttl_days": 3},
        {"ttl_days": 0},
        {"expires_at": "tomorrow"},
        {"effective_at": "1700000000"},
        {"effective_at": "2030-01-01"},
    ],
)
def test_times_that_cannot_be_are_refused(wanted: dict[str, str]) -> None:
    """Entries must take effect before they expire, and be written as ISO 8601."""
    with pytest.raises(UsageError):
        pin_times(NOW, **wanted)


@each_case("days", [3_000_000, 10**9, 10**30])
def test_days_that_end_after_all_dates_are_refused_by_their_option(days: int) -> None:
    """However many there are."""
    with pytest.raises(UsageError, match="`ttl_days=` ends beyond the year 9999"):
        pin_times(NOW, ttl_days=days)


@each_case(
    "wanted, expected",
    [
        ({}, "2027-12-20T10:30:15Z"),
        ({"ttl_days": 30}, "2026-12-21T10:30:15Z"),
        ({"expires_at": "2027-12-21T10:30:14Z"}, "2027-12-21T10:30:14Z"),
    ],
)
def test_entries_of_a_list_expire_under_13_months(wanted: dict[str, Any], expected: str) -> None:
    """A day less than those of an audience unless something else is wished for."""
    times = pin_list_times(NOW, NOW, **wanted)
    assert (format_time(times.expires_at), times.effective_at) == (expected, None)


@each_case(
    "plan_time, wanted, words",
    [
        (NOW, {"expires_at": "2027-12-22"}, "13 months"),
        (NOW, {"ttl_days": 396}, "13 months"),
        (NOW + timedelta(days=3), {}, "13 months"),
        (NOW, {"effective_at": "2026-12-01"}, "at once"),
        (NOW, {"expires_at": "2026-11-20"}, "before they take effect"),
    ],
)
def test_times_that_a_list_refuses(plan_time: datetime, wanted: dict[str, Any], words: str) -> None:
    """They are told before anything is sent; a plan time that lies ahead counts from now."""
    with pytest.raises(UsageError, match=words):
        pin_list_times(plan_time, NOW, **wanted)
