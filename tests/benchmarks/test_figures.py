"""Figures: trials in turn, medians, ratios of neighbours, and what must be reached."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from benchmarks import machine
from benchmarks.arrivals import Arrivals
from benchmarks.benchmark import CONTACTS, Benchmark
from benchmarks.cliffs import Cost, as_table as spellings_table
from benchmarks.cores import ALL, APART, ONE
from benchmarks.databases import Taken, as_table as rates_table
from benchmarks.duplicates import CHECK, WITHOUT
from benchmarks.machine import list_versions
from benchmarks.memory import PREPARE, UPLOAD
from benchmarks.prepare import DATAFUSION, DUCKDB, OURS, PLAIN_LOOP
from benchmarks.series import Run, Series, Spread, run_series
from benchmarks.spreadsheets import as_table as sheets_table
from benchmarks.steps import Sizes, list_steps
from benchmarks.targets import Target, list_targets
from benchmarks.trials import Contestant, Figures
from tests.cases import each_case

A, B = Contestant(name="a", module="none"), Contestant(name="b", module="none")
SIZES = Sizes((200_000, 2_000_000, 20_000_000))


def _told(figures: dict[str, list[float]]) -> Callable[[Contestant], Figures]:
    waiting = {name: iter(values) for name, values in figures.items()}
    return lambda contestant: {"speed": next(waiting[contestant.name])}


def test_contestants_take_turns() -> None:
    """A B B A A B, so that none always comes after the same one; each trial is announced before it runs."""
    heard: list[str] = []
    series = run_series([A, B], 3, trial=_told({"a": [1, 2, 3], "b": [4, 5, 6]}), tell=heard.append)
    assert [(run.round, run.contestant) for run in series.runs] == [
        (1, "a"), (1, "b"), (2, "b"), (2, "a"), (3, "a"), (3, "b"),
    ]  # fmt: skip
    assert (heard[0], len(heard)) == ("round 1 of 3: a", 6)


def test_a_ratio_is_of_neighbours() -> None:
    """Round by round: here both slow down together, and the ratio of medians would be another; pairs are complete."""
    series = run_series([A, B], 3, trial=_told({"a": [10, 4, 100], "b": [5, 1, 100]}))
    assert series.ratio("a", "b", "speed") == Spread(2, 1, 4)
    assert series.share("a", "speed", 50) == Spread(0.2, 0.08, 2)
    with pytest.raises(ValueError, match="shorter"):
        Series(series.runs[:-1]).ratio("a", "b", "speed")


FINISHED = Benchmark(
    name="prepare",
    settings={"rows": 10},
    series=Series((Run(1, "ours", {"rows_per_second": 3_000.0}), Run(1, "loop", {"rows_per_second": 1_500.0}))),
    ratios={"ours / loop": Spread(2.0, 1.5, 2.5)},
    left_out={"another": "not there"},
)


def test_people_and_programs_read_the_same(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Medians and ratios on stdout, one line each; everything in the JSON, which can be read again."""
    FINISHED.publish(tmp_path / "out.json")
    assert capsys.readouterr().out.splitlines() == [
        "ours: 3,000 rows/s",
        "loop: 1,500 rows/s",
        "ours / loop: 2.00 (least 1.50, greatest 2.50)",
        "another: left out, not there",
    ]
    document = json.loads((tmp_path / "out.json").read_text())
    assert document["command"] == "python -m benchmarks.prepare --rows 10"
    assert document["runs"][1] == {"round": 1, "contestant": "loop", "rows_per_second": 1_500}
    assert document["medians"]["ours"] == {"rows_per_second": 3_000}
    assert document["ratios"]["ours / loop"] == {"median": 2, "min": 1.5, "max": 2.5}
    assert Benchmark.read(tmp_path / "out.json") == FINISHED


def test_figures_of_today_are_kept_and_no_others(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The same settings, code, versions and machine; how busy it was does not matter."""
    step = next(step for step in list_steps(SIZES, runs=5, long_runs=2) if step.benchmark == "prepare")
    found = Benchmark(name="prepare", settings=step.settings, series=Series(()))
    assert step.is_measured_by(found)
    assert step.is_measured_by(replace(found, machine={**found.machine, "load": 99.0}))
    assert not step.is_measured_by(replace(found, machine={**found.machine, "cores": 999}))
    assert not step.is_measured_by(replace(found, settings={**step.settings, "runs": 4}))
    assert not step.is_measured_by(replace(found, name="upload"))
    seen = {found.versions["code"]}
    for name, text in [("one.py", "x = 1"), ("one.py", "x = 2"), ("two.py", "x = 2")]:
        (tmp_path / "one.py").unlink(missing_ok=True)
        (tmp_path / name).write_text(text)
        monkeypatch.setattr(machine.audiencekit, "__file__", str(tmp_path / "__init__.py"))
        seen.add(list_versions()["code"])
        assert not step.is_measured_by(found)
    assert len(seen) == 4


@each_case(
    "rows, main, largest",
    [
        ((200_000, 2_000_000, 20_000_000), 2_000_000, 20_000_000),
        ((300,), 300, 300),
        ((3_000_000, 9_000_000), 3_000_000, 9_000_000),
    ],
)
def test_most_is_compared_at_two_million_rows(rows: tuple[int, ...], main: int, largest: int) -> None:
    """Or where it is nearest; memory is looked at where the list is longest."""
    assert (Sizes(rows).main, Sizes(rows).largest) == (main, largest)


def test_the_server_counts_every_closed_window() -> None:
    """A request over the limit is one that the service would have answered with 429; they are told in any order."""
    arrivals = Arrivals(limit=2, window_seconds=1.0)
    arrivals.is_counting = True
    for moment in (0.5, 0.0, 1.0, 1.6, 3.0):
        arrivals.add(7, moment)
    assert (arrivals.worst_window, arrivals.over_limit, arrivals.by_process[7]) == (3, 1, 5)


def test_tables_of_ratios() -> None:
    """Twice the time is half the rate, round by round; the dearest region is named; memory is the largest."""
    rates = rates_table(100, [Taken(1.0, 2.0), Taken(1.0, 2.0)], [Taken(2.0, 2.0), Taken(1.0, 8.0)])
    assert "| processor | 100 | 67 | 0.75 (0.50 – 1.00) |" in rates
    assert "| clock | 50 | 20 | 0.62 (0.25 – 1.00) |" in rates
    costs = [Cost("tel: in front", region, 1e-6 * times, 1e-6) for region, times in (("US", 2), ("DE", 1), ("AR", 6))]
    assert spellings_table(costs).endswith("\n| tel: in front | 2.0 | 1.0 – 6.0 | AR |")
    figures = {"audiencekit": (2.0, 150e6), "fastexcel": (1.0, 300e6), "check": (4.0, 250e6)}
    runs = [
        Run(number, name, {"reading_cpu_seconds": seconds * number ** (name == "audiencekit"), "peak_bytes": peak})
        for number in (1, 2, 3)
        for name, (seconds, peak) in figures.items()
    ]
    table = sheets_table([("shared", Series(tuple(runs)))])
    assert table.endswith("\n| shared | 4.00 (2.00 – 6.00) | 4.00, 1.00 | 150, 300, 250 |")


@each_case(
    "median, at_least, verdict", [(60, True, "yes"), (59.9, True, "no"), (60, False, "yes"), (60.1, False, "no")]
)
def test_a_bound_may_be_met_exactly(median: float, at_least: bool, verdict: str) -> None:
    """From above or from below, before rounding."""
    spread = Spread(median * 10, 0, 1_000)
    assert Target(figure="it", bound=60, at_least=at_least, reached=spread, scale=10).verdict == verdict


def test_nothing_measured_is_nothing_reached() -> None:
    """Every figure of the table is there all the same."""
    targets = list_targets({}, SIZES)
    assert len(targets) == 33
    assert {target.verdict for target in targets} == {"not measured"}


def _measured(*rounds: dict[str, Figures]) -> Benchmark:
    runs = [Run(number, name, told) for number, each in enumerate(rounds, 1) for name, told in each.items()]
    return Benchmark(name="any", settings={}, series=Series(tuple(runs)), machine={}, versions={})


def _speeds(*names: str, of: tuple[float, ...]) -> dict[str, Figures]:
    return {name: {"rows_per_second": speed} for name, speed in zip(names, of, strict=True)}


ALONE, CORES = (OURS, DATAFUSION, DUCKDB, PLAIN_LOOP), (ALL, ONE, APART)
REACHED = {
    "prepare-2000000": _measured(
        _speeds(*ALONE, of=(900, 3_000, 1_000, 10)),
        _speeds(*ALONE, of=(800, 1_000, 1_000, 16)),
        _speeds(*ALONE, of=(900, 3_000, 1_200, 15)),
    ),
    "prepare-20000000": _measured(_speeds(OURS, PLAIN_LOOP, of=(600, 5))),
    "cores-2000000": _measured(_speeds(*CORES, of=(900, 500, 950)), _speeds(*CORES, of=(800, 400, 800))),
    "cores-20000000": _measured(_speeds(ALL, ONE, of=(850, 500))),
    f"upload-{CONTACTS.replace(',', '-')}-2000000": _measured({OURS: {"sending_megabytes_per_second": 250.0}}),
    "memory-2000000": _measured({PREPARE: {"peak_bytes": 200e6}}, {PREPARE: {"peak_bytes": 250e6}}),
    "memory-20000000": _measured({PREPARE: {"peak_bytes": 270e6}, UPLOAD: {"peak_bytes": 460e6}}),
    "duplicates-20000000": _measured({CHECK: {"seconds": 25.0}, WITHOUT: {"seconds": 20.0}}),
}


@each_case(
    "words, cells",
    [
        (("2,000,000 rows to", PLAIN_LOOP), ["≥ 60", "60.0", "50.0 – 90.0", "yes"]),
        (("2,000,000 rows to", "bare limit"), ["≥ 0.3", "0.30", "0.30 – 0.80", "yes"]),
        (("20,000,000 rows to", PLAIN_LOOP), ["≥ 60", "120.0", "120.0 – 120.0", "yes"]),
        (("20,000,000 rows to", "bare limit"), ["≥ 0.3", "", "", "not measured"]),
        (("2,000,000 rows", "all cores / one"), ["≥ 1.7", "1.90", "1.80 – 2.00", "yes"]),
        (("20,000,000 rows", "all cores / one"), ["≥ 1.7", "1.70", "1.70 – 1.70", "yes"]),
        (("2,000,000 rows", APART), ["", "1.95", "1.90 – 2.00", ""]),
        (("pass two of `upload` (email, phone, country)",), ["≥ 1", "2.00", "2.00 – 2.00", "yes"]),
        (("`prepare`: memory at the peak, 20,000,000 rows",), ["≤ 300 MB", "270 MB", "270 – 270", "yes"]),
        (("`prepare`: the same / 2,000,000 rows",), ["≤ 1.2", "1.20", "1.08 – 1.35", "yes"]),
        (("`upload`, 16 in flight: memory",), ["≤ 450 MB", "460 MB", "460 – 460", "no"]),
        (("`upload`, 16 in flight: the same",), ["≤ 1.2", "", "", "not measured"]),
        (("finding duplicates",), ["≤ 25 %", "25 %", "25 – 25", "yes"]),
    ],
)
def test_figures_are_compared_round_by_round(words: tuple[str, ...], cells: list[str]) -> None:
    """The faster of the bare limits counts; peaks of memory, which are no neighbours, differ as far as they could."""
    found = [target.cells() for target in list_targets(REACHED, SIZES)]
    assert [line[1:] for line in found if line[0].startswith(words[0]) and words[-1] in line[0]] == [cells]
