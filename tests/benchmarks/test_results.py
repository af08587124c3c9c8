"""The measured part of RESULTS.md."""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree

import pytest

from benchmarks.benchmark import Benchmark
from benchmarks.prepare import OURS, PLAIN_LOOP
from benchmarks.results import BEGIN, END, PLOT, write_results
from benchmarks.series import Run, Series
from benchmarks.steps import Sizes

SIZES = Sizes((300,))
COMMAND = "python -m benchmarks --rows 300"
MACHINE = {"cpu": "a processor", "cores": 2, "memory_bytes": 25e9, "system": "Linux x86_64", "load": 0.5}


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


@pytest.fixture
def written(tmp_path: Path) -> str:
    """A new file with one benchmark."""
    write_results(tmp_path / "RESULTS.md", _finished(), SIZES, COMMAND)
    return (tmp_path / "RESULTS.md").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    "line",
    [
        "## Measured 2026-11-21",
        "a processor, 2 cores, 25 GB, Linux x86_64. Load 0.5 before it began. python 3.11.7, code abc.",
        "| 300 rows to finished bodies / plain loop | ≥ 60 | 90.0 | 90.0 – 90.0 | yes |",
        "| `fill_ratio` | ≥ 0.99 |  |  | not measured |",
        f"![Rows a second against the rows of the list]({PLOT})",
        "`python -m benchmarks.prepare --rows 300 --runs 2`",
        "|  | rows | rows/s |",
        "| audiencekit | 300 | 675 (450 – 900) |",
        "Left out: another (not installed).",
    ],
)
def test_everything_that_is_known_is_told(line: str, written: str) -> None:
    """When, where, with what, how, and what came of it."""
    assert line in written.splitlines()


def test_only_the_measured_part_is_replaced(tmp_path: Path) -> None:
    """The text before and after it stays, letter by letter."""
    path = tmp_path / "RESULTS.md"
    path.write_text(f"# Ours\n\nbefore\n\n{BEGIN}\nold figures\n{END}\n\n## What binds\n\nafter", encoding="utf-8")
    write_results(path, _finished(), SIZES, COMMAND)
    once = path.read_text(encoding="utf-8")
    assert once.startswith(f"# Ours\n\nbefore\n\n{BEGIN}\n")
    assert once.endswith(f"{END}\n\n## What binds\n\nafter")
    assert "old figures" not in once
    write_results(path, _finished(), SIZES, COMMAND)
    assert path.read_text(encoding="utf-8") == once


def test_the_plot_lies_beside_it(tmp_path: Path) -> None:
    """Of medians over all rounds; none without a comparison."""
    write_results(tmp_path / "RESULTS.md", _finished(), SIZES, COMMAND)
    texts = {text.text for text in ElementTree.parse(tmp_path / PLOT).iter("{http://www.w3.org/2000/svg}text")}
    assert {OURS, PLAIN_LOOP} <= texts
    (tmp_path / "none").mkdir()
    series = Series((Run(1, "upload", {"rows": 300, "rows_per_second": 5.0}),))
    others = {"memory-300": Benchmark(name="memory", settings={}, series=series, machine=MACHINE)}
    write_results(tmp_path / "none" / "RESULTS.md", others, SIZES, COMMAND)
    assert [path.name for path in (tmp_path / "none").iterdir()] == ["RESULTS.md"]
    assert PLOT not in (tmp_path / "none" / "RESULTS.md").read_text()
