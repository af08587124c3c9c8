"""The batches of pass one in the spool: their records, or their tags where nothing more is asked of them."""

from __future__ import annotations

import numpy as np

from audiencekit.errors import Bug
from audiencekit.machine.spool import SealedFile, Spool
from audiencekit.machine.workers import Memo
from audiencekit.personal import HashedRecords, guarded
from audiencekit.preparation.chunks import RecordChunk, from_chunk
from audiencekit.preparation.recordbits import Indices
from audiencekit.selection import taggedrows
from audiencekit.selection.candidates import Candidates, Pairs, candidates_at, candidates_in_records
from audiencekit.selection.selection import NEIGHBOURS
from audiencekit.selection.strippedrecords import without_values
from audiencekit.selection.taggedrows import TaggedRows
from audiencekit.selection.tags import Places, Slots, Tagger


class BatchSpool:
    """Batches by number in `file`, one chunk each. Any thread may read or write.

    Without `keeps_records` a chunk holds the tags of a batch, if shared values are looked for, or else there is none.
    Which values of a batch are left out is put `aside`.
    """

    def __init__(self, file: SealedFile, aside: Spool, *, keeps_records: bool = True) -> None:
        self._file, self._aside, self.keeps_records = file, aside, keeps_records
        self._left_out: dict[int, int] = {}  # of batches without some of their values, chunks of `aside`

    @guarded
    def seal(self, number: int, chunk: RecordChunk | None, rows: TaggedRows | None = None) -> None:
        """Put a batch into the file: its records, `chunk`, or its tags, `rows`."""
        if self.keeps_records and chunk is not None:
            self._file.append(chunk.unwrap(), number)
        elif rows is not None:
            self._file.append(taggedrows.to_chunk(rows), number)

    def unseal(self, number: int) -> HashedRecords:
        """The records of a batch, RECORD_SCHEMA. Raises Bug where they were not kept."""
        if not self.keeps_records:
            raise Bug(f"the records of batch {number} were not kept: the plan was made to be looked at")
        records = from_chunk(RecordChunk(self._file.read(number)))
        if number not in self._left_out:
            return records
        places = np.frombuffer(self._aside.read(self._left_out[number]), dtype="<u4").astype(np.int64)
        return without_values(records, places)

    def leave_out(self, number: int, places: Indices) -> None:
        """From now on unseal a batch without the values at `places` (see `without_values`)."""
        self._left_out[number] = self._aside.append(places.astype("<u4").tobytes())

    def look(self, number: int, slots: Slots, places: Places, tagger: Tagger) -> tuple[Candidates, Pairs]:
        """The values at some places of a batch with these `slots`, as `candidates_at`."""
        if self.keeps_records:
            return candidates_in_records(self.unseal(number), tagger, places)
        return candidates_at(places, taggedrows.from_chunk(self._file.read(number), slots))


class WholeBatches:
    """BatchesOfRecords: the first `count` batches of `spool`, each unsealed once for the requests that share it."""

    def __init__(self, spool: BatchSpool, count: int) -> None:
        self._unseal = Memo(spool.unseal, most=NEIGHBOURS, end=count)

    def find(self, batch: int, places: Indices) -> tuple[HashedRecords, Indices]:
        """All records of `batch`, and the same places."""
        return self._unseal(batch), places
