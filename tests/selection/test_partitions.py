"""Tags put aside in parts."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

from audiencekit.errors import PlanRefused
from audiencekit.selection import partitions as partitions_module
from audiencekit.selection.partitions import NO_RECORD, Chunks, Partitions, are_in, last_of_tag, records_of, repeated
from audiencekit.selection.plain_tags import PlainTags
from audiencekit.selection.tag_arrays import ENTRY, TAG, Entries, Tags
from tests.examples import examples

Store = Callable[[], Chunks]

TAGS = st.tuples(st.sampled_from([0, 1, 2**63, 2**64 - 1]) | st.integers(0, 2**64 - 1), st.integers(0, 2))


def _tags(pairs: list[tuple[int, int]]) -> Tags:
    return np.array(pairs, dtype=TAG)


def _entries(pairs: list[tuple[int, int]]) -> Entries:
    return np.array([(high, low, record) for record, (high, low) in enumerate(pairs)], dtype=ENTRY)


@settings(max_examples=examples(80), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.lists(st.lists(st.tuples(st.integers(0, 2**64 - 1), st.integers(0, 2**64 - 1)), max_size=12), max_size=6),
    st.integers(1, 9),
    st.integers(0, 200),
)
def test_every_entry_is_in_the_part_of_its_tag(
    memory_chunks: Store,
    monkeypatch: pytest.MonkeyPatch,
    batches: list[list[tuple[int, int]]],
    bits: int,
    buffer_bytes: int,
) -> None:
    """Once, with its record counted over all batches, and ascending within a part."""
    monkeypatch.setattr("audiencekit.selection.partitions.BUFFER_BYTES", buffer_bytes)
    partitions, first = Partitions(memory_chunks(), bits=bits), 0
    for pairs in batches:
        partitions.add(partitions.sort(_tags(pairs)), first)
        first += len(pairs)
    found = {}
    for part in partitions.parts():
        entries = np.concatenate(partitions.pieces([part]))
        assert (entries["high"] >> np.uint64(64 - bits) == part).all()
        assert (np.diff(entries["record"]) > 0).all()
        found.update({entry["record"].item(): (int(entry["high"]), int(entry["low"])) for entry in entries})
    assert [found[record] for record in range(first)] == [pair for pairs in batches for pair in pairs]
    assert len(found) == first


def test_a_part_in_memory_is_bounded(memory_chunks: Callable[[], object], monkeypatch: pytest.MonkeyPatch) -> None:
    """Full buffers go to the chunks; the rest stays."""
    monkeypatch.setattr("audiencekit.selection.partitions.BUFFER_BYTES", 10 * ENTRY.itemsize)
    chunks = memory_chunks()
    partitions = Partitions(chunks, bits=1)  # type: ignore[arg-type]
    for start in range(0, 96, 4):
        partitions.add(partitions.sort(_tags([(number, 0) for number in range(4)])), start)
    assert [len(chunk) // ENTRY.itemsize for chunk in chunks.chunks] == [10] * 9  # type: ignore[attr-defined]
    assert len(np.concatenate(partitions.pieces([0]))) == 96


@pytest.mark.parametrize("by", ["kernel", "columns"])
def test_a_run_has_no_more_records_than_entries_can_tell(
    by: str, memory_chunks: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The last is one before the number of no person; no number is cut short."""
    if by == "columns":
        monkeypatch.setattr(partitions_module, "TAG_LOOPS", PlainTags())
    partitions = Partitions(memory_chunks(), bits=1)
    batch = partitions.sort(_tags([(1, 1), (2, 2)]))
    partitions.add(batch, NO_RECORD - 2)
    assert records_of(np.concatenate(partitions.pieces([0]))).tolist() == [NO_RECORD - 2, NO_RECORD - 1]
    with pytest.raises(PlanRefused, match="4,294,967,295 records in one run"):
        partitions.add(batch, NO_RECORD - 1)


def test_all_128_bits_make_a_tag() -> None:
    """Half a tag in common is none, whatever the order they come in."""
    found = repeated(_entries([(7, 2), (7, 1), (7, 2), (7, 1), (3, 9), (3, 8), (5, 5)]))
    assert found["record"].tolist() == [5, 4, 1, 3, 0, 2]
    assert last_of_tag(found).tolist() == [True, True, False, True, False, True]


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 2)), max_size=30))
def test_nothing_that_occurs_twice_is_missed(pairs: list[tuple[int, int]]) -> None:
    """Every tag that several records have comes with all of them, in their order."""
    found = repeated(_entries(pairs))
    ends = np.flatnonzero(last_of_tag(found)) + 1
    groups = [group["record"].tolist() for group in np.split(found, ends[:-1])] if len(found) else []
    expected = {pair: [n for n, other in enumerate(pairs) if other == pair] for pair in pairs}
    assert sorted(group for group in groups if len(group) > 1) == sorted(
        records for records in expected.values() if len(records) > 1
    )


@settings(max_examples=examples(80), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.lists(TAGS, max_size=30), max_size=6), st.integers(1, 9), st.integers(0, 200), st.booleans())
def test_entries_are_put_aside_alike_without_kernels(
    memory_chunks: Callable[[], Any],
    monkeypatch: pytest.MonkeyPatch,
    batches: list[list[tuple[int, int]]],
    bits: int,
    buffer_bytes: int,
    shared: bool,
) -> None:
    """The same chunks, in the same order, and the same in memory; and of whole parts the same is repeated."""
    monkeypatch.setattr("audiencekit.selection.partitions.BUFFER_BYTES", buffer_bytes)

    def put_aside() -> tuple[list[bytes], list[list[object]], list[object]]:
        chunks = memory_chunks()
        partitions, first = Partitions(chunks, bits=bits), 0
        for pairs in batches:
            owners = np.arange(len(pairs))[::-1] // 2 if shared else None
            partitions.add(partitions.sort(_tags(pairs), owners), first)
            first += len(pairs)
        loaded = [np.concatenate(partitions.pieces([part])).tolist() for part in range(2**bits)]
        return chunks.chunks, loaded, [repeated(*partitions.pieces(run)).tolist() for run in partitions.runs()]

    found = put_aside()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(partitions_module, "TAG_LOOPS", PlainTags())
        assert found == put_aside()


@given(st.lists(st.lists(TAGS, max_size=20), min_size=1, max_size=5))
def test_repeats_are_found_alike_without_kernels(pieces: list[list[tuple[int, int]]]) -> None:
    """Across pieces, one of which may be empty."""
    entries = _entries([pair for piece in pieces for pair in piece])
    cut = np.split(entries, np.cumsum([len(piece) for piece in pieces])[:-1])
    found = repeated(*cut).tolist()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(partitions_module, "TAG_LOOPS", PlainTags())
        assert found == repeated(*cut).tolist()


@settings(max_examples=examples(80), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.integers(0, 7), max_size=40), st.integers(1, 20), st.integers(0, 100))
def test_parts_come_in_runs(
    memory_chunks: Store, monkeypatch: pytest.MonkeyPatch, parts: list[int], together: int, buffer_bytes: int
) -> None:
    """All that hold anything, in order and once; several only when they are small, and as many as may be."""
    monkeypatch.setattr("audiencekit.selection.partitions.TOGETHER", together)
    monkeypatch.setattr("audiencekit.selection.partitions.BUFFER_BYTES", buffer_bytes)
    partitions = Partitions(memory_chunks(), bits=3)
    partitions.add(partitions.sort(_tags([(part << 61, 0) for part in parts])), 0)
    runs = list(partitions.runs())
    assert [part for run in runs for part in run if part in parts] == sorted(set(parts))
    sizes = [[parts.count(part) for part in run if part in parts] for run in runs]
    assert all(len(run) == 1 or 0 < sum(run) <= together for run in sizes)
    assert all(sum(run) + following[0] > together for run, following in pairwise(sizes))


def test_entries_among_others() -> None:
    """Of each record there is one at most among these: both halves of its tag are compared."""
    entries = np.array([(7, 2, 4), (9, 3, 1), (5, 1, 8)], dtype=ENTRY)
    asked = np.array([(5, 1, 8), (7, 2, 4), (7, 2, 5), (7, 3, 4), (8, 2, 4), (9, 3, 1)], dtype=ENTRY)
    assert are_in(asked, entries).tolist() == [True, True, False, False, False, True]
    assert are_in(asked, entries[:0]).tolist() == [False] * 6
