"""A whole sheet of 1,048,576 rows with email and phone: against fastexcel alone, and what a `check` of it takes.

    python -m benchmarks.spreadsheets [--rows 1048576] [--runs 3] [--out benchmarks/RESULTS.md]

Processor time from the file to columns of Arrow, in turns, and the memory of the whole process at its peak.
"""

from __future__ import annotations

import statistics
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from benchmarks.benchmark import section_parser, tell
from benchmarks.sections import publish_section
from benchmarks.series import Series, Spread, run_series
from benchmarks.sheet_writing import FORMS, FULL_SHEET
from benchmarks.trials import ROOT, Contestant

BEGIN: Final = "<!-- spreadsheets: what follows is written by python -m benchmarks.spreadsheets -->"
END: Final = "<!-- spreadsheets: end -->"
MOST_TIMES: Final = 1.5  # the time of fastexcel alone
MOST_MEGABYTES: Final = 500

_OURS, _THEIRS, _CHECK = "audiencekit", "fastexcel", "check"
_CPU, _PEAK = "reading_cpu_seconds", "peak_bytes"


def _contestants(path: Path) -> list[Contestant]:
    reading, place = "benchmarks.read_sheet", str(path)
    return [
        Contestant(name=_OURS, module=reading, is_ours=True, arguments=(place,)),
        Contestant(name=_THEIRS, module=reading, arguments=(place, "--by-fastexcel"), package="fastexcel"),
        Contestant(name=_CHECK, module="benchmarks.dry_check", is_ours=True, arguments=(place,)),
    ]


def as_table(measured: Sequence[tuple[str, Series]]) -> str:
    """A line a form of the sheet."""
    lines = [
        "| sheet | ours for fastexcel's (median, range) | s, ours and fastexcel's | MB: ours, fastexcel's, `check` |",
        "|---|---|---|---|",
    ]
    for form, series in measured:
        times = Spread.of(list(_ratios(series)))
        seconds = [statistics.median(_figures(series, name, _CPU)) for name in (_OURS, _THEIRS)]
        megabytes = [max(_figures(series, name, _PEAK)) / 1e6 for name in (_OURS, _THEIRS, _CHECK)]
        told = f"{times.median:.2f} ({times.least:.2f} – {times.greatest:.2f})"
        lines.append(
            f"| {form} | {told} | {', '.join(f'{one:.2f}' for one in seconds)} |"
            f" {', '.join(f'{one:,.0f}' for one in megabytes)} |"
        )
    return "\n".join(lines)


def _figures(series: Series, contestant: str, measure: str) -> list[float]:
    return [run.figures[measure] for run in series.runs if run.contestant == contestant]


def _ratios(series: Series) -> Iterator[float]:
    """Of each round: ours for theirs."""
    pairs = zip(_figures(series, _OURS, _CPU), _figures(series, _THEIRS, _CPU), strict=True)
    return (ours / theirs for ours, theirs in pairs)


def _measure(form: str, rows: int, runs: int) -> Series:
    with TemporaryDirectory(prefix="audiencekit-benchmark-") as directory:
        path = Path(directory) / f"{form}.xlsx"
        tell(f"writing {rows:,} rows, {form}")
        # Another process writes it: its memory would stand in what the system says of those that this one starts.
        options = ["--rows", str(rows), "--form", form, str(path)]
        subprocess.run([sys.executable, "-m", "benchmarks.sheet_writing", *options], cwd=ROOT, check=True)
        return run_series(_contestants(path), runs, tell=tell)


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure, and print the table or write it into a file that has the marks."""
    given = section_parser("spreadsheets", "A whole sheet.", rows=FULL_SHEET, runs=3).parse_args(arguments)
    table = as_table([(form, _measure(form, given.rows, given.runs)) for form in FORMS])
    text = (
        f"A sheet of {given.rows:,} rows with email and phone, {given.runs} rounds in turns. Must reach: at most"
        f" {MOST_TIMES} times the time of fastexcel alone, at most {MOST_MEGABYTES} MB.\n\n{table}"
    )
    publish_section(given.out, text, begin=BEGIN, end=END)


if __name__ == "__main__":
    main()
