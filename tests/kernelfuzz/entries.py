"""Entries: a tag and a record each."""

from __future__ import annotations

from tests.kernelfuzz.drawing import Draw, Slice
from tests.kernelfuzz.layouts import ENTRY_BYTES, slice_of


def draw_entries(draw: Draw, rows: int) -> list[tuple[int, int, int]]:
    """High half, low half and record of each; some share a half."""
    few = [draw.number("Q", 2**64 - 1) for _ in range(5)]
    drawn = (draw.chance.choice((*few, draw.number("Q", 2**64 - 1))) for _ in range(rows))
    return [(high, draw.number("Q", 3), draw.number("I", 200)) for high in drawn]


def in_pieces(draw: Draw, entries: list[tuple[int, int, int]]) -> Slice:
    """The same in one piece or two."""
    raw = [
        high.to_bytes(8, "little") + low.to_bytes(8, "little") + record.to_bytes(4, "little")
        for high, low, record in entries
    ]
    cut = draw.chance.randint(0, len(raw))
    return slice_of(draw, [draw.slice(b"".join(some), ENTRY_BYTES) for some in (raw[:cut], raw[cut:])])
