"""The rule for partner user ids."""

from __future__ import annotations

from typing import Any

from hypothesis import given, strategies as st

from audiencekit.identifiers.partner_user_id import looks_personal, normalize_partner_user_id
from audiencekit.identifiers.reasons import Reason

CASES = [
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
]


def test_cases(wrong: Any) -> None:
    """Ids pass byte for byte; what looks like a person's data is refused, because it would leave in the clear."""
    assert wrong(normalize_partner_user_id, CASES) == []


@given(st.from_regex(r"\A[a-z]{1,12}[a-z0-9]{0,12}@[a-z0-9]{1,12}\.(com|org|net)\Z"), st.text(max_size=5))
def test_an_address_is_personal_whatever_stands_around_it(address: str, around: str) -> None:
    """No address slips through in a longer text."""
    assert looks_personal(f"{around} {address} {around}")


@given(st.text(st.characters(exclude_categories=())))
def test_any_text_passes_unchanged_or_gives_a_reason(text: str) -> None:
    """Nothing raises, nothing is altered."""
    answer = normalize_partner_user_id(text)
    assert isinstance(answer, Reason) or answer == text


def test_long_cells_are_judged_in_no_time() -> None:
    """No pattern runs away on a cell of the largest size."""
    for text in ("ü" * 60_000, "a-" * 30_000, "x.com" * 12_000, "1 " * 30_000, "(" * 60_000, "@ " * 30_000):
        assert isinstance(looks_personal(text), bool)
