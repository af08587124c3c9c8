"""Pictures take the colours of the page, and their texts stay texts."""

from __future__ import annotations

import re

import pytest

from audiencekit.reporting.page.drawing import draw, prose
from audiencekit.reporting.page.page_parts import Bar, Bars, Columns, Line, Picture, Segment, Stack
from audiencekit.reporting.page.privacy import Cell
from tests.cases import each_case

HOSTILE = "rows <b> & more"
BAR = Bar(name=HOSTILE, length=5, cell=Cell("5", "rows.read"), beside="10 %", remedies=["give `country='US'`"])
PICTURES: list[Picture] = [
    Bars(bars=[BAR], is_loss=True),
    Stack(segments=[Segment(name=HOSTILE, length=5, cell=Cell("5"), share="", colour="good")]),
    Columns(values=[1, 2], step=HOSTILE, of="n", more=[0, 1], marked=[True, False]),
    Line(points=[(HOSTILE, 1), ("b", 2)], of="n"),
]


@each_case("picture", PICTURES)
def test_a_picture_is_markup_of_ours_alone(picture: Picture) -> None:
    """Its colours are those of the page, names are escaped, and it has no id, style sheet or script."""
    drawn = draw(picture)
    assert "rows &lt;b&gt; &amp; more" in drawn
    assert not re.findall(r"#[0-9a-f]{6}\b|<style|<script| id=|href|url\(", drawn)
    assert drawn == draw(picture)


@pytest.mark.parametrize("picture", PICTURES[2:], ids=lambda picture: type(picture).__name__)
def test_shapes_are_stretched_and_texts_are_not(picture: Picture) -> None:
    """No text is in the SVG: at 360 px it would be too small to read."""
    (svg,) = re.findall(r"<svg.*?</svg>", draw(picture))
    assert "<text" not in svg
    assert 'preserveAspectRatio="none"' in svg


def test_lengths_are_in_proportion() -> None:
    """The longest bar is whole; nothing is drawn of a count that is hidden."""
    bars = [Bar(name=str(length), length=length, cell=Cell("")) for length in (40, 10, 0)]
    assert re.findall(r"width:([0-9.]+)%", draw(Bars(bars=bars))) == ["100.00", "25.00", "0.00"]
    stack = Stack(segments=[Segment(name="a", length=0, cell=Cell("fewer than 10"), share="", colour="lost")])
    assert "flex-grow" not in draw(stack)


def test_commands_and_options_are_code() -> None:
    """They are found in the text of a sentence."""
    assert prose("`audiencekit renew` <now>") == "<code>audiencekit renew</code> &lt;now&gt;"
    assert prose("give --split-cells") == 'give <code class="ak-flag">--split-cells</code>'
