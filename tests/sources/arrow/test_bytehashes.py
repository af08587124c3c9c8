"""Hashes as bytes are read as their digits; what can be read is no hash."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, strategies as st

from audiencekit.sources.arrow.bytehashes import as_digits

ONE, OTHER = bytes(range(128, 160)), bytes(range(32))
RAW = b"0123456789abcdef" * 2


@pytest.mark.parametrize(
    "kind", [pa.binary(), pa.binary(32), pa.large_binary(), pa.binary_view()], ids=["plain", "fixed", "large", "view"]
)
def test_each_type_of_bytes_becomes_text(kind: Any) -> None:
    """Null stays null, and a slice is as good as a whole."""
    cells = pa.array([OTHER, ONE, None, OTHER], kind)
    assert as_digits(cells.slice(1)).equals(pa.array([ONE.hex(), None, OTHER.hex()]))


def test_dictionaries_are_their_values() -> None:
    """As Arrow keeps cells that are often the same."""
    cells = pa.array([ONE, None, ONE]).dictionary_encode()
    assert as_digits(cells).equals(pa.array([ONE.hex(), None, ONE.hex()]))


@pytest.mark.parametrize("lists", [pa.list_(pa.binary()), pa.large_list(pa.binary(32))], ids=["lists", "large lists"])
def test_lists_stay_lists(lists: Any) -> None:
    """Of no value there is no list."""
    cells = pa.array([[ONE, OTHER], None, [], [None, ONE]], lists)
    assert as_digits(cells).to_pylist() == [[ONE.hex(), OTHER.hex()], None, None, [None, ONE.hex()]]


@given(st.lists(st.none() | st.binary(min_size=32, max_size=32) | st.binary(max_size=40) | st.just(RAW)))
def test_bytes_are_their_digits_unless_they_can_be_read(values: list[bytes | None]) -> None:
    """So that no readable text passes for a hash."""
    texts = as_digits(pa.array(values, pa.binary())).to_pylist()
    for value, text in zip(values, texts, strict=True):
        assert text in ((None,) if value is None else (value.hex(), value.decode("ascii", "replace")))
        if value is not None and all(0x20 <= byte < 0x7F for byte in value):
            assert text == value.decode("ascii")


def test_no_rows_are_no_texts() -> None:
    """Of the type of texts all the same."""
    assert as_digits(pa.array([], pa.binary())).equals(pa.array([], pa.string()))
