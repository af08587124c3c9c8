"""Cells with several whole values of one kind, divided by signs that may also stand within one value."""

from __future__ import annotations

import re
from typing import Final

from audiencekit.identifiers.kinds import Kind

SEVERAL: Final = frozenset({Kind.EMAIL, Kind.PHONE_NUMBER})  # the kinds of which a cell may have several
# A comma or a slash, or between blanks an ampersand or a word. For RE2 and `re` alike.
_BLANK: Final = r"[ \t\xa0]"
_WORDS: Final = "or|OR|and|AND|oder|und|ou|et|o|u|y|e|of|en|lub"
MAY_DIVIDE: Final = rf"{_BLANK}*[,/、，／]{_BLANK}*|{_BLANK}+(?:&|{_WORDS}){_BLANK}+"
_DIVIDER: Final = re.compile(MAY_DIVIDE)
MOST_VALUES: Final = 5  # of one person: a longer line of them may be of several people
_MOST_APART: Final = 1  # digits, of numbers that begin with neither a plus nor a zero
_FIRST: Final = re.compile(r"[^+＋0-9]*[+＋0]")


def values_in(kind: Kind, text: str) -> list[str]:
    """Return the parts of a cell that is no value of `kind` as it stands; none where it is not written as several.

    They are values only if each is valid alone. Of numbers none may lack its area: all begin with a plus or a zero, or
    none does and they are of one length.
    """
    parts = _DIVIDER.split(text.strip()) if kind in SEVERAL else []
    if not 1 < len(parts) <= MOST_VALUES or not all(parts):
        return []
    return parts if kind is not Kind.PHONE_NUMBER or _are_whole(parts) else []


def _are_whole(numbers: list[str]) -> bool:
    begin = {_FIRST.match(number) is not None for number in numbers}
    lengths = [sum(map(str.isdecimal, number)) for number in numbers]
    return begin == {True} or (begin == {False} and max(lengths) - min(lengths) <= _MOST_APART)
