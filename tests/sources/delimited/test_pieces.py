"""Pieces end where records end, and together they are the file."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from hypothesis import given, strategies as st

from audiencekit.sources.delimited import pieces
from audiencekit.sources.delimited.cellkernels import WantedCells
from audiencekit.sources.delimited.pieces import HEAD_BYTES, Pieces

RECORDS = WantedCells(",", 2, [0, 1])
RECORD = b"someone@example.com,+4930123456\n"


def _blocks(data: bytes, size: int) -> list[bytes]:
    return [data[start : start + size] for start in range(0, len(data), size)]


@pytest.mark.parametrize("block_bytes", [100, HEAD_BYTES, 300_000])
def test_the_first_piece_is_small_whatever_the_blocks(block_bytes: int) -> None:
    """The rest come as they were asked for."""
    data = RECORD * 20_000
    found = [piece.data for piece in Pieces(iter(_blocks(data, block_bytes)), RECORDS, piece_bytes=100_000)]
    assert len(found[0]) == HEAD_BYTES // len(RECORD) * len(RECORD)
    assert all(100_000 - len(RECORD) < len(piece) <= 100_000 + block_bytes for piece in found[1:-1])
    assert b"".join(found) == data


@given(
    rows=st.lists(st.sampled_from([RECORD, b"\n", b"\r\n", b'"a\nb",c\r\n', b"x\r", b'"a""b"\n']), max_size=40),
    cut=st.integers(0, 3),
    block_bytes=st.integers(1, 300),
    head_bytes=st.integers(1, 300),
)
def test_nothing_is_lost_between_pieces(rows: list[bytes], cut: int, block_bytes: int, head_bytes: int) -> None:
    """Wherever blocks and pieces end, but for line ends between records, which say nothing."""
    data = b"".join(rows)
    data = data[: len(data) - cut]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pieces, "HEAD_BYTES", head_bytes)
        found = list(Pieces(iter(_blocks(data, block_bytes)), RECORDS, piece_bytes=block_bytes))
    joined = b"".join(piece.data for piece in found)
    assert joined.replace(b"\r", b"").replace(b"\n", b"") == data.replace(b"\r", b"").replace(b"\n", b"")
    assert all(piece.data.endswith((b"\r", b"\n")) for piece in found if piece.records > 0)


def test_the_rest_follows_the_last_piece() -> None:
    """Also when the head of the file is all that was taken."""
    data = RECORD * 2_000
    cut_up = Pieces(iter([data]), RECORDS, piece_bytes=100_000)
    first = next(iter(cut_up)).data
    assert first + b"".join(cut_up.rest()) == data


@pytest.mark.parametrize("readers", [1, 2, 5])
def test_the_last_pieces_are_small_where_the_end_is_known(readers: int) -> None:
    """From where each reader has less than a piece to do, none is longer than its share of what is to come."""
    data, size = RECORD * 40_000, 100_000
    given = 0

    def blocks() -> Iterator[bytes]:
        nonlocal given
        for block in _blocks(data, 1_000):
            given += len(block)
            yield block

    cut_up = Pieces(blocks(), RECORDS, piece_bytes=size, readers=readers, bytes_left=lambda: len(data) - given)
    found = [len(piece.data) for piece in cut_up]
    assert sum(found) == len(data)
    left = len(data)
    for length in found:
        share = max(left // readers, size // 6)
        assert length <= min(size, share) + 1_000
        left -= length
    assert max(found) > size - 1_000
    assert readers == 1 or found[-2] < size // 2


def test_an_unknown_end_makes_no_piece_smaller() -> None:
    """As through a pipe, or from a packed file."""
    found = [
        len(piece.data)
        for piece in Pieces(iter(_blocks(RECORD * 20_000, 1_000)), RECORDS, piece_bytes=100_000, readers=5)
    ]
    assert min(found[1:-1]) > 99_000
