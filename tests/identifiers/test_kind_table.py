"""The kind of one cell, by its text."""

from __future__ import annotations

from hypothesis import given, strategies as st

from audiencekit.identifiers.kind_table import is_identifier, likely_kind, looks_hashed
from audiencekit.identifiers.kinds import Kind

LIKELY = [
    ("e-mail", " Ada@Example.com ", None, Kind.EMAIL),
    ("e-mail at a test domain", "ada@example.test", None, Kind.EMAIL),
    ("e-mail with a name", "Ada <ada@example.com>", None, Kind.EMAIL),
    ("international number", "+49 1511 2345678", None, Kind.PHONE_NUMBER),
    ("international number, marked", "\ufeff+4915112345678", None, Kind.PHONE_NUMBER),
    ("American number", "(415) 555-0132", "US", Kind.PHONE_NUMBER),
    ("American number, dots", "415.555.0132", "United States", Kind.PHONE_NUMBER),
    ("German number", "0151/12345678", "DE", Kind.PHONE_NUMBER),
    ("German number, plain", "015112345678", "DE", Kind.PHONE_NUMBER),
    ("Spanish number", "612 34 56 78", "ES", Kind.PHONE_NUMBER),
    ("French number", "01.42.68.53.00", "FR", Kind.PHONE_NUMBER),
    ("advertising id", "4B61639E-47CC-4056-A16A-C8217E029462", None, Kind.DEVICE_ID),
    ("zeroed advertising id", "00000000-0000-0000-0000-000000000000", None, Kind.DEVICE_ID),
    ("marked handle", "@ada", None, Kind.HANDLE),
    ("profile", "https://x.com/ada", None, Kind.HANDLE),
    ("nothing", "", "DE", None),
    ("null", "null", "DE", None),
    ("placeholder address", "test@test.com", None, None),
    ("hash", "0a" * 32, "DE", None),
    ("bare digits", "4155550132", "US", None),
    ("American number, no country", "(415) 555-0132", None, None),
    ("American number behind its trunk digit", "1 (415) 555-0132", "US", Kind.PHONE_NUMBER),
    ("Russian number behind its trunk digit", "8 (912) 345-67-89", "RU", Kind.PHONE_NUMBER),
    ("Turkish number with its trunk digit in front", "0(532) 123 45 67", "TR", Kind.PHONE_NUMBER),
    ("digits of a dimension", "3 (10) 20-30", "RU", None),
    ("invalid international number", "+1 123 456 7890", None, None),
    ("date", "2024-01-02", "DE", None),
    ("date, dots", "01.02.2024", "DE", None),
    ("date, slashes", "01/02/2024", "DE", None),
    ("decimal", "52.520008", "DE", None),
    ("internet address", "192.168.10.20", "DE", None),
    ("postal code", "12345-6789", "US", None),
    ("word", "ada", None, None),
    ("name", "Ada Lovelace", None, None),
    ("Android id", "af3802a465767e36", None, None),
]
IDENTIFIERS = [
    *("ada@example.com", "+49 1511 2345678", "4b61639e-47cc-4056-a16a-c8217e029462", "0A" * 32, " 0a" + "0a" * 31),
]
HEADERS = [
    *("email", "E-Mail", "Phone Number", "phone1", "device_id", "@handle", "twitter", "id", "sha256", "2024", "1", ""),
    *("email@", "first.last", "0151 12345678", "4155550132", "test@test.com", "af3802a465767e36", "+", "Name <mail>"),
]


def test_strong_evidence_names_a_kind() -> None:
    """Forms that say themselves what they are; dates, decimals and bare digits do not."""
    wrong = [name for name, text, country, expected in LIKELY if likely_kind(text, country=country) is not expected]
    assert wrong == []


def test_identifiers_are_never_headers() -> None:
    """An identifier in a header cell means that there is no header; words are words."""
    assert [position for position, text in enumerate(IDENTIFIERS) if not is_identifier(text)] == []
    assert [text for text in HEADERS if is_identifier(text)] == []


def test_hashes_are_told_by_their_form() -> None:
    """64 hex digits in any case, white space around them aside."""
    assert all(map(looks_hashed, ["0a" * 32, " " + "0A" * 32 + "\n", "0" * 64]))
    assert not any(map(looks_hashed, ["", "0a" * 31, "0a" * 33, "g" * 64, "0a" * 16]))


@given(st.text(st.characters(exclude_categories=())), st.sampled_from([None, "DE", "US"]))
def test_any_text_is_judged(text: str, country: str | None) -> None:
    """Nothing raises, and no text is an identifier and a hash of another kind at once."""
    kind = likely_kind(text, country=country)
    assert kind is None or not looks_hashed(text)
    assert is_identifier(text) in {True, False}
