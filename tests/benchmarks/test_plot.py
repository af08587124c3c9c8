"""The plot of throughput against rows."""

from __future__ import annotations

from xml.etree import ElementTree

import pytest

from benchmarks.plot import draw_throughput

pytest.importorskip("matplotlib", reason="it draws, and is not installed")

SVG = "{http://www.w3.org/2000/svg}"
LINES = {
    "ours": [(200_000.0, 500_000.0), (2_000_000.0, 900_000.0)],
    "the loop <plain> & $simple$": [(200_000.0, 16_000.0)],
}


def test_each_line_has_its_name() -> None:
    """Names are text, whatever letters they have; axes are marked in thousands and millions."""
    drawn = ElementTree.fromstring(draw_throughput(LINES))
    texts = {text.text for text in drawn.iter(f"{SVG}text")}
    assert {*LINES, "rows of the list", "rows/s", "1 M", "100 k"} <= texts


def test_the_same_bytes_each_time() -> None:
    """So that a change of the file is a change of a figure."""
    assert draw_throughput(LINES) == draw_throughput(LINES)
