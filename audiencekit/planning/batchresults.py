"""The results of pass one for every batch: counts, bits and sizes for the plan, lines for the rejections."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Self

import pyarrow as pa

from audiencekit.destinations.destination import RequestForm
from audiencekit.destinations.requests.requestplan import PlannedRequest, Sizes
from audiencekit.destinations.requests.sizes import sizes_from_bytes, sizes_to_bytes
from audiencekit.machine.spool import SealedFile, Spool
from audiencekit.personal import HashedRecords
from audiencekit.planning.batchspool import BatchSpool
from audiencekit.planning.reading import OnRecords, ReadBatch
from audiencekit.planning.suppressedpeople import SuppressedPeople
from audiencekit.preparation.chunks import to_chunk
from audiencekit.preparation.recordbits import Bits, Bools, Indices
from audiencekit.preparation.tally import Tally
from audiencekit.reporting.rejections import RejectionsFile
from audiencekit.selection.keysets import KeySets
from audiencekit.selection.selection import Selection, SelectionLayout


class Listeners:
    """The listeners of every batch, in order: the file of rejections, and the caller that wants the records."""

    def __init__(self, rejections: str | os.PathLike[str] | None, on_records: OnRecords | None) -> None:
        self._file = RejectionsFile(Path(rejections)) if rejections else None
        self._on_records = on_records

    def __enter__(self) -> Self:
        if self._file:
            self._file.__enter__()
        return self

    def __exit__(self, *exception: Any) -> None:
        if self._file:
            self._file.__exit__(*exception)

    def hear(self, batch: ReadBatch) -> None:
        """Tell them of the next batch."""
        self.hear_rejections(batch.rejections)
        if self._on_records and batch.chunk is not None:
            self._on_records(batch.chunk, batch.refusing)

    def hear_rejections(self, rejections: pa.RecordBatch) -> None:
        """Tell the file of more rejections (REJECTION_SCHEMA)."""
        if self._file:
            self._file.add(rejections)


class BatchResults:
    """The results of pass one, batch by batch. Records are in `spool`, bits and counts in memory.

    Tags and sizes are put `aside`, sealed.
    """

    def __init__(
        self,
        spool: SealedFile,
        aside: Spool,
        keysets: KeySets,
        form: RequestForm,
        people: SuppressedPeople | None = None,
        *,
        keeps_records: bool = True,
    ) -> None:
        self.keysets, self.tally, self.aside, self.people = keysets, Tally(), aside, people
        self.spool = BatchSpool(spool, aside, keeps_records=keeps_records)
        self.batch_records: list[int] = []
        self._form = form
        self._sizes: list[int] = []  # chunks of `aside`, one a batch
        self._refusing = Bits()  # of every record, where a column says consent

    def plan(self, selection: Selection) -> tuple[SelectionLayout, list[PlannedRequest]]:
        """Where the chosen records stand, and the requests that hold them."""
        layout = SelectionLayout(selection, self.batch_records)

        def sizes_of(wave: int, deletes: bool) -> Iterator[Sizes]:
            for number, chosen in layout.of_wave((wave, deletes)):
                yield self.sizes(number)[chosen]

        return layout, self._form.plan(selection.waves(), sizes_of)

    def append(self, records: HashedRecords) -> None:
        """Add records that are not of the source, as the next batch."""
        self.spool.seal(len(self.batch_records), to_chunk(records))
        sizes = self._form.measure(records)
        self.batch_records.append(len(sizes))
        self._sizes.append(self.aside.append(sizes_to_bytes(sizes)))

    def add(self, batch: ReadBatch) -> None:
        """Take in the next batch."""
        self.tally.add(batch.tally)
        self.keysets.add(batch.tagged)
        self.batch_records.append(len(batch.user_bytes))
        self._sizes.append(self.aside.append(sizes_to_bytes(batch.user_bytes)))
        if batch.refusing is not None:
            self._refusing.append(batch.refusing)

    def refusing_of(self, batch: int) -> Bools | None:
        """Of each record of `batch`, whether it would be put in without consent; None where no column says it."""
        if not len(self._refusing):
            return None
        start = sum(self.batch_records[:batch])
        return self._refusing.slice(start, start + self.batch_records[batch])

    def change(self, batch: int, places: Indices, sizes: Sizes) -> None:
        """Leave the values at `places` out of a batch (see `without_values`), whose users have these `sizes` then."""
        self.spool.leave_out(batch, places)
        self._sizes[batch] = self.aside.append(sizes_to_bytes(sizes))

    def sizes(self, batch: int) -> Sizes:
        """Bytes of each user of `batch`, without its comma."""
        return sizes_from_bytes(self.aside.read(self._sizes[batch]))
