"""`python -m benchmarks.duplicates`, on a small list."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.benchmark import Benchmark
from benchmarks.duplicates import CHECK, WITHOUT, main


@pytest.mark.benchmarks
def test_both_ways_take_turns(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The ratio of their seconds is printed and written."""
    out = tmp_path / "out.json"
    main(["--rows", "300", "--runs", "1", "--json", str(out)])
    found = Benchmark.read(out)
    assert [run.contestant for run in found.series.runs] == [CHECK, WITHOUT]
    assert {run.figures["rows"] for run in found.series.runs} == {300}
    assert all(name in capsys.readouterr().out for name in found.ratios)
    assert len(found.ratios) == 1
