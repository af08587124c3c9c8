"""Numbers without a plus sign that may be phone numbers, and numbers of payment cards and bank accounts."""

from __future__ import annotations

import re
from functools import cache
from typing import Final

from phonenumbers import PhoneMetadata, country_code_for_region

from audiencekit.identifiers.countries import find_country
from audiencekit.identifiers.kinds import Reason
from audiencekit.identifiers.phone_number import normalize_phone_number
from audiencekit.identifiers.texts import plain_signs, trim

# --- Bare digits that can be read as a person's phone number, although nothing marks them as one ---
#
# Ids of one's own making may be digits, too. A single one tells little: a third of all numbers of ten digits are a
# valid number of the United States. Of a whole column the share does; `preparation.partner_ids` has the bounds.

# Where most people live who stand in lists of customers. Their numbers are known without a country being said.
LARGE_COUNTRIES: Final = (
    *("AE", "AR", "AT", "AU", "BD", "BE", "BR", "CH", "CN", "CO", "CZ", "DE", "EG", "ES", "FR", "GB", "GR", "ID"),
    *("IE", "IL", "IN", "IT", "JP", "KR", "MX", "MY", "NG", "NL", "PH", "PK", "PL", "PT", "RO", "RU", "SA", "SE", "TH"),
    *("TR", "UA", "US", "VN", "ZA"),
)
MIN_DIGITS: Final = 8  # fewer are ids, or local numbers that no one could call
MAX_DIGITS: Final = 17  # ITU-T E.164, behind 00
MIN_INTERNATIONAL: Final = 10  # digits with the country's code; of fewer too many are a person's

# Digits, and digits in groups as people write numbers. Two groups are an id of ours sooner, such as 2024-12345, unless
# the first is an area or a country.
_BETWEEN: Final = r"[ .\-/_:|,']"
_GROUPS: Final = (
    r"\(?[0-9]+(?:[ ().\-/_:|,']+[0-9]+){2,}",
    *(rf"{first}{_BETWEEN}{rest}" for first, rest in (("[0-9]{5}", "[0-9]{5}"), ("[0-9]{3}", "[0-9]{7}"))),
    *(rf"{first}{_BETWEEN}{rest}" for first, rest in (("[0-9]{6}", "[0-9]{4}"), ("0[0-9]{2,4}", "[0-9]{5,9}"))),
    rf"[0-9]{{2,3}}{_BETWEEN}[0-9]{{8,11}}",
)
# Texts around the number: quotes by which spreadsheets take it for text, words of people, the decimals of a float.
_BEFORE: Final = (
    r"""=?["'`]+|~|(?i:tel|telephone|phone|mobil|mobile|mob|cell|handy|fax|whatsapp|wa\.me/)[.:]? ?|[Pp]: ?"""
)
_EXTENSION: Final = r" ?(?i:x|ext\.?|extension) ?[0-9]{1,5}"
WRITTEN: Final = rf"""(?:{_BEFORE})?(?:[0-9]+(?:\.0+)?|{"|".join(_GROUPS)})(?:{_EXTENSION})?[+"'`]*"""
# Digits that are none of the number.
NOT_OF_IT: Final = (r"\A([^0-9]*[0-9]+)\.0+([^0-9]*)\z", rf"\A(.*[0-9])(?:{_EXTENSION})([^0-9]*)\z")

KNOWN: Final = "+"  # among readings: no other country is to be tried

# So ids begin that are counted: a digit or a year, and zeros. Of people's numbers one in a thousand does.
COUNTER: Final = r"[1-9]000|20[0-4][0-9]000"

# Where so many ranges are assigned that people write down others, in examples and by mistake: the form alone counts.
_FORMS: Final = {
    "BR": r"[1-9][1-9]9\d{8}",
    "CN": r"1[3-9]\d{9}",
    "IN": r"[6-9]\d{9}",
    "US": r"[2-9]\d{2}[2-9]\d{6}",
}


def digits_of(text: str) -> str:
    """Return the digits of `text`, with or without signs around them, if there are as many as in a phone number."""
    number = plain_signs(trim(text))
    if not re.fullmatch(WRITTEN, number):
        return ""
    for pattern in NOT_OF_IT:
        number = re.sub(pattern.replace(r"\z", r"\Z"), r"\1", number)
    digits = re.sub("[^0-9]", "", number)
    return digits if MIN_DIGITS <= len(digits) <= MAX_DIGITS else ""


def reads_as_phone_number(text: str, country: str | None = None) -> bool:
    """Whether a single value of digits can be read as a phone number in `country`, with a country code, or elsewhere.

    Elsewhere means: with a trunk prefix that only phone numbers have, or in a large country. Fewer than ten digits
    count only in `country`: nearly all such numbers are valid somewhere.
    """
    digits = digits_of(text)
    if not digits:
        return False
    region = find_country(country or "")
    if region is not None and _matches(own_pattern(region), digits):
        return True
    in_large_country = len(digits) >= MIN_INTERNATIONAL and any(
        _matches(mobile_pattern(large), digits) for large in LARGE_COUNTRIES
    )
    return in_large_country or is_plain_number(digits)


def is_plain_number(digits: str) -> bool:
    """Whether `digits` are a number with its country's code, or a number of a large country with its trunk prefix."""
    return _matches(trunked_pattern(), digits) or reads_as_international(digits)


def reads_as_international(digits: str) -> bool:
    """Whether `digits` are an assigned number of any country, written without its plus sign or with 00 in its place."""
    number = digits.removeprefix("00")
    valid = not isinstance(normalize_phone_number(f"+{number}"), Reason)
    return valid and len(number) >= MIN_INTERNATIONAL


def readings_of(digits: str, country: str | None) -> frozenset[str]:
    """Return KNOWN for a plain number or one of `country`, else the large countries with such mobile numbers."""
    region = find_country(country or "")
    if is_plain_number(digits) or (region is not None and _matches(own_pattern(region), digits)):
        return frozenset({KNOWN})
    return frozenset(large for large in LARGE_COUNTRIES if _matches(mobile_pattern(large), digits))


def own_pattern(country: str) -> str:
    """Return the pattern of numbers as people in `country` write them; only mobile ones may lack the trunk prefix.

    Empty for a country without phone numbers.
    """
    prefix, people, mobile = _plan(country)
    if not people:
        return ""
    return f"{prefix}(?:{people})|{mobile or people}" if prefix else people


def mobile_pattern(country: str) -> str:
    """Return the pattern of mobile numbers of `country`, without a trunk prefix."""
    return _plan(country)[2]


@cache
def mobile_lengths(country: str) -> range:
    """Return how many digits the mobile numbers of `country` may have, without a trunk prefix."""
    metadata = PhoneMetadata.metadata_for_region(country, None)
    lengths = metadata.mobile.possible_length if metadata is not None and metadata.mobile is not None else ()
    return range(min(lengths), max(lengths) + 1) if lengths else range(0)


@cache
def trunked_pattern() -> str:
    """Return the pattern of numbers with trunk prefix of all large countries that have one, and with calling code."""
    plans = [_plan(country) for country in LARGE_COUNTRIES]
    forms = {f"(?:00)?{country_code_for_region(country)}(?:{form})" for country, form in _FORMS.items()}
    return "|".join(sorted(forms | {f"{prefix}(?:{people})" for prefix, people, _ in plans if prefix}))


@cache
def _plan(country: str) -> tuple[str, str, str]:
    """Return the trunk prefix, the pattern of people's numbers and of mobile numbers; each empty if there is none.

    The trunk prefix of North America is its calling code: with it, a number is international.
    """
    metadata = PhoneMetadata.metadata_for_region(country, None)
    if metadata is None:
        return "", "", ""
    parts = (metadata.fixed_line, metadata.mobile)
    fixed, mobile = ((part.national_number_pattern if part is not None else None) or "" for part in parts)
    prefix = metadata.national_prefix or ""
    people = "|".join(sorted({pattern for pattern in (fixed, mobile) if pattern}))
    return "" if prefix == "1" else prefix, people, _FORMS.get(country, mobile)


def _matches(pattern: str, digits: str) -> bool:
    return bool(pattern) and _compiled(pattern).fullmatch(digits) is not None


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(f"(?:{pattern})")


# --- Numbers of payment cards and bank accounts, by their check digits: few other numbers have valid ones ---

# As their issuers number cards: Visa, Mastercard, American Express, Diners Club, Discover, JCB, UnionPay.
_CARD: Final = (
    r"(?:4[0-9]{3}|5[1-5][0-9]{2}|2[2-7][0-9]{2}|6011|64[4-9][0-9]|65[0-9]{2}|35[2-8][0-9]|62[0-9]{2})"
    r"(?:[ -]?[0-9]{4}){3}|3[47][0-9]{2}[ -]?[0-9]{6}[ -]?[0-9]{5}|3(?:0[0-5]|[68][0-9])[0-9][ -]?[0-9]{6}[ -]?[0-9]{4}"
)
_IBAN: Final = r"[A-Za-z]{2}[0-9]{2}(?:[ -]?[A-Za-z0-9]{4}){2,7}(?:[ -]?[A-Za-z0-9]{1,3})?"
PAYMENT_NUMBER: Final = rf"(?:{_CARD}|{_IBAN})"
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
_COMPILED: Final = re.compile(PAYMENT_NUMBER)


def is_payment_number(text: str) -> bool:
    """Whether `text`, in groups or not, is the number of a card or an account with valid check digits."""
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
