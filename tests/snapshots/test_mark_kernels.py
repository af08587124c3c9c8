"""Marks, tags and entries among others by the kernels: nothing is read or written that should not be."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from audiencekit.errors import Bug
from audiencekit.selection.tag_arrays import ENTRY, TAG
from audiencekit.snapshots.mark_arrays import DayLimits, Halves
from audiencekit.snapshots.mark_kernels import MarkKernels
from tests.cases import each_case
from tests.kernels.installed import installed

REFUSED = "a kernel|there is|contiguous"
BEGINS = np.array([0, 1], dtype=np.uint32)  # of one number
BY = DayLimits(lapsed_before=100, renewed_to=130, all_members=False, doubtful=0, dropped=-1)


@pytest.fixture
def compiled() -> MarkKernels:
    """Those of this installation."""
    return installed(MarkKernels)


def _halves(*high: int, low: Any = np.uint16) -> Halves:
    return Halves(np.array(high, dtype=np.uint64), np.zeros(len(high), dtype=low))


def _entries(*records: int) -> Any:
    entries = np.zeros(len(records), dtype=ENTRY)
    entries["record"] = records
    return entries


def test_second_halves_may_stand_anywhere(compiled: MarkKernels) -> None:
    """As they do behind an odd number of bytes of a file; gaps between them are no matter, either."""
    low = np.frombuffer(b"\0" + np.array([7, 9], dtype=np.uint16).tobytes(), dtype=np.uint16, offset=1)
    ordered = Halves(np.array([1, 0, 1, 0], dtype=np.uint64)[::2], low)
    places, known = compiled.find_marks(Halves(np.ones(3, dtype=np.uint64), np.arange(7, 10, dtype=np.uint16)), ordered)
    assert (places.tolist(), known.tolist()) == ([0, 1, 1], [True, False, True])


@each_case("stored", [">u8", "<u8"])
def test_tags_may_be_stored_in_either_order_of_bytes(compiled: MarkKernels, stored: str) -> None:
    """They are little-endian wherever they are compared."""
    ordered = Halves(*(np.arange(0, 9 * step, step, dtype=np.uint64).astype(stored) for step in (1 << 60, 1)))
    begins = compiled.prepare(ordered.high)
    asked = np.array([(7 << 60, 7), (7 << 60, 8), (0, 0)], dtype=TAG)
    assert compiled.find_tags(asked, ordered, begins).tolist() == [7, -1, 0]


def test_halves_belong_together(compiled: MarkKernels) -> None:
    """A number with a first half has a second one."""
    short = Halves(np.zeros(2, dtype=np.uint64), np.zeros(1, dtype=np.uint16))
    for asked, ordered in ((short, _halves(1)), (_halves(1), short)):
        with pytest.raises(ValueError, match=REFUSED):
            compiled.find_marks(asked, ordered)
    with pytest.raises(ValueError, match=REFUSED):
        compiled.find_marks(_halves(1, low=np.uint64), _halves(1))
    with pytest.raises(ValueError, match=REFUSED):
        compiled.find_tags(np.zeros(1, dtype=TAG), _halves(1), BEGINS)
    with pytest.raises(ValueError, match=REFUSED):
        compiled.find_tags(np.zeros(1, dtype=TAG), short, BEGINS)
    with pytest.raises(ValueError, match=REFUSED):
        compiled.compare([], np.zeros(0, np.uint8), short, np.zeros(2, dtype=np.int16), BY)


@each_case("high", [(9, 3, 7), (2**64 - 1, 0, 5), (5, 5, 5)])
def test_no_order_leads_outside(compiled: MarkKernels, high: tuple[int, ...]) -> None:
    """Where others stand is anywhere then, but within."""
    asked = _halves(*range(12), 2**63, 2**64 - 1)
    places, _ = compiled.find_marks(asked, _halves(*high))
    assert 0 <= places.min() <= places.max() <= 3


@each_case("tags", [_entries(1, 2), np.zeros(4, dtype=TAG)[::2]])
def test_tags_are_looked_for(compiled: MarkKernels, tags: Any) -> None:
    """Other values are refused before anything is read."""
    with pytest.raises(ValueError, match=REFUSED):
        compiled.find_tags(tags, _halves(1, low=np.uint64), BEGINS)


@each_case("begins", [[], [0], [0, 1, 1], [1, 0], [2**32 - 1] * 2])
def test_a_table_out_of_order_is_refused(compiled: MarkKernels, begins: list[int]) -> None:
    """An order that does not hold is refused."""
    with pytest.raises(Bug, match="index out of range"):
        compiled.find_tags(np.zeros(1, dtype=TAG), _halves(1, low=np.uint64), np.array(begins, dtype=np.uint32))


def test_only_ordered_words_are_prepared(compiled: MarkKernels) -> None:
    """Other values are refused; of what is in no order there is nothing to prepare."""
    with pytest.raises(ValueError, match=REFUSED):
        compiled.prepare(np.zeros(4, dtype=np.int64))
    with pytest.raises(ValueError, match=REFUSED):
        compiled.find_tags(np.zeros(1, dtype=TAG), _halves(1, low=np.uint64), np.zeros(2, dtype=np.int64))
    assert not len(compiled.prepare(np.array([2, 1], dtype=np.uint64)))


@each_case("record", [16, 2**31, 2**32 - 1])
def test_records_are_there(compiled: MarkKernels, record: int) -> None:
    """Of each there is a bit that says whether it is wanted."""
    with pytest.raises(Bug, match="index out of range"):
        compiled.compare(
            [_entries(0), _entries(record)], np.zeros(2, np.uint8), _halves(1), np.zeros(1, dtype=np.int16), BY
        )


@each_case(
    "piece, wanted, days",
    [
        (np.zeros(1, dtype=TAG), np.zeros(1, np.uint8), np.zeros(1, dtype=np.int16)),
        (_entries(0, 0, 0)[::2], np.zeros(1, np.uint8), np.zeros(1, dtype=np.int16)),
        (_entries(0), np.zeros(1, np.int8), np.zeros(1, dtype=np.int16)),
        (_entries(0), np.zeros(3, np.uint8)[::2], np.zeros(1, dtype=np.int16)),
        (_entries(0), np.zeros(1, np.uint8), np.zeros(1, dtype=np.int32)),
        (_entries(0), np.zeros(1, np.uint8), np.zeros(0, dtype=np.int16)),
        (_entries(0), np.zeros(1, np.uint8), np.zeros(2, dtype=np.int16)),
    ],
)
def test_entries_are_compared_with_members(compiled: MarkKernels, piece: Any, wanted: Any, days: Any) -> None:
    """Everything is looked at before anything is read."""
    with pytest.raises(ValueError, match=REFUSED):
        compiled.compare([piece], wanted, _halves(1), days, BY)
