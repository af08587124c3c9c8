"""SHA-256 of whole columns, by the processor's own instructions and without holding the interpreter.

A kernel does it; in an installation without kernels DataFusion, which costs more to start, to call and to wait for.
"""

from __future__ import annotations

import os
import threading
from typing import Any, Final

import numpy as np
import pyarrow as pa

from audiencekit.limits import ENGINE_BYTES, SHA256_BYTES
from audiencekit.preparation.columnar.hexadecimal import HASH_TYPE, hash_array, hashes_in
from audiencekit.preparation.columnar.kernels.library import kernels

_ENGINE_ROWS: Final = 65_536  # that the engine works on at a time; a longer column comes back in pieces
_TABLE: Final = "texts"
_TEXT: Final = "text"


class _Engine(threading.local):
    """A context for each thread, and after a fork a new one."""

    def __init__(self) -> None:
        self.process = -1
        self.context: Any = None

    def get(self) -> Any:
        if self.process != os.getpid():
            self.context, self.process = _open_context(), os.getpid()
        return self.context


_ENGINE: Final = _Engine()


def sha256_of(normalized: Any) -> Any:
    """The SHA-256 of the UTF-8 bytes of each text (pa.StringArray without nulls), as HASH_TYPE.

    Holds personal data: to be called from a guarded function only.
    """
    if not len(normalized):
        return pa.array([], HASH_TYPE)
    compiled = kernels()
    return hash_array(compiled.deciding.hash(normalized)) if compiled else _hashed_by_engine(normalized)


def _hashed_by_engine(normalized: Any) -> Any:
    from datafusion import col, functions

    context = _ENGINE.get()
    frame = context.create_dataframe([[pa.record_batch([normalized], names=[_TEXT])]], name=_TABLE)
    try:
        pieces = frame.select(functions.sha256(col(_TEXT))).collect()
    finally:
        context.deregister_table(_TABLE)  # which otherwise keeps the texts as long as the thread lives
    return pa.concat_arrays([_of_fixed_size(piece.column(0)) for piece in pieces])


def _of_fixed_size(hashes: Any) -> Any:
    """Binary values as HASH_TYPE; they stand one after the other in the buffer as it is."""
    _, offsets, content = hashes.buffers()
    start = int(np.frombuffer(offsets, dtype=np.int32)[hashes.offset])
    return hashes_in(content.slice(start, len(hashes) * SHA256_BYTES), len(hashes))


def _open_context() -> Any:
    from datafusion import RuntimeEnvBuilder, SessionConfig, SessionContext

    # One partition: threads of ours call side by side, and the order of rows is kept. Nothing is spilled to a disk,
    # and the context knows no table, file or store (design 4.9).
    runtime = RuntimeEnvBuilder().with_disk_manager_disabled().with_greedy_memory_pool(ENGINE_BYTES)
    return SessionContext(SessionConfig().with_target_partitions(1).with_batch_size(_ENGINE_ROWS), runtime)
