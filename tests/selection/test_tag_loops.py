"""Both implementations of the loops over tags against their definition, one value at a time."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from hypothesis import given, settings, strategies as st

from audiencekit.selection.plain_tags import PlainTags
from audiencekit.selection.tag_arrays import ENTRY, TAG, OrderedTags, PartOfSlots
from audiencekit.selection.tag_kernels import TagKernels
from tests.examples import examples
from tests.kernels.installed import both

Loops = Callable[[], Any]
HASHES = st.lists(st.binary(min_size=32, max_size=32), max_size=12)
HALVES = st.tuples(st.integers(0, 3).map(lambda high: high << 62), st.integers(0, 2**64 - 1))
SLOTS = st.lists(st.one_of(st.integers(0, 40), st.integers(0, 2**32 - 1)), max_size=30)
each = both(TagKernels, PlainTags)


def _matrix(rows: list[bytes], width: int = 32) -> Any:
    return np.frombuffer(b"".join(rows), dtype=np.uint8).reshape(-1, width)


def _slots(values: list[int]) -> Any:
    return np.array(values, dtype=np.uint32)


def _bit(bits: bytes, number: int) -> bool:
    number %= 8 * len(bits)
    return bool(bits[number // 8] >> number % 8 & 1)


@each
@given(hashes=HASHES, mask=st.binary(min_size=16, max_size=16))
def test_halves_are_masked(loops: Loops, hashes: list[bytes], mask: bytes) -> None:
    """Bit by bit."""
    halves = np.empty((len(hashes), 16), dtype=np.uint8)
    loops().halve(_matrix(hashes), np.frombuffer(mask, dtype=np.uint8), halves)
    assert [row.tobytes() for row in halves] == [
        bytes(one ^ other for one, other in zip(row[:16], mask, strict=True)) for row in hashes
    ]


@each
@given(hashes=HASHES, near=st.binary(min_size=2, max_size=2), far=st.binary(min_size=4, max_size=4))
def test_likely_hashes_have_both_bits(loops: Loops, hashes: list[bytes], near: bytes, far: bytes) -> None:
    """That of the first four bytes, and that of the next."""
    found = loops().find_likely(_matrix(hashes), *(np.frombuffer(bits, dtype=np.uint8) for bits in (near, far)))
    assert found.tolist() == [
        place
        for place, row in enumerate(hashes)
        if _bit(near, int.from_bytes(row[:4], "little")) and _bit(far, int.from_bytes(row[4:8], "little"))
    ]


@each
@given(
    kinds=st.lists(st.lists(st.lists(HALVES, max_size=3), min_size=4, max_size=4), max_size=3), before=st.integers(0, 9)
)
def test_sums_are_of_the_keys_of_a_record(loops: Loops, kinds: list[list[list[tuple[int, int]]]], before: int) -> None:
    """Of both halves, without what does not fit; offsets need not begin with 0."""
    tags = np.array([tag for records in kinds for own in records for tag in own], dtype=TAG)
    offsets = [before + np.cumsum([0, *map(len, records)], dtype=np.int32) for records in kinds]
    sums = np.ones(4, dtype=TAG)
    loops().add_up(tags, [np.asarray(one, dtype=np.int32) for one in offsets], sums)
    assert sums.tolist() == [
        tuple(sum(tag[half] for records in kinds for tag in records[record]) % 2**64 for half in range(2))
        for record in range(4)
    ]


@each
@given(slots=SLOTS, listed=st.sets(st.integers(0, 40)))
def test_listed_slots_are_found(loops: Loops, slots: list[int], listed: set[int]) -> None:
    """Each that is listed, and no other."""
    ordered = _slots(sorted(listed))
    marks = np.packbits(np.isin(np.arange(16), ordered & 15), bitorder="little")
    begins = np.append(np.searchsorted(ordered, _slots([0, 2**31])), len(ordered)).astype(np.uint32)
    found = loops().find_listed_slots(_slots(slots), ordered, marks, begins)
    assert found.tolist() == [place for place, slot in enumerate(slots) if slot in listed]


@each
@given(slots=SLOTS, least=st.integers(1, 15), part=st.sampled_from([(0, 0), (1, 0), (1, 1)]))
def test_a_counter_is_never_too_low(loops: Loops, slots: list[int], least: int, part: tuple[int, int]) -> None:
    """Those of the part that came often enough are found, wherever others count, and none of another part."""
    bits, number = part
    own = [slot for slot in slots if slot >> 32 - bits == number] if bits else slots
    counters = np.zeros(2**10, dtype=np.uint8)
    found = loops().count(_slots(slots), PartOfSlots(bits, number), counters, least).tolist()
    assert {slot for slot in own if own.count(slot) >= least} <= set(found) <= set(own)


@each
@given(tags=st.lists(HALVES, max_size=20), bits=st.integers(1, 6))
def test_tags_are_sorted_by_part(loops: Loops, tags: list[tuple[int, int]], bits: int) -> None:
    """As they come within a part."""
    order, ends = np.empty(len(tags), dtype=np.uint32), np.empty(2**bits, dtype=np.int64)
    loops().sort(np.array(tags, dtype=TAG), order, ends)
    parts = [high >> 64 - bits for high, _ in tags]
    assert order.tolist() == sorted(range(len(tags)), key=parts.__getitem__)
    assert ends.tolist() == [sum(own <= part for own in parts) for part in range(2**bits)]


@each
@settings(max_examples=examples(100))
@given(tags=st.lists(HALVES, max_size=20), room=st.integers(1, 5), shared=st.booleans())
def test_entries_fill_their_buffers(loops: Loops, tags: list[tuple[int, int]], room: int, shared: bool) -> None:
    """Each part its own, in order, until it is full; what was moved is not moved again."""
    made, ordered = loops(), np.array(tags, dtype=TAG)
    records = np.arange(len(tags)) // 2 if shared else None
    order, ends = np.empty(len(tags), dtype=np.uint32), np.empty(4, dtype=np.int64)
    made.sort(ordered, order, ends)
    batch, starts = OrderedTags(ordered, records, order, ends), np.concatenate([[0], ends[:-1]])
    buffers, filled = np.zeros((4, room), dtype=ENTRY), np.zeros(4, dtype=np.int64)
    full = made.spread(batch, starts, first=7, buffers=buffers, filled=filled)
    for part in range(4):
        own = [
            (high, low, 7 + (place // 2 if shared else place))
            for place, (high, low) in enumerate(tags)
            if high >> 62 == part
        ]
        assert buffers[part, : filled[part]].tolist() == own[:room]
        assert ends[part] - starts[part] == len(own[room:])
    assert full == np.count_nonzero(filled == room)


@each
@given(pieces=st.lists(st.lists(HALVES, max_size=8), min_size=1, max_size=3))
def test_repeated_entries_are_found(loops: Loops, pieces: list[list[tuple[int, int]]]) -> None:
    """By the high half, in the order of tag and record."""
    numbered = iter(range(100))
    given_pieces = [[(high, low % 3, next(numbered)) for high, low in piece] for piece in pieces]
    high = [entry[0] for piece in given_pieces for entry in piece]
    found = loops().find_repeated([np.array(piece, dtype=ENTRY) for piece in given_pieces])
    assert found.tolist() == sorted(entry for piece in given_pieces for entry in piece if high.count(entry[0]) > 1)
