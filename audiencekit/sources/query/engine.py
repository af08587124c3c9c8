"""The process of a query: the engine, with as much memory as it may have, and nothing else of the command.

Whatever a query makes of the engine, a panic, an end of memory or of the stack, ends this process and not the one that
holds the run. It has no secrets, leaves no dump, and says nothing on stderr, where the engine would quote.
"""

from __future__ import annotations

import itertools
import json
import os
import queue
import re
import signal
import sys
import threading
from collections.abc import Iterator, Mapping
from typing import Any, Final

import datafusion
import pyarrow as pa
import pyarrow.dataset as ds

from audiencekit.machine.coredumps import prevent_dumps
from audiencekit.machine.firstsignals import ENDINGS
from audiencekit.sources.query.messages import (
    BATCH,
    BEGIN,
    DONE,
    END,
    FAILED,
    PLANNED,
    REFUSED,
    ROWS,
    WANTED,
    Gone,
    Pipes,
    packed,
    unpacked_batch,
)

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
RESULT_BYTES: Final = 64_000_000  # of rows that are sent at once
_PLACE: Final = re.compile(r"Line: (\d{1,6}), Column: (\d{1,6})")
_OURS: Final = "External error"  # an exception of the table's own that was not expected
_MEMORY: Final = "Resources exhausted"
_WARM_UP: Final = "SELECT 1"


def main() -> None:
    """Answer what is asked on stdin until it ends."""
    for ending in ENDINGS:  # of a terminal, they are for all its processes: the asking one is to end
        signal.signal(ending, signal.SIG_IGN)
    prevent_dumps()
    pipes = Pipes(sys.stdin.buffer, sys.stdout.buffer)
    table = PipedTable(pipes)
    heard: queue.SimpleQueue[tuple[bytes, pa.Buffer]] = queue.SimpleQueue()
    threading.Thread(target=_listen, args=(pipes, heard, table.answers), daemon=True).start()
    _, asked = heard.get()
    engine = Engine(pipes, table)
    engine.plan(json.loads(asked.to_pybytes()))
    while True:
        kind, _ = heard.get()
        engine.begin() if kind == BEGIN else engine.next()


def _listen(
    pipes: Pipes, heard: queue.SimpleQueue[tuple[bytes, pa.Buffer]], answers: queue.SimpleQueue[tuple[bytes, pa.Buffer]]
) -> None:
    """Sorts what is said here, and ends the process with the one that says it."""
    while True:
        try:
            kind, content = pipes.hear()
        except Gone:
            os._exit(0)
        (answers if kind in (BATCH, END, FAILED) else heard).put((kind, content))


class Engine:
    """The engine with one query."""

    def __init__(self, pipes: Pipes, table: PipedTable) -> None:
        self._pipes, self._table = pipes, table
        self._result: Any = None
        self._rows: Iterator[pa.RecordBatch] = iter(())

    def plan(self, asked: Mapping[str, Any]) -> None:
        """Plan and check the query, and say what its columns are, or why it is refused."""
        self._table.describe(asked["names"], asked["lists"])
        datafusion.SessionContext().sql(_WARM_UP).collect()  # its threads, and what its allocator sets aside
        _limit_memory(asked["process_bytes"])
        found = _planned(asked["sql"], _session(self._table, asked["memory_bytes"]))
        if isinstance(found, dict):
            self._refuse(found)
        else:
            self._result = found
            self._pipes.say(PLANNED, found.schema().serialize())

    def begin(self) -> None:
        """The next rows will be the first."""
        self._table.execution += 1
        self._rows = self._execute()

    def next(self) -> None:
        """Say the next rows, or that there are none."""
        told = ""
        try:
            batch = next(self._rows, None)
            content = None if batch is None else packed(batch)
        except BaseException as error:  # a panic of the engine, too, which is no Exception
            told = str(error)
        if told:
            self._refuse({"why": "memory" if _MEMORY in told else "bug" if _OURS in told else "value"})
        elif content is None:
            self._pipes.say(DONE)
        else:
            self._pipes.say(ROWS, content)

    def _execute(self) -> Iterator[pa.RecordBatch]:
        for found in itertools.chain.from_iterable(self._result.execute_stream_partitioned()):
            batch = found.to_pyarrow()
            pieces = min(-(-batch.nbytes // RESULT_BYTES), batch.num_rows) or 1
            size = -(-batch.num_rows // pieces) or 1
            yield from (batch.slice(start, size) for start in range(0, batch.num_rows, size))

    def _refuse(self, why: Mapping[str, Any]) -> None:
        self._pipes.say(REFUSED, json.dumps(why).encode())


class PipedTable(ds.Dataset):  # type: ignore[misc]
    """The table `source` as the engine sees it: its rows are asked of the process that has them."""

    def __init__(self, pipes: Pipes) -> None:
        # Not the one of Dataset, which wants data in memory: only what is defined here is ever asked for.
        self._pipes, self._one_at_a_time = pipes, threading.Lock()
        self._numbers = itertools.count()
        self._schema = pa.schema([])
        self.answers: queue.SimpleQueue[tuple[bytes, pa.Buffer]] = queue.SimpleQueue()
        self.execution = 0

    def describe(self, names: list[str], lists: list[bool]) -> None:
        """Its columns."""
        texts = pa.string(), pa.list_(pa.string())
        self._schema = pa.schema([(name, texts[several]) for name, several in zip(names, lists, strict=True)])

    @property
    def schema(self) -> pa.Schema:
        """All columns that a query can name, as text or as lists of texts."""
        return self._schema

    def get_fragments(self, filter: Any = None) -> Iterator[PipedTable]:  # noqa: A002
        """Itself: rows come in one stream."""
        return iter([self])

    def scanner(self, *_: Any, columns: list[str] | None = None, **__: Any) -> PipedReading:
        """A reading of `columns`, all of them by default."""
        return PipedReading(self, next(self._numbers), self._schema.names if columns is None else columns)

    def ask(self, wanted: Mapping[str, Any]) -> pa.RecordBatch | None:
        """The next rows of a reading. Raises ReadingFailed where they could not be read."""
        with self._one_at_a_time:
            self._pipes.say(WANTED, json.dumps({"execution": self.execution, **wanted}).encode())
            kind, content = self.answers.get()
        if kind == FAILED:
            raise ReadingFailed
        return None if kind == END else unpacked_batch(content)


class PipedReading:
    """One reading of the table."""

    def __init__(self, table: PipedTable, number: int, columns: list[str]) -> None:
        self._table, self._columns = table, columns
        self._wanted: dict[str, Any] = {"reading": number, "columns": columns}

    @property
    def projected_schema(self) -> pa.Schema:
        """The schema of the batches."""
        return pa.schema([self._table.schema.field(name) for name in self._columns])

    def to_batches(self, **_: Any) -> Iterator[pa.RecordBatch]:
        """The rows."""
        while (batch := self._table.ask(self._wanted)) is not None:
            yield batch


class ReadingFailed(Exception):
    """The rows could not be read; their reader knows why, and the engine gets no word to quote."""


def _planned(sql: str, context: Any) -> Any:
    """The query, planned and checked; or why it is refused, without a word of it."""
    only_select = datafusion.SQLOptions().with_allow_ddl(False).with_allow_dml(False).with_allow_statements(False)
    try:
        result = context.sql_with_options(sql, only_select)
        plan, steps = result.logical_plan(), result.execution_plan().display_indent()
    except BaseException as error:  # a panic of the engine, too, which is no Exception
        place = _PLACE.search(str(error))  # the rest may quote
        return {"why": "plan", "place": None if place is None else [int(place[1]), int(place[2])]}
    if type(plan.to_variant()).__name__ in NO_SELECT or f"TableScan: {TABLE}" not in plan.display_indent():
        return {"why": "select"}
    return {"why": "order"} if any(step in steps for step in UNORDERED_STEPS) else result


def _session(table: PipedTable, memory_bytes: int) -> datafusion.SessionContext:
    """An engine that knows one table, and nothing of the machine that it runs on."""
    config = datafusion.SessionConfig(dict(SETTINGS)).with_target_partitions(1)
    memory = datafusion.RuntimeEnvBuilder().with_disk_manager_disabled().with_greedy_memory_pool(memory_bytes)
    context = datafusion.SessionContext(config, memory)
    for name in REMOVED_FUNCTIONS:
        context.deregister_udf(name)
    for name in REMOVED_TABLE_FUNCTIONS:
        context.deregister_udtf(name)
    # Conditions are then evaluated by the engine, and not asked of the table, which gives all rows.
    context.remove_optimizer_rule("push_down_filter")
    context.register_dataset(TABLE, table)
    return context


def _limit_memory(more_bytes: int) -> None:
    """No more than `more_bytes` beyond what this process has now, where the system can say so (not on macOS)."""
    try:
        import resource

        with open("/proc/self/statm", encoding="ascii") as statm:
            has_bytes = int(statm.read().split()[0]) * resource.getpagesize()
        resource.setrlimit(resource.RLIMIT_AS, (has_bytes + more_bytes,) * 2)
    except (ImportError, OSError, ValueError):
        return
