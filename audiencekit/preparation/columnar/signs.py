"""The meaning of characters around a value and in a number, in one table for the kernels: the definition's own lists.

A byte for each code point of the two planes in which living scripts stand, as `kernels/src/signs.rs` reads it.
"""

from __future__ import annotations

import unicodedata
from functools import cache
from typing import Final

import numpy as np

from audiencekit.identifiers.phone_number import DASHES, NARROW_SPACES, PLAIN
from audiencekit.identifiers.texts import CONTROLS, MARKS, WHITE_SPACE, characters_of
from audiencekit.preparation.columnar.buffers import Bytes

CODE_POINTS: Final = 0x20000

BREAK: Final = 1  # white space that is no sign inside a value
MARK: Final = 2  # comes off at the ends, and is refused inside
CONTROL: Final = 3  # is refused wherever it stands
DOUBT: Final = 4  # no sign of ASCII, and yet one that a pattern of the definition may take

# Letters that are others in ASCII when their case does not count.
_DOUBTFUL: Final = "ſİı\u212a"
# Signs that may stand in a number, but, as `]`, never before its plus.
_PUNCTUATION: Final = "［］⁓∼"

# Where the ten digits of a script begin (Unicode, UnicodeData.txt, general category Nd).
ZEROS: Final = (
    *(0x0660, 0x06F0, 0x07C0, 0x0966, 0x09E6, 0x0A66, 0x0AE6, 0x0B66, 0x0BE6, 0x0C66, 0x0CE6, 0x0D66, 0x0DE6),
    *(0x0E50, 0x0ED0, 0x0F20, 0x1040, 0x1090, 0x17E0, 0x1810, 0x1946, 0x19D0, 0x1A80, 0x1A90, 0x1B50, 0x1BB0),
    *(0x1C40, 0x1C50, 0xA620, 0xA8D0, 0xA900, 0xA9D0, 0xA9F0, 0xAA50, 0xABF0, 0xFF10, 0x104A0, 0x10D30, 0x10D40),
    *(0x11066, 0x110F0, 0x11136, 0x111D0, 0x112F0, 0x11450, 0x114D0, 0x11650, 0x116C0, 0x116D0, 0x116DA, 0x11730),
    *(0x118E0, 0x11950, 0x11BF0, 0x11C50, 0x11D50, 0x11DA0, 0x11DE0, 0x11F50, 0x16130, 0x16A60, 0x16AC0, 0x16B50),
    *(0x16D70, 0x1CCF0, 0x1D7CE, 0x1D7D8, 0x1D7E2, 0x1D7EC, 0x1D7F6, 0x1E140, 0x1E2F0, 0x1E4F0, 0x1E5F1, 0x1E950),
    0x1FBF0,
)


def foreign_digits() -> str:
    """Return the decimal digits that are not ASCII, as the inside of a regular expression's class."""
    return "".join(f"{chr(zero)}-{chr(zero + 9)}" for zero in ZEROS)


@cache
def signs() -> Bytes:
    """Return the table: BREAK, MARK, CONTROL, DOUBT, the sign of ASCII that is meant, or 0 for all others."""
    table = np.zeros(CODE_POINTS, dtype=np.uint8)
    table[0x20:0x7F] = np.arange(0x20, 0x7F)
    for characters, meaning in (
        (characters_of(CONTROLS), CONTROL),
        (characters_of(WHITE_SPACE), BREAK),
        (characters_of(MARKS), MARK),
    ):
        table[[ord(character) for character in characters if ord(character) < CODE_POINTS]] = meaning
    table[[ord(space) for space in characters_of(NARROW_SPACES) + " "]] = ord(" ")
    table[[ord(dash) for dash in characters_of(DASHES)]] = ord("-")
    table[[ord(sign) for sign in _PUNCTUATION]] = ord("]")
    table[[ord("／"), ord("～")]] = [ord("/"), ord("~")]
    table[[ord(character) for character in _DOUBTFUL]] = DOUBT
    for character, sign in PLAIN.items():
        table[character] = ord(sign)
    for zero in ZEROS:
        if unicodedata.decimal(chr(zero), None) == 0:  # a script may be younger than this interpreter
            table[zero : zero + 10] = np.arange(ord("0"), ord("9") + 1)
    return table
