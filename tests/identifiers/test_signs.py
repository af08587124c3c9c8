"""One sign for those that look alike."""

from __future__ import annotations

from hypothesis import given, strategies as st

from audiencekit.identifiers.signs import plain_signs

DASHES = "\u2010\u2011\u2012\u2013\u2014\u2015\u2212\u2043\ufe58\ufe63\uff0d"


def test_every_dash_is_a_hyphen() -> None:
    """And blanks and digits of full width are those of ASCII."""
    assert plain_signs(f"a{DASHES}b") == "a" + "-" * len(DASHES) + "b"
    assert plain_signs("０１５１\xa0１２\u202f３＠") == "0151 12 3@"


@given(st.text(st.characters(max_codepoint=127)))
def test_ascii_stays(text: str) -> None:
    """Nothing of it is a sign for another."""
    assert plain_signs(text) == text
