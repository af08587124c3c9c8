"""The benchmark of buckets: a small list, and the ratio of the rates."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.buckets import BEGIN, END, main


@pytest.mark.benchmarks
def test_it_measures(tmp_path: Path) -> None:
    pytest.importorskip("obstore", reason="the extra cloud is not installed")
    out = tmp_path / "RESULTS.md"
    out.write_text(f"{BEGIN}\n{END}\n")
    main(["--rows", "2000", "--runs", "2", "--out", str(out)])
    assert "| time | file, rows/s | S3, rows/s | rate for rate (median, range) |" in out.read_text()
