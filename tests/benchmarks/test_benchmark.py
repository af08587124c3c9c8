"""A finished benchmark, for people and for programs."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from benchmarks.benchmark import EMAILS, Benchmark, benchmark_parser, contact_list, settings_of
from benchmarks.series import Run, Series, Spread

FINISHED = Benchmark(
    name="prepare",
    settings={"rows": 10},
    series=Series((Run(1, "ours", {"rows_per_second": 3_000.0}), Run(1, "loop", {"rows_per_second": 1_500.0}))),
    ratios={"ours / loop": Spread(2.0, 1.5, 2.5)},
    left_out={"another": "not there"},
)


def test_people_read_medians_and_ratios(capsys: pytest.CaptureFixture[str]) -> None:
    """On stdout, one line each."""
    FINISHED.publish(None)
    assert capsys.readouterr().out.splitlines() == [
        "ours: 3,000 rows/s",
        "loop: 1,500 rows/s",
        "ours / loop: 2.00 (least 1.50, greatest 2.50)",
        "another: left out, not there",
    ]


def test_programs_read_everything(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The runs with their figures, the machine, the versions."""
    FINISHED.publish(tmp_path / "out.json")
    document = json.loads((tmp_path / "out.json").read_text())
    assert set(document) == {
        "name", "command", "measured_on", "settings", "machine", "versions", "left_out", "runs", "medians", "ratios",
    }  # fmt: skip
    assert document["command"] == "python -m benchmarks.prepare --rows 10"
    assert document["runs"][1] == {"round": 1, "contestant": "loop", "rows_per_second": 1_500}
    assert document["medians"]["ours"] == {"rows_per_second": 3_000}
    assert document["ratios"]["ours / loop"] == {"median": 2, "min": 1.5, "max": 2.5}
    assert Benchmark.read(tmp_path / "out.json") == FINISHED


def test_the_paths_of_results_are_no_setting() -> None:
    """Only what changes a figure."""
    given = benchmark_parser("prepare", "", rows=10, runs=3).parse_args(["--json", "out.json", "--lists", "lists"])
    assert settings_of(given) == {"rows": 10, "seed": 1, "runs": 3}


def test_a_kept_list_is_found_again(tmp_path: Path) -> None:
    """It is made once; without a directory it is gone afterwards."""
    with contact_list(30, 1, EMAILS, lists=tmp_path) as path:
        assert path.read_text().count("\n") == 31
    path.write_text("as it was")
    with contact_list(30, 1, EMAILS, lists=tmp_path) as again:
        assert again.read_text() == "as it was"
    with contact_list(20, 1, EMAILS, lists=tmp_path) as other, contact_list(20, 1) as passing:
        assert other != path
    assert other.exists()
    assert not passing.exists()
