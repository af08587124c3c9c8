"""What became of rows, records and rejections in one stream: for engines whose functions have one output.

It is the core of one machine, so that hashes cannot drift. Nothing here knows an engine: Arrow batches in, Arrow
batches out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import chain
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from audiencekit.errors import SourceRefused
from audiencekit.identifiers.rules import Rules
from audiencekit.limits import BATCH_ROWS
from audiencekit.personal import HashedRecords, RawColumns, guarded
from audiencekit.preparation.batches import ColumnMapping, TextBatch
from audiencekit.preparation.records import prepare_batch
from audiencekit.preparation.tally import Tally
from audiencekit.preparation.textrecords import PREPARED_SCHEMA, to_prepared
from audiencekit.sources.columns import used_positions
from audiencekit.sources.faults import Faults
from audiencekit.sources.gathering import gathered
from audiencekit.sources.typedcolumns import TypedColumns

REJECTION_FIELDS: Final = ("column", "reason")

# A record has no reason, a rejection has no operation and no identifier.
OUTCOME_SCHEMA: Final = pa.schema(
    [field.with_nullable(True) for field in PREPARED_SCHEMA]
    + [pa.field(name, pa.string()) for name in REJECTION_FIELDS]
)


@dataclass(frozen=True, slots=True, kw_only=True)
class PartitionWork:
    """How the rows of one partition become outcomes. It is shipped to where they are, and holds no row.

    A batch has the columns of `used_positions(mapping)`, in that order, and before them, when `names_rows`, the number
    of each row.
    """

    mapping: ColumnMapping
    typed: TypedColumns
    rules: Rules
    operation_type: str
    names_rows: bool

    def outcomes(self, batches: Iterable[Any], *, before: int, done: Callable[[Tally], None]) -> Iterator[Any]:
        """OUTCOME_SCHEMA of all rows. Row n of the partition is row `before` + n, unless rows have numbers.

        `done` gets the counts when the last row was prepared.
        """
        tally = Tally()
        texts = gathered(self._texts(map(RawColumns, batches), before))
        for batch in texts:
            yield from (part.unwrap() for part in self._outcomes_of(batch, tally))
        done(tally)

    def _texts(self, batches: Iterable[RawColumns], before: int) -> Iterator[TextBatch]:
        faults = Faults()
        for piece in chain.from_iterable(map(_pieces, batches)):
            columns, rows = self._rows_of(piece, before)
            before += len(rows)
            yield TextBatch(RawColumns(self._text_of(columns, rows, faults)), faults.take())

    @guarded
    def _rows_of(self, batch: RawColumns, before: int) -> tuple[RawColumns, npt.NDArray[np.int64]]:
        """The columns that are read, and the number of each row."""
        whole = batch.unwrap()
        if not self.names_rows:
            return batch, np.arange(before + 1, before + 1 + whole.num_rows, dtype=np.int64)
        if whole.column(0).null_count:
            raise SourceRefused("the column of row numbers has no number in some row", hint="fill it, or leave it out")
        rows = whole.column(0).cast(pa.int64()).to_numpy()
        return RawColumns(whole.select(range(1, whole.num_columns))), rows

    @guarded
    def _text_of(self, columns: RawColumns, rows: npt.NDArray[np.int64], faults: Faults) -> Any:
        arrays = dict(zip(used_positions(self.mapping), columns.unwrap().columns, strict=True))
        return self.typed.to_text(arrays, rows, self.mapping, faults)

    @guarded
    def _outcomes_of(self, batch: TextBatch, tally: Tally) -> Sequence[HashedRecords]:
        prepared = prepare_batch(batch, self.mapping, rules=self.rules, operation_type=self.operation_type)
        tally.add(prepared.tally)
        everyone = np.arange(prepared.records.unwrap().num_rows)
        records = to_prepared(prepared.records, everyone).unwrap()
        parts = (_filled_up(records), _filled_up(prepared.rejections))
        return [HashedRecords(part) for part in parts if part.num_rows]


def _pieces(batch: RawColumns) -> Iterator[RawColumns]:
    whole = batch.unwrap()
    return (RawColumns(whole.slice(start, BATCH_ROWS)) for start in range(0, whole.num_rows, BATCH_ROWS))


def _filled_up(batch: Any) -> Any:
    """The columns of OUTCOME_SCHEMA; those that `batch` has not are null."""
    nothing = partial(pa.nulls, batch.num_rows)
    arrays = [
        batch.column(field.name) if field.name in batch.schema.names else nothing(field.type)
        for field in OUTCOME_SCHEMA
    ]
    return pa.record_batch(arrays, schema=OUTCOME_SCHEMA)
