"""`check`, with and without looking for duplicates."""

from __future__ import annotations

from pathlib import Path

import pytest

from audiencekit.planning import gathering
from benchmarks.dry_check import run_check


@pytest.mark.parametrize(("without", "duplicates"), [(False, 200), (True, 0)])
def test_duplicates_are_found_unless_told_otherwise(
    without: bool, duplicates: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All else is the same: every row is read and judged."""
    monkeypatch.setattr(gathering, "KeySets", vars(gathering)["KeySets"])  # restored after this test
    path = tmp_path / "contacts.csv"
    path.write_text("email\n" + "".join(f"person{number % 300}@larch.example\n" for number in range(500)))
    figures = run_check(path, without_duplicates=without)
    assert (figures["rows"], figures["duplicates"]) == (500, duplicates)
