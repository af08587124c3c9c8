"""The table that the kernels are given says of every character what the definition does."""

from __future__ import annotations

import unicodedata

import numpy as np

from audiencekit.identifiers.kinds import Reason
from audiencekit.identifiers.phone_number import normalize_phone_number
from audiencekit.identifiers.texts import has_invisible, trim
from audiencekit.preparation.columnar.signs import BREAK, CODE_POINTS, CONTROL, DOUBT, MARK, signs

_EVERY = [chr(code) for code in range(CODE_POINTS)]


def test_the_ends_of_a_value() -> None:
    """White space and marks come off, and nothing else does."""
    trimmed = [trim(character) == "" for character in _EVERY]
    assert np.isin(signs(), (BREAK, MARK, ord(" "))).tolist() == trimmed


def test_invisible_characters() -> None:
    """Marks and control characters are refused inside, and nothing else is."""
    assert np.isin(signs(), (MARK, CONTROL)).tolist() == [has_invisible(character) for character in _EVERY]


def test_digits_of_every_script() -> None:
    """Each digit of Unicode is the one of ASCII, and no other character is a digit."""
    values = [unicodedata.decimal(character, None) for character in _EVERY]
    digits = [None if value is None else ord("0") + value for value in values]
    is_digit = (signs() >= ord("0")) & (signs() <= ord("9"))
    found = [int(sign) if is_one else None for sign, is_one in zip(signs(), is_digit, strict=True)]
    assert found == digits


def test_signs_in_a_number() -> None:
    """A number with a character in it is the one with the sign of the table, and none where that has none."""
    for code in np.flatnonzero(signs()[0x80:] != DOUBT) + 0x80:
        sign = int(signs()[code])
        given, meant = (normalize_phone_number(f"+1 201{character}5550123") for character in (chr(code), chr(sign)))
        assert given == meant if sign > CONTROL else isinstance(given, Reason)
