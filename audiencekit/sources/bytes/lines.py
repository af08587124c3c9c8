"""The non-blank lines of UTF-8 blocks, and a counter of them that shares no code with the reader."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import numpy as np

from audiencekit.limits import MAX_LINE_BYTES

BLANKS: Final = b" \t\r"
_IS_BLANK: Final = np.isin(np.arange(256, dtype=np.uint8), np.frombuffer(BLANKS + b"\n", dtype=np.uint8))


def non_blank_lines(blocks: Iterator[bytes], counter: LineCounter) -> Iterator[bytes | None]:
    """Each line without its end, None for one of more than MAX_LINE_BYTES. `counter` sees every block first."""
    begun: list[bytes] = []
    begun_bytes = 0
    for block in blocks:
        counter.feed(block)
        first, *others = block.split(b"\n")
        begun_bytes += len(first)
        begun = [*begun, first] if begun_bytes <= MAX_LINE_BYTES else []
        if others:
            yield from _shown(b"".join(begun), begun_bytes)
            for line in others[:-1]:
                yield from _shown(line, len(line))
            begun, begun_bytes = [others[-1]], len(others[-1])
    yield from _shown(b"".join(begun), begun_bytes)


def _shown(line: bytes, size_bytes: int) -> tuple[bytes | None, ...]:
    if size_bytes > MAX_LINE_BYTES:
        return (None,)
    stripped = line.strip(BLANKS)
    return (stripped,) if stripped else ()


class LineCounter:
    """Counts the lines of the blocks that it is fed which hold more than blanks. `lines` counts the last one, too."""

    def __init__(self) -> None:
        self._ended = 0
        self._is_filled = False  # the line that has not ended yet

    @property
    def lines(self) -> int:
        """Non-blank lines so far."""
        return self._ended + self._is_filled

    def feed(self, block: bytes) -> None:
        """Counts what ends in `block`."""
        letters = np.frombuffer(block, dtype=np.uint8)
        filled = np.cumsum(~_IS_BLANK[letters])
        at_ends = filled[letters == ord("\n")]
        total = int(filled[-1]) if len(filled) else 0
        if not len(at_ends):
            self._is_filled |= total > 0
            return
        self._ended += int(self._is_filled or at_ends[0] > 0) + int(np.count_nonzero(np.diff(at_ends)))
        self._is_filled = total > int(at_ends[-1])
