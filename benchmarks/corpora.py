"""The share of values that are decided in bulk in published contact lists, which lie beside the checkout or nowhere.

python -m benchmarks.corpora --json out.json
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Final

from benchmarks.benchmark import Benchmark, benchmark_parser, settings_of, tell
from benchmarks.series import Series, run_series
from benchmarks.trials import ROOT, Contestant

LISTS: Final = "published contact lists"
CORPORA: Final = ROOT.parent / "shared" / "corpora"


def main(arguments: Sequence[str] | None = None) -> None:
    """Read the lists, print the share, and write the JSON that was asked for, also when there are none."""
    parser = benchmark_parser("corpora", "The share decided in bulk.", rows=None, runs=1)
    parser.add_argument("--corpora", type=Path, default=CORPORA, help="the directory that holds csv/contacts")
    given = parser.parse_args(arguments)
    folder = given.corpora / "csv" / "contacts"
    contestant = Contestant(name=LISTS, module="benchmarks.known_lists", arguments=(str(folder.resolve()),))
    left_out = {} if folder.is_dir() else {LISTS: "the directory of the lists is not there"}
    series = Series(()) if left_out else run_series([contestant], given.runs, tell=tell)
    Benchmark(name="corpora", settings=settings_of(given), series=series, left_out=left_out).publish(given.json)


if __name__ == "__main__":
    main()
