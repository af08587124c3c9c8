"""Sections of RESULTS.md."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from benchmarks.sections import NoPlace, write_section
from benchmarks.trials import OUT

MARKS = {"begin": "<!-- a -->", "end": "<!-- b -->"}


def test_a_section_is_written_between_its_marks(tmp_path: Path) -> None:
    """And nothing else of the file changes."""
    path = tmp_path / "RESULTS.md"
    path.write_text("before <!-- a -->old<!-- b --> after")
    write_section(path, "new", **MARKS)
    assert path.read_text() == "before <!-- a -->\n\nnew\n\n<!-- b --> after"


@pytest.mark.parametrize(
    "content",
    ["# Other\n", "<!-- a --> and no end", "<!-- b --> only", "<!-- b --><!-- a -->", "<!-- a --><!-- a --><!-- b -->"],
)
def test_a_file_without_the_marks_is_left_alone(tmp_path: Path, content: str) -> None:
    """It is another file."""
    path = tmp_path / "other.md"
    path.write_text(content)
    with pytest.raises(NoPlace, match=r"other\.md must have .* once each"):
        write_section(path, "new", **MARKS)
    assert path.read_text() == content


@pytest.mark.parametrize("module", sorted(OUT.parent.glob("*.py")), ids=lambda path: path.stem)
def test_the_results_have_both_marks_of_a_benchmark(module: Path) -> None:
    """Or neither, before its first run."""
    marks = re.findall(r'^(?:BEGIN|END): Final = "(<!-- .* -->)"', module.read_text("utf-8"), re.MULTILINE)
    assert [OUT.read_text("utf-8").count(mark) for mark in marks] in ([], [0, 0], [1, 1])
