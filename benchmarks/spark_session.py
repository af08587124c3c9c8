"""The small cluster that Spark is measured on: two executors of one core each, to which the code is shipped."""

from __future__ import annotations

import argparse
import contextlib
import os
import sys
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq

from benchmarks.benchmark import contact_list
from benchmarks.trials import ROOT

NUMBER: Final = "number"
EXECUTORS: Final = 2  # of one core each
_ROW_GROUP_ROWS: Final = 100_000


@dataclass(frozen=True, slots=True)
class SparkTrial:
    """A session, the contact list as Parquet, and a directory for what is written."""

    session: Any
    parquet: Path
    here: Path

    @property
    def versions(self) -> str:
        """Spark and the Java that it runs on, for people."""
        java = self.session.sparkContext._jvm.System.getProperty("java.version")
        return f"Spark {self.session.version} on Java {java}"


@contextlib.contextmanager
def spark_trial(given: argparse.Namespace) -> Iterator[SparkTrial]:
    """One over `given.rows` rows of the list that follows from `given.seed`; all is gone afterwards."""
    with TemporaryDirectory(prefix="audiencekit-benchmark-") as directory:
        here = Path(directory)
        with contact_list(given.rows, given.seed, lists=given.lists) as path:
            parquet = as_parquet(path, here / "contacts.parquet")
        with spark_session(here) as session:
            yield SparkTrial(session, parquet, here)


@contextlib.contextmanager
def spark_session(here: Path) -> Iterator[Any]:
    """A session of which the executors find our code only where Spark puts it; `here` is for its files."""
    from pyspark.sql import SparkSession

    code = here / "audiencekit.zip"
    with zipfile.PyZipFile(str(code), "w") as archive:
        for package in ("audiencekit", "benchmarks"):
            archive.writepy(str(ROOT / package))
    os.environ |= {"PYSPARK_PYTHON": sys.executable, "SPARK_WORKER_DIR": str(here / "work")}
    os.environ.pop("PYTHONPATH", None)
    settings: dict[str, Any] = {
        "spark.ui.enabled": "false",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.local.dir": str(here / "local"),
        "spark.executor.memory": "1g",
    }
    session = SparkSession.builder.master(f"local-cluster[{EXECUTORS},1,1024]").config(map=settings).getOrCreate()
    session.sparkContext.setLogLevel("ERROR")
    session.sparkContext.addPyFile(str(code))
    try:
        yield session
    finally:
        session.stop()


def as_parquet(path: Path, out: Path) -> Path:
    """The contact list at `path` as Parquet, all of it text, with the number of each row besides."""
    types = {name: pa.string() for name in ("email", "phone", "country")}
    table = pyarrow.csv.read_csv(path, convert_options=pyarrow.csv.ConvertOptions(column_types=types))
    table = table.append_column(NUMBER, pa.array(range(1, table.num_rows + 1), pa.int64()))
    pq.write_table(table, out, row_group_size=_ROW_GROUP_ROWS)
    return out


def started_processor_seconds() -> float:
    """Processor time so far of all processes that were started from here, and of theirs; 0 where /proc is not."""
    processes = dict(filter(None, map(_parent_and_ticks, Path("/proc").glob("[0-9]*/stat"))))
    ours, grown = {os.getpid()}, True
    while grown:
        theirs = {process for process, (parent, _) in processes.items() if parent in ours}
        grown = not theirs <= ours
        ours |= theirs
    ticks = sum(processes[process][1] for process in ours - {os.getpid()})
    return ticks / os.sysconf("SC_CLK_TCK")


def _parent_and_ticks(stat: Path) -> tuple[int, tuple[int, int]] | None:
    """Of one process its parent, and its ticks with those of its ended children (proc(5), fields 4 and 14 to 17)."""
    try:
        fields = stat.read_text("ascii", "replace").rpartition(")")[2].split()
    except OSError:
        return None  # it has just ended
    return int(stat.parent.name), (int(fields[1]), sum(map(int, fields[11:15])))
