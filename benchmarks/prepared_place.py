"""An upload of a prepared directory that lies in a bucket: memory at its peak, for a short and for a long list.

    python -m benchmarks.prepared_place [--rows 10000000] [--runs 2] [--out FILE]

A server in a process of its own stands for S3, and an emulator that only counts for the service.
"""

from __future__ import annotations

import statistics
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from benchmarks.benchmark import section_parser, tell
from benchmarks.buckets import served
from benchmarks.emulator_process import run_with_emulator
from benchmarks.memory import IN_FLIGHT
from benchmarks.sections import publish_section
from benchmarks.trials import ROOT, Contestant, Figures

BEGIN: Final = "<!-- prepared place: what follows is written by python -m benchmarks.prepared_place -->"
END: Final = "<!-- prepared place: end -->"
MOST_GROWTH: Final = 1.2
SHORT: Final = 5  # the long list has so many times as many rows
_MEGABYTE: Final = 1_000_000


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure, and print the table or write it into a file that has the marks."""
    parser = section_parser("prepared_place", "A prepared directory in a bucket.", rows=10_000_000, runs=2)
    given = parser.parse_args(arguments)
    sizes = (given.rows // SHORT, given.rows)
    figures: dict[int, list[Figures]] = {rows: [] for rows in sizes}
    with tempfile.TemporaryDirectory(prefix="audiencekit-benchmark-") as directory:
        for rows in sizes:
            tell(f"making {rows:,} records")
            command = [sys.executable, "-m", "benchmarks.places", "--rows", str(rows), f"{directory}/{rows}"]
            subprocess.run(command, cwd=ROOT, check=True)
        with served(Path(directory)):
            for number in range(given.runs):
                tell(f"round {number + 1} of {given.runs}")
                for rows in sizes:
                    figures[rows].append(_run(rows))
    publish_section(given.out, as_text(figures), begin=BEGIN, end=END)


def _run(rows: int) -> Figures:
    """One upload; the environment leads to the bucket."""
    contestant = Contestant(
        name="upload",
        module="benchmarks.live_upload",
        is_ours=True,
        arguments=(f"s3://lists/{rows}/",),
        environment={"AUDIENCEKIT_CONCURRENCY": str(IN_FLIGHT)},
    )
    found = run_with_emulator(contestant)
    if found["rows"] != rows:
        raise SystemExit("rows are missing: the figures would be of another list")
    return found


def as_text(figures: dict[int, list[Figures]]) -> str:
    """A line a size: medians of memory, processor time and clock; then how far memory grows."""
    lines = ["| rows | MB of memory at the peak | s of processor time | s | reading, s |", "|---|---|---|---|---|"]
    peaks = []
    for rows, found in figures.items():
        median = {name: statistics.median(one[name] for one in found) for name in found[0]}
        peaks.append(median["peak_bytes"])
        cells = (median["peak_bytes"] / _MEGABYTE, median["cpu_seconds"], median["seconds"], median["reading_seconds"])
        lines.append(f"| {rows:,} | {cells[0]:,.0f} | {cells[1]:,.1f} | {cells[2]:,.1f} | {cells[3]:,.1f} |")
    rounds = len(next(iter(figures.values())))
    told = (
        f"`upload` of a prepared directory in a bucket to a sink, {IN_FLIGHT} in flight, medians of {rounds}"
        f" {'round' if rounds == 1 else 'rounds'}. Must reach: at most {MOST_GROWTH} times the memory for {SHORT} times"
        f" the rows. Reached: {peaks[-1] / peaks[0]:.2f}."
    )
    return "\n".join([told, "", *lines])


if __name__ == "__main__":
    main()
