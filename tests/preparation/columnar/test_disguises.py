"""Percent signs and entities in bulk come to what the standard library makes of each text."""

from __future__ import annotations

from html import unescape
from html.entities import html5
from urllib.parse import unquote

import pyarrow as pa
from hypothesis import given, settings, strategies as st

from audiencekit.preparation.columnar.disguises import shown_texts, unquoted
from tests.examples import examples

BITS = [
    "%",
    "%4",
    "4",
    "0",
    "%40",
    "%C3%A9",
    "%C3",
    "%A9",
    "%fC",
    "é",
    "名",
    "a",
    "G",
    "%25",
    "40",
    "%00",
    "%F0%9F%98%80",
]


@given(st.lists(st.lists(st.sampled_from(BITS) | st.text(max_size=2), max_size=6).map("".join), max_size=12))
@settings(max_examples=examples(150), deadline=None)
def test_percent_signs(texts: list[str]) -> None:
    """Also those that are cut at the end of a text, and those that come to no text."""
    assert unquoted(pa.array(["%4", *texts], pa.string()).slice(1)).to_pylist() == list(map(unquote, texts))


@given(
    st.lists(st.lists(st.sampled_from(["&", "&amp", "&#", "64", "x40", ";", "lt", "b", "é"]), max_size=5), max_size=9)
)
@settings(max_examples=examples(80), deadline=None)
def test_entities(parts: list[list[str]]) -> None:
    """Every text that HTML reads otherwise than it stands there is shown as it is read."""
    texts = list(map("".join, parts))
    assert _shown(texts) == {row: unescape(text) for row, text in enumerate(texts) if unescape(text) != text}


def test_every_entity_by_its_name() -> None:
    """Also without a semicolon, where HTML knows it so, and with more behind it."""
    texts = [f"a&{name}{rest}" for name in html5 for rest in ("", "b", " 1")]
    assert _shown(texts) == {row: unescape(text) for row, text in enumerate(texts) if unescape(text) != text}


def _shown(texts: list[str]) -> dict[int, str]:
    found = {row: text for rows, shown in shown_texts(pa.array(texts, pa.string())) for row, text in
             zip(rows.tolist(), shown.to_pylist(), strict=True)}  # fmt: skip
    return {row: text for row, text in found.items() if text != texts[row]}
