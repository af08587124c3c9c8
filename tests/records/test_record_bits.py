"""One bit a record."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pyarrow as pa
from hypothesis import given, strategies as st

from audiencekit.records.record_bits import Bits, bools_of


@given(st.lists(st.lists(st.booleans(), max_size=40), max_size=8), st.data())
def test_appended_bits_are_read(parts: list[list[bool]], data: st.DataObject) -> None:
    """In any stretch and by index, wherever the parts were cut."""
    bits, values = Bits(), [value for part in parts for value in part]
    for part in parts:
        bits.append(np.array(part, dtype=bool))
    assert len(bits) == len(values)
    assert bits.count() == sum(values)
    start = data.draw(st.integers(0, len(values)))
    end = data.draw(st.integers(start, len(values)))
    assert bits.slice(start, end).tolist() == values[start:end]
    indices = data.draw(st.lists(st.integers(0, len(values) - 1), max_size=9)) if values else []
    assert bits.at(np.array(indices, dtype=np.int64)).tolist() == [values[index] for index in indices]


@given(st.integers(0, 70), st.booleans(), st.sets(st.integers(0, 69)))
def test_setting_bits_sets_no_others(length: int, value: bool, indices: set[int]) -> None:
    """From all of one value; bits of one byte do not touch each other."""
    bits, chosen = Bits.of(length, value), sorted(index for index in indices if index < length)
    assert bits.count() == length * value
    bits.set(np.array(chosen, dtype=np.int64), not value)
    assert bits.slice(0, length).tolist() == [(index in chosen) != value for index in range(length)]


def test_an_index_may_come_twice() -> None:
    """Several tags can name one record."""
    bits = Bits.of(9, True)
    bits.set(np.array([8, 8, 1]), False)
    assert bits.count() == 7


def test_memory_is_a_bit_a_record() -> None:
    """A hundred million records are 12.5 MB, and nothing while all have the same: most runs have one verb."""
    bits = Bits()
    for _ in range(2):
        bits.append(np.ones(4_000, dtype=bool))
    assert bits.count() == 8_000
    assert not bits._bytes
    bits.set(np.array([7_999]), False)
    assert bits.count() == len(bits) - 1
    assert len(bits._bytes) == 1_000


@given(st.integers(1, 70), st.booleans(), st.lists(st.booleans(), max_size=20), st.booleans())
def test_bits_of_one_value_are_as_any_others(length: int, value: bool, further: list[bool], other: bool) -> None:
    """Appended to, copied, packed, or taken from each other."""
    bits, values = Bits.of(length, value), [value] * length + further
    bits.append(np.array(further, dtype=bool))
    copied = bits.copy()
    assert np.unpackbits(copied.packed(), bitorder="little").tolist()[: len(bits)] == values
    bits.subtract(Bits.of(len(bits), other))
    assert bits.slice(0, len(bits)).tolist() == [each and not other for each in values]
    assert copied.count() == sum(values)


@given(st.lists(st.booleans(), max_size=70), st.integers(0, 20), st.integers(0, 70))
def test_booleans_of_arrow_are_read(values: list[bool], start: int, count: int) -> None:
    """Of slices as well, wherever in a byte they begin."""
    column = pa.array(values, pa.bool_()).slice(min(start, len(values)), count)
    assert bools_of(column).tolist() == column.to_pylist()


def test_of_a_slice_no_more_is_read_than_its_own() -> None:
    """However far behind the beginning of its column it stands."""
    column = pa.array(np.ones(8_000_000, dtype=bool)).slice(7_999_000, 10)
    tracemalloc.start()
    try:
        assert bools_of(column).all()
        assert tracemalloc.get_traced_memory()[1] < 100_000
    finally:
        tracemalloc.stop()
