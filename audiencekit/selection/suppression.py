"""Keys, by their tags, that suppress every record which has any of them.

They come from suppression sources, from rows that do not say their consent, and from memories: keyed stores of keys
that outlive a run, such as one of people who were erased.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np

from audiencekit.identifiers.kinds import Kind
from audiencekit.preparation.columnar.hashing import sha256_of
from audiencekit.preparation.recordbits import Bools, Indices
from audiencekit.selection.partitions import (
    NO_RECORD,
    PARTITION_BITS,
    Chunks,
    Partitions,
    last_of_tag,
    records_of,
    repeated,
)
from audiencekit.selection.tagkernels import OrderedTags
from audiencekit.selection.tags import Tags


class KeyMemory(Protocol):
    """A store of keys that must not be sent again, under a key of its own. Asked from several threads at once."""

    def holds(self, kind: Kind, hashes: Any) -> Bools:
        """Of each of `hashes` (HASH_TYPE, an Arrow array), whether it is remembered.

        They are SHA-256 of the normalised values, also of the kind that is sent as it is. Called inside guarded
        functions.
        """

    @property
    def note(self) -> str:
        """The note on the keys that it held so far; empty for none."""


def held_keys(records: Any, memories: Sequence[KeyMemory]) -> Bools:
    """Of each key of `records` (RECORD_SCHEMA), kind after kind, whether one of `memories` holds it.

    Holds hashes: to be called from a guarded function only.
    """
    found = [np.zeros(0, dtype=bool)]
    for kind in Kind:
        values = records.column(kind.value).flatten()
        held = np.zeros(len(values), dtype=bool)
        if memories and len(values):
            hashes = values if kind.is_hashed else sha256_of(values)
            for memory in memories:
                held |= memory.holds(kind, hashes)
        found.append(held)
    return np.concatenate(found)


class SuppressedKeys:
    """Tags of keys that suppress, in parts like those of the records' keys, put aside in `chunks`."""

    def __init__(self, chunks: Chunks, *, bits: int = PARTITION_BITS) -> None:
        self._tags = Partitions(chunks, bits=bits)

    def __repr__(self) -> str:
        return "<SuppressedKeys>"

    def sort(self, tags: Tags) -> OrderedTags:
        """Some tags by part. May be called in any thread."""
        return self._tags.sort(tags, np.full(len(tags), NO_RECORD, dtype=np.int64))

    def add(self, tagged: OrderedTags) -> None:
        """Put them aside."""
        self._tags.add(tagged, 0)

    def holds(self, tags: Tags) -> Bools:
        """Of each of `tags`, whether it suppresses."""
        return self._tags.holds(tags)

    def owners(self, keys: Partitions, part: int) -> Indices:
        """The records that have a suppressed key, of one part of their `keys`. May be called in any thread."""
        suppressing = self._tags.pieces([part])
        if not any(map(len, suppressing)):
            return np.zeros(0, dtype=np.int64)
        # Every tag that both have is among those that occur more than once.
        ordered = repeated(*suppressing, *keys.pieces([part]))
        records, ends = records_of(ordered), last_of_tag(ordered)
        # NO_RECORD comes last of its tag.
        suppressed = (records[ends] == NO_RECORD)[np.cumsum(ends) - ends]
        owners: Indices = records[suppressed & (records != NO_RECORD)]
        return owners
