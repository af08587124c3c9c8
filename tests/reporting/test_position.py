"""Amounts, rates and the time left, as people read them."""

from __future__ import annotations

from collections.abc import Mapping

from audiencekit.reporting.position import Position, measured
from tests.cases import each_case


@each_case(
    "count, unit, told",
    [
        (999, "bytes", "999 bytes"),
        (1_000, "bytes", "1.0 kB"),
        (2_500_000_000, "bytes", "2.5 GB"),
        (1_234_567, "rows", "1,234,567 rows"),
        (0.5, "requests", "0.5 requests"),
        (9.99, "requests", "10.0 requests"),
        (10.4, "requests", "10 requests"),
        (1, "rows", "1 row"),
        (1.0, "rows", "1.0 rows"),
    ],
)
def test_amounts(count: float, unit: str, told: str) -> None:
    assert measured(count, unit) == told


@each_case(
    "done, total, unit, also, told",
    [
        (0, 2_000_000, "bytes", {}, "0.0 of 2.0 MB"),
        (999, 1_000_000_000, "bytes", {"rows": 1}, "0.0 of 1.0 GB, 1 row"),
        (5, 12, "requests", {"bytes": 12_345, "records": 600}, "5 of 12 requests, 12.3 kB, 600 records"),
        (1_500, 0, "rows", {}, "1,500 rows"),
    ],
)
def test_an_amount_and_its_total_have_one_unit(
    done: int, total: int, unit: str, also: Mapping[str, int], told: str
) -> None:
    """That of the total; where it is not known, the amount stands alone."""
    assert Position(done, total, unit, also).amount() == told


@each_case(
    "done, total, seconds, left",
    [
        (10, 100, 0.0, ""),
        (0, 100, 5.0, ""),
        (100, 100, 5.0, ""),
        (100, 0, 5.0, ""),
        (50, 100, 84.0, "84 s left"),
        (50, 100, 119.0, "119 s left"),
        (50, 100, 120.0, "2 min left"),
        (1, 100, 60.0, "99 min left"),
    ],
)
def test_the_time_left_goes_by_the_pace_until_now(done: int, total: int, seconds: float, left: str) -> None:
    """Empty where there is none, or it is not known."""
    assert Position(done, total, "rows", {}).left(Position(0, total, "rows", {}), seconds) == left


@each_case(
    "unit, since, also, seconds, rates",
    [
        ("rows", {}, {}, 2.0, ["50 rows/s"]),
        ("rows", {}, {}, 0.0, []),
        ("bytes", {"rows": 10}, {"rows": 30}, 2.0, ["50 bytes/s", "10 rows/s"]),
        ("requests", {}, {"bytes": 4_000_000}, 2.0, ["2.0 MB/s"]),
    ],
)
def test_rates_are_those_of_what_was_done_since(
    unit: str, since: Mapping[str, int], also: Mapping[str, int], seconds: float, rates: list[str]
) -> None:
    """Of requests the bodies tell more than their number."""
    position = Position(150, 1_000, unit, also)
    assert position.rates(Position(50, 1_000, unit, since), seconds) == rates
    assert position.rates(position, seconds) == []
