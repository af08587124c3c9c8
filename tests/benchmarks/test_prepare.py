"""`python -m benchmarks.prepare`, on a small list."""

from __future__ import annotations

import json
from importlib.machinery import ModuleSpec
from pathlib import Path

import pytest

from benchmarks import prepare, trials
from benchmarks.benchmark import Benchmark
from benchmarks.prepare import OURS, PLAIN_LOOP, main
from benchmarks.series import Run, Series


@pytest.mark.benchmarks
def test_every_contestant_is_measured_in_turn(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Ours read every row, the loops a shorter list; medians and ratios are printed and written."""
    out = tmp_path / "out.json"
    main(["--rows", "300", "--loop-rows", "200", "--runs", "1", "--json", str(out)])
    found = Benchmark.read(out)
    names = [run.contestant for run in found.series.runs]
    assert (names[0], names[-1]) == (OURS, PLAIN_LOOP)
    assert len(names) == 5 - len(found.left_out)
    assert found.settings == {"rows": 300, "seed": 1, "runs": 1, "loop_rows": 200, "mix": "contacts"}
    rows = {run.contestant: run.figures["rows"] for run in found.series.runs}
    assert all(count == (200 if name.endswith("loop") else 300) for name, count in rows.items())
    printed = capsys.readouterr().out
    assert "rows/s" in printed
    assert all(name in printed for name in found.ratios)
    assert len(found.ratios) == len(names) - 1


def test_who_is_not_installed_is_left_out_aloud(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """With the reason, on the screen and in the JSON; the others are compared all the same."""

    def find_spec(package: str) -> ModuleSpec | None:
        return None

    monkeypatch.setattr(trials.importlib.util, "find_spec", find_spec)
    told_figures = {"rows": 1, "rows_per_second": 1.0}
    monkeypatch.setattr(
        prepare, "run_series", lambda ones, rounds, tell: Series(tuple(Run(1, one.name, told_figures) for one in ones))
    )
    out = tmp_path / "out.json"
    main(["--rows", "20", "--runs", "1", "--json", str(out)])
    document = json.loads(out.read_text())
    assert len(document["left_out"]) == 3
    assert document["left_out"]["facebook-business loop"] == "the package facebook_business is not installed"
    told = capsys.readouterr()
    assert "facebook-business loop is left out: the package facebook_business is not installed" in told.err
    assert "facebook-business loop: left out" in told.out
