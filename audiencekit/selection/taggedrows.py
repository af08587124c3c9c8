"""The tags of a batch of records with their rows, as bytes and back: all that a plan needs where nothing is sent.

A chunk is, with all numbers little-endian,

    uint8               1: the rows ascend, and few have no record; 0: not so
    int64, uint32       in 1: the first row, and how many there are to the last
    1 bit each          in 1: whether the row has a record
    the rows            in 0: as in a chunk of records
    for each kind, in the order of Kind:
    uint8 and counts    how many values each record has, as in a chunk of records
    8 bytes each        the first halves of the tags, one kind after the other

The other halves are the slots of the values, which are put aside on their own (`SharedValueSearch`).
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

import numpy as np

from audiencekit.identifiers.kinds import Kind
from audiencekit.preparation.chunks import NO_VALUES, ChunkReader, count_parts, joined_chunks, row_parts
from audiencekit.preparation.columnar.buffers import offsets_of
from audiencekit.selection.tags import Places, Slots, TaggedKeys, tags_with

_STRETCH: Final = struct.Struct("<qI")
_OTHERS, _ASCENDING = range(2)
_FEWER: Final = 8  # times as many rows as have a record take less as bits
_HALF_BYTES: Final = 8


@dataclass(frozen=True, slots=True)
class TaggedRows:
    """The tags of a batch, and the row of each of its records."""

    rows: Places = field(repr=False)
    keys: TaggedKeys = field(repr=False)


def to_chunk(batch: TaggedRows) -> memoryview:
    """The bytes of a batch, of whose tags only the first halves."""
    parts: list[bytes | memoryview] = [*_row_parts(batch.rows)]
    for kind in Kind:
        offsets = batch.keys.offsets.get(kind)
        parts += [bytes([NO_VALUES])] if offsets is None else count_parts(np.diff(offsets))
    return joined_chunks([*parts, batch.keys.tags["high"].copy().view(np.uint8).data])


def from_chunk(chunk: bytes | memoryview, slots: Slots) -> TaggedRows:
    """The batch that `to_chunk` had, whose values have these `slots`."""
    reading = ChunkReader(chunk)
    rows = _rows(reading)
    forms = ((kind, reading.take(1)[0]) for kind in Kind)
    offsets = {kind: offsets_of(reading.counts(len(rows), form)) for kind, form in forms if form != NO_VALUES}
    high = np.frombuffer(reading.buffer(_HALF_BYTES * len(slots)), dtype="<u8")
    return TaggedRows(rows, TaggedKeys(len(rows), offsets, tags_with(high, slots)))


def _row_parts(rows: Places) -> Iterator[bytes]:
    begin, end = (int(rows[0]), int(rows[-1]) + 1) if len(rows) else (0, 0)
    if end - begin > _FEWER * len(rows) or (rows[1:] <= rows[:-1]).any():
        yield from (bytes([_OTHERS]), *row_parts(rows))
        return
    bits = np.zeros(end - begin, dtype=bool)
    bits[rows - begin] = True
    yield from (bytes([_ASCENDING]), _STRETCH.pack(begin, len(bits)), np.packbits(bits).tobytes())


def _rows(reading: ChunkReader) -> Places:
    if reading.take(1)[0] == _OTHERS:
        return reading.rows()
    begin, count = _STRETCH.unpack(reading.take(_STRETCH.size))
    rows: Places = np.flatnonzero(reading.bits(count)) + begin
    return rows
