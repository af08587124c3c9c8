"""The time that no program can beat that reads the file with a given engine: two SHA-256 a row, as Arrow, no checks.

    python -m benchmarks.bare_limit contacts.csv --duckdb

Both use all the cores that the process may use, and hash the texts as they stand.
"""

from __future__ import annotations

import importlib
import os
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from benchmarks.trials import Figures, trial_arguments

_COLUMNS: Final = ("email", "phone", "country")


def run_bare(path: Path, *, duckdb: bool = False) -> Figures:
    """Every batch is taken and dropped. The engine is DataFusion, or DuckDB when told so."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    importlib.import_module("duckdb" if duckdb else "datafusion")  # what that takes is no part of the limit
    started = time.perf_counter()
    rows = sum(_hash_with_duckdb(path, cores) if duckdb else _hash_with_datafusion(path, cores))
    seconds = time.perf_counter() - started
    return {"rows": rows, "seconds": seconds, "rows_per_second": rows / seconds}


def _hash_with_datafusion(path: Path, cores: int) -> Iterator[int]:
    """Rows of each batch."""
    import pyarrow as pa
    from datafusion import SessionConfig, SessionContext, col, functions

    context = SessionContext(SessionConfig().with_target_partitions(cores))
    frame = context.read_csv(str(path), schema=pa.schema([(name, pa.string()) for name in _COLUMNS]), has_header=True)
    hashes = frame.select(functions.sha256(col("email")), functions.sha256(col("phone")))
    for batch in hashes.execute_stream():
        yield batch.to_pyarrow().num_rows


def _hash_with_duckdb(path: Path, cores: int) -> Iterator[int]:
    """Rows of each batch."""
    import duckdb
    import pyarrow as pa

    connection = duckdb.connect(config={"threads": cores})
    columns = ", ".join(f"'{name}': 'VARCHAR'" for name in _COLUMNS)
    relation = connection.sql(
        "SELECT sha256(email), sha256(phone) "
        f"FROM read_csv($path, header=true, auto_detect=false, columns={{{columns}}})",
        params={"path": str(path)},
    )
    for batch in pa.RecordBatchReader.from_stream(relation):
        yield batch.num_rows


if __name__ == "__main__":
    trial_arguments(run_bare, duckdb="DuckDB instead of DataFusion")
