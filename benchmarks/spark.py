"""Preparing on Spark, against the core of one machine and against a job that only passes its rows through Python.

    python -m benchmarks.spark --rows 2000000 --runs 3 --json out.json

Two executors of one core each, to which the code is shipped. The seconds inside our function are processor time, and
so are those of the core: what else the machine does must not count. The workers are warm: each job runs once before.
"""

from __future__ import annotations

import json
import os
import statistics
import sys
import time
import zipfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

import numpy as np
import pyarrow.csv
import pyarrow.parquet as pq

from audiencekit.identifiers.rules import Rules
from audiencekit.integrations import spark
from audiencekit.planning.options import read_keywords
from audiencekit.preparation.batches import TextBatch
from audiencekit.preparation.records import prepare_batch
from audiencekit.preparation.textrecords import to_prepared
from audiencekit.profile import find_profile
from audiencekit.sources.opening import open_source
from audiencekit.sources.source import Source

from .benchmark import benchmark_parser, contact_list, tell
from .trials import ROOT

KEYWORDS: Final[dict[str, Any]] = {"columns": {"email": "email", "phone_number": "phone"}, "country_column": "country"}
MOST_INSIDE: Final = 1.25  # of the core's time
MOST_WHOLE: Final = 2.0  # of the time of a job that does nothing


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, print and write; 1 when a bound is passed."""
    given = benchmark_parser("spark", "Preparing on Spark.", rows=2_000_000, runs=3).parse_args(arguments)
    with TemporaryDirectory(prefix="audiencekit-benchmark-") as directory:
        here = Path(directory)
        with contact_list(given.rows, given.seed, lists=given.lists) as path:
            parquet = _as_parquet(path, here / "contacts.parquet")
        found = _measure(parquet, here, runs=given.runs)
    document = {"rows": given.rows, "runs": given.runs, **found}
    for name, figure in document.items():
        print(f"{name}: {figure:,.2f}" if isinstance(figure, float) else f"{name}: {figure:,}")
    if given.json:
        given.json.write_text(json.dumps(document, indent=2) + "\n", encoding="utf-8")
    return int(found["inside_to_core"] > MOST_INSIDE or found["whole_to_identity"] > MOST_WHOLE)


def _measure(parquet: Path, here: Path, *, runs: int) -> dict[str, float]:
    session = _session(here)
    try:
        frame = session.read.parquet(str(parquet))
        inside = session.sparkContext.accumulator(0.0)
        jobs = {"identity": _identity(frame), "prepare": spark.prepare(frame, **KEYWORDS).records}
        timed = _timed_outcomes(frame, inside)
        seconds: dict[str, list[float]] = {name: [] for name in jobs}
        shares = []
        for number in range(runs + 1):
            for name, job in jobs.items():
                seconds[name].append(_seconds(job.write.mode("overwrite").parquet, str(here / name)))
            inside.value = 0.0
            timed.write.mode("overwrite").parquet(str(here / "timed"))
            shares.append((inside.value, _core_seconds(parquet)))
            tell(f"round {number} of {runs}")
    finally:
        session.stop()
    whole = {name: statistics.median(times[1:]) for name, times in seconds.items()}
    ratios = [prepared / identity for prepared, identity in zip(seconds["prepare"], seconds["identity"], strict=True)]
    return {
        "identity_seconds": whole["identity"],
        "prepare_seconds": whole["prepare"],
        "inside_cpu_seconds": statistics.median(inside for inside, _ in shares[1:]),
        "core_cpu_seconds": statistics.median(core for _, core in shares[1:]),
        "inside_to_core": statistics.median(inside / core for inside, core in shares[1:]),
        "whole_to_identity": statistics.median(ratios[1:]),
    }


def _seconds(work: Callable[[str], object], argument: str) -> float:
    begun = time.perf_counter()
    work(argument)
    return time.perf_counter() - begun


def _identity(frame: Any) -> Any:
    """The least that any function in Python costs: the columns there and back."""

    def same(batches: Iterator[Any]) -> Iterator[Any]:
        return batches

    return frame.mapInArrow(same, frame.schema)


def _timed_outcomes(frame: Any, inside: Any) -> Any:
    """The outcomes of `frame`; the seconds that our function took are added to `inside`."""
    prepared = spark.prepare(frame, **KEYWORDS)
    run, schema = spark._to_run(prepared._work, prepared._counted), prepared.outcomes.schema

    def step(batches: Iterator[Any]) -> Iterator[Any]:
        spent = waited = 0.0

        def waiting() -> Iterator[Any]:
            nonlocal waited
            while True:
                begun = time.process_time()
                batch = next(batches, None)
                waited += time.process_time() - begun
                if batch is None:
                    return
                yield batch

        outcomes = run(waiting())
        while True:
            begun = time.process_time()
            batch = next(outcomes, None)
            spent += time.process_time() - begun
            if batch is None:
                break
            yield batch
        inside.add(spent - waited)

    return spark._chosen(frame, range(len(frame.columns))).mapInArrow(step, schema)


def _core_seconds(parquet: Path) -> float:
    """What the core takes to make the same prepared records, in this process; reading the rows is not counted."""
    options = read_keywords(KEYWORDS, find_profile("spec"))  # type: ignore[arg-type]
    source = open_source(parquet, options.source)
    return sum(_prepared_in(batch, source, options.rules) for batch in source.batches())


def _prepared_in(batch: TextBatch, source: Source, rules: Rules) -> float:
    begun = time.process_time()
    prepared = prepare_batch(batch, source.mapping, rules=rules, operation_type="Update")
    to_prepared(prepared.records, np.arange(prepared.tally.records))
    return time.process_time() - begun


def _as_parquet(path: Path, out: Path) -> Path:
    types = {name: pyarrow.string() for name in ("email", "phone", "country")}
    table = pyarrow.csv.read_csv(path, convert_options=pyarrow.csv.ConvertOptions(column_types=types))
    pq.write_table(table, out, row_group_size=100_000)
    return out


def _session(here: Path) -> Any:
    """Two executors, which find audiencekit only where Spark puts it."""
    from pyspark.sql import SparkSession

    code = here / "audiencekit.zip"
    with zipfile.PyZipFile(str(code), "w") as archive:
        archive.writepy(str(ROOT / "audiencekit"))
    os.environ |= {"PYSPARK_PYTHON": sys.executable, "SPARK_WORKER_DIR": str(here / "work")}
    os.environ.pop("PYTHONPATH", None)
    settings = {
        "spark.ui.enabled": "false",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.local.dir": str(here / "local"),
        "spark.executor.memory": "1g",
    }
    session = SparkSession.builder.master("local-cluster[2,1,1024]").config(map=settings).getOrCreate()
    session.sparkContext.setLogLevel("ERROR")
    session.sparkContext.addPyFile(str(code))
    return session


if __name__ == "__main__":
    raise SystemExit(main())
