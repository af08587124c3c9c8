"""Traces of spreadsheets on numbers: marks that keep a number whole, and forms that have lost it."""

from __future__ import annotations

import re
from typing import Final

# A leading apostrophe and ="…" tell a spreadsheet that digits are text: the number behind them is whole.
_TEXT_FORMULA: Final = re.compile(r'="([^"]*)"')

# Digits are never given back: a long cell is read once by each.
_MANGLED: Final = (
    re.compile(r"[+-]?\d++(?:[.,]\d*+)?e[+-]?\d++", re.IGNORECASE),  # 1.23E+10
    re.compile(r"[+-]?\d{5,}+[.,]0{1,6}"),  # 14155550132.00
    re.compile(r"#{2,}"),  # a column too narrow to show its number
)

_DECIMAL_ZERO: Final = re.compile(r"\d[.,]0")  # at the end of whatever it is: 14155550132.0

KEPT_DIGITS: Final = 15  # significant digits of a spreadsheet's number (IEEE 754 double)
ROUNDED_DIGITS: Final = 3  # zeros in a row behind them that are more than chance
# An id with more digits than a spreadsheet keeps, and zeros in their place. One such id can be true; many in a column
# cannot (reference: reliability 4, "Numeric ids"). For RE2 and `re` alike.
ROUNDED_ID: Final = f"^[0-9]{{{KEPT_DIGITS}}}0{{{ROUNDED_DIGITS},}}$"


def unmarked(text: str) -> str:
    """`text` without one leading apostrophe or the wrapping `="…"`."""
    if formula := _TEXT_FORMULA.fullmatch(text):
        return formula[1].strip()
    return text[1:].lstrip() if text.startswith("'") else text


def is_mangled(text: str) -> bool:
    """Whether `text` shows that a number went through a spreadsheet's number type: digits may be lost."""
    if text.startswith("="):  # a formula
        return True
    if not (text[-1:].isdecimal() or text.endswith("#")):
        return False
    return any(form.fullmatch(text) for form in _MANGLED) or _DECIMAL_ZERO.fullmatch(text[-3:]) is not None
