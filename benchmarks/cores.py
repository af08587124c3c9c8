"""Rows per second on all cores and on one, beside what the machine gives to as many processes that share nothing.

    python -m benchmarks.cores --rows 2000000 --runs 9 --json out.json

Cores that share a memory or are threads of one core are not twice as fast as one, for any program: what processes
reach that have nothing to do with each other, one on each core, is what threads of one process could reach at most.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Final

from benchmarks.benchmark import Benchmark, benchmark_parser, contact_list, settings_of, split_available, tell
from benchmarks.series import Series, Spread, run_series
from benchmarks.trials import Contestant

ALL: Final = "all cores"
ONE: Final = "one core"
APART: Final = "a process of its own on each core"


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the three in turn, print medians and ratios, and write the JSON that was asked for."""
    given = benchmark_parser("cores", "All cores against one.", rows=20_000, runs=3).parse_args(arguments)
    with contact_list(given.rows, given.seed, lists=given.lists) as path:
        listed = (str(path),)
        contestants, left_out = split_available(
            [
                Contestant(name=ALL, module="benchmarks.dry_upload", is_ours=True, arguments=listed),
                Contestant(name=ONE, module="benchmarks.dry_upload", is_ours=True, arguments=listed, cores=1),
                Contestant(name=APART, module="benchmarks.dry_uploads", arguments=listed, cores=os.cpu_count()),
            ]
        )
        series = run_series(contestants, given.runs, tell=tell)
    Benchmark(
        name="cores", settings=settings_of(given), series=series, ratios=_ratios(series), left_out=left_out
    ).publish(given.json)


def _ratios(series: Series) -> dict[str, Spread]:
    speed, pairs = "rows_per_second", ((ALL, ONE), (APART, ONE), (ALL, APART))
    present = [(above, below) for above, below in pairs if {above, below} <= series.contestants]
    return {f"{above} / {below}, rows per second": series.ratio(above, below, speed) for above, below in present}


if __name__ == "__main__":
    main()
