"""Marks that spreadsheets leave on numbers."""

from __future__ import annotations

import re
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pytest

from audiencekit.identifiers.excel import ROUNDED_ID, is_mangled, unmarked

MARKED = [
    ("apostrophe", "'00123", "00123"),
    ("formula of a text", '="00123"', "00123"),
    ("formula of a text with spaces", '=" 00123 "', "00123"),
    ("nothing", "00123", "00123"),
    ("one apostrophe only", "''1", "'1"),
    ("formula of a number stays", "=123", "=123"),
]
MANGLED = [
    "1.23E+10",
    "1.23e10",
    "4,9E+12",
    "1E+18",
    "1.E+9",
    "14155550132.0",
    "14155550132,00",
    "7.0",
    "####",
    "=1+1",
    "=",
]
WHOLE = ["14155550132", "01.42.68.53.00", "1.5", "#", "E10", "1e", "", "0151 1234567", "12.34", "'1"]


def test_text_marks_come_off(wrong: Any) -> None:
    """The marks that keep digits whole are no part of the value."""
    assert wrong(unmarked, MARKED) == []


def test_mangled_numbers_are_seen() -> None:
    """Exponents, decimals of whole numbers, formulas and hash signs show a number type."""
    assert [text for text in MANGLED if not is_mangled(text)] == []
    assert [text for text in WHOLE if is_mangled(text)] == []


@pytest.mark.parametrize(
    ("digits", "rounded"),
    [
        ("123456789012345000", True),
        ("1234567890123450000", True),
        ("123456789012345678", False),
        ("12345678901234500", False),
        ("100000000000000", False),
    ],
)
def test_rounding_shows_from_the_sixteenth_digit_on(digits: str, rounded: bool) -> None:
    """15 significant digits survive (IEEE 754 double), zeros follow; Arrow's expressions see it as Python's do."""
    assert (re.search(ROUNDED_ID, digits) is not None) == rounded
    assert pc.match_substring_regex(pa.array([digits]), ROUNDED_ID).to_pylist() == [rounded]
