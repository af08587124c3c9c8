"""Hashes between bytes and digits."""

from __future__ import annotations

import pyarrow as pa
from hypothesis import given, strategies as st

from audiencekit.preparation.columnar.hexadecimal import (
    HASH_TYPE,
    from_hex,
    hash_array,
    hash_matrix,
    hex_digits,
    to_hex,
)

HASHES = st.lists(st.binary(min_size=32, max_size=32), max_size=8)


@given(HASHES, st.integers(0, 3))
def test_bytes_become_digits_and_back(hashes: list[bytes], start: int) -> None:
    """Lower-case, as Python writes them; also of slices."""
    array = pa.array(hashes, HASH_TYPE).slice(start)
    texts = to_hex(array)
    assert texts.to_pylist() == [one.hex() for one in hashes[start:]]
    assert from_hex(texts).equals(array)
    assert from_hex(pa.array([one.hex() for one in hashes], pa.string()).slice(start)).equals(array)


@given(HASHES)
def test_lines_of_a_matrix_are_hashes(hashes: list[bytes]) -> None:
    """The array of a matrix is the array that the matrix is of."""
    array = pa.array(hashes, HASH_TYPE)
    assert hash_array(hash_matrix(array)).equals(array)
    assert [bytes(line).decode() for line in hex_digits(hash_matrix(array))] == [one.hex() for one in hashes]
