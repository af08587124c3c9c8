"""All rows of a sheet as text columns; or the same sheet read by fastexcel alone, every cell as text.

python -m benchmarks.read_sheet people.xlsx --by-fastexcel
"""

from __future__ import annotations

import time
from pathlib import Path

import fastexcel

from audiencekit.sources.excel import sheet  # noqa: F401 - loaded before the clock starts
from audiencekit.sources.options import SourceOptions
from audiencekit.sources.source import open_source
from benchmarks.trials import Figures, trial_arguments


def run_reading(path: Path, *, by_fastexcel: bool = False) -> Figures:
    """From the file to columns of Arrow."""
    started, used = time.perf_counter(), time.process_time()
    rows = _by_fastexcel(path) if by_fastexcel else _by_us(path)
    return {"rows": rows, "seconds": time.perf_counter() - started, "reading_cpu_seconds": time.process_time() - used}


def _by_us(path: Path) -> int:
    return sum(batch.columns.unwrap().num_rows for batch in open_source(path, SourceOptions(country="GB")).batches())


def _by_fastexcel(path: Path) -> int:
    return int(fastexcel.read_excel(path).load_sheet(0, header_row=0, dtypes="string").to_arrow().num_rows)


if __name__ == "__main__":
    trial_arguments(run_reading, by_fastexcel="let fastexcel read it")
