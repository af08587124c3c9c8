"""Phone numbers whose area code or calling code is in another column: without it they are other people's numbers."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from enum import Enum
from typing import Final

from audiencekit.records.area_codes import WHOLE_DIGITS, apart_from, digits_of, is_international
from audiencekit.sources.columns.vocabulary import words, words_of
from audiencekit.sources.sampling import is_filled

MIN_SHARE: Final = 0.5  # of the numbers are without the code beside them
MIN_CODE_SHARE: Final = 0.8  # of the filled cells are short digits
MOST_LOCAL_DIGITS: Final = 8
MOST_CALLING_DIGITS: Final = 2  # of codes that are no codes of countries in ISO 3166, which have three
_AREA: Final = words(
    """ortsvorwahl ddd std lada netnummer kengetal suuntanumero riktnummer retningsnummer kierunkowy kierunek
    市外局番 区号 區號"""
)
_CALLING: Final = words("isd calling phonecode landnummer landesvorwahl landervorwahl")
_EITHER: Final = words(
    """vorwahl vorwahlnummer prefisso prefissi prefijo prefijos prefixo indicatif indicatifs ddi dial dialing dialling
    countrycode"""
)
_CODE: Final = words("prefix code codes")
_OF_COUNTRIES: Final = words("country land pays pais paese international internazionale internacional")
_OF_PHONES: Final = words("phone tel telephone mobile")
_POSTAL: Final = words("post postal postale plz zip zipcode postcode postleitzahl cap cp cep")
_EXTENSION: Final = words("ext extens extension durchwahl interno anexo ramal")
_SHORT: Final = re.compile(r"\(?[0-9]{1,5}\)?")
_TRUNK: Final = re.compile(r"\(?0[1-9][0-9]{0,3}\)?")


class Codes(Enum):
    """The sort of the codes of a column. In DOUBT they may be area codes or calling codes."""

    AREA = "area"
    CALLING = "calling"
    DOUBT = "doubt"


def names_phone_code(name: str) -> bool:
    """Whether a header cell names area codes or calling codes."""
    return _sort_by_name(name) is not None


def names_calling_codes(name: str) -> bool:
    """Whether a header cell names calling codes, and nothing else."""
    found = frozenset(words_of(name))
    return _sort_by_name(name) is Codes.CALLING and bool(found & (_CALLING | _OF_PHONES) or found & _EITHER)


def names_postal_code(name: str) -> bool:
    """Whether a header cell names postal codes, which may be short digits, too."""
    return bool(_POSTAL & set(words_of(name)))


def are_extensions(name: str, filled: Sequence[str]) -> bool:
    """Whether a column is named like extensions of phone numbers, and has short digits."""
    are_short = sum(map(bool, map(_SHORT.fullmatch, filled))) >= MIN_CODE_SHARE * len(filled)
    return bool(filled) and are_short and bool(_EXTENSION & set(words_of(name)))


def _sort_by_name(name: str) -> Codes | None:
    found = frozenset(words_of(name))
    if found & _POSTAL:
        return None
    if found & _AREA or ("area" in found and found & _CODE):
        return Codes.AREA
    if found & _CALLING or (found & _OF_COUNTRIES and found & (_CODE | _EITHER)):
        return Codes.CALLING
    return Codes.DOUBT if found & _EITHER or (found & _OF_PHONES and found & _CODE) else None


def sort_of(name: str, codes: Iterable[str]) -> Codes:
    """The sort of the codes in a column that is named so: by the trunk digit in its cells, else by its name."""
    filled = [code.strip() for code in codes if is_filled(code)]
    if filled and sum(map(bool, map(_TRUNK.fullmatch, filled))) >= MIN_CODE_SHARE * len(filled):
        return Codes.AREA
    return _sort_by_name(name) or Codes.DOUBT


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


def are_whole(numbers: Iterable[str]) -> bool:
    """Whether most of the filled cells have as many digits as a number with its area code, at least."""
    filled = [number for number in numbers if is_filled(number)]
    return sum(len(digits_of(number)) >= WHOLE_DIGITS for number in filled) > len(filled) / 2


def _is_apart(code: str, number: str, *, is_named: bool) -> bool:
    if is_international(number):
        return False
    digits = digits_of(number)
    if not is_named and (digits.startswith("0") or len(digits) > MOST_LOCAL_DIGITS):
        return False
    return apart_from(digits_of(code), digits)
