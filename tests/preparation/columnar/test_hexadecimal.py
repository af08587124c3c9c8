"""Hashes between bytes and digits."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, strategies as st

from audiencekit.errors import Bug
from audiencekit.preparation.columnar.buffers import HASH_TYPE, hash_array, hash_matrix
from audiencekit.preparation.columnar.hexadecimal import HexKernels, from_hex, hex_digits, to_hex
from tests.kernels.installed import installed

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


OF_TWO = np.array([0, 1, 3], dtype=np.int32)  # a list of one hash, and one of two
THREE = np.repeat(np.array([[1], [2], [171]], dtype=np.uint8), 32, axis=1)


@pytest.fixture
def compiled() -> HexKernels:
    """Those of this installation."""
    return installed(HexKernels)


@pytest.mark.parametrize(("places", "room"), [([2], 192), ([-1], 192), ([0, 1], 191), ([1, 1], 192), ([0], 0)])
def test_no_digits_are_written_outside(compiled: HexKernels, places: list[int], room: int) -> None:
    """Lists that are not there, or more than there is room for."""
    with pytest.raises(Bug, match="index out of range"):
        compiled.write_lists(OF_TWO, THREE, np.array(places), np.zeros(room, dtype=np.uint8))


def test_digits_of_chosen_lists(compiled: HexKernels) -> None:
    """One behind the other, and where each list ends."""
    digits = np.zeros(192, dtype=np.uint8)
    assert compiled.write_lists(OF_TWO, THREE, np.array([1, 0]), digits).tolist() == [0, 2, 3]
    assert digits.tobytes() == b"02" * 32 + b"ab" * 32 + b"01" * 32


def test_digits_go_into_bytes_of_ones_own(compiled: HexKernels) -> None:
    """Bytes of others are refused before anything is written."""
    with pytest.raises(ValueError, match="a kernel"):
        compiled.write_lists(OF_TWO, THREE, np.array([0]), np.frombuffer(bytes(300), dtype=np.uint8))
