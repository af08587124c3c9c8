"""Requests and megabytes per second against the emulator, with the limiter off.

python -m benchmarks.upload --rows 200000 --runs 3 --json out.json
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from audiencekit.limits import MAX_BODY_BYTES, REQUESTS_PER_WINDOW, WINDOW_SECONDS

from .benchmark import Benchmark, benchmark_parser, contact_list, tell
from .emulator_process import running_emulator
from .series import run_series
from .trials import Contestant, Figures, run_trial

OURS: Final = "audiencekit"
CEILING: Final = REQUESTS_PER_WINDOW / WINDOW_SECONDS * MAX_BODY_BYTES / 1e6  # what the service allows, megabytes/s
MEASURES: Final = {
    "rows_per_second": "{:,.0f} rows/s",
    "requests": "{:,.0f} requests",
    "requests_per_second": "{:,.2f} requests/s",
    "megabytes_per_second": "{:,.2f} MB/s",
    "sending_requests_per_second": "sending alone {:,.1f} requests/s",
    "sending_megabytes_per_second": "{:,.0f} MB/s",
    "cpu_seconds": "{:,.2f} s of processor time",
    "peak_bytes": "{:,.0f} bytes of memory",
}


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the uploads, print medians and shares of the ceiling, and write the JSON that was asked for."""
    parser = benchmark_parser("upload", "Email-only rows to the emulator, unlimited.", rows=200_000, runs=3)
    parser.add_argument(
        "--sink",
        action=argparse.BooleanOptionalAction,
        default=True,
        help="whether the emulator only counts users (default), or looks at and keeps each of them",
    )
    given = parser.parse_args(arguments)
    with contact_list(given.rows, given.seed, "email") as path:
        contestant = Contestant(name=OURS, module="benchmarks.live_upload", arguments=(str(path),))
        series = run_series([contestant], given.runs, trial=lambda one: upload_once(one, sink=given.sink), tell=tell)
    ceiling = f"the {CEILING:.0f} MB/s that the service allows"
    Benchmark(
        name="upload",
        settings={"rows": given.rows, "runs": given.runs, "seed": given.seed, "sink": given.sink},
        series=series,
        ratios={
            f"sending alone / {ceiling}": series.share(OURS, "sending_megabytes_per_second", CEILING),
            f"whole run / {ceiling}": series.share(OURS, "megabytes_per_second", CEILING),
        },
    ).publish(MEASURES, given.json)


def upload_once(contestant: Contestant, *, sink: bool) -> Figures:
    """One trial with an emulator of its own, so that no trial finds what another left there."""
    with running_emulator(sink=sink) as environment:
        return run_trial(replace(contestant, environment=environment))


if __name__ == "__main__":
    main()
