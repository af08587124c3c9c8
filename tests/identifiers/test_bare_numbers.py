"""Numbers of cards and accounts. The right ones are examples that issuers and the registry of IBANs publish."""

from __future__ import annotations

import re

from audiencekit.identifiers.bare_numbers import (
    LARGE_COUNTRIES,
    digits_of,
    is_payment_number,
    mobile_lengths,
    mobile_pattern,
    reads_as_phone_number,
)
from tests.cases import each_case

# --- Numbers of cards and accounts. The right ones are examples that issuers and the registry of IBANs publish ---

RIGHT = [
    "4111111111111111", "4012 8888 8888 1881", "5555-5555-5555-4444", "2223003122003222", "378282246310005",
    "3782 822463 10005", "6011111111111117", "3530111333300000", "30569309025904", "36227206271667", "6200000000000005",
    "DE89370400440532013000", "DE89 3704 0044 0532 0130 00", "GB29NWBK60161331926819", "gb29nwbk60161331926819",
    "FR1420041010050500013M02606", "NO9386011117947", "MT84MALT011000012345MTLCAST001S", "BE68 5390 0754 7034",
]  # fmt: skip
WRONG = [
    "4111111111111112", "9111111111111111", "41111111111111", "4111111111111111111", "DE88370400440532013000",
    "DE8937040044053201300", "XX89370400440532013000", "crm-4711", "", "490154203237518", "GB29NWBK6016133192681٩",
]  # fmt: skip


@each_case("text", RIGHT)
def test_right_numbers(text: str) -> None:
    """Of every issuer, in groups or not."""
    assert is_payment_number(text)


@each_case("text", WRONG)
def test_other_numbers(text: str) -> None:
    """A wrong check digit, prefix, length or country, and serial numbers of devices, which have check digits, too."""
    assert not is_payment_number(text)


# --- Bare digits that read as phone numbers ---

READ = [
    ("a mobile number with its trunk zero", "015112345678", None, True),
    ("with the code of its country", "4915112345678", None, True),
    ("with two zeros in front", "004915112345678", None, True),
    ("of North America", "2015550001", None, True),
    ("in an area that is not assigned", "9995550001", None, True),
    ("of India", "9876543210", None, True),
    ("with white space at its ends", " 2015550001 ", None, True),
    ("in three groups", "612-345-678", "ES", True),
    ("of nine digits, without a country", "612345678", None, False),
    ("of nine digits, in its country", "612345678", "Spain", True),
    ("of eight digits, in its country", "41100001", "NO", True),
    ("two groups, as ids are written", "2024-12345", None, False),
    ("two groups, the first an area", "201-5550001", None, True),
    ("two groups, with a trunk zero", "0151|12345678", None, True),
    ("two groups, the first a country", "49-15112345678", None, True),
    ("two groups of other sizes", "2024-555000", None, False),
    ("the decimals of a float", "4915112345678.0", None, True),
    ("a version", "49.151.0", None, False),
    ("an apostrophe of a spreadsheet", "'015112345678", None, True),
    ("a formula of one", '="015112345678"', None, True),
    ("a word", "Tel: 015112345678", None, True),
    ("a lead's number", "p:015112345678", None, True),
    ("a letter", "p015112345678", None, False),
    ("another word", "order 015112345678", None, False),
    ("an extension", "2015550001 ext. 12", None, True),
    ("an address", "wa.me/4915112345678", None, True),
    ("a snowflake", "1764623981234567890", None, False),
    ("padded with zeros", "0000012345", None, False),
    ("seven digits", "4155550", "US", False),
    ("letters", "a2015550001", None, False),
    ("digits of another script", "٢٠١٥٥٥٠٠٠١", None, False),
    ("a country without numbers", "12345678", "AQ", False),
    ("nothing", "", None, False),
    *(
        (f"U+{ord(dash):04X}", f"49{dash}15112345678", None, True)
        for dash in "\u2010\u2011\u2012\u2013\u2014\u2212\uff0d"
    ),
    ("digits of full width", "０１５１１２３４５６７８", None, True),
]


@each_case("text, country, expected", [case[1:] for case in READ])
def test_a_bare_phone_number_is_recognised_by_the_numbering_plans(
    text: str, country: str | None, expected: bool
) -> None:
    """By the numbering plans; other digits and texts do not."""
    assert reads_as_phone_number(text, country) is expected


def test_digits_of_a_text_are_those_of_a_number() -> None:
    """As many as a phone number has, with what stands between them."""
    assert digits_of("(0151) 123 456-78") == "015112345678"
    assert digits_of("'4915112345678.00'") == "4915112345678"
    assert digits_of("2015550001x23") == "2015550001"
    assert [digits_of(text) for text in ("1234567", "1" * 18, "12 345678", "12a345678", "+4915112345678")] == [""] * 5


@each_case("country", LARGE_COUNTRIES)
def test_mobile_numbers_have_no_other_lengths(country: str) -> None:
    """All that the pattern of a country takes is as long as its mobile numbers are."""
    least, most = re._parser.parse(mobile_pattern(country)).getwidth()  # type: ignore[attr-defined]
    assert least in mobile_lengths(country)
    assert most in mobile_lengths(country)
