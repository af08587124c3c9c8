"""`python -m benchmarks.memory`, on a small list."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.benchmark import Benchmark
from benchmarks.memory import PREPARE, UPLOAD, main


@pytest.mark.benchmarks
def test_the_peak_of_both_is_known(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Each did its whole job; what was written beside the list is gone."""
    out = tmp_path / "out.json"
    main(["--rows", "300", "--runs", "1", "--json", str(out), "--lists", str(tmp_path)])
    series = Benchmark.read(out).series
    assert [run.contestant for run in series.runs] == [PREPARE, UPLOAD]
    assert all(run.figures["requests"] == 1 and run.figures["peak_bytes"] > 1_000_000 for run in series.runs)
    assert series.runs[0].figures["body_bytes"] == series.runs[1].figures["body_bytes"]
    assert sorted(path.suffix for path in tmp_path.iterdir()) == [".csv", ".json"]
    assert "MB of memory at the peak" in capsys.readouterr().out
