"""Sections of RESULTS.md."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.sections import write_section

MARKS = {"begin": "<!-- a -->", "end": "<!-- b -->"}


def test_a_section_is_written_between_its_marks(tmp_path: Path) -> None:
    """And nothing else of the file changes."""
    path = tmp_path / "RESULTS.md"
    path.write_text("before <!-- a -->old<!-- b --> after")
    write_section(path, "new", **MARKS)
    assert path.read_text() == "before <!-- a -->\n\nnew\n\n<!-- b --> after"


@pytest.mark.parametrize("content", ["# Something else\n", "<!-- a --> and no end", "<!-- b --> only"])
def test_a_file_without_the_marks_is_left_alone(tmp_path: Path, content: str) -> None:
    """It is another file."""
    path = tmp_path / "other.md"
    path.write_text(content)
    with pytest.raises(ValueError, match=r"other\.md must have"):
        write_section(path, "new", **MARKS)
    assert path.read_text() == content
