"""The batches of pass one in the spool: their records, or their tags where nothing more is asked of them."""

from __future__ import annotations

from audiencekit.errors import Bug
from audiencekit.machine.spool import SealedFile
from audiencekit.personal import HashedRecords, guarded
from audiencekit.preparation.chunks import RecordChunk, from_chunk
from audiencekit.selection import taggedrows
from audiencekit.selection.candidates import Candidates, Pairs, candidates_at, candidates_in_records
from audiencekit.selection.taggedrows import TaggedRows
from audiencekit.selection.tags import Places, Tagger


class BatchSpool:
    """Batches by number in `file`, one chunk each. Any thread may read or write.

    Without `keeps_records` a chunk holds the tags of a batch, if shared values are looked for, or else there is none.
    """

    def __init__(self, file: SealedFile, *, keeps_records: bool = True) -> None:
        self._file, self.keeps_records = file, keeps_records

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
        return from_chunk(RecordChunk(self._file.read(number)))

    def look(self, number: int, places: Places, tagger: Tagger) -> tuple[Candidates, Pairs]:
        """The values at some places of a batch, as `candidates_at`."""
        if self.keeps_records:
            return candidates_in_records(self.unseal(number), tagger, places)
        return candidates_at(places, taggedrows.from_chunk(self._file.read(number)))
