"""Hashes between bytes and digits."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings, strategies as st

from audiencekit.errors import Bug
from audiencekit.identifiers.kinds import hash_normalized
from audiencekit.records.columns import hashes as hashing
from audiencekit.records.columns.arrays import HASH_TYPE, hash_array, hash_matrix
from audiencekit.records.columns.hashes import from_hex, hex_digits, sha256_of, to_hex
from audiencekit.records.columns.hex_kernels import HexKernels
from audiencekit.records.columns.plain_hex import PlainHex
from audiencekit.records.columns.plain_texts import PlainTexts
from audiencekit.records.columns.text_kernels import TextKernels
from tests.cases import each_case
from tests.examples import examples
from tests.kernels.installed import both, installed

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


@each_case("places, room", [([2], 192), ([-1], 192), ([0, 1], 191), ([1, 1], 192), ([0], 0)])
def test_no_digits_are_written_outside(compiled: HexKernels, places: list[int], room: int) -> None:
    """Lists that are not there, or more than there is room for."""
    with pytest.raises(Bug, match="index out of range"):
        compiled.write_lists(OF_TWO, THREE, np.array(places), np.zeros(room, dtype=np.uint8))


@both(HexKernels, PlainHex)
def test_digits_of_chosen_lists(loops: Any) -> None:
    """One behind the other, and where each list ends."""
    digits = np.zeros(192, dtype=np.uint8)
    assert loops().write_lists(OF_TWO, THREE, np.array([1, 0]), digits).tolist() == [0, 2, 3]
    assert digits.tobytes() == b"02" * 32 + b"ab" * 32 + b"01" * 32


def test_digits_go_into_bytes_of_ones_own(compiled: HexKernels) -> None:
    """Bytes of others are refused before anything is written."""
    with pytest.raises(ValueError, match="a kernel"):
        compiled.write_lists(OF_TWO, THREE, np.array([0]), np.frombuffer(bytes(300), dtype=np.uint8))


@pytest.fixture(params=["compiled", "plain"], scope="module", autouse=True)
def hashed_by(request: pytest.FixtureRequest) -> Iterator[None]:
    """By a kernel, and one by one."""
    loops = installed(TextKernels) if request.param == "compiled" else PlainTexts()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(hashing, "TEXT_LOOPS", loops)
        yield


def _sha256_hex(texts: Any) -> list[str]:
    hashes = sha256_of(texts)
    assert hashes.type == HASH_TYPE
    return to_hex(hashes).to_pylist()  # type: ignore[no-any-return]


def test_published_vectors() -> None:
    """The examples of FIPS 180-4 for no text, one block and two blocks."""
    texts = ["", "abc", "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"]
    assert _sha256_hex(pa.array(texts)) == [
        "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
        "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad",
        "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1",
    ]


@given(st.lists(st.text(st.characters(exclude_categories=["Cs"])), max_size=30))
@settings(max_examples=examples(60), deadline=None)
def test_same_as_definition(texts: list[Any]) -> None:
    """Each text has the definition's hash, in the order of the column."""
    assert _sha256_hex(pa.array(texts, pa.string())) == [hash_normalized(text) for text in texts]


def test_order_of_long_columns() -> None:
    """Long columns keep their order; slices count from their own beginning."""
    texts = [f"a{number}@example.com" for number in range(140_000)]
    hashes = _sha256_hex(pa.array(texts).slice(1_000))
    assert len(hashes) == 139_000
    for at in (0, 8_191, 8_192, 65_535, 65_536, 138_999):
        assert hashes[at] == hash_normalized(texts[at + 1_000])  # type: ignore[arg-type]
