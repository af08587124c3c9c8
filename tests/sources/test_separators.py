"""Separators between the values of a cell, and characters that only look like one."""

from __future__ import annotations

import pytest

from audiencekit.sources.separators import SEPARATORS, is_one_value, show_separator


@pytest.mark.parametrize(
    ("cell", "is_one"),
    [
        ("+493012345601;ext=12", True),
        ("+493012345601; phone-context=example.com", True),
        ('"an;n"@example.com', True),
        ("+493012345601;+493012345602", False),
        ("ann@example.com;bob=b@example.com", True),
    ],
)
def test_a_semicolon_may_be_of_a_value(cell: str, is_one: bool) -> None:
    """When in doubt nothing is divided: the cell is rejected as a whole."""
    assert is_one_value(cell, ";") is is_one
    assert not is_one_value(cell, "\n")


def test_a_line_break_is_told_in_words() -> None:
    """The others as they stand."""
    assert [show_separator(separator) for separator in SEPARATORS] == ["' ::: '", "';'", "line breaks"]
