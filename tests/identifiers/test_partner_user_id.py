"""Texts that are written in another way."""

from __future__ import annotations

import base64
import random
from typing import Any

from hypothesis import given, strategies as st

from audiencekit.identifiers.kinds import Reason
from audiencekit.identifiers.partner_user_id import decoded_forms, looks_personal, normalize_partner_user_id
from audiencekit.limits import MAX_PARTNER_USER_ID_LENGTH
from tests.cases import each_case

# --- Texts that are written in another way ---

CASES = [
    ("a percent sign", "ada%40canarymail.com", ["ada@canarymail.com"]),
    ("a reference of HTML", "ada&commat;canarymail.com", ["ada@canarymail.com"]),
    ("base64", "YWRhQGNhbmFyeW1haWwuY29t", ["ada@canarymail.com"]),
    ("base64 without its end", "YWRhQHguY28", ["ada@x.co"]),
    ("hexadecimal", "61646140782e636F", ["ada@x.co"]),
    ("a name in base64", "QWRhIExvdmVsYWNl", ["Ada Lovelace"]),
    ("an id in base64", "Q3VzdG9tZXI6NDcxMQ==", []),
    ("bytes in base64", "q83vEjRWeJAq83vE", []),
    ("a percent sign of itself", "save40%", []),
    ("an ampersand of itself", "a&b", []),
    ("an id", "crm-4711", []),
]


@each_case("text, expected", [case[1:] for case in CASES])
def test_the_text_inside_a_disguise_is_found(text: str, expected: list[str]) -> None:
    """The text itself; nothing where none is a person's."""
    assert list(decoded_forms(text)) == expected


@given(st.from_regex(r"[a-z]{2,12}[.+]?[a-z0-9]{1,9}@[a-z]{2,12}\.(com|org|de)", fullmatch=True))
def test_an_address_is_found_in_every_way(address: str) -> None:
    """However long it is, with and without what fills up."""
    encoded = base64.b64encode(address.encode()).decode()
    quoted = "".join(f"%{byte:02x}" for byte in address.encode())
    for text in (encoded, encoded.rstrip("="), address.encode().hex(), address.encode().hex().upper(), quoted):
        assert list(decoded_forms(text)) == [address]


@each_case("size", [8, 12, 16, 24])
def test_random_ids_hold_nothing(size: int) -> None:
    """Of letters and digits, of the signs of base64, and hexadecimal."""
    chance = random.Random(size)
    alphabets = [
        "abcdefABCDEF0123456789",
        "0123456789abcdef",
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789",
    ]
    ids = ["".join(chance.choices(alphabet, k=size)) for alphabet in alphabets for _ in range(3_000)]
    assert [text for text in ids if list(decoded_forms(text))] == []


# --- The rule for partner user ids ---

# Hyphens, dashes and minus signs that text processors and web pages put for "-".
DASHES = "\u2010\u2011\u2012\u2013\u2014\u2015\u2212\ufe58\ufe63\uff0d\u2043"
AT_SIGNS = [
    "%40", "(at)", " (at) ", "[at]", " [at] ", " at ", " AT ", "{at}", "<at>", "＠", "﹫", "&#64;", "&#x40;", "&#064;",
    "&commat;", "(@)", "_at_", "-at-",
]  # fmt: skip


def in_base64(text: str) -> str:
    """Bytes of `text` as they are often written into a cell."""
    return base64.urlsafe_b64encode(text.encode()).decode()


def quoted(text: str) -> str:
    """Every byte of `text` as URLs have it."""
    return "".join(f"%{byte:02X}" for byte in text.encode())


CASES_PARTNER_USER_ID = [
    ("letters and digits", "puid1", "puid1"),
    ("case stays", "Ab-12_X", "Ab-12_X"),
    ("white space at the ends stays", " puid1 ", " puid1 "),
    ("digits", "0012345678", "0012345678"),
    ("many digits", "4155550132", "4155550132"),
    ("UUID", "4b61639e-47cc-4056-a16a-c8217e029462", "4b61639e-47cc-4056-a16a-c8217e029462"),
    ("SHA-256", "0A" * 32, "0A" * 32),
    ("base64", "q83vEjRWeJA=", "q83vEjRWeJA="),
    ("one word", "Goldmember", "Goldmember"),
    ("dotted", "crm.4711.x", "crm.4711.x"),
    ("word and number", "customer 4711", "customer 4711"),
    ("empty", "", Reason.EMPTY),
    ("white space only", " \n\u200b", Reason.EMPTY),
    ("null", "NULL", Reason.PLACEHOLDER),
    ("dash", "-", Reason.PLACEHOLDER),
    ("NUL", "pu\0id", Reason.INVISIBLE_CHARACTER),
    ("line break", "puid1\n", Reason.INVISIBLE_CHARACTER),
    ("tab", "pu\tid", Reason.INVISIBLE_CHARACTER),
    ("byte order mark", "\ufeffpuid1", Reason.INVISIBLE_CHARACTER),
    ("lone surrogate", "pu\ud800", Reason.INVISIBLE_CHARACTER),
    ("replacement character", "pu\ufffdid", Reason.INVALID_SYNTAX),
    ("e-mail address", "ada@example.com", Reason.LOOKS_PERSONAL),
    ("e-mail address in brackets", "Ada <ada@example.com>", Reason.LOOKS_PERSONAL),
    ("e-mail address inside text", "user:ada@example.com;crm", Reason.LOOKS_PERSONAL),
    ("e-mail address, full-width at sign", "ada＠example.com", Reason.LOOKS_PERSONAL),
    ("international number", "+49 1511 2345678", Reason.LOOKS_PERSONAL),
    ("international number, plain", "+4915112345678", Reason.LOOKS_PERSONAL),
    ("tel address", "tel:+4915112345678", Reason.LOOKS_PERSONAL),
    ("American number", "(415) 555-0132", Reason.LOOKS_PERSONAL),
    ("American number, dots", "415.555.0132", Reason.LOOKS_PERSONAL),
    ("German number", "0151 12345678", Reason.LOOKS_PERSONAL),
    ("German number, slash", "030/1234567", Reason.LOOKS_PERSONAL),
    ("name", "Ada Lovelace", Reason.LOOKS_PERSONAL),
    ("name in lower case", "ada lovelace", Reason.LOOKS_PERSONAL),
    ("name, last first", "Lovelace, Ada", Reason.LOOKS_PERSONAL),
    ("name with initial", "Ada B. Lovelace-O’Neill", Reason.LOOKS_PERSONAL),
    ("name in another script", "山田太郎", Reason.LOOKS_PERSONAL),
    ("name with umlaut", "Müller", Reason.LOOKS_PERSONAL),
    ("handle", "@ada", Reason.LOOKS_PERSONAL),
    ("profile address", "https://x.com/ada", Reason.LOOKS_PERSONAL),
    *((f"hyphen U+{ord(dash):04X}", f"0151{dash}12345678", Reason.LOOKS_PERSONAL) for dash in DASHES),
    *((f"American number, U+{ord(dash):04X}", f"201{dash}555{dash}0132", Reason.LOOKS_PERSONAL) for dash in DASHES),
    ("no-break spaces", "0151\xa012\u202f345678", Reason.LOOKS_PERSONAL),
    ("soft hyphen", "0151\xad12345678", Reason.INVISIBLE_CHARACTER),
    ("plus sign of full width", "＋49 151 12345678", Reason.LOOKS_PERSONAL),
    *((f"address with {sign}", f"ada{sign}canarymail.com", Reason.LOOKS_PERSONAL) for sign in AT_SIGNS),
    ("address in words", "ada.quist (at) canarymail (dot) com", Reason.LOOKS_PERSONAL),
    ("address in plain words", "ada.quist at canarymail dot com", Reason.LOOKS_PERSONAL),
    ("address, all of it percent-encoded", quoted("ada@canarymail.com"), Reason.LOOKS_PERSONAL),
    ("address, percent-encoded twice", "ada%2540canarymail.com", Reason.LOOKS_PERSONAL),
    ("address in base64", in_base64("ada@canarymail.com"), Reason.LOOKS_PERSONAL),
    ("address in base64, no filling", in_base64("ada.quist@canarymail.com").rstrip("="), Reason.LOOKS_PERSONAL),
    ("address in base64 of URLs", in_base64("ad~a@canarymail.com"), Reason.LOOKS_PERSONAL),
    ("address in hexadecimal", b"ada@canarymail.com".hex(), Reason.LOOKS_PERSONAL),
    ("name in base64", in_base64("Ada Lovelace"), Reason.LOOKS_PERSONAL),
    ("name, percent-encoded", "Ada%20Lovelace", Reason.LOOKS_PERSONAL),
    ("IPv4 address", "192.168.17.201", Reason.LOOKS_PERSONAL),
    ("IPv4 address and port", "192.168.17.201:8080", Reason.LOOKS_PERSONAL),
    ("IPv6 address", "2001:db8:85a3:8d3:1319:8a2e:370:7348", Reason.LOOKS_PERSONAL),
    ("IPv6 address, short", "2001:db8::7348", Reason.LOOKS_PERSONAL),
    ("IPv6 address, in brackets", "[fe80::1]", Reason.LOOKS_PERSONAL),
    ("version", "1.22.333.4444", "1.22.333.4444"),
    ("not base64 of text", "q83vEjRWeJAq83vE", "q83vEjRWeJAq83vE"),
    ("base64 of an id", in_base64("Customer:4711"), in_base64("Customer:4711")),
    ("percent sign", "save40%4", "save40%4"),
    ("hardware address", "aa:bb:cc:dd:ee:ff", "aa:bb:cc:dd:ee:ff"),
    ("the word at", "shop at 4711", "shop at 4711"),
]


def test_cases(wrong: Any) -> None:
    """Ids pass byte for byte; what looks like a person's data is refused, because it would leave in the clear."""
    assert wrong(normalize_partner_user_id, CASES_PARTNER_USER_ID) == []


@given(st.from_regex(r"\A[a-z]{1,12}[a-z0-9]{0,12}@[a-z0-9]{1,12}\.(com|org|net)\Z"), st.text(max_size=5))
def test_an_address_is_personal_whatever_stands_around_it(address: str, around: str) -> None:
    """No address slips through in a longer text."""
    assert looks_personal(f"{around} {address} {around}")


@given(st.text(st.characters(exclude_categories=())))
def test_any_text_passes_unchanged_or_gives_a_reason(text: str) -> None:
    """Nothing raises, nothing is altered."""
    answer = normalize_partner_user_id(text)
    assert isinstance(answer, Reason) or answer == text


@each_case("letter", ["a", "ü", "1", "\0"])
def test_long_texts_are_no_ids(letter: str) -> None:
    """Nothing is looked through for a person's data that is longer than any id, and so nothing longer is sent."""
    assert normalize_partner_user_id(letter * (MAX_PARTNER_USER_ID_LENGTH + 1)) is Reason.TOO_LONG
    assert normalize_partner_user_id("c" * MAX_PARTNER_USER_ID_LENGTH) == "c" * MAX_PARTNER_USER_ID_LENGTH
    assert normalize_partner_user_id(" " * (MAX_PARTNER_USER_ID_LENGTH + 1)) is Reason.EMPTY
