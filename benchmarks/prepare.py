"""Rows per second from a file to finished bodies, against the plain loop, measured in the same run.

python -m benchmarks.prepare --rows 20000 --runs 3 --json out.json
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from .benchmark import Benchmark, benchmark_parser, contact_list, tell
from .series import run_series
from .trials import Contestant

OURS: Final = "audiencekit"
LOOP: Final = "plain loop"
MEASURES: Final = {
    "rows_per_second": "{:,.0f} rows/s",
    "megabytes_per_second": "{:,.2f} MB/s of bodies",
    "packing_megabytes_per_second": "{:,.0f} MB/s while packing",
    "requests": "{:,.0f} requests",
    "cpu_seconds": "{:,.2f} s of processor time",
    "peak_bytes": "{:,.0f} bytes of memory",
}


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the trials in turn, print medians and ratio, and write the JSON that was asked for."""
    given = benchmark_parser("prepare", "From a CSV file to finished bodies.", rows=20_000, runs=3).parse_args(
        arguments
    )
    with contact_list(given.rows, given.seed) as path:
        contestants = [
            Contestant(name=OURS, module="benchmarks.dry_upload", arguments=(str(path),)),
            Contestant(name=LOOP, module="benchmarks.plain_loop", arguments=(str(path),)),
        ]
        series = run_series(contestants, given.runs, tell=tell)
    Benchmark(
        name="prepare",
        settings={"rows": given.rows, "runs": given.runs, "seed": given.seed},
        series=series,
        ratios={
            f"{OURS} / {LOOP}, rows per second": series.ratio(OURS, LOOP, "rows_per_second"),
            f"{OURS} / {LOOP}, processor time": series.ratio(OURS, LOOP, "cpu_seconds"),
            f"{OURS} / {LOOP}, memory": series.ratio(OURS, LOOP, "peak_bytes"),
        },
    ).publish(MEASURES, given.json)


if __name__ == "__main__":
    main()
