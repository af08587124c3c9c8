"""Tags put aside in parts."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from audiencekit.preparation.partitions import ENTRY, Chunks, Entries, Partitions, last_of_tag, repeated
from audiencekit.preparation.tags import TAG, Tags

Store = Callable[[], Chunks]


def _tags(pairs: list[tuple[int, int]]) -> Tags:
    return np.array(pairs, dtype=TAG)


def _entries(pairs: list[tuple[int, int]]) -> Entries:
    return np.array([(high, low, record) for record, (high, low) in enumerate(pairs)], dtype=ENTRY)


@settings(max_examples=80, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
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
    monkeypatch.setattr("audiencekit.preparation.partitions.BUFFER_BYTES", buffer_bytes)
    partitions, first = Partitions(memory_chunks(), bits=bits), 0
    for pairs in batches:
        partitions.add(partitions.sort(_tags(pairs), np.arange(len(pairs))), first)
        first += len(pairs)
    found = {}
    for part in partitions.parts():
        entries = partitions.load(part)
        assert (entries["high"] >> np.uint64(64 - bits) == part).all()
        assert (np.diff(entries["record"]) > 0).all()
        found.update({entry["record"].item(): (int(entry["high"]), int(entry["low"])) for entry in entries})
    assert [found[record] for record in range(first)] == [pair for pairs in batches for pair in pairs]
    assert len(found) == first


def test_a_part_in_memory_is_bounded(memory_chunks: Callable[[], object], monkeypatch: pytest.MonkeyPatch) -> None:
    """What is more than a buffer goes to the chunks; the rest stays."""
    monkeypatch.setattr("audiencekit.preparation.partitions.BUFFER_BYTES", 10 * ENTRY.itemsize)
    chunks = memory_chunks()
    partitions = Partitions(chunks, bits=1)  # type: ignore[arg-type]
    for start in range(0, 96, 4):
        partitions.add(partitions.sort(_tags([(number, 0) for number in range(4)]), np.arange(4)), start)
    assert [len(chunk) // ENTRY.itemsize for chunk in chunks.chunks] == [10] * 9  # type: ignore[attr-defined]
    assert len(partitions.load(0)) == 96


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
