"""`python -m benchmarks.cores`, on a small list."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from benchmarks.benchmark import Benchmark
from benchmarks.cores import ALL, APART, ONE, main
from benchmarks.dry_uploads import run_apart
from benchmarks.trials import core_numbers

pytestmark = [
    pytest.mark.benchmarks,
    pytest.mark.skipif(not hasattr(os, "sched_getaffinity"), reason="the system does not bind processes to cores"),
]


def test_the_three_take_turns(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The ratios are printed and written; who has a process on each core reads the list as often."""
    out = tmp_path / "out.json"
    main(["--rows", "300", "--runs", "1", "--json", str(out)])
    found = Benchmark.read(out)
    assert [run.contestant for run in found.series.runs] == [ALL, ONE, APART]
    rows = {run.contestant: run.figures["rows"] for run in found.series.runs}
    assert rows == {ALL: 300, ONE: 300, APART: 300 * len(core_numbers())}
    printed = capsys.readouterr().out
    assert all(name in printed for name in found.ratios)
    assert len(found.ratios) == 3


def test_one_that_fails_fails_all(tmp_path: Path) -> None:
    """A share of the rows would be taken for all of them."""
    with pytest.raises(RuntimeError, match="one of the processes failed"):
        run_apart(tmp_path / "missing.csv")
