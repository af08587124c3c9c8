"""Requests and megabytes per second against the emulator, with the limiter off.

python -m benchmarks.upload --rows 200000 --runs 3 --json out.json
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import Final

from audiencekit.limits import MAX_BODY_BYTES, REQUESTS_PER_WINDOW, WINDOW_SECONDS
from benchmarks.benchmark import CONTACTS, EMAILS, Benchmark, benchmark_parser, contact_list, settings_of, tell
from benchmarks.emulator_process import run_with_emulator
from benchmarks.series import run_series
from benchmarks.trials import Contestant

OURS: Final = "audiencekit"
CEILING: Final = REQUESTS_PER_WINDOW / WINDOW_SECONDS * MAX_BODY_BYTES / 1e6  # what the service allows, megabytes/s


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the uploads, print medians and shares of the ceiling, and write the JSON that was asked for."""
    parser = benchmark_parser("upload", "A contact list to the emulator, unlimited.", rows=200_000, runs=3)
    parser.add_argument("--columns", choices=(CONTACTS, EMAILS), default=CONTACTS, help="default %(default)s")
    parser.add_argument(
        "--sink",
        action=argparse.BooleanOptionalAction,
        default=True,
        help="whether the emulator only counts users (default), or looks at and keeps each of them",
    )
    given = parser.parse_args(arguments)
    with contact_list(given.rows, given.seed, given.columns, lists=given.lists) as path:
        contestant = Contestant(name=OURS, module="benchmarks.live_upload", is_ours=True, arguments=(str(path),))
        series = run_series(
            [contestant], given.runs, trial=lambda one: run_with_emulator(one, sink=given.sink), tell=tell
        )
    ceiling = f"the {CEILING:.0f} MB/s that the service allows"
    Benchmark(
        name="upload",
        settings=settings_of(given),
        series=series,
        ratios={
            f"pass two / {ceiling}": series.share(OURS, "sending_megabytes_per_second", CEILING),
            f"whole run / {ceiling}": series.share(OURS, "megabytes_per_second", CEILING),
        },
    ).publish(given.json)


if __name__ == "__main__":
    main()
