"""Between the last row and the plan: values that stand for more people than a household are left out of all records.

A record that has nothing else is rejected. Where that would leave people in who are to be taken out, or put people in
who may be suppressed, the plan is refused, and says the option that decides it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

import numpy as np
import pyarrow as pa

from audiencekit.errors import PlanRefused, Refused
from audiencekit.identifiers.kinds import Kind
from audiencekit.identifiers.reasons import Reason
from audiencekit.machine.spool import SealedFile, Spool
from audiencekit.machine.workers import cores, in_order
from audiencekit.planning.batchresults import Gathered, Listeners
from audiencekit.planning.options import Options
from audiencekit.planning.planinputs import Means, Terms
from audiencekit.planning.reading import ReadBatch, seal
from audiencekit.preparation.batches import REJECTION_SCHEMA, ColumnMapping, MappedColumn
from audiencekit.preparation.chunks import to_chunk
from audiencekit.preparation.tally import ColumnTally, Tally
from audiencekit.selection.selection import Selection
from audiencekit.selection.sharedvalues import SharedValues, ValueCounts, find_shared
from audiencekit.selection.strippedrecords import StrippedRecords, strip_shared

_NO_REJECTIONS: Final = pa.RecordBatch.from_pylist([], REJECTION_SCHEMA)
SHARED: Final = Reason.SHARED.value
_OPTION: Final = "--shared-suppression"
_ALL_OR_NONE: Final = (
    f"say {_OPTION} all to keep all of them out, or {_OPTION} none if such a value is to keep no one out; the answer"
    " holds for every run that is given it"
)


@dataclass(slots=True)
class SharedOutcome:
    """The effects of the values that more people share than are few.

    `left_out` counts by kind, in records; `rejected` are rows that had nothing else, and `kept_in` those of them whose
    people were to be taken out, or kept out. `unidentified` rows of suppression sources, and `remembered` values of
    erased people, say no other person than all who share the value.
    """

    values: int
    people: int
    left_out: Counter[Kind] = field(default_factory=Counter)
    rejected: int = 0
    kept_in: int = 0
    unidentified: int = 0
    refusing: int = 0
    remembered: int = 0

    @property
    def notes(self) -> tuple[str, ...]:
        """The effect in words."""
        values = "1 value is" if self.values == 1 else f"{self.values:,} values are"
        counts = " and ".join(f"{count:,} of {kind}" for kind, count in self.left_out.items())
        what = f"{values} shared by more people than one household, the most by {self.people:,}: left out of records"
        return (f"{what} ({counts}); --shared-values keep sends them",)

    def refusals(self, options: Options) -> list[Refused]:
        """Refusals to send although the values were left out."""
        found: list[Refused] = []
        shared = f"values that more than {options.shared_people} people of the source share"
        if self.kept_in:
            what = f"{_rows(self.kept_in)} to take people out, with nothing but {shared}"
            hint = (
                "say --shared-values keep to take out all who have such a value; or give these rows another identifier"
            )
            found.append(PlanRefused(f"{what}: each would take out all of them", hint=hint))
        if self.unidentified or self.refusing:
            what = f"{_rows(self.unidentified + self.refusing)} of people to keep out match the source only by {shared}"
            found.append(PlanRefused(f"{what}: they may be any of them", hint=_ALL_OR_NONE))
        if self.remembered:
            what = f"people who were erased by `forget` had {shared}"
            found.append(PlanRefused(f"{what}: they may be any of them", hint=_ALL_OR_NONE))
        return found


def _rows(count: int) -> str:
    return f"{count:,} row" if count == 1 else f"{count:,} rows"


@dataclass(frozen=True, slots=True)
class Apart:
    """The batches that pass one gathered, without its shared values; `outcome` is None where there are none."""

    gathered: Gathered
    selection: Selection
    outcome: SharedOutcome | None = None


def set_shared_apart(
    gathered: Gathered, mapping: ColumnMapping, terms: Terms, means: Means, listeners: Listeners
) -> Apart:
    """Find the shared values among all records, and leave them out of these."""
    counts, most = gathered.keysets.counts, terms.options.shared_people
    if counts is None or most is None or not counts.has_many:
        return Apart(gathered, gathered.keysets.select())
    shared = find_shared(
        gathered.unsealed, len(gathered.batch_records),
        counts=counts, tagger=gathered.keysets.tagger, chunks=gathered.aside, most=most,
    )  # fmt: skip
    if terms.options.shared_suppression == "all":
        shared = shared.without(gathered.keysets.find_suppressing(shared.tags))
    if not len(shared):
        return Apart(gathered, gathered.keysets.select())
    stripping = _Stripping(
        gathered, mapping, terms, (shared, counts), means.stack.enter_context(Spool(means.spool_dir))
    )
    for rejections in stripping.run():
        listeners.hear_rejections(rejections)
    if terms.options.shared_suppression == "stop" and gathered.people is not None:
        stripping.outcome.unidentified = gathered.people.unidentified(shared, stripping.stripped.keysets)
    return Apart(stripping.stripped, stripping.stripped.keysets.select(), stripping.outcome)


class _Stripping:
    """The second reading of the records, from the spool: into another one, without their shared values."""

    def __init__(
        self,
        gathered: Gathered,
        mapping: ColumnMapping,
        terms: Terms,
        found: tuple[SharedValues, ValueCounts],
        spool: SealedFile,
    ) -> None:
        self._gathered, self._terms, (shared, _) = gathered, terms, found
        self._found = found
        self._columns = {kind: [column for column in mapping.columns if column.kind is kind] for kind in Kind}
        self.outcome = SharedOutcome(len(shared), shared.people)
        self.stripped = gathered.anew(spool)

    def run(self) -> Iterator[pa.RecordBatch]:
        """Read all batches; the rejections of each that has any."""
        batches = range(len(self._gathered.batch_records))
        for batch, found in in_order(self._read, batches, workers=cores()):
            if found is not None:
                self._count(found)
                yield batch.rejections
            self.stripped.add(batch)

    def _read(self, number: int) -> tuple[ReadBatch, _Found | None]:
        records, refusing = self._gathered.unsealed(number), self._gathered.refusing_of(number)
        memories, (shared, counts) = self._terms.memories if self._asks else (), self._found
        stripped = strip_shared(records, shared, self._gathered.keysets.tagger, counts, memories)
        tally, rejections, found = Tally(), _NO_REJECTIONS, None
        if stripped is not None:
            found = _Found(stripped, 0 if refusing is None else int(np.count_nonzero(refusing[~stripped.stays])))
            records, refusing = stripped.records, None if refusing is None else refusing[stripped.stays]
            tally, rejections = self._tally(stripped), self._rejections(stripped)
        sizes = self._terms.form.measure(records)
        tagged = self.stripped.keysets.tag(records, refusing)
        seal(to_chunk(records), number, self.stripped.spool)
        return ReadBatch(None, rejections, tally, sizes, tagged, refusing), found

    @property
    def _asks(self) -> bool:
        """Whether a shared value that suppresses is to be decided by the user."""
        return self._terms.options.shared_suppression == "stop"

    def _count(self, found: _Found) -> None:
        stripped, outcome = found.stripped, self.outcome
        outcome.left_out.update({kind: len(rows) for kind, rows in stripped.left_out.items()})
        outcome.rejected += len(stripped.rows)
        takes_out = stripped.deletes if self._terms.destination.suppresses else ~stripped.deletes
        outcome.kept_in += int(np.count_nonzero(takes_out))
        if self._asks:
            outcome.refusing += found.refusing
            outcome.remembered += stripped.remembered

    def _tally(self, stripped: StrippedRecords) -> Tally:
        """The change of the counts."""
        rejected = len(stripped.rows)
        values = sum(map(len, stripped.left_out.values()))
        tally = Tally(rows_rejected=rejected, records=-rejected, reasons=Counter({SHARED: values}))
        for kind, rows in stripped.left_out.items():
            count = len(rows)
            tally.columns[self._main_column(kind).position] = ColumnTally(
                valid=-count, reasons=Counter({SHARED: count})
            )
        return tally

    def _main_column(self, kind: Kind) -> MappedColumn:
        """Of the columns of `kind` the one with most values: a record does not say from which each came."""
        counts = self._gathered.tally.columns
        return max(self._columns[kind], key=lambda column: counts.get(column.position, ColumnTally()).valid)

    def _rejections(self, stripped: StrippedRecords) -> pa.RecordBatch:
        """Of each value left out its row and its column, or the columns that it may have come from."""
        tables = [
            pa.table(
                [rows, pa.repeat(" or ".join(column.name for column in self._columns[kind]), len(rows)),
                 pa.repeat(SHARED, len(rows))],
                schema=REJECTION_SCHEMA,
            )
            for kind, rows in stripped.left_out.items()
        ]  # fmt: skip
        found = pa.concat_tables(tables).sort_by([("row", "ascending"), ("column", "ascending")])
        return found.combine_chunks().to_batches()[0]


@dataclass(frozen=True, slots=True)
class _Found:
    """A batch that had shared values, and how many records without consent it lost with them."""

    stripped: StrippedRecords
    refusing: int
