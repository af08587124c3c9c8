"""The bare limits read every row."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.bare_limit import run_bare
from benchmarks.contacts import write_contacts


@pytest.mark.parametrize("engine", ["datafusion", "duckdb"])
def test_every_row_is_hashed(engine: str, tmp_path: Path) -> None:
    """The dirty ones, too: they are not looked at."""
    pytest.importorskip(engine)
    write_contacts(tmp_path / "contacts.csv", rows=1_000)
    assert run_bare(tmp_path / "contacts.csv", duckdb=engine == "duckdb")["rows"] == 1_000
