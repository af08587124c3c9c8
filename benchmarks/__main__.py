"""Every benchmark, and the table of what must be reached: some 25 minutes on two quiet cores.

    python -m benchmarks [--rows 200000,2000000,20000000] [--runs 5] [--dir DIR] [--out benchmarks/RESULTS.md]

With --dir, what was measured is kept there: started again, it goes on where it ended.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from benchmarks.benchmark import Benchmark, count, tell
from benchmarks.results import split_results, write_results
from benchmarks.sections import NoPlace
from benchmarks.steps import Sizes, Step, list_steps
from benchmarks.trials import ROOT

OUT: Final = ROOT / "benchmarks" / "RESULTS.md"
ROWS: Final = (200_000, 2_000_000, 20_000_000)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run what is not measured yet, write the results; 1 when a benchmark failed, whose figures are then missing."""
    parser = _parser()
    given = parser.parse_args(arguments)
    try:
        split_results(given.out)
    except NoPlace as error:
        parser.error(str(error))
    sizes = Sizes(given.rows)
    with TemporaryDirectory(prefix="audiencekit-benchmark-") as temporary:
        folder = (given.dir or Path(temporary)).resolve()
        folder.mkdir(parents=True, exist_ok=True)
        steps = list(list_steps(sizes, runs=given.runs, long_runs=given.long_runs))
        finished = {step.name: found for step in steps if (found := _measure(step, folder)) is not None}
    if not finished:
        return 1
    write_results(given.out, finished, sizes, _command(given))
    return 0 if len(finished) == len(steps) else 1


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description="Every benchmark, and what was reached.")
    parser.add_argument("--rows", type=_sizes, default=ROWS, help="sizes of the lists, with commas between")
    parser.add_argument("--runs", type=count, default=5, help="rounds of everything (default %(default)s)")
    parser.add_argument(
        "--long-runs", type=count, default=2, help="rounds for lists of above 2,000,000 rows (default %(default)s)"
    )
    parser.add_argument("--dir", type=Path, help="where figures and lists are kept, to go on after an interruption")
    parser.add_argument("--out", type=Path, default=OUT, help="the file that the table is written into")
    return parser


def _sizes(text: str) -> tuple[int, ...]:
    return tuple(sorted({count(part) for part in text.split(",")}))


def _command(given: argparse.Namespace) -> str:
    """As it would be typed, without what only says where things are put."""
    rows = ",".join(map(str, given.rows))
    return f"python -m benchmarks --rows {rows} --runs {given.runs} --long-runs {given.long_runs}"


def _measure(step: Step, folder: Path) -> Benchmark | None:
    """Return the result of an earlier start, or measure now; None when that fails."""
    json = folder / f"{step.name}.json"
    if json.exists() and step.is_measured_by(found := Benchmark.read(json)):
        tell(f"{step.name}: measured {found.measured_on} and kept")
        return found
    tell(f"{step.name}: begins")
    options = step.options(lists=folder / "lists", json=json)
    # Its lines are for people, and stdout is not read here; what starts trials must stay a small process of its own.
    done = subprocess.run([sys.executable, "-m", f"benchmarks.{step.benchmark}", *options], cwd=ROOT, check=False)
    if done.returncode:
        tell(f"{step.name}: failed with {done.returncode}")
        return None
    return Benchmark.read(json)


if __name__ == "__main__":
    raise SystemExit(main())
