"""The benchmark of databases: a small list, and the ratio of the rates."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.databases import BEGIN, END, Taken, as_table, main
from tests.postgresserver import postgresql


def test_the_ratio_is_of_rates() -> None:
    """Twice the time is half the rate; round by round."""
    table = as_table(100, [Taken(1.0, 2.0), Taken(1.0, 2.0)], [Taken(2.0, 2.0), Taken(1.0, 8.0)])
    assert "| processor | 100 | 67 | 0.75 (0.50 – 1.00) |" in table
    assert "| clock | 50 | 20 | 0.62 (0.25 – 1.00) |" in table


@pytest.mark.benchmarks
def test_it_measures(tmp_path: Path) -> None:
    """And leaves no table behind."""
    pytest.importorskip("adbc_driver_postgresql", reason="the extra postgresql is not installed")
    out = tmp_path / "RESULTS.md"
    out.write_text(f"{BEGIN}\n{END}\n")
    with postgresql() as url:
        main(["--url", url, "--rows", "2000", "--runs", "2", "--out", str(out)])
    assert "rate for rate" in out.read_text()
