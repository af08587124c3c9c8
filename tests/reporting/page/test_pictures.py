"""Pictures take the colours of the page, and two of them get along in one."""

from __future__ import annotations

import re

import pytest

pytest.importorskip("matplotlib", reason="the extra `html` is not installed")

from audiencekit.reporting.page.drawing import draw
from audiencekit.reporting.page.page_parts import Bars, Columns, Overlap


def test_colours_are_those_of_the_page() -> None:
    """No colour of its own, and no style that would reach the rest of the page."""
    drawn = draw(
        [
            Bars(name="a", bars=[("rows", 5, "5")]),
            Overlap(name="c", sets=["email", "phone number"], columns=[([0, 1], 5), ([1], 2)]),
            Columns(name="b", values=[1, 2], step="s", of="n", more=[0, 1], marked=[True, False]),
        ]
    )
    assert len(drawn) == 3
    for picture in drawn:
        assert not re.findall(r"#[0-9a-f]{6}\b", picture)
        assert "<style" not in picture
        assert "var(--good)" in picture
    assert "var(--lost)" in picture


def test_the_same_bytes_each_time() -> None:
    """So that a page can be compared with that of yesterday."""
    assert draw([Bars(name="a", bars=[("rows", 5, "5")])]) == draw([Bars(name="a", bars=[("rows", 5, "5")])])


def test_no_id_stands_twice_in_a_page() -> None:
    """Each picture has ids of its own."""
    drawn = draw([Bars(name=name, bars=[("rows", 5, "5")]) for name in ("a", "b")])
    found = [re.findall(r' id="([^"]*)"', picture) for picture in drawn]
    assert found[0]
    assert not set(found[0]) & set(found[1])


def test_texts_stay_texts() -> None:
    """Names are escaped as XML is."""
    assert "rows &lt;b&gt; &amp; more" in draw([Bars(name="a", bars=[("rows <b> & more", 5, "5")])])[0]
