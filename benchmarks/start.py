"""The parts of the start of `check`: processor time of fresh processes, in turns.

    python -m benchmarks.start [--rounds 15] [--out benchmarks/RESULTS.md]

Each step imports one library more; the last one is the command, with the modules of the package and a list of ten rows.
"""

from __future__ import annotations

import argparse
import resource
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Final

from benchmarks.sections import publish_section

ROUNDS: Final = 15
ROWS: Final = 10
BEGIN: Final = "<!-- start: what follows is written by python -m benchmarks.start -->"
END: Final = "<!-- start: end -->"

_IMPORTS: Final = ("numpy", "pyarrow", "pyarrow.compute", "email_validator", "phonenumbers", "click")
CHECK: Final = f"`check` of {ROWS} rows"


def steps(path: Path) -> dict[str, str]:
    """The script of each step; the last one checks the list at `path`."""
    scripts = {"the interpreter": "pass"}
    for place, name in enumerate(_IMPORTS):
        scripts[f"`{name}`"] = f"import {', '.join(_IMPORTS[: place + 1])}"
    scripts[CHECK] = f"import sys; sys.argv = ['audiencekit', 'check', {str(path)!r}]; import runpy; "
    scripts[CHECK] += "runpy.run_module('audiencekit', run_name='__main__')"
    return scripts


def measure(rounds: int) -> dict[str, float]:
    """Seconds of each step: the median of the rounds."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "people.csv"
        rows = (f"anna{number}@larchpost.example,+1201555013{number}" for number in range(ROWS))
        path.write_text("\n".join(("email,phone", *rows, "")), encoding="utf-8")
        scripts = steps(path)
        found: dict[str, list[float]] = {name: [] for name in scripts}
        for _ in range(rounds):
            for name, script in scripts.items():
                found[name].append(_seconds(script))
    return {name: median(seconds) for name, seconds in found.items()}


def _seconds(script: str) -> float:
    """Processor time of a process of its own. Raises CalledProcessError where it fails."""
    begin = _used()
    subprocess.run([sys.executable, "-c", script], check=True, capture_output=True)
    return _used() - begin


def _used() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _lines(rounds: int) -> Iterator[str]:
    yield f"Milliseconds of processor time, medians of {rounds} rounds in turns:\n"
    yield "| up to | in all | of it |\n|---|---|---|"
    before = 0.0
    for name, seconds in measure(rounds).items():
        yield f"| {name} | {seconds * 1e3:.0f} | {(seconds - before) * 1e3:.0f} |"
        before = seconds


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure, and print the table or write it into a file that has the marks."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.start", description="The start of `check`.")
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    parser.add_argument("--out", type=Path, help="the file that the table is written into")
    given = parser.parse_args(arguments)
    publish_section(given.out, "\n".join(_lines(given.rounds)), begin=BEGIN, end=END)


if __name__ == "__main__":
    main()
