"""`python -m benchmarks.long_cells`, on short ones."""

from __future__ import annotations

from pathlib import Path

import pytest

from audiencekit.identifiers.kinds import Kind
from benchmarks.long_cells import BEGIN, CELLS, END, main, times_at_random, times_of


def test_every_sort_of_every_kind_is_measured() -> None:
    """Whatever stands in a cell is decided, and takes its time."""
    for kind in Kind:
        found = times_of(kind, 1, 2_000)
        assert found.keys() == CELLS.keys()
        assert all(times >= 0 for times in found.values())


def test_random_cells_are_measured() -> None:
    """A mean, the dearest, and how much a byte costs more in a longer cell."""
    mean, dearest, growth = times_at_random(Kind.HANDLE, 3, 20_000)
    assert 0 < mean <= dearest
    assert growth > 0


def test_the_table_has_a_line_for_each_kind(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Printed, or between the marks of a file."""
    given = ["--cells", "1", "--random", "1", "--bytes", "2000"]
    main(given)
    printed = capsys.readouterr().out
    assert all(f"| {kind.value} |" in printed for kind in Kind)
    out = tmp_path / "RESULTS.md"
    out.write_text(f"before\n{BEGIN}\n{END}\nafter\n")
    main([*given, "--out", str(out)])
    text = out.read_text()
    assert text.startswith("before\n")
    assert text.endswith("after\n")
    assert all(f"| {kind.value} |" in text for kind in Kind)
