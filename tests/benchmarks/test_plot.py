"""The plot of throughput against rows."""

from __future__ import annotations

from xml.etree import ElementTree

import pytest

from benchmarks.plot import HEIGHT, WIDTH, draw_throughput

SVG = "{http://www.w3.org/2000/svg}"
LINES = {
    "ours": [(200_000.0, 500_000.0), (2_000_000.0, 900_000.0)],
    "the loop <plain> & simple": [(200_000.0, 16_000.0)],
    "nearly ours": [(200_000.0, 490_000.0), (2_000_000.0, 899_000.0)],
}


@pytest.fixture
def drawn() -> ElementTree.Element:
    """The plot, parsed."""
    return ElementTree.fromstring(draw_throughput(LINES))


def test_each_line_has_its_points_and_its_name(drawn: ElementTree.Element) -> None:
    """Names are text, whatever letters they have."""
    assert len(drawn.findall(f"{SVG}polyline")) == 3
    assert len(drawn.findall(f"{SVG}circle")) == 5
    assert {*LINES} <= {text.text for text in drawn.findall(f"{SVG}text")}


def test_more_is_further_right_and_higher_up(drawn: ElementTree.Element) -> None:
    """And everything lies within the picture."""
    ours, loop, _ = ([*map(_place, line.attrib["points"].split())] for line in drawn.findall(f"{SVG}polyline"))
    assert ours[0][0] < ours[1][0]
    assert ours[0][1] > ours[1][1]
    assert loop[0][0] == ours[0][0]
    assert loop[0][1] > ours[0][1]
    assert all(0 < x < WIDTH and 0 < y < HEIGHT for x, y in (*ours, *loop))


def test_axes_are_marked_in_powers_of_ten(drawn: ElementTree.Element) -> None:
    """Around all that is drawn."""
    texts = [text.text for text in drawn.findall(f"{SVG}text")]
    assert texts[:6] == ["100 k", "1 M", "10 M", "10 k", "100 k", "1 M"]


def test_names_do_not_lie_over_each_other(drawn: ElementTree.Element) -> None:
    """Two lines that end together are still told apart."""
    heights = [float(text.attrib["y"]) for text in drawn.findall(f"{SVG}text") if text.text in ("ours", "nearly ours")]
    assert abs(heights[0] - heights[1]) >= 16


def test_one_point_is_a_plot_and_none_is_an_error() -> None:
    """A figure on a power of ten has room around it."""
    assert "<circle" in draw_throughput({"ours": [(1_000.0, 1_000.0)]})
    with pytest.raises(ValueError, match="empty"):
        draw_throughput({})


def _place(text: str) -> tuple[float, float]:
    x, y = map(float, text.split(","))
    return x, y
