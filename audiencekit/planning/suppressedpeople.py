"""The people of suppression sources, kept until it is known which of their values many share."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from audiencekit.machine.spool import Spool
from audiencekit.preparation.chunks import RecordChunk, from_chunk
from audiencekit.selection.candidates import SharedValues
from audiencekit.selection.keysets import KeySets
from audiencekit.selection.strippedrecords import find_sharing_rows


class SuppressedPeople:
    """The records of all suppression sources, put aside: who they are besides their shared values is asked later."""

    def __init__(self, aside: Spool) -> None:
        self._aside = aside
        self._batches: list[list[int]] = []

    def add(self, forms: Sequence[RecordChunk]) -> None:
        """Take the records of the next batch, in all their forms."""
        self._batches.append([self._aside.append(chunk.unwrap()) for chunk in forms])

    def unidentified(self, shared: SharedValues, keysets: KeySets) -> int:
        """How many of their rows have one of the values in `shared`, and no other value that a record has."""
        found = 0
        for numbers in self._batches:
            forms = [from_chunk(RecordChunk(self._aside.read(number))) for number in numbers]
            sharing, rows, tags = find_sharing_rows(forms, shared, keysets.tagger)
            if len(sharing):
                found += len(sharing) - len(np.unique(rows[keysets.has_values(tags)]))
        return found
