"""The tags of a batch of records with their rows, as bytes and back: all that a plan needs where nothing is sent.

A chunk is, with all numbers little-endian,

    uint32              records
    int64               row of the first record
    uint32 each         row of each record, counted from the first
    for each kind, in the order of Kind:
    uint8 and counts    how many values each record has, as in a chunk of records
    16 bytes each       the tags, one kind after the other
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from audiencekit.identifiers.kinds import Kind
from audiencekit.preparation.chunks import NO_VALUES, ChunkReader, count_parts, joined, row_parts
from audiencekit.preparation.columnar.buffers import offsets_of
from audiencekit.selection.tags import TAG, TAG_BYTES, Places, TaggedKeys


@dataclass(frozen=True, slots=True)
class TaggedRows:
    """The tags of a batch, and the row of each of its records."""

    rows: Places = field(repr=False)
    keys: TaggedKeys = field(repr=False)


def to_chunk(batch: TaggedRows) -> memoryview:
    """The bytes of a batch."""
    parts: list[bytes | memoryview] = [*row_parts(batch.rows)]
    for kind in Kind:
        offsets = batch.keys.offsets.get(kind)
        parts += [bytes([NO_VALUES])] if offsets is None else count_parts(np.diff(offsets))
    return joined([*parts, batch.keys.tags.view(np.uint8).data])


def from_chunk(chunk: bytes | memoryview) -> TaggedRows:
    """The batch that `to_chunk` had; its tags are not copied."""
    reading = ChunkReader(chunk)
    rows = reading.rows()
    forms = ((kind, reading.take(1)[0]) for kind in Kind)
    offsets = {kind: offsets_of(reading.counts(len(rows), form)) for kind, form in forms if form != NO_VALUES}
    values = sum(int(each[-1]) for each in offsets.values())
    tags = np.frombuffer(reading.buffer(TAG_BYTES * values), dtype=TAG)
    return TaggedRows(rows, TaggedKeys(len(rows), offsets, tags))
