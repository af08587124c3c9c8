"""Phone numbers whose area code or calling code is in a column of its own: alone they are other people's numbers."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from audiencekit.sources.columns.vocabulary import words, words_of

MIN_SHARE: Final = 0.5  # of the numbers are without the code beside them
MIN_CODE_SHARE: Final = 0.8  # of the filled cells are short digits
MOST_LOCAL_DIGITS: Final = 8
_CODES: Final = words(
    """vorwahl ortsvorwahl vorwahlnummer prefisso prefissi prefijo prefijos prefixo indicatif indicatifs ddd ddi std
    isd lada netnummer kengetal suuntanumero riktnummer retningsnummer kierunkowy kierunek calling dial dialing dialling
    landnummer landesvorwahl landervorwahl countrycode phonecode 市外局番 区号 區號"""
)
_POSTAL: Final = words("post postal postale plz zip zipcode postcode postleitzahl cap cp cep")
_SHORT: Final = re.compile(r"\(?[0-9]{1,5}\)?")
_TRUNK: Final = re.compile(r"\(?0[1-9][0-9]{0,3}\)?")


def names_phone_code(name: str) -> bool:
    """Whether a header cell names area codes or calling codes."""
    found = frozenset(words_of(name))
    if found & {"area", "country", "phone", "tel", "mobile"} and found & {"prefix", "code", "codes"}:
        return not found & _POSTAL
    return bool(found & _CODES)


def names_postal_code(name: str) -> bool:
    """Whether a header cell names postal codes, which may be short digits, too."""
    return bool(_POSTAL & set(words_of(name)))


def are_codes(codes: Sequence[str], numbers: Sequence[str], *, is_named: bool) -> bool:
    """Whether the cells are codes that the numbers of the same rows do not begin with.

    Where no name says that they are codes, they must begin with the trunk digit 0, and the numbers must be short.
    """
    pairs = [(code.strip(), number.strip()) for code, number in zip(codes, numbers, strict=True)]
    filled = [code for code, _ in pairs if code]
    form = _SHORT if is_named else _TRUNK
    if not filled or sum(map(bool, map(form.fullmatch, filled))) < MIN_CODE_SHARE * len(filled):
        return False
    both = [(code, number) for code, number in pairs if code and number]
    apart = sum(_is_apart(code, number, is_named=is_named) for code, number in both)
    return bool(both) and apart > MIN_SHARE * len(both)


def _is_apart(code: str, number: str, *, is_named: bool) -> bool:
    digits = "".join(filter(str.isdecimal, number))
    if number.startswith("+") or digits.startswith("00"):
        return False
    if not is_named and (digits.startswith("0") or len(digits) > MOST_LOCAL_DIGITS):
        return False
    own = "".join(filter(str.isdecimal, code))
    is_whole = digits.startswith(own)
    if len(own.lstrip("0")) > 1:  # one digit begins many a number
        is_whole = is_whole or digits.lstrip("0").startswith(own.lstrip("0"))
    return not is_whole
