"""Faulty rows are rejections, until there are too many."""

from __future__ import annotations

import pytest

from audiencekit.errors import SourceRefused
from audiencekit.identifiers.kinds import Reason
from audiencekit.records.batches import REJECTION_SCHEMA
from audiencekit.sources.unreadable_rows import Faults
from tests.cases import each_case


def test_faults_are_handed_out_once() -> None:
    """As rejections, those of each batch with it."""
    faults = Faults()
    faults.add(3, Reason.RAGGED)
    faults.add(5, Reason.TOO_LARGE, "email")
    waiting = faults.waiting
    batch = faults.take()
    assert batch.schema == REJECTION_SCHEMA
    assert batch.to_pylist() == [
        {"row": 3, "column": None, "reason": "ragged"},
        {"row": 5, "column": "email", "reason": "too_large"},
    ]
    assert (waiting, faults.waiting) == (True, False)
    assert faults.take().num_rows == 0
    assert faults.count == 2


@each_case(
    "faulty, rows, refused",
    [
        (10, 10, False),
        (11, 11, True),
        (11, 2_199, True),
        (11, 2_200, False),
        (500, 100_000, False),
        (501, 100_000, True),
    ],
)
def test_too_many_faults_refuse_the_source(faulty: int, rows: int, refused: bool) -> None:
    """More than ten, and more than one row in two hundred."""
    faults = Faults()
    for row in range(faulty):
        faults.add(row + 7, Reason.ENCODING if row else Reason.RAGGED)
    if not refused:
        faults.refuse_too_many(rows)
        return
    with pytest.raises(SourceRefused) as caught:
        faults.refuse_too_many(rows)
    assert caught.value.row == 8
    assert caught.value.rows_read == rows
    assert f"{faulty - 1:,} of {rows:,} rows" in str(caught.value)
    assert "`encoding=" in caught.value.hint
