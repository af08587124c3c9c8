"""The parts of the start of `check`, and what short commands take: processor time of fresh processes, in turns.

    python -m benchmarks.start [--rounds 15] [--out benchmarks/RESULTS.md]

Each step imports one library more; the last one is the command, with the modules of the package and a list of ten rows.
A command has numpy start no threads. Where pandas is installed, Arrow imports it for the command, too.
"""

from __future__ import annotations

import argparse
import os
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
INTERPRETER, FLOOR = "the interpreter", "`pyarrow`"
CHECK: Final = f"`check` of {ROWS} rows"
# The rows of each list, by its name.
_LISTS: Final = {
    "people.csv": ("email,phone", "anna{0}@larchpost.example,+1201555013{0}"),
    "emails.csv": ("email", "anna{0}@larchpost.example"),
    "national.csv": ("email,phone", "anna{0}@larchpost.example,(201) 555-013{0}"),
}


def steps(folder: Path) -> dict[str, str]:
    """The script of each step; the last one checks a list in `folder`."""
    scripts = {INTERPRETER: "pass"}
    for place, name in enumerate(_IMPORTS):
        scripts[f"`{name}`"] = f"import {', '.join(_IMPORTS[: place + 1])}"
    return scripts | {CHECK: _command("check", str(folder / "people.csv"))}


def commands(folder: Path) -> dict[str, str]:
    """The script of each short command, about the lists in `folder`."""
    return {
        "`check`, e-mail addresses": _command("check", str(folder / "emails.csv")),
        "`check`, national numbers": _command("check", str(folder / "national.csv"), "--country", "US"),
        "`--version`": _command("--version"),
        "`--help`": _command("--help"),
        "`import audiencekit`": "import audiencekit",
    }


def _command(*words: str) -> str:
    run = "import runpy; runpy.run_module('audiencekit', run_name='__main__')"
    return f"import sys; sys.argv = {['audiencekit', *words]!r}; {run}"


def measure(rounds: int) -> dict[str, float]:
    """Seconds of each step and command: the median of the rounds, after one that nothing is measured in."""
    with TemporaryDirectory() as folder:
        for name, (header, row) in _LISTS.items():
            text = "\n".join((header, *map(row.format, range(ROWS)), ""))
            (Path(folder) / name).write_text(text, encoding="utf-8")
        scripts = steps(Path(folder)) | commands(Path(folder))
        found: dict[str, list[float]] = {name: [] for name in scripts}
        for number in range(rounds + 1):
            for name, script in scripts.items():
                seconds = _seconds(script)
                if number:
                    found[name].append(seconds)
    return {name: median(seconds) for name, seconds in found.items()}


def _seconds(script: str) -> float:
    """Processor time of a process of its own. Raises CalledProcessError where it fails."""
    kept = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    begin = _used()
    subprocess.run([sys.executable, "-c", script], check=True, capture_output=True, env=kept)
    return _used() - begin


def _used() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _lines(rounds: int) -> Iterator[str]:
    yield f"Milliseconds of processor time, medians of {rounds} rounds in turns:\n"
    yield "| up to | in all | of it |\n|---|---|---|"
    measured, before = measure(rounds), 0.0
    for name in steps(Path()):
        yield f"| {name} | {measured[name] * 1e3:.0f} | {(measured[name] - before) * 1e3:.0f} |"
        before = measured[name]
    yield "\n| command | milliseconds | of the interpreter | of numpy and pyarrow |\n|---|---|---|---|"
    for name in (CHECK, *commands(Path())):
        times = (measured[name] / measured[base] for base in (INTERPRETER, FLOOR))
        yield " | ".join((f"| {name}", f"{measured[name] * 1e3:.0f}", *(f"{each:.1f}" for each in times))) + " |"


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure, and print the table or write it into a file that has the marks."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.start", description="The start of `check`.")
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    parser.add_argument("--out", type=Path, help="the file that the table is written into")
    given = parser.parse_args(arguments)
    publish_section(given.out, "\n".join(_lines(given.rounds)), begin=BEGIN, end=END)


if __name__ == "__main__":
    main()
