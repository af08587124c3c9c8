"""Cells with a semicolon that divides nothing."""

from __future__ import annotations

import re
from typing import Final

SEMICOLON: Final = ";"
# In a quoted local part (RFC 5321), before a parameter such as ;ext=12 (RFC 3966).
ONE_VALUE: Final = r'"|;\s*[A-Za-z-]+='
_IS_ONE_VALUE: Final = re.compile(ONE_VALUE, re.ASCII)


def is_one_value(cell: str, separator: str) -> bool:
    """Whether a cell with `separator` in it is a single value all the same."""
    return separator == SEMICOLON and _IS_ONE_VALUE.search(cell) is not None
