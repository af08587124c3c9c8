"""Separators that people and programs put between several values of one cell."""

from __future__ import annotations

import re
from typing import Final

GOOGLE: Final = " ::: "  # of Google Contacts; it stands in no value
SEMICOLON: Final = ";"
LINE_BREAK: Final = "\n"
SEPARATORS: Final = (GOOGLE, SEMICOLON, LINE_BREAK)
# A semicolon that divides nothing: in a quoted local part (RFC 5321), before a parameter such as ;ext=12 (RFC 3966).
ONE_VALUE: Final = r'"|;\s*[A-Za-z-]+='
_IS_ONE_VALUE: Final = re.compile(ONE_VALUE, re.ASCII)
_SHOWN: Final = {LINE_BREAK: "line breaks"}


def is_one_value(cell: str, separator: str) -> bool:
    """Whether a cell with `separator` in it is a single value all the same."""
    return separator == SEMICOLON and _IS_ONE_VALUE.search(cell) is not None


def show_separator(separator: str) -> str:
    """A separator as people are told of it."""
    return _SHOWN.get(separator, f"'{separator}'")
