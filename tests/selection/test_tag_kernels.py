"""Tags and parts by the kernels: nothing is read or written that should not be."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from audiencekit.errors import Bug
from audiencekit.selection.tag_arrays import ENTRY, TAG, OrderedTags
from audiencekit.selection.tag_kernels import TagKernels
from tests.cases import each_case
from tests.kernels.installed import installed

OUTSIDE = "index out of range"
REFUSED = "a kernel|there is|contiguous"


@pytest.fixture
def compiled() -> TagKernels:
    """Those of this installation."""
    return installed(TagKernels)


def _tags(count: int) -> Any:
    return np.zeros(count, dtype=TAG)


def _entries(*shape: int) -> Any:
    return np.zeros(shape, dtype=ENTRY)


def _read_only(array: Any) -> Any:
    array.flags.writeable = False
    return array


def _halfway(array: Any) -> Any:
    """The same values from a place on where no word begins."""
    moved = np.zeros(array.nbytes + 1, dtype=np.uint8)[1:].view(array.dtype)
    moved[:] = array
    return moved


@each_case(
    "hashes, mask, halves",
    [
        (np.zeros((2, 32), dtype=np.uint8), np.zeros(16, dtype=np.uint8), np.zeros((1, 16), dtype=np.uint8)),
        (np.zeros((2, 32), dtype=np.uint8), np.zeros(8, dtype=np.uint8), np.zeros((2, 16), dtype=np.uint8)),
        (np.zeros((2, 32), dtype=np.uint8), np.zeros(8, dtype=np.uint8), np.zeros((2, 8), dtype=np.uint8)),
        (np.zeros((2, 64), dtype=np.uint8)[:, ::2], np.zeros(16, dtype=np.uint8), np.zeros((2, 16), dtype=np.uint8)),
        (np.zeros((2, 32), dtype=np.int8), np.zeros(16, dtype=np.uint8), np.zeros((2, 16), dtype=np.uint8)),
        (np.zeros((2, 32), dtype=np.uint8), np.zeros(16, dtype=np.uint8), _read_only(np.zeros((2, 16), np.uint8))),
    ],
)
def test_halves_have_lines_of_their_own(compiled: TagKernels, hashes: Any, mask: Any, halves: Any) -> None:
    """As many as there are hashes."""
    with pytest.raises(ValueError, match=REFUSED):
        compiled.halve(hashes, mask, halves)


def test_hashes_have_their_size(compiled: TagKernels) -> None:
    """Shorter ones are not read on."""
    hashes, halves = np.zeros((2, 16), dtype=np.uint8), np.zeros((2, 16), dtype=np.uint8)
    with pytest.raises(Bug, match=OUTSIDE):
        compiled.halve(hashes, np.zeros(16, dtype=np.uint8), halves)


@each_case(
    "offsets",
    [[[0, 1, 4]], [[0, 2, 1]], [[1, 0, 0]], [[0, 1]], [[0, 1, 2, 3]], [[]], [[0, 1, 2], [0, 1, 2]], [[0, -(2**31), 2]]],
)
def test_only_tags_that_are_there_are_added(compiled: TagKernels, offsets: list[list[int]]) -> None:
    """The offsets may say anything."""
    with pytest.raises(Bug, match=OUTSIDE):
        compiled.add_up(_tags(3), [np.array(kind, dtype=np.int32) for kind in offsets], _tags(2))


@each_case(
    "tags, offsets, sums",
    [
        (_entries(2), np.zeros(2, dtype=np.int32), _tags(1)),
        (_tags(4)[::2], np.zeros(2, dtype=np.int32), _tags(1)),
        (_halfway(_tags(2)), np.zeros(2, dtype=np.int32), _tags(1)),
        (_tags(2), np.zeros(2, dtype=np.int64), _tags(1)),
        (_tags(2), np.zeros(2, dtype=np.int32), _read_only(_tags(1))),
        (_tags(2), np.zeros(2, dtype=np.int32), _entries(1)),
    ],
)
def test_sums_are_of_tags(compiled: TagKernels, tags: Any, offsets: Any, sums: Any) -> None:
    """Other values are refused before anything is read."""
    with pytest.raises(ValueError, match=REFUSED):
        compiled.add_up(tags, [offsets], sums)


def _places(*numbers: int) -> Any:
    return np.array(numbers, dtype=np.int64)


def _order(*numbers: int) -> Any:
    return np.array(numbers, dtype=np.uint32)


@each_case("parts", [0, 1, 3])
def test_parts_are_a_power_of_two(compiled: TagKernels, parts: int) -> None:
    """Of bits there are at least one, and no halves."""
    with pytest.raises(Bug, match=OUTSIDE):
        compiled.sort(_tags(2), _order(0, 0), np.zeros(parts, dtype=np.int64))


@each_case(
    "tags, order, ends",
    [
        (_tags(2), _order(0), _places(0, 0)),
        (_entries(2), _order(0, 0), _places(0, 0)),
        (_tags(4)[::2], _order(0, 0), _places(0, 0)),
        (_tags(2), _places(0, 0), _places(0, 0)),
        (_tags(2), _read_only(_order(0, 0)), _places(0, 0)),
        (_tags(2), _order(0, 0), _order(0, 0)),
        (_tags(2), _order(0, 0), _read_only(_places(0, 0))),
    ],
)
def test_each_tag_has_a_place(compiled: TagKernels, tags: Any, order: Any, ends: Any) -> None:
    """In an array that may be written to."""
    with pytest.raises(ValueError, match=REFUSED):
        compiled.sort(tags, order, ends)


@each_case(
    "starts, ends, order, filled",
    [
        ([0, 1], [1, 3], [0, 1], [0, 0]),
        ([0, 2], [2, 1], [0, 1], [0, 0]),
        ([-1, 1], [1, 2], [0, 1], [0, 0]),
        ([0, 1], [1, 2], [0, 2], [0, 0]),
        ([0, 1], [1, 2], [0, 1], [0, 5]),
        ([0, 1], [1, 2], [0, 1], [-1, 0]),
    ],
)
def test_entries_stay_within_their_buffers(
    compiled: TagKernels, starts: list[int], ends: list[int], order: list[int], filled: list[int]
) -> None:
    """And come from within the batch."""
    batch = OrderedTags(_tags(2), None, _order(*order), _places(*ends))
    with pytest.raises(Bug, match=OUTSIDE):
        compiled.spread(batch, _places(*starts), first=0, buffers=_entries(2, 4), filled=_places(*filled))


@each_case("record", [-1, 2**32])
def test_records_are_those_of_a_run(compiled: TagKernels, record: int) -> None:
    """A number that an entry cannot hold is not cut short."""
    batch = OrderedTags(_tags(1), _places(record - 5), _order(0), _places(0, 1))
    with pytest.raises(Bug, match=OUTSIDE):
        compiled.spread(batch, _places(0, 0), first=5, buffers=_entries(2, 4), filled=_places(0, 0))


@each_case(
    "batch",
    [
        OrderedTags(_tags(2), _places(0), _order(0, 1), _places(1, 2)),
        OrderedTags(_tags(2), _places(0, 1, 2), _order(0, 1), _places(1, 2)),
        OrderedTags(_tags(2), _order(0, 1), _order(0, 1), _places(1, 2)),
        OrderedTags(_entries(2), None, _order(0, 1), _places(1, 2)),
        OrderedTags(_halfway(_tags(2)), None, _order(0, 1), _places(1, 2)),
        OrderedTags(_tags(2), None, _places(0, 1), _places(1, 2)),
        OrderedTags(_tags(2), None, _order(0, 1), _order(1, 2)),
    ],
)
def test_a_batch_of_another_layout_is_not_spread(compiled: TagKernels, batch: OrderedTags) -> None:
    """Other values are refused before anything is read."""
    with pytest.raises(ValueError, match=REFUSED):
        compiled.spread(batch, _places(0, 1), first=0, buffers=_entries(2, 4), filled=_places(0, 0))


@each_case(
    "starts, buffers, filled",
    [
        (_places(0), _entries(2, 4), _places(0, 0)),
        (_places(0, 0), _entries(1, 4), _places(0, 0)),
        (_places(0, 0), _entries(2, 4), _places(0, 0, 0)),
        (_places(0, 0), np.zeros((2, 4), dtype=TAG), _places(0, 0)),
        (_places(0, 0), _entries(2, 4)[:, ::2], _places(0, 0)),
        (_places(0, 0), _read_only(_entries(2, 4)), _places(0, 0)),
        (_places(0, 0), _entries(2, 4), _order(0, 0)),
        (_read_only(_places(0, 0)), _entries(2, 4), _places(0, 0)),
    ],
)
def test_each_part_has_a_buffer(compiled: TagKernels, starts: Any, buffers: Any, filled: Any) -> None:
    """Of entries that may be written to."""
    batch = OrderedTags(_tags(2), None, _order(0, 1), _places(0, 0))
    with pytest.raises(ValueError, match=REFUSED):
        compiled.spread(batch, starts, first=0, buffers=buffers, filled=filled)


@each_case("piece", [_tags(3), _entries(4)[::2], _halfway(_entries(2))])
def test_repeats_are_of_entries(compiled: TagKernels, piece: Any) -> None:
    """Every piece is looked at before the first is read."""
    with pytest.raises(ValueError, match=REFUSED):
        compiled.find_repeated([_entries(2), piece])
