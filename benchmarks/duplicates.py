"""The time that finding duplicates adds to `check`.

python -m benchmarks.duplicates --rows 20000000 --runs 5 --json out.json
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from benchmarks.benchmark import Benchmark, benchmark_parser, contact_list, settings_of, tell
from benchmarks.series import run_series
from benchmarks.trials import Contestant

CHECK: Final = "check"
WITHOUT: Final = "check that takes every record for a new one"


def main(arguments: Sequence[str] | None = None) -> None:
    """Run both in turn, print medians and the ratio, and write the JSON that was asked for."""
    given = benchmark_parser("duplicates", "The price of duplicates.", rows=200_000, runs=3).parse_args(arguments)
    with contact_list(given.rows, given.seed, lists=given.lists) as path:
        contestants = [
            Contestant(name=CHECK, module="benchmarks.dry_check", is_ours=True, arguments=(str(path),)),
            Contestant(
                name=WITHOUT, module="benchmarks.dry_check", is_ours=True, arguments=(str(path), "--without-duplicates")
            ),
        ]
        series = run_series(contestants, given.runs, tell=tell)
    ratios = {f"{CHECK} / {WITHOUT}, seconds": series.ratio(CHECK, WITHOUT, "seconds")}
    Benchmark(name="duplicates", settings=settings_of(given), series=series, ratios=ratios).publish(given.json)


if __name__ == "__main__":
    main()
