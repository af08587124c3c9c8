"""Times: read, written, compared."""

from __future__ import annotations

from datetime import UTC, datetime

from audiencekit.api.validation.values import is_under_months, is_whole_hour, read_moment, write_moment
from tests.cases import each_case


@each_case("text, written", [
    ("2017-07-10T08:00:00-0800", "2017-07-10T16:00:00Z"),
    ("2017-07-10T08:00:00+05:30", "2017-07-10T02:30:00Z"),
    ("2022-06-15", "2022-06-15T00:00:00Z"),
    ("2022-06-15T12:00:00", "2022-06-15T12:00:00Z"),
    ("0001-01-01T00:00:00Z", "0001-01-01T00:00:00Z"),
    ("9999-12-31T23:59:59Z", "9999-12-31T23:59:59Z"),
])  # fmt: skip
def test_times_are_written_in_utc(text: str, written: str) -> None:
    """Whatever their offset; a date is its midnight."""
    moment = read_moment(text)
    assert moment is not None
    assert write_moment(moment) == written


@each_case("text", ["", "now", "1790000000.5", "2026-02-30", "0001-01-01T00:00:00+01:00", "2026-13-01"])
def test_an_invalid_time_is_refused(text: str) -> None:
    """Nor what lies outside the years that there are."""
    assert read_moment(text) is None


def test_whole_hours() -> None:
    """To the microsecond."""
    hour = datetime(2026, 1, 1, 5, tzinfo=UTC)
    assert is_whole_hour(hour)
    assert not any(is_whole_hour(hour.replace(**{part: 1})) for part in ("minute", "second", "microsecond"))


@each_case("moment, expected", [
    ("2027-12-20T12:29:59Z", True), ("2027-12-20T12:30:00Z", False), ("2027-11-30", True), ("2028-01-01", False),
])  # fmt: skip
def test_under_so_many_months(moment: str, expected: bool) -> None:
    """The same day and time thirteen months later is no longer under them."""
    later = read_moment(moment)
    assert later is not None
    assert is_under_months(later, datetime(2026, 11, 20, 12, 30, tzinfo=UTC), 13) is expected
