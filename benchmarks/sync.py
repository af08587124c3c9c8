"""The time of a sync of a list in which one person in a hundred has changed, against `check` of the same list.

    python -m benchmarks.sync --rows 1000000 --runs 3 --json out.json

The audience is filled with the first list once; then each round syncs the other of two lists that differ in their
people by `--changed`. What the changes need is what two plain uploads, of those who came and of those who went, take.
People to put back come on top of it. One more sync after the rounds writes the snapshot as a whole, which is
due once in some days; nothing is compared with it.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

import audiencekit
from audiencekit.settings import load_settings
from benchmarks.benchmark import Benchmark, benchmark_parser, contact_list, settings_of, tell
from benchmarks.emulator_process import running_emulator
from benchmarks.sections import write_section
from benchmarks.series import Run, Series, Spread
from benchmarks.trials import OUT, Contestant, Figures, run_trial

BEGIN: Final = "<!-- sync: what follows is written by python -m benchmarks.sync -->"
END: Final = "<!-- sync: end -->"
CHECK: Final = "check"
SYNC: Final = "sync"
ANEW: Final = "sync that writes all members anew"
BOUNDS: Final = {
    "seconds of sync / seconds of check": 1.5,
    "processor seconds of sync / processor seconds of check": 1.5,
    "requests of sync / requests that the changes need": 1.05,
    "bytes of sync / bytes that the changes need": 1.05,
    "snapshot bytes an identifier": 46,
    "megabytes of memory at the peak of sync": 500,
    "megabytes of memory at the peak of the first sync": 500,
}


def main(arguments: Sequence[str] | None = None) -> None:
    """Run both in turn, print medians and ratios, and write the section and the JSON that was asked for."""
    parser = benchmark_parser("sync", "A sync with few changes, against check.", rows=1_000_000, runs=3)
    parser.add_argument("--changed", type=_share, default=0.01, help="share of changed people (default %(default)s)")
    parser.add_argument("--out", type=Path, default=OUT, help="the file that the section is written into")
    given = parser.parse_args(arguments)
    with _two_lists(given) as lists, TemporaryDirectory(prefix="audiencekit-benchmark-") as state:
        needed = _needed(lists[2:])
        with running_emulator(sink=True) as environment:
            environment = {**environment, "AUDIENCEKIT_STATE_DIR": state}
            contestant = Contestant(name=SYNC, module="benchmarks.live_sync", is_ours=True, environment=environment)
            tell("the first sync")
            first = run_trial(replace(contestant, arguments=(str(lists[0]),)))
            tell(f"took {first['seconds']:.1f} s and {first['peak_bytes'] / 1e6:.0f} MB")
            series = _run(contestant, lists[:2], given.runs)
    settings = settings_of(given)
    del settings["out"]
    found = Benchmark(name="sync", settings=settings, series=series, ratios=_ratios(series, needed, first))
    found.publish(given.json)
    write_section(given.out, describe(found), begin=BEGIN, end=END)


def describe(found: Benchmark) -> str:
    """The findings in Markdown."""
    machine, versions = found.machine, found.versions
    where = f"{machine['cores']} cores, load {machine['load']} before, Python {versions['python']}"
    lines = [
        f"Measured {found.measured_on} by `{found.command}`: {where}, code {versions['code']}.",
        "",
        "| figure | at most | reached | least – greatest |",
        "|---|---|---|---|",
    ]
    for name, spread in found.ratios.items():
        what, _, bound = name.removesuffix(")").partition(" (at most ")
        lines.append(f"| {what} | {bound} | {spread.median:.4g} | {spread.least:.4g} – {spread.greatest:.4g} |")
    lines += [
        "",
        "| medians | seconds | of processor time | MB at the peak | requests | put back |",
        "|---|---|---|---|---|---|",
    ]
    for name, told in sorted(found.series.medians().items()):
        rest = f"{told['requests']:.0f} | {told['returned']:.0f}" if "requests" in told else " | "
        seconds = f"{told['seconds']:.1f} | {told['cpu_seconds']:.1f} | {told['peak_bytes'] / 1e6:.0f}"
        lines.append(f"| {name} | {seconds} | {rest} |")
    return "\n".join(lines)


def _run(contestant: Contestant, lists: Sequence[Path], rounds: int) -> Series:
    runs = []
    for number in range(1, rounds + 1):
        path = str(lists[number % 2])
        tell(f"round {number} of {rounds}")
        check = Contestant(name=CHECK, module="benchmarks.dry_check", is_ours=True, arguments=(path,))
        runs.append(Run(number, CHECK, run_trial(check)))
        runs.append(Run(number, SYNC, run_trial(replace(contestant, arguments=(path,)))))
    tell("all members anew")
    path = str(lists[(rounds + 1) % 2])
    anew = replace(contestant, name=ANEW, arguments=(path, "--all-anew"))
    runs.append(Run(rounds, ANEW, run_trial(anew)))
    return Series(tuple(runs))


def _ratios(series: Series, needed: Figures, first: Figures) -> dict[str, Spread]:
    memory = [peak / 1e6 for peak in series.figures(SYNC, "peak_bytes")]
    reached = (
        series.ratio(SYNC, CHECK, "seconds"),
        series.ratio(SYNC, CHECK, "cpu_seconds"),
        series.share(SYNC, "requests", needed["requests"]),
        series.share(SYNC, "body_bytes", needed["body_bytes"]),
        series.spread(SYNC, "snapshot_bytes_per_identifier"),
        Spread.of(memory),
        Spread.of([first["peak_bytes"] / 1e6]),
    )
    bounded = zip(BOUNDS.items(), reached, strict=True)
    return {f"{name} (at most {bound:g})": spread for (name, bound), spread in bounded}


def _needed(lists: Sequence[Path]) -> Figures:
    """Requests and bytes of two plain uploads."""
    with TemporaryDirectory(prefix="audiencekit-benchmark-") as directory:
        settings = load_settings({}, directory=Path(directory), state_dir=Path(directory))
        plans = [audiencekit.check(path, settings=settings) for path in lists]
    return {
        "requests": sum(plan.requests for plan in plans),
        "body_bytes": sum(plan.bytes for plan in plans),
    }


@contextmanager
def _two_lists(given: argparse.Namespace) -> Iterator[list[Path]]:
    """Two lists of so many rows that differ in some, and the rows that only one of them has."""
    changed = max(1, round(given.rows * given.changed))
    with (
        contact_list(given.rows + changed, given.seed, lists=given.lists) as longer,
        TemporaryDirectory(prefix="audiencekit-benchmark-", dir=given.lists) as directory,
    ):
        names = ("first", "second", "gone", "new")
        paths = [Path(directory) / f"{name}.csv" for name in names]
        bounds = ((0, given.rows), (changed, given.rows + changed), (0, changed), (given.rows, given.rows + changed))
        with longer.open("rb") as lines:
            head = next(lines)
            files = [path.open("wb") for path in paths]
            for file in files:
                file.write(head)
            for number, line in enumerate(lines):
                for file, (start, end) in zip(files, bounds, strict=True):
                    if start <= number < end:
                        file.write(line)
            for file in files:
                file.close()
        yield paths


def _share(text: str) -> float:
    """More than 0, 1 at most. Raises ArgumentTypeError."""
    try:
        share = float(text)
    except ValueError:
        share = 0.0
    if not 0 < share <= 1:
        raise argparse.ArgumentTypeError("a number above 0, 1 at most")
    return share


if __name__ == "__main__":
    main()
