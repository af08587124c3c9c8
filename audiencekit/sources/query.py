"""`--sql`: one SELECT over the table `source`. It reaches no file, keeps no state, writes nothing to disk.

The same bytes give the same rows in the same order: one partition, no function of chance or time.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any, Final

import datafusion
import numpy as np
import pyarrow as pa

from audiencekit.errors import AudiencekitError, Bug, SourceRefused, UsageError
from audiencekit.limits import BATCH_ROWS, MAX_COLUMNS, QUERY_MEMORY_BYTES, SAMPLE_ROWS
from audiencekit.personal import Personal, RawColumns
from audiencekit.preparation.batches import ColumnMapping, TextBatch
from audiencekit.sources.columns import used_positions
from audiencekit.sources.faults import Faults
from audiencekit.sources.files import LookedAtFile
from audiencekit.sources.header import Header
from audiencekit.sources.options import SourceOptions
from audiencekit.sources.parquettypes import is_list, sample_texts
from audiencekit.sources.querytable import SourceTable
from audiencekit.sources.sampling import Sample
from audiencekit.sources.table import Description, Look
from audiencekit.sources.typedcolumns import TypedColumns

TABLE: Final = "source"
# Two runs over the same bytes must mean the same: nothing of chance, and no clock.
REMOVED_FUNCTIONS: Final = (
    "random", "rand", "uuid", "now", "today", "current_date", "current_time", "current_timestamp", "version",
    "input_file_name", "file_row_index",
)  # fmt: skip
REMOVED_TABLE_FUNCTIONS: Final = ("generate_series", "range")
NO_SELECT: Final = frozenset({"Explain", "Analyze", "DescribeTable"})
# Steps that take rows from several partitions as they come.
UNORDERED_STEPS: Final = ("CoalescePartitionsExec", "SortPreservingMergeExec", "RepartitionExec", "InterleaveExec")
SETTINGS: Final = {
    "datafusion.sql_parser.enable_ident_normalization": "false",  # columns are called as the header calls them
    "datafusion.execution.enable_recursive_ctes": "false",  # they need not end
    "datafusion.catalog.information_schema": "false",
}
_PLACE: Final = re.compile(r"Line: (\d{1,6}), Column: (\d{1,6})")
_OURS: Final = "External error"  # an exception of the table's own that nobody expected
_MEMORY: Final = "Resources exhausted"


def open_query(
    sql: str, files: Sequence[LookedAtFile], options: SourceOptions
) -> tuple[Look, Callable[[], tuple[str, ...]]]:
    """The result of a query, looked at, and what is to be said of the files once it was read to its end.

    Raises UsageError for what is not one SELECT over `source`, SourceRefused when it cannot be executed.
    """
    table = QueryTable(sql, SourceTable(files), options.split_cells)
    header, sample, lists = table.look(options)
    return Look(table, header, sample, lists), lambda: table.notes


class QueryTable:
    """The rows of a result. The first pass goes on with the execution that the look began."""

    def __init__(self, sql: str, source: SourceTable, split_cells: str | None) -> None:
        self._source = source
        self._result = _plan(sql, source)
        schema = self._result.unwrap().schema()
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
        """What the rows are, for people."""
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

    def _execute(self) -> Iterator[pa.RecordBatch]:
        self._source.begin()
        partitions = iter(self._attempt(self._result.unwrap().execute_stream_partitioned))
        while (stream := next(partitions, None)) is not None:
            batches = iter(stream)
            while (batch := self._attempt(partial(next, batches, None))) is not None:
                yield batch.to_pyarrow()

    def _attempt(self, work: Callable[[], Any]) -> Any:
        """What `work` returns. The engine's errors quote cells, and are left behind."""
        failure: AudiencekitError
        try:
            return work()
        except Exception as error:
            failure = self._source.failure or _failure_of(str(error))
        raise failure


class PlannedQuery(Personal[datafusion.DataFrame]):
    """A query, planned. The engine's own object would execute it to show rows."""


def _plan(sql: str, source: SourceTable) -> PlannedQuery:
    """The query, planned and checked. Raises UsageError for anything but one SELECT over `source`."""
    context = _session(source)
    only_select = datafusion.SQLOptions().with_allow_ddl(False).with_allow_dml(False).with_allow_statements(False)
    where = ""
    result: datafusion.DataFrame | None = None
    try:
        result = context.sql_with_options(sql, only_select)
        plan, steps = result.logical_plan(), result.execution_plan().display_indent()
    except Exception as error:
        place = _PLACE.search(str(error))  # the rest may quote
        where = f" (line {place[1]}, column {place[2]})" if place else ""
        result = None
    if result is None:
        raise UsageError(
            f"--sql cannot be planned{where}: it must be one SELECT over the table source", hint=_hint(source)
        )
    if type(plan.to_variant()).__name__ in NO_SELECT or f"TableScan: {TABLE}" not in plan.display_indent():
        raise UsageError("--sql must be one SELECT over the table source", hint=_hint(source))
    if any(step in steps for step in UNORDERED_STEPS):
        raise UsageError(
            "the rows of this query have no order of their own",
            hint="write UNION ALL outermost, with no step after it; or query the files one at a time",
        )
    return PlannedQuery(result)


def _session(source: SourceTable) -> datafusion.SessionContext:
    """An engine that knows one table, and nothing of the machine that it runs on."""
    config = datafusion.SessionConfig(dict(SETTINGS)).with_target_partitions(1)
    memory = datafusion.RuntimeEnvBuilder().with_disk_manager_disabled().with_greedy_memory_pool(QUERY_MEMORY_BYTES)
    context = datafusion.SessionContext(config, memory)
    for name in REMOVED_FUNCTIONS:
        context.deregister_udf(name)
    for name in REMOVED_TABLE_FUNCTIONS:
        context.deregister_udtf(name)
    # Conditions are then evaluated by the engine, and not asked of the table, which gives all rows.
    context.remove_optimizer_rule("push_down_filter")
    context.register_dataset(TABLE, source)
    return context


def _hint(source: SourceTable) -> str:
    return (
        f"the table has {len(source.schema.names)} columns, called as in the header, in double quotes where a name has "
        "more than letters and digits; there are no other tables, and no functions of chance or of time"
    )


def _failure_of(told: str) -> AudiencekitError:
    if _OURS in told:
        return Bug("the table of a query could not be read; no values are shown")
    if _MEMORY in told:
        return SourceRefused(
            f"the query needs more than {QUERY_MEMORY_BYTES:,} bytes of memory",
            hint="sort, group or join fewer columns; rows themselves need none",
        )
    return SourceRefused(
        "the query failed on a row: a value is not what a function or CAST wants",
        hint="TRY_CAST gives null instead",
    )
