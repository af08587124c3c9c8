"""`python -m benchmarks.long_cells`, on short ones."""

from __future__ import annotations

import pytest

from audiencekit.identifiers.kinds import Kind
from benchmarks.long_cells import CELLS, main, times_at_random, times_of


def test_every_sort_of_every_kind_is_measured() -> None:
    """Whatever stands in a cell is decided, and takes its time."""
    for kind in Kind:
        found = times_of(kind, 1, 2_000)
        assert found.keys() == CELLS.keys()
        assert all(times >= 0 for times in found.values())


def test_random_cells_are_measured() -> None:
    """A mean, the dearest, and how much a byte costs more in a longer cell."""
    assert all(figure > 0 for figure in times_at_random(Kind.HANDLE, 3, 20_000))


def test_the_table_has_a_line_for_each_kind(capsys: pytest.CaptureFixture[str]) -> None:
    """It is printed where no file is given."""
    main(["--cells", "1", "--random", "1", "--bytes", "2000"])
    printed = capsys.readouterr().out
    assert all(f"| {kind.value} |" in printed for kind in Kind)
