"""The pieces of a delimited file: whole records, each piece with its cells where they can be read at once."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Final

from audiencekit.kernels.library import kernels
from audiencekit.limits import MAX_CELL_BYTES, MAX_LINE_BYTES
from audiencekit.process.workers import cores
from audiencekit.sources.delimited.arrowcells import ArrowReader
from audiencekit.sources.delimited.cellkernels import CellKernels, Cells, LinesApart, Room, WantedCells
from audiencekit.sources.delimited.counting import Patterns, cut

HEAD_BYTES: Final = 16_384  # the first piece: the header is read with care, and meanwhile there is nothing else to do
_SMALLEST: Final = 6  # of a piece: a smaller part costs more than those who wait lose


@dataclass(frozen=True, slots=True, repr=False)
class Piece:
    """Whole records, so many of them not blank: their cells by position where they were read, else their bytes.

    `records` is -1 for what is left at the end and is not whole by the counter's rules. Where some of the records are
    `apart`, the cells are those of the others, and the bytes are there, too.
    """

    records: int
    cells: dict[int, Any] | None = None
    data: bytes = b""
    apart: LinesApart | None = None


class Pieces:
    """UTF-8 blocks in pieces of about `piece_bytes` that end where records end; the first one is small.

    The last ones are small, too, where `bytes_left` says how much is to come: as soon as each of `readers`, one a core
    by default, would have less than a piece to do. Else all but one would wait in the end for the thread with the last.

    Cells are read of those that come while `reads_cells`; `rest()` is everything after the piece that came last.
    """

    def __init__(
        self,
        blocks: Iterator[bytes],
        wanted: WantedCells,
        *,
        piece_bytes: int,
        readers: int | None = None,
        bytes_left: Callable[[], int | None] = lambda: None,
    ) -> None:
        self._blocks, self._piece_bytes = _head_apart(blocks), piece_bytes
        self._readers, self._bytes_left = readers or cores(), bytes_left
        self._wanted, self._by_arrow, self._room = wanted, ArrowReader(wanted), Room()
        self._patterns = Patterns(wanted.delimiter)
        self._carry = b""
        self.reads_cells = False

    def __iter__(self) -> Iterator[Piece]:
        waiting: list[bytes] = []
        waiting_bytes, wanted = 0, HEAD_BYTES
        for block in itertools.chain(self._blocks, [b""]):
            waiting.append(block)
            waiting_bytes += len(block)
            # A piece that ended between the two letters of a line end would have to be read with care, and the next.
            if block and waiting_bytes < (2 * wanted if block.endswith(b"\r") else wanted):
                continue
            data = b"".join(waiting)
            waiting.clear()
            if piece := self._take(data):
                del data  # not held while others work with the piece
                yield piece
            if len(self._carry) > MAX_LINE_BYTES or (self._carry and not block):
                last, self._carry = self._carry, b""
                yield Piece(-1, data=last)
                return
            waiting.append(self._carry)
            waiting_bytes = len(self._carry)
            wanted = max(self._next_bytes(), 2 * len(self._carry))

    def rest(self) -> Iterator[bytes]:
        """The blocks after the last piece, for a reader that goes on without this class."""
        return itertools.chain([self._carry] if self._carry else [], self._blocks)

    def _next_bytes(self) -> int:
        """How long the next piece is to be."""
        left = self._bytes_left()
        if left is None:
            return self._piece_bytes
        return min(self._piece_bytes, max(left // self._readers, self._piece_bytes // _SMALLEST))

    def _take(self, data: bytes) -> Piece | None:
        """The whole records that `data` begins with, None if there are none; what follows them is carried."""
        if self.reads_cells and (begun := self._begin(data)):
            self._carry = data[begun.whole_bytes :]
            whole = data[: begun.whole_bytes] if begun.apart else b""
            return Piece(begun.records, begun.columns, whole, begun.apart)
        # Lines that no kernel reads, or without kernels: counted, and read by Arrow where that is as good.
        records, self._carry, is_plain = cut(data, self._patterns)
        whole = data[: len(data) - len(self._carry)]
        if not whole:
            return None
        cells = self._by_arrow.read(whole, records) if self.reads_cells and is_plain else None
        return Piece(records, data=whole) if cells is None else Piece(records, cells)

    def _begin(self, data: bytes) -> Cells | None:
        """The cells of all whole records that `data` begins with, None when a kernel is not certain of them.

        They are counted, too: a line end by a line end, and the reader must have found as many cells as they have.
        Those that are apart are read by `csv`, which must find as many.
        """
        compiled = kernels(CellKernels) if self._wanted.positions else None
        return compiled.read_cells(data, self._wanted, self._room, longest=MAX_CELL_BYTES) if compiled else None


def _head_apart(blocks: Iterator[bytes]) -> Iterator[bytes]:
    """The same bytes, HEAD_BYTES of them first."""
    for first in blocks:
        yield from filter(None, (first[:HEAD_BYTES], first[HEAD_BYTES:]))
        break
    yield from blocks
