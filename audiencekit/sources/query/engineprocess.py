"""A query, planned and executed in a process of its own, which asks here for the rows of its table."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import weakref
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any, BinaryIO, Final, cast

import pyarrow as pa

from audiencekit.errors import UsageError
from audiencekit.machine.programs import start_program
from audiencekit.sources.query.messages import (
    BATCH,
    BEGIN,
    END,
    FAILED,
    NEXT,
    PLAN,
    REFUSED,
    ROWS,
    WANTED,
    Gone,
    Pipes,
    packed,
    unpacked_batch,
)

# Its modules are those of this process, and none of the working directory. The engine would log the query with its
# literals, in whatever way the site has set up for all processes.
_BOOT: Final = """
import json, logging, sys
logging.disable(sys.maxsize)
sys.path[:] = json.loads(sys.stdin.buffer.readline())
from audiencekit.sources.query.engine import main
main()
"""
_END_SECONDS: Final = 2.0
# A query ends its process by an abort, or by a fault of memory; these come from people and from the system.
_OF_OTHERS: Final = frozenset(
    getattr(signal, name, None) for name in ("SIGKILL", "SIGTERM", "SIGHUP", "SIGINT", "SIGXCPU")
) - {None}
# Else each thread would set an arena aside, and a limit of memory would count them all.
_FEW_ARENAS: Final = {"MALLOC_ARENA_MAX": "1", "TOKIO_WORKER_THREADS": "2", "ARROW_DEFAULT_MEMORY_POOL": "system"}

Rows = Callable[[list[str]], Iterator[pa.RecordBatch]]


class QueryRefused(Exception):
    """The engine refused the query, or its process ended.

    `why` is plan, select, order, memory, value or bug; gone where the query ended the process, and killed where
    something else did, by the signal `ended_by`.
    """

    def __init__(self, why: str, place: tuple[int, int] | None = None, ended_by: str = "") -> None:
        super().__init__(why)
        self.why, self.place, self.ended_by = why, place, ended_by


class EngineProcess:
    """The process of one query; it ends with this object. `read` gives the rows of the table, or raises.

    Cells pass over pipes, never over disks or arguments.
    """

    def __init__(self, read: Rows) -> None:
        self._read = read
        self._readings: dict[int, Iterator[pa.RecordBatch]] = {}
        self._execution = 0
        process, self._pipes = _started()
        self._process, self._ending = process, weakref.finalize(self, _end, process)

    def plan(self, sql: str, schema: pa.Schema, *, memory_bytes: int, process_bytes: int) -> pa.Schema:
        """The columns of the result. Raises QueryRefused."""
        asked = {
            "sql": sql, "names": schema.names, "lists": [pa.types.is_list(kind) for kind in schema.types],
            "memory_bytes": memory_bytes, "process_bytes": process_bytes,
        }  # fmt: skip
        _, content = self._ask(PLAN, json.dumps(asked).encode())
        return pa.ipc.read_schema(content)

    def execute(self) -> Iterator[pa.RecordBatch]:
        """The rows of the result, from the first; an execution that went before ends. Raises QueryRefused."""
        self._execution += 1
        self._readings.clear()
        self._say(BEGIN)
        while (found := self._ask(NEXT))[0] == ROWS:
            yield unpacked_batch(found[1])

    def _ask(self, kind: bytes, content: bytes = b"") -> tuple[bytes, pa.Buffer]:
        self._say(kind, content)
        while (found := self._hear())[0] == WANTED:
            self._answer(json.loads(found[1].to_pybytes()))
        if found[0] == REFUSED:
            refused = json.loads(found[1].to_pybytes())
            raise QueryRefused(refused["why"], refused.get("place"))
        return found

    def _answer(self, wanted: dict[str, Any]) -> None:
        """The next rows of a reading; of an execution that has ended there are none."""
        if wanted["execution"] != self._execution:
            self._say(END)
            return
        number = wanted["reading"]
        if number not in self._readings:
            self._readings[number] = self._read(wanted["columns"])
        try:
            batch = next(self._readings[number], None)
        except Exception:  # which the reader of the table knows
            self._say(FAILED)
            return
        self._say(END) if batch is None else self._say(BATCH, packed(batch))

    def _say(self, kind: bytes, content: Any = b"") -> None:
        self._attempt(lambda: self._pipes.say(kind, content))

    def _hear(self) -> tuple[bytes, pa.Buffer]:
        found: tuple[bytes, pa.Buffer] = self._attempt(self._pipes.hear)
        return found

    def _attempt(self, work: Callable[[], Any]) -> Any:
        with suppress(Gone):
            return work()
        with suppress(subprocess.TimeoutExpired):  # its end of the pipe is closed a moment before it has ended
            self._process.wait(_END_SECONDS)
        code = self._process.returncode
        self._ending()
        if code is not None and -code in _OF_OTHERS:
            raise QueryRefused("killed", ended_by=signal.Signals(-code).name)
        raise QueryRefused("gone")


def _started() -> tuple[subprocess.Popen[bytes], Pipes]:
    if not sys.executable:
        raise UsageError("`sql=` needs a Python that can be started, and this process does not know its own")
    process = start_program(
        [sys.executable, "-P", "-c", _BOOT],
        more=_FEW_ARENAS, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    pipes = Pipes(cast("BinaryIO", process.stdout), cast("BinaryIO", process.stdin))
    with suppress(OSError):  # it has ended, which is found out when it is asked
        cast("BinaryIO", process.stdin).write(json.dumps(sys.path).encode() + b"\n")
        cast("BinaryIO", process.stdin).flush()
    return process, pipes


def _end(process: subprocess.Popen[bytes]) -> None:
    """A process that is not asked any more ends by itself; one that works is not waited for."""
    process.kill()
    for stream in (process.stdin, process.stdout):
        if stream is not None:
            with suppress(OSError):
                stream.close()
    process.wait()
