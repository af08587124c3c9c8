"""Counts that close."""

import pytest

from audiencekit.errors import Bug
from audiencekit.reporting.report import RowCounts
from tests.cases import each_case


def test_sums_close() -> None:
    """Every row is somewhere."""
    counts = RowCounts(read=10, sent=4, rejected=3, duplicate=1, superseded=1, pending=1)
    assert sum(counts.to_json().values()) == 20


@each_case("changed", ["sent", "rejected", "duplicate", "superseded", "suppressed", "pending"])
def test_a_report_that_does_not_close_cannot_be_made(changed: str) -> None:
    """One row too many anywhere is a fault of this program, and said so."""
    with pytest.raises(Bug, match="10 rows were read, 11 are accounted for"):
        RowCounts(**{"read": 10, "rejected": 10, changed: 1} if changed != "rejected" else {"read": 10, "rejected": 11})
