"""The pieces of a file that were read last, and those that will be wanted next, on their way already."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from concurrent.futures import Future
from typing import Final

PIECE_BYTES: Final = 2_097_152
# Readers of columns go forward at several places at once.
KEPT_PIECES: Final = 32
AHEAD: Final = 4  # behind a piece that is read in order
MOST_AT_ONCE: Final = 6  # on their way


class PrefetchedPieces:
    """Pieces of a file of `size_bytes`, by number. `begin` asks for so many bytes from an offset on."""

    def __init__(self, size_bytes: int, begin: Callable[[int, int], Future[bytes]]) -> None:
        self._size_bytes, self._begin = size_bytes, begin
        self._pieces: OrderedDict[int, Future[bytes]] = OrderedDict()

    def piece(self, number: int) -> Future[bytes]:
        """The bytes of a piece, to come; those behind it are asked for where the one before it was read."""
        found = self._ask_for(number)
        self._pieces.move_to_end(number)
        if number == 0 or number - 1 in self._pieces:
            for following in range(number + 1, number + 1 + AHEAD):
                if following * PIECE_BYTES < self._size_bytes and self._on_their_way() < MOST_AT_ONCE:
                    self._ask_for(following)
        while len(self._pieces) > KEPT_PIECES:
            self._pieces.popitem(last=False)[1].cancel()
        return found

    def _ask_for(self, number: int) -> Future[bytes]:
        if number not in self._pieces:
            offset = number * PIECE_BYTES
            self._pieces[number] = self._begin(offset, min(PIECE_BYTES, self._size_bytes - offset))
        return self._pieces[number]

    def _on_their_way(self) -> int:
        return sum(not piece.done() for piece in self._pieces.values())
