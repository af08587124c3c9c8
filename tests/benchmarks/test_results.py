"""The measured part of RESULTS.md, its plot, and the sections of other benchmarks."""

from __future__ import annotations

import re
from pathlib import Path
from xml.etree import ElementTree

import pytest

from benchmarks.benchmark import Benchmark
from benchmarks.prepare import OURS, PLAIN_LOOP
from benchmarks.results import BEGIN, END, PLOT, write_results
from benchmarks.sections import NoPlace, write_section
from benchmarks.series import Run, Series
from benchmarks.steps import Sizes
from benchmarks.trials import OUT

SIZES = Sizes((300,))
COMMAND = "python -m benchmarks --rows 300"
MACHINE = {"cpu": "a processor", "cores": 2, "memory_bytes": 25e9, "system": "Linux x86_64", "load": 0.5}
MARKS = {"begin": "<!-- a -->", "end": "<!-- b -->"}


def _finished() -> dict[str, Benchmark]:
    runs = [
        Run(number, name, {"rows": 300, "rows_per_second": speed / number})
        for number in (1, 2)
        for name, speed in ((OURS, 900.0), (PLAIN_LOOP, 10.0))
    ]
    prepare = Benchmark(
        name="prepare",
        settings={"rows": 300, "runs": 2},
        series=Series(tuple(runs)),
        left_out={"another": "not installed"},
        measured_on="2026-11-21",
        machine=MACHINE,
        versions={"python": "3.11.7", "code": "abc"},
    )
    return {"prepare-300": prepare}


def test_everything_that_is_known_is_told(tmp_path: Path) -> None:
    """When, where, with what, how, and what came of it; the text before and after stays, letter by letter."""
    pytest.importorskip("matplotlib")
    path = tmp_path / "RESULTS.md"
    path.write_text(f"# Ours\n\nbefore\n\n{BEGIN}\nold figures\n{END}\n\n## What binds\n\nafter", encoding="utf-8")
    write_results(path, _finished(), SIZES, COMMAND)
    once = path.read_text(encoding="utf-8")
    assert once.startswith(f"# Ours\n\nbefore\n\n{BEGIN}\n")
    assert once.endswith(f"{END}\n\n## What binds\n\nafter")
    assert "old figures" not in once
    lines = [
        "## Measured 2026-11-21",
        "a processor, 2 cores, 25 GB, Linux x86_64. Load 0.5 before it began. python 3.11.7, code abc.",
        "| 300 rows to finished bodies / plain loop | ≥ 60 | 90.0 | 90.0 – 90.0 | yes |",
        "| `fill_ratio` | ≥ 0.99 |  |  | not measured |",
        f"![Rows a second against the rows of the list]({PLOT})",
        "`python -m benchmarks.prepare --rows 300 --runs 2`",
        "|  | rows | rows/s |",
        "| audiencekit | 300 | 675 (450 – 900) |",
        "Left out: another (not installed).",
    ]
    assert set(lines) <= set(once.splitlines())
    drawn = (tmp_path / PLOT).read_bytes()
    write_results(path, _finished(), SIZES, COMMAND)
    assert path.read_text(encoding="utf-8") == once
    assert (tmp_path / PLOT).read_bytes() == drawn
    texts = {text.text for text in ElementTree.fromstring(drawn).iter("{http://www.w3.org/2000/svg}text")}
    assert {OURS, PLAIN_LOOP, "rows of the list", "rows/s"} <= texts


def test_there_is_no_plot_without_a_comparison(tmp_path: Path) -> None:
    """And no link to one."""
    series = Series((Run(1, "upload", {"rows": 300, "rows_per_second": 5.0}),))
    others = {"memory-300": Benchmark(name="memory", settings={}, series=series, machine=MACHINE)}
    write_results(tmp_path / "RESULTS.md", others, SIZES, COMMAND)
    assert [path.name for path in tmp_path.iterdir()] == ["RESULTS.md"]
    assert PLOT not in (tmp_path / "RESULTS.md").read_text()


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


def test_the_results_have_both_marks_of_each_benchmark() -> None:
    """Or neither, before its first run."""
    text = OUT.read_text("utf-8")
    for module in OUT.parent.glob("*.py"):
        marks = re.findall(r'^(?:BEGIN|END): Final = "(<!-- .* -->)"', module.read_text("utf-8"), re.MULTILINE)
        assert [text.count(mark) for mark in marks] in ([], [0, 0], [1, 1]), module.name
