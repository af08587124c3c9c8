"""The records of a source that are sent, copied out of the batches that hold few of them.

They are looked at to plan which people a Delete strikes, noted before anything is sent, and sent: with the copies a
batch of which one record in a hundred is sent is unsealed once for all of it.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final

import numpy as np

from audiencekit.machine.spool import SealedFile
from audiencekit.machine.workers import Memo
from audiencekit.personal import HashedRecords, guarded
from audiencekit.preparation.chunks import RecordChunk, from_chunk, to_chunk
from audiencekit.preparation.columnar.buffers import arrow_array
from audiencekit.preparation.recordbits import Indices
from audiencekit.selection.selection import NEIGHBOURS

_FEW_SHARE: Final = 0.25  # of a batch, at most: copies of more take as long as the batch
_IN_MEMORY: Final = 65_536  # records that are copied: some ten megabytes; what is more is put aside


@dataclass(frozen=True, slots=True)
class _Copy:
    """The `records` that stood at `places` of a batch, ascending."""

    places: Indices = field(repr=False)
    records: HashedRecords


class SentRecords:
    """Records of the batches that `unsealed` gives. Copies go into `copies`, which is empty and used by no other.

    May be used from any thread.
    """

    def __init__(self, unsealed: Callable[[int], HashedRecords], copies: SealedFile) -> None:
        self._unsealed, self._copies = Memo(unsealed, most=NEIGHBOURS), copies
        self._begun: set[int] = set()
        self._in_memory: dict[int, _Copy] = {}
        self._aside: set[int] = set()
        self._room = _IN_MEMORY
        self._lock = threading.Lock()

    def __repr__(self) -> str:
        return f"<SentRecords with copies of {len(self._in_memory) + len(self._aside)} batches>"

    def keep(self, batch: int, records: HashedRecords, places: Indices) -> None:
        """Copy those at `places`, ascending, of all `records` of `batch`; unless they are many, or some are copied."""
        if not 0 < len(places) <= records.unwrap().num_rows * _FEW_SHARE:
            return
        is_first, has_room = self._begin(batch, len(places))
        if is_first and has_room:
            self._in_memory[batch] = _Copy(places, records_at(records, places))
        elif is_first:
            self._copies.append(places.astype("<u4").tobytes(), 2 * batch)
            self._copies.append(to_chunk(records_at(records, places)).unwrap(), 2 * batch + 1)
            self._aside.add(batch)

    def at(self, batch: int, places: Indices) -> HashedRecords:
        """The records of `batch` at `places`, ascending (RECORD_SCHEMA)."""
        return records_at(*self.find(batch, places))

    def find(self, batch: int, places: Indices) -> tuple[HashedRecords, Indices]:
        """Records that hold those of `batch` at `places`, ascending, and where these stand among them."""
        if (copy := self._copy(batch)) is not None:
            found = np.searchsorted(copy.places, places)
            if (copy.places.take(found, mode="clip") == places).all():
                return copy.records, found
        records = self._unsealed(batch)
        self.keep(batch, records, places)
        return records, places

    def _copy(self, batch: int) -> _Copy | None:
        if batch not in self._aside:
            return self._in_memory.get(batch)
        places = np.frombuffer(self._copies.read(2 * batch), dtype="<u4").astype(np.int64)
        return _Copy(places, from_chunk(RecordChunk(self._copies.read(2 * batch + 1))))

    def _begin(self, batch: int, count: int) -> tuple[bool, bool]:
        """Whether no thread has begun to copy of `batch`, and whether so many records of it have room in memory."""
        with self._lock:
            is_first, has_room = batch not in self._begun, count <= self._room
            self._begun.add(batch)
            if is_first and has_room:
                self._room -= count
        return is_first, has_room


@guarded
def records_at(records: HashedRecords, places: Indices) -> HashedRecords:
    """Those of `records` (RECORD_SCHEMA) at `places`, ascending."""
    batch = records.unwrap()
    return records if len(places) == batch.num_rows else HashedRecords(batch.take(arrow_array(places)))
