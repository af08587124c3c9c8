"""The records of a source that are sent, copied out of the batches that hold few of them.

They are looked at when it is planned whom a Delete strikes, noted before anything is sent, and sent: with the copies a
batch of which one record in a hundred is sent is unsealed once for all of it.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from functools import lru_cache
from typing import Final

import numpy as np
import pyarrow as pa

from audiencekit.delivery.spool import SealedFile
from audiencekit.personal import HashedRecords, guarded
from audiencekit.preparation.bits import Indices
from audiencekit.preparation.chunks import RecordChunk, from_chunk, to_chunk

_FEW_SHARE: Final = 0.25  # of a batch, at most: copies of more take as long as the batch
_NEIGHBOURS: Final = 4  # batches that stay unsealed: two requests often share one


class SentRecords:
    """Records of the batches that `unsealed` gives. Copies go into `copies`, which is empty and nobody else's.

    May be used from any thread.
    """

    def __init__(self, unsealed: Callable[[int], HashedRecords], copies: SealedFile) -> None:
        self._unsealed, self._copies = lru_cache(_NEIGHBOURS)(unsealed), copies
        self._begun: set[int] = set()
        self._copied: set[int] = set()
        self._lock = threading.Lock()

    def __repr__(self) -> str:
        return f"<SentRecords with copies of {len(self._copied)} batches>"

    def keep(self, batch: int, records: HashedRecords, places: Indices) -> None:
        """Copy those at `places`, ascending, of all `records` of `batch`; unless they are many, or some are copied."""
        if not 0 < len(places) <= records.unwrap().num_rows * _FEW_SHARE or not self._begin(batch):
            return
        self._copies.append(places.astype("<u4").tobytes(), 2 * batch)
        self._copies.append(to_chunk(records_at(records, places)).unwrap(), 2 * batch + 1)
        self._copied.add(batch)

    def at(self, batch: int, places: Indices) -> HashedRecords:
        """The records of `batch` at `places`, ascending (RECORD_SCHEMA)."""
        return records_at(*self.find(batch, places))

    def find(self, batch: int, places: Indices) -> tuple[HashedRecords, Indices]:
        """Records that hold those of `batch` at `places`, ascending, and where these stand among them."""
        if batch in self._copied:
            copied = np.frombuffer(self._copies.read(2 * batch), dtype="<u4")
            found = np.searchsorted(copied, places)
            if (copied.take(found, mode="clip") == places).all():
                return from_chunk(RecordChunk(self._copies.read(2 * batch + 1))), found
        records = self._unsealed(batch)
        self.keep(batch, records, places)
        return records, places

    def _begin(self, batch: int) -> bool:
        """Whether nobody has begun to copy of `batch`."""
        with self._lock:
            is_first = batch not in self._begun
            self._begun.add(batch)
        return is_first


@guarded
def records_at(records: HashedRecords, places: Indices) -> HashedRecords:
    """Those of `records` (RECORD_SCHEMA) at `places`, ascending."""
    batch = records.unwrap()
    return records if len(places) == batch.num_rows else HashedRecords(batch.take(pa.array(places)))
