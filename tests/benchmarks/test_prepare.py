"""`python -m benchmarks.prepare`, on a small list."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.benchmark import Benchmark
from benchmarks.prepare import OURS, PLAIN_LOOP, main


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
