"""Records, rejections and counts in one stream: for engines whose functions have one output.

It is the core of one machine, so that hashes cannot drift. Nothing here knows an engine: Arrow batches in, Arrow
batches out.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, partial
from itertools import chain
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.types as pt

from audiencekit.errors import SourceRefused
from audiencekit.identifiers.kinds import Kind, Rules
from audiencekit.integrations.tallies import write_tally
from audiencekit.limits import CLUSTER_BATCH_ROWS
from audiencekit.personal import HashedRecords, RawColumns, guarded
from audiencekit.records.batches import IS_DELETE, OPERATION, ROW, ColumnMapping, TextBatch
from audiencekit.records.records import DELETE, UPDATE, prepare_batch
from audiencekit.records.tally import Tally
from audiencekit.sources.arrow import TypedColumns, gathered_columns, is_list, used_positions
from audiencekit.sources.unreadable_rows import Faults

REJECTION_FIELDS: Final = ("column", "reason")
TALLY, DIGEST_SUM = "tally", "digest_sum"
COUNT_FIELDS: Final = (TALLY, DIGEST_SUM)
_KINDS: Final = frozenset(Kind)
_BYTES: Final = pa.binary()  # engines know no bytes of a fixed number


@dataclass(frozen=True, slots=True, kw_only=True)
class PartitionWork:
    """How the rows of one partition become outcomes. It is shipped to where they are, and holds no row.

    A batch has the columns of `used_positions(mapping)`, in that order, and before them, when `names_rows`, the number
    of each row, and first, when `has_digests`, a digest of each row as int64.
    """

    mapping: ColumnMapping
    typed: TypedColumns
    rules: Rules
    operation_type: str
    names_rows: bool
    has_digests: bool = False

    @property
    def schema(self) -> Any:
        """The schema of outcomes: the prepared format with the mapped kinds, then REJECTION_FIELDS and COUNT_FIELDS.

        Hashes are bytes. A kind of which no row can have several values is no list. A record has no reason, a rejection
        has no operation and no identifier. The last row of a partition has its counts alone, and is row 0: the tally,
        and the sum of the digests in digits.
        """
        kinds = [kind for kind in Kind if any(column.kind is kind for column in self.mapping.columns)]
        return pa.schema(
            [pa.field(ROW, pa.int64()), pa.field(OPERATION, pa.string())]
            + [pa.field(kind.value, self._type_of(kind)) for kind in kinds]
            + [pa.field(name, pa.string()) for name in (*REJECTION_FIELDS, *COUNT_FIELDS)]
        )

    def _type_of(self, kind: Kind) -> Any:
        one = _BYTES if kind.is_hashed else pa.string()
        places = [column.position for column in self.mapping.columns if column.kind is kind]
        several = len(places) > 1 or self.typed.split_cells or is_list(self.typed.types[places[0]])
        return pa.list_(one) if several else one

    def outcomes(self, batches: Iterable[Any], *, before: int) -> Iterator[Any]:
        """Batches of `schema`, of all rows, and one of the counts. Row n is row `before` + n, unless rows have numbers.

        The counts are data, and no side effect: a task that ran twice leaves neither records nor counts twice.
        """
        tally, digests, schema = Tally(), _DigestSum(), self.schema
        pieces = chain.from_iterable(map(_pieces, map(RawColumns, batches)))
        gathered = gathered_columns(pieces, most_rows=CLUSTER_BATCH_ROWS)
        for batch in self._texts(map(digests.without, gathered) if self.has_digests else gathered, before):
            yield from (part.unwrap() for part in self._outcomes_of(batch, schema, tally))
        counts = {ROW: pa.array([0], pa.int64()), TALLY: [write_tally(tally)], DIGEST_SUM: [str(digests.total)]}
        yield _filled_up(pa.record_batch(counts), schema)

    def _texts(self, batches: Iterable[RawColumns], before: int) -> Iterator[TextBatch]:
        faults = Faults()
        for piece in batches:
            columns, rows = self._rows_of(piece, before)
            before += len(rows)
            text = RawColumns(self._text_of(columns, rows, faults))
            yield TextBatch(text, faults.take(), faults.take_cells())

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
    def _outcomes_of(self, batch: TextBatch, schema: Any, tally: Tally) -> Sequence[HashedRecords]:
        prepared = prepare_batch(
            batch, self.mapping, rules=self.rules, operation_type=self.operation_type, divides=False
        )
        tally.add(prepared.tally)
        parts = (_told(prepared.records.unwrap(), schema), _filled_up(prepared.rejections, schema))
        return [HashedRecords(part) for part in parts if part.num_rows]


@dataclass(slots=True)
class _DigestSum:
    """The sum of the digests of rows, which is the same in any order of them."""

    total: int = 0

    @guarded
    def without(self, batch: RawColumns) -> RawColumns:
        """The batch without its first column, whose digests are added."""
        whole = batch.unwrap()
        digests = whole.column(0).to_numpy()
        # The sum of all would not fit into 64 bits, those of their halves do.
        self.total += (int((digests >> 32).sum()) << 32) + int((digests & 0xFFFF_FFFF).sum())
        return RawColumns(whole.select(range(1, whole.num_columns)))


def _pieces(batch: RawColumns) -> Iterator[RawColumns]:
    whole = batch.unwrap()
    starts = range(0, whole.num_rows, CLUSTER_BATCH_ROWS)
    return (RawColumns(whole.slice(start, CLUSTER_BATCH_ROWS)) for start in starts)


def _told(records: Any, schema: Any) -> Any:
    """A batch of RECORD_SCHEMA as outcomes."""
    told = {ROW: records.column(ROW), OPERATION: _words(records.column(IS_DELETE))}
    for field in schema:
        if field.name in _KINDS:
            lists = records.column(field.name)
            told[field.name] = lists.cast(field.type) if is_list(field.type) else _single_values(lists, field.type)
    return _filled_up(pa.record_batch(told), schema)


def _words(deletes: Any) -> Any:
    """The operation of each record; those of a batch are mostly one."""
    deleted = pc.sum(deletes).as_py() or 0
    if 0 < deleted < len(deletes):
        return pc.if_else(deletes, DELETE, UPDATE)
    return _repeated(DELETE if deleted else UPDATE, len(deletes))


def _repeated(word: str, count: int) -> Any:
    """`word` so many times, which are never written anew for the batches that most have."""
    most = _most_repeated(word)
    return most.slice(0, count) if count <= len(most) else pa.repeat(pa.scalar(word, pa.string()), count)


@cache
def _most_repeated(word: str) -> Any:
    return pa.repeat(pa.scalar(word, pa.string()), CLUSTER_BATCH_ROWS)


def _single_values(lists: Any, kind: Any) -> Any:
    """The one value of each of `lists`, null for none. Where each begins is written anew, and nothing is copied."""
    if lists.null_count == len(lists):
        return pa.nulls(len(lists), kind)
    validity, offsets = lists.buffers()[:2]
    values = lists.values
    places = np.frombuffer(offsets, dtype=np.int32)[: lists.offset + len(lists) + 1] + np.int32(values.offset)
    if pt.is_fixed_size_binary(values.type):
        begins = places * np.int32(values.type.byte_width)
    else:
        begins = np.frombuffer(values.buffers()[1], dtype=np.int32).take(places)
    content = values.buffers()[-1]
    return pa.Array.from_buffers(kind, len(lists), [validity, pa.py_buffer(begins), content], offset=lists.offset)


def _filled_up(batch: Any, schema: Any) -> Any:
    """The columns of `schema`; those that `batch` has not are null."""
    nothing = partial(pa.nulls, batch.num_rows)
    arrays = [batch.column(field.name) if field.name in batch.schema.names else nothing(field.type) for field in schema]
    return pa.record_batch(arrays, schema=schema)
