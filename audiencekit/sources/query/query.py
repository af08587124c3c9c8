"""`sql=`: one SELECT over the table `source`. It reaches no file, keeps no state, writes nothing to disk.

The same bytes give the same rows in the same order: one partition, no function of chance or time. The engine has a
process of its own, whose memory is bounded.
"""

from __future__ import annotations

import importlib.util
import itertools
from collections.abc import Iterator, Sequence

import numpy as np
import pyarrow as pa

from audiencekit.errors import AudiencekitError, Bug, SourceRefused, UsageError
from audiencekit.limits import BATCH_ROWS, MAX_COLUMNS, QUERY_MEMORY_BYTES, QUERY_PROCESS_BYTES, SAMPLE_ROWS
from audiencekit.personal import RawColumns
from audiencekit.preparation.batches import ColumnMapping, TextBatch
from audiencekit.sources.arrow.textcolumns import used_positions
from audiencekit.sources.arrow.typedcolumns import TypedColumns
from audiencekit.sources.arrow.types import is_list, sample_texts
from audiencekit.sources.columns.header import Header
from audiencekit.sources.files import LookedAtFile
from audiencekit.sources.options import SourceOptions
from audiencekit.sources.query.engineprocess import EngineProcess, QueryRefused
from audiencekit.sources.query.querytable import SourceTable
from audiencekit.sources.sampling import Sample
from audiencekit.sources.table import Description, Look
from audiencekit.sources.unreadablerows import Faults


def open_query(sql: str, files: Sequence[LookedAtFile], options: SourceOptions) -> Look:
    """The result of a query, looked at.

    Raises UsageError for what is not one SELECT over `source` and where the engine is not installed, SourceRefused when
    it cannot be executed.
    """
    if importlib.util.find_spec("datafusion") is None:
        raise UsageError("a query needs the package datafusion", hint="pip install 'audiencekit[sql]'")
    table = QueryTable(sql, SourceTable(files), options.split_cells)
    header, sample, lists = table.look(options)
    return Look(table, header, sample, lists, later_notes=lambda: table.notes)


class QueryTable:
    """The rows of a result. The first pass goes on with the execution that the look began."""

    def __init__(self, sql: str, source: SourceTable, split_cells: str | None) -> None:
        self._source = source
        self._engine = EngineProcess(lambda columns: source.scanner(columns).to_batches())
        schema = self._plan(sql)
        if len(schema.names) > MAX_COLUMNS:
            raise SourceRefused(f"the result has more than {MAX_COLUMNS:,} columns")
        self._names = tuple(schema.names)
        self._columns = TypedColumns(tuple(schema.types), split_cells)
        self._begun: Iterator[pa.RecordBatch] | None = None
        self.rows_read = 0
        self.notes: tuple[str, ...] = ()

    def __repr__(self) -> str:
        return f"<QueryTable of {len(self._names)} columns>"

    @property
    def bytes_read(self) -> int:
        """Bytes of the files on disk, of the last reading."""
        return self._source.bytes_read

    @property
    def description(self) -> Description:
        """The sort of the rows, for people."""
        return {"format": "query", "columns": len(self._names)}

    def look(self, options: SourceOptions) -> tuple[Header, Sample, frozenset[int]]:
        """The names of the result, its first rows, and which of its columns hold several values a row."""
        batches = self._execute()
        first: list[pa.RecordBatch] = []
        while sum(batch.num_rows for batch in first) < SAMPLE_ROWS and (batch := next(batches, None)) is not None:
            first.append(batch)
        self._begun = itertools.chain(first, batches)
        types = self._columns.types
        cells: list[list[str]] = [[] for _ in types]
        for batch in first:
            for place, array in enumerate(batch.columns):
                cells[place] += sample_texts(array)
        sample = Sample(self._names, tuple(tuple(column[:SAMPLE_ROWS]) for column in cells))
        lists = frozenset(place for place, kind in enumerate(types) if is_list(kind))
        return Header.of(self._names, len(self._names), options.wanted_names), sample, lists

    def check(self, mapping: ColumnMapping) -> None:
        """Raises SourceRefused for mapped columns that are no text."""
        self._columns.check(mapping)

    def batches(self, mapping: ColumnMapping) -> Iterator[TextBatch]:
        """All rows of the result, from the first; then the files are read to their end, and judged like any other."""
        faults = Faults()
        self.rows_read = 0
        begun, self._begun = self._begun, None
        for batch in begun or self._execute():
            for start in range(0, batch.num_rows, BATCH_ROWS):
                columns = self._text(batch.slice(start, BATCH_ROWS), mapping, faults)
                yield TextBatch(RawColumns(columns), faults.take())
        rows, faulty = self._source.read_to_the_end()
        self.notes = (f"the query read {rows:,} rows and gave {self.rows_read:,}",)
        if faulty:
            self.notes += (f"{faulty:,} of the {rows:,} rows could not be read, and the query did not see them",)
        faults.refuse_too_many(self.rows_read)

    def _text(self, batch: pa.RecordBatch, mapping: ColumnMapping, faults: Faults) -> pa.RecordBatch:
        rows = np.arange(self.rows_read + 1, self.rows_read + 1 + batch.num_rows, dtype=np.int64)
        self.rows_read += batch.num_rows
        arrays = {place: batch.column(place) for place in used_positions(mapping)}
        return self._columns.to_text(arrays, rows, mapping, faults)

    def _plan(self, sql: str) -> pa.Schema:
        """The columns of the result. Raises UsageError for anything but one SELECT over `source`."""
        refused: QueryRefused
        schema = self._source.schema
        try:
            return self._engine.plan(sql, schema, memory_bytes=QUERY_MEMORY_BYTES, process_bytes=QUERY_PROCESS_BYTES)
        except QueryRefused as error:
            refused = error
        raise _mistake_of(refused, _hint(self._source))

    def _execute(self) -> Iterator[pa.RecordBatch]:
        self._source.begin()
        batches = self._engine.execute()
        while (batch := self._next(batches)) is not None:
            yield batch

    def _next(self, batches: Iterator[pa.RecordBatch]) -> pa.RecordBatch | None:
        failure: AudiencekitError
        try:
            return next(batches, None)
        except QueryRefused as refused:
            failure = self._source.failure or _failure_of(refused)
        raise failure


def _killed(refused: QueryRefused) -> SourceRefused:
    cause = ": unless people did it, the system was short of memory" if refused.ended_by == "SIGKILL" else ""
    return SourceRefused(
        f"the process of the query was ended from outside, by {refused.ended_by}{cause}",
        hint="run the same again; where memory is short, sort, group or join fewer columns",
    )


def _mistake_of(refused: QueryRefused, hint: str) -> AudiencekitError:
    """Why a query is not planned."""
    match refused.why:
        case "killed":
            return _killed(refused)
        case "select":
            return UsageError("`sql=` must be one SELECT over the table source", hint=hint)
        case "order":
            return UsageError(
                "the rows of this query have no order of their own",
                hint="write UNION ALL outermost, with no step after it; or query the files one at a time",
            )
        case "gone":
            return UsageError(
                "`sql=` cannot be planned: it is too long, too deep, or needs too much memory",
                hint="write IN (…) in place of many ORs, and divide what is nested",
            )
    where = "" if refused.place is None else f" (line {refused.place[0]}, column {refused.place[1]})"
    return UsageError(f"`sql=` cannot be planned{where}: it must be one SELECT over the table source", hint=hint)


def _hint(source: SourceTable) -> str:
    return (
        f"the table has {len(source.schema.names)} columns, called as in the header, in double quotes where a name has "
        "more than letters and digits; there are no other tables, and no functions of chance or of time"
    )


def _failure_of(refused: QueryRefused) -> AudiencekitError:
    match refused.why:
        case "bug":
            return Bug("the table of a query could not be read; no values are shown")
        case "memory":
            return SourceRefused(
                f"the query needs more than {QUERY_MEMORY_BYTES:,} bytes of memory",
                hint="sort, group or join fewer columns; rows themselves need none",
            )
        case "killed":
            return _killed(refused)
        case "gone":
            return SourceRefused(
                f"the query ended its engine: it needs more than {QUERY_PROCESS_BYTES:,} bytes, or is too deep",
                hint="make shorter texts; sort, group or join fewer columns",
            )
    return SourceRefused(
        "the query failed on a row: a value is not what a function or CAST wants",
        hint="TRY_CAST gives null instead",
    )
