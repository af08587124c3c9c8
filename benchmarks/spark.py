"""Preparing on Spark, against the core of one machine and against a job that only passes its rows through Python.

    python -m benchmarks.spark --rows 2000000 --runs 3

Two executors of one core each, to which the code is shipped. The seconds inside our function are processor time, and
so are those of the core, which is measured where there is no Spark, in two ways. Both are held to the bound:

- alone: in one process, with nothing beside it, in batches as one machine reads them. What the executors lose to each
  other and to their JVMs counts against our function here, and that its batches are larger counts for it.
- at once: in as many processes as there are executors, which have the same rows in batches of the same size. This is
  the same work on as much of the machine, and what is left of the difference is our function's own, and Spark's.

A bound on one of the two could be met by the choice of it. The core's share as it is in the executors is told and
bounds nothing: it was once chosen after the figure, and what Spark costs the core is not in it.

The workers are warm, and so are the processes: each does its job once before, since what is made once in the life of a
process, the tables of phone numbers before all, is no part of what rows take. Of whole jobs the time by the clock is
bounded; their processor time, which a busy machine tells better, stands beside.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from audiencekit.integrations import spark
from benchmarks.benchmark import benchmark_parser, tell
from benchmarks.machine import describe_machine, list_versions
from benchmarks.sections import write_section
from benchmarks.series import Spread
from benchmarks.spark_core import KEYWORDS, CoreProcesses, core_processes, seconds_alone, timed_core
from benchmarks.spark_session import EXECUTORS, SparkTrial, spark_trial, started_processor_seconds
from benchmarks.stopwatch import Stopwatch
from benchmarks.trials import OUT

BEGIN: Final = "<!-- spark: what follows is written by python -m benchmarks.spark -->"
END: Final = "<!-- spark: end -->"
COLUMNS: Final = ("email", "phone", "country")
# The description of each ratio, and its greatest allowed value.
BOUNDS: Final = {
    "inside_to_alone": ("processor time inside our function / the core's on one machine, alone", 1.25),
    "inside_to_at_once": ("the same / the core's in as many processes at once, in batches as large", 1.25),
    "whole_to_identity": ("the whole job / one whose function passes the rows on (`mapInArrow`)", 2.0),
}
OTHERS: Final = {
    "processor_whole_to_identity": "the same, in processor time of the driver's and the executors' processes",
    "inside_to_core": "processor time inside our function / the core's share of it, in the executors",
    "inside": "seconds inside our function",
    "core": "seconds of the core in it",
    "alone": "seconds of the core on one machine, with nothing beside it",
    "at_once": "seconds of the core in as many processes at once",
    "prepare": "seconds of the whole job",
    "identity": "seconds of the job that passes the rows on",
    "prepare_processor": "processor time of the whole job, seconds",
    "identity_processor": "processor time of the job that passes the rows on, seconds",
}
_RATIOS: Final = (
    ("inside_to_core", "inside", "core"),
    ("inside_to_alone", "inside", "alone"),
    ("inside_to_at_once", "inside", "at_once"),
    ("whole_to_identity", "prepare", "identity"),
    ("processor_whole_to_identity", "prepare_processor", "identity_processor"),
)


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, print and write; 1 when a bound is passed."""
    parser = benchmark_parser("spark", "Preparing on Spark.", rows=2_000_000, runs=3)
    parser.add_argument("--out", type=Path, default=OUT, help="the file that the section is written into")
    given = parser.parse_args(arguments)
    with spark_trial(given) as trial, core_processes(trial.parquet, EXECUTORS) as processes:
        versions = trial.versions
        found = _measure(trial, processes, runs=given.runs)
    document = {"rows": given.rows, "runs": given.runs, **{name: one.to_json() for name, one in found.items()}}
    for name, spread in found.items():
        print(f"{name}: {spread.median:,.2f} (least {spread.least:,.2f}, greatest {spread.greatest:,.2f})")
    if given.json:
        given.json.write_text(json.dumps(document, indent=2) + "\n", encoding="utf-8")
    write_section(given.out, describe(found, given.rows, given.runs, versions), begin=BEGIN, end=END)
    return int(any(found[name].median > most for name, (_, most) in BOUNDS.items()))


def describe(found: dict[str, Spread], rows: int, runs: int, versions: str) -> str:
    """The figures in Markdown."""
    machine, packages = describe_machine(), list_versions()
    where = f"{machine['cores']} cores, load {machine['load']} before, Python {packages['python']}, {versions}"
    lines = [
        f"Measured {datetime.now(UTC):%Y-%m-%d}: {rows:,} rows, {where}, code {packages['code']}.",
        f"Rounds: {runs}, after one that does not count.",
        "",
        "| figure | at most | reached | least – greatest |",
        "|---|---|---|---|",
    ]
    for name, spread in found.items():
        what, most = BOUNDS.get(name) or (OTHERS[name], "")
        lines.append(f"| {what} | {most} | {spread.median:.2f} | {spread.least:.2f} – {spread.greatest:.2f} |")
    return "\n".join(lines)


def _measure(trial: SparkTrial, processes: CoreProcesses, *, runs: int) -> dict[str, Spread]:
    """The figures of BOUNDS and OTHERS. The first round of all is not counted."""
    frame = trial.session.read.parquet(str(trial.parquet)).select(*COLUMNS)
    inside, core = (trial.session.sparkContext.accumulator(0.0) for _ in range(2))
    jobs = {"identity": _identity(frame), "prepare": spark.prepare(frame, **KEYWORDS).records}
    timed = _timed_outcomes(frame, inside, core)
    rounds: list[dict[str, float]] = []
    for number in range(runs + 1):
        tell(f"round {number} of {runs}")
        one: dict[str, float] = {}
        for name, job in jobs.items():
            one[name], one[f"{name}_processor"] = _taken(job.write.mode("overwrite").parquet, str(trial.here / name))
        inside.value = core.value = 0.0
        timed.write.mode("overwrite").parquet(str(trial.here / "timed"))
        one |= {"inside": inside.value, "core": core.value}
        one |= {"alone": seconds_alone(trial.parquet), "at_once": processes.seconds()}
        one |= {name: one[above] / one[below] for name, above, below in _RATIOS}
        rounds.append(one)
    names = (*BOUNDS, *OTHERS)
    return {name: Spread.of([one[name] for one in rounds[1:]]) for name in names}


def _taken(work: Callable[[str], object], argument: str) -> tuple[float, float]:
    """Seconds by the clock, and of processor time of everything that was started from here."""
    begun, used = time.perf_counter(), started_processor_seconds()
    work(argument)
    return time.perf_counter() - begun, started_processor_seconds() - used


def _identity(frame: Any) -> Any:
    """The least that any function in Python costs: the columns there and back."""

    def same(batches: Iterator[Any]) -> Iterator[Any]:
        return batches

    return frame.mapInArrow(same, frame.schema)


def _timed_outcomes(frame: Any, inside: Any, core: Any) -> Any:
    """The outcomes of `frame`; what our function took is added to `inside`, what the core took of that to `core`."""
    prepared = spark.prepare(frame, **KEYWORDS)
    run, schema = spark._to_run(prepared._work), prepared.outcomes.schema

    def step(batches: Iterator[Any]) -> Iterator[Any]:
        spent, waited = Stopwatch(), Stopwatch()
        with timed_core() as prepared:
            yield from spent.each(run(waited.each(batches)))
        inside.add(spent.seconds - waited.seconds)
        core.add(prepared.seconds)

    source = spark._chosen(frame, range(len(frame.columns)))
    return source.selectExpr(spark._digest_of(source), "*").mapInArrow(step, schema)


if __name__ == "__main__":
    sys.exit(main())
