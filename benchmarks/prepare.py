"""Rows per second from a file to finished bodies, against other ways of doing it, measured in the same run.

    python -m benchmarks.prepare --rows 200000 --runs 3 --json out.json

The loops in Python are run on a shorter list: their rows per second do not depend on its length.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Final

from benchmarks.benchmark import (
    Benchmark,
    add_mix,
    benchmark_parser,
    contact_list,
    count,
    settings_of,
    split_available,
    tell,
)
from benchmarks.series import Series, Spread, run_series
from benchmarks.trials import Contestant

OURS: Final = "audiencekit"
DATAFUSION: Final = "bare limit, DataFusion"
DUCKDB: Final = "bare limit, DuckDB"
SDK_LOOP: Final = "facebook-business loop"
PLAIN_LOOP: Final = "plain loop"


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the trials in turn, print medians and ratios, and write the JSON that was asked for."""
    parser = benchmark_parser("prepare", "From a CSV file to finished bodies.", rows=20_000, runs=3)
    parser.add_argument(
        "--loop-rows", type=count, default=200_000, help="rows that the loops get at most (default %(default)s)"
    )
    add_mix(parser)
    given = parser.parse_args(arguments)
    loop_rows = min(given.rows, given.loop_rows)
    with (
        contact_list(given.rows, given.seed, lists=given.lists, mix=given.mix) as path,
        contact_list(loop_rows, given.seed, lists=given.lists, mix=given.mix) as loop_path,
    ):
        contestants, left_out = split_available(_contestants(path, loop_path))
        series = run_series(contestants, given.runs, tell=tell)
    Benchmark(
        name="prepare", settings=settings_of(given), series=series, ratios=_ratios(series), left_out=left_out
    ).publish(given.json)


def _contestants(path: Path, loop_path: Path) -> list[Contestant]:
    whole, loop = (str(path),), (str(loop_path),)
    return [
        Contestant(name=OURS, module="benchmarks.dry_upload", is_ours=True, arguments=whole),
        Contestant(name=DATAFUSION, module="benchmarks.bare_limit", arguments=whole, package="datafusion"),
        Contestant(name=DUCKDB, module="benchmarks.bare_limit", arguments=(*whole, "--duckdb"), package="duckdb"),
        Contestant(name=SDK_LOOP, module="benchmarks.sdk_loop", arguments=loop, package="facebook_business"),
        # The loop holds the interpreter: it could not use a second core.
        Contestant(name=PLAIN_LOOP, module="benchmarks.plain_loop", arguments=loop),
    ]


def _ratios(series: Series) -> dict[str, Spread]:
    others = (DATAFUSION, DUCKDB, SDK_LOOP, PLAIN_LOOP)
    present = [name for name in others if name in series.contestants]
    return {f"{OURS} / {name}, rows per second": series.ratio(OURS, name, "rows_per_second") for name in present}


if __name__ == "__main__":
    main()
