"""`python -m benchmarks`: what is measured already is kept, the rest is run."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks import __main__ as command
from benchmarks.benchmark import Benchmark
from benchmarks.prepare import OURS
from benchmarks.results import BEGIN
from benchmarks.series import Run, Series
from benchmarks.steps import Sizes, Step, list_steps

FIGURES = {"rows": 300, "rows_per_second": 1_000.0}


def _keep(folder: Path, steps: list[Step]) -> None:
    for step in steps:
        series = Series((Run(1, OURS, FIGURES),))
        Benchmark(name=step.benchmark, settings=step.settings, series=series).publish(folder / f"{step.name}.json")


def _arguments(tmp_path: Path) -> list[str]:
    places = ["--dir", str(tmp_path), "--out", str(tmp_path / "RESULTS.md")]
    return ["--rows", "300", "--runs", "1", "--long-runs", "1", *places]


@pytest.mark.benchmarks
def test_an_interrupted_run_goes_on(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """Of all steps only the missing one is run; then the table is written."""
    steps = list(list_steps(Sizes((300,)), runs=1, long_runs=1))
    _keep(tmp_path, [step for step in steps if step.benchmark != "corpora"])
    assert command.main(_arguments(tmp_path)) == 0
    told = capfd.readouterr().err
    assert told.count("and kept") == len(steps) - 1
    assert "corpora: begins" in told
    written = (tmp_path / "RESULTS.md").read_text(encoding="utf-8")
    assert "`python -m benchmarks --rows 300 --runs 1 --long-runs 1`" in written.replace("\n", " ")
    assert "`python -m benchmarks.corpora --runs 1`" in written
    assert str(tmp_path) not in written


def test_a_benchmark_that_fails_is_missing_and_counts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """The others are written; the exit code says that not all is there."""
    good = Step("prepare-300", "prepare", {"rows": 300})
    monkeypatch.setattr(command, "list_steps", lambda sizes, **runs: [good, Step("bad", "prepare", {"rows": 0})])
    _keep(tmp_path, [good])
    assert command.main(_arguments(tmp_path)) == 1
    assert "bad: failed with 2" in capfd.readouterr().err
    assert "`python -m benchmarks.prepare --rows 300`" in (tmp_path / "RESULTS.md").read_text(encoding="utf-8")


def test_a_file_without_a_place_is_refused_before_anything_is_run(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Half an hour later would be late."""
    (tmp_path / "RESULTS.md").write_text("# Mine")
    with pytest.raises(SystemExit, match="2"):
        command.main(_arguments(tmp_path))
    assert BEGIN in capsys.readouterr().err
    assert [path.name for path in tmp_path.iterdir()] == ["RESULTS.md"]
