"""Numbers of payment cards and of bank accounts, which carry a check digit: few other numbers have a right one."""

from __future__ import annotations

import re
from typing import Final

# As their issuers number cards: Visa, Mastercard, American Express, Diners Club, Discover, JCB, UnionPay.
_CARD: Final = (
    r"(?:4[0-9]{3}|5[1-5][0-9]{2}|2[2-7][0-9]{2}|6011|64[4-9][0-9]|65[0-9]{2}|35[2-8][0-9]|62[0-9]{2})"
    r"(?:[ -]?[0-9]{4}){3}|3[47][0-9]{2}[ -]?[0-9]{6}[ -]?[0-9]{5}|3(?:0[0-5]|[68][0-9])[0-9][ -]?[0-9]{6}[ -]?[0-9]{4}"
)
_IBAN: Final = r"[A-Za-z]{2}[0-9]{2}(?:[ -]?[A-Za-z0-9]{4}){2,7}(?:[ -]?[A-Za-z0-9]{1,3})?"
WRITTEN: Final = rf"(?:{_CARD}|{_IBAN})"
MIN_LENGTH: Final = 14  # characters of the shortest, a card of Diners Club

# The registry of ISO 13616 (SWIFT): characters of an IBAN of each country.
_LENGTHS: Final = {
    15: "NO",
    16: "BE",
    18: "DK FI FK FO GL NL SD",
    19: "MK SI",
    20: "AT BA EE KZ LT LU MN XK",
    21: "CH HR LI LV",
    22: "BG BH CR DE GB GE IE ME RS VA",
    23: "AE GI IL IQ OM SO TL",
    24: "AD CZ ES MD PK RO SA SE SK TN VG",
    25: "LY PT ST",
    26: "IS TR",
    27: "BI DJ FR GR IT MC SM",
    28: "AL AZ BY CY DO GT HU LB NI PL SV",
    29: "BR EG PS QA UA",
    30: "JO KW MU YE",
    31: "MT SC",
    32: "LC",
    33: "RU",
}
_LENGTH_OF: Final = {country: length for length, countries in _LENGTHS.items() for country in countries.split()}
_COMPILED: Final = re.compile(WRITTEN)


def is_payment_number(text: str) -> bool:
    """Whether `text`, in groups or not, is the number of a card or an account, its check digits included."""
    if len(text) < MIN_LENGTH or not _COMPILED.fullmatch(text):
        return False
    number = text.replace(" ", "").replace("-", "").upper()
    return _checks_of_card(number) if number.isdigit() else _checks_of_iban(number)


def _checks_of_card(digits: str) -> bool:
    """ISO/IEC 7812-1, annex B (Luhn)."""
    doubled = [int(digit) * (1 + place % 2) for place, digit in enumerate(reversed(digits))]
    return sum(value - 9 * (value > 9) for value in doubled) % 10 == 0


def _checks_of_iban(number: str) -> bool:
    """ISO 7064, MOD 97-10."""
    if _LENGTH_OF.get(number[:2]) != len(number):
        return False
    return int("".join(str(int(sign, 36)) for sign in number[4:] + number[:4])) % 97 == 1
