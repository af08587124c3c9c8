"""The time of a sync: two lists that differ as they should, and the section with the figures."""

from __future__ import annotations

import argparse
import shutil
from pathlib import Path

import pytest

from benchmarks.sync import BEGIN, END, _two_lists, main
from benchmarks.trials import OUT


def test_the_lists_differ_by_the_share_that_changed(tmp_path: Path) -> None:
    """And the rows that only one of them has are in lists of their own."""
    given = argparse.Namespace(rows=200, changed=0.05, seed=1, lists=tmp_path)
    with _two_lists(given) as paths:
        first, second, gone, new = (set(path.read_text().splitlines()[1:]) for path in paths)
    assert (gone, new) == (first - second, second - first)
    assert len(gone) == len(new) == 10


@pytest.mark.benchmarks
def test_the_section_is_written_between_its_marks(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Every figure with its bound, and nothing else of the file changes."""
    out = tmp_path / "RESULTS.md"
    shutil.copy(OUT, out)
    main(["--rows", "400", "--runs", "1", "--lists", str(tmp_path), "--out", str(out), "--json", str(tmp_path / "j")])
    assert "snapshot bytes an identifier" in capsys.readouterr().out
    kept, written = OUT.read_text(), out.read_text()
    assert written.partition(BEGIN)[0] == kept.partition(BEGIN)[0]
    assert written.partition(END)[2] == kept.partition(END)[2]
    section = written.partition(BEGIN)[2].partition(END)[0]
    assert "| bytes of sync / bytes that the changes need | 1.05 |" in section
    assert "| requests of sync / requests that the changes need | 1.05 |" in section
    rows = [line.split(" | ")[0] for line in section.partition("| medians |")[2].splitlines()]
    assert rows[2:5] == ["| check", "| sync", "| sync that writes all members anew"]
