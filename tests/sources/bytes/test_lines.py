"""Lines are read whole, counted twice, and never too long for memory."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from hypothesis import given, strategies as st

from audiencekit.limits import MAX_LINE_BYTES
from audiencekit.sources.bytes.lines import LineCounter, non_blank_lines


def _blocks(data: bytes, size: int) -> Iterator[bytes]:
    return (data[start : start + size] for start in range(0, len(data), size))


@given(st.binary(max_size=60).map(lambda data: data.replace(b"q", b"\n")), st.integers(1, 9))
def test_lines_are_the_same_however_the_bytes_are_divided(data: bytes, size: int) -> None:
    """And the counter, which shares no code with the reader, counts as many."""
    counter = LineCounter()
    expected = [line.strip(b" \t\r") for line in data.split(b"\n") if line.strip(b" \t\r")]
    assert list(non_blank_lines(_blocks(data, size), counter)) == expected
    assert counter.lines == len(expected)


@pytest.mark.parametrize("size", [1000, 65_536, 3_000_000])
def test_an_overlong_line_is_none(size: int) -> None:
    """One byte more than allowed; its neighbours are read."""
    long, longest = b"x" * (MAX_LINE_BYTES + 1), b"y" * MAX_LINE_BYTES
    counter = LineCounter()
    data = b"\n".join([b"a", long, longest, b"b", long])
    assert list(non_blank_lines(_blocks(data, size), counter)) == [b"a", None, longest, b"b", None]
    assert counter.lines == 5
