"""Placeholders for unknown values."""

from __future__ import annotations

import re
import unicodedata
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
from hypothesis import given, strategies as st

from audiencekit.identifiers.texts import (
    ROUNDED_ID,
    WORDS,
    has_control,
    has_invisible,
    is_mangled,
    is_placeholder,
    is_placeholder_email,
    is_placeholder_number,
    is_repeated,
    plain_signs,
    spellings,
    trim,
    unmarked,
)
from tests.cases import each_case

# --- Placeholders for unknown values ---

EMAILS = [
    *("test@test.com", "test@test.de", "test@test.co.uk", "a@a.a", "a@a.com", "none@none.com", "null@null.org"),
    *("noemail@example.com", "no-email@example.com", "no_email@example.org", "no.email@example.com"),
    *("noemailprovided@example.com", "nomail@example.com", "not-provided@example.com", "asdf@asdf.com"),
    *("a***@example.com", "**@example.com", "a**b@example.com", "*@example.com", "ann***@***.com"),
    *("xxxx@example.com", "x" * 64 + "@example.com", "jxxx@xxxx.com", "0xxx@xxxx.com"),
]
NO_EMAILS = [
    *("info@example.com", "test@example.com", "ada@ada.example", "test-email@test.com", "nomailey@example.com"),
    *("null.set@example.com", "noel@example.com", "abc@twitter.com", "test@test.a.b.com", "a@b.com", "test@test"),
    *("a*@example.com", "a*b*c@example.com", "xxx@example.com", "xxxxa@example.com", "jxx@xxxx.com", "joxxx@xxxx.com"),
    *("jxxx@xxxx.org", "jxxx@xxxxx.com", "ada@b**.com"),
]
NUMBERS = [
    *("0", "000", "0000000000", "11111", "1111111111", "9999999999", "5555555555"),
    *("1234567", "12345678", "123456789", "1234567890", "0123456789", "987654321", "0987654321"),
]
NO_NUMBERS = ["", "1", "1111", "123456", "2345678", "9876543", "98765432", "1234568", "11111112", "12345678901"]


@each_case("word", ["null", "NULL", "None", "NaN", "n/a", "N/A", "#N/A", "-", "unknown", "\\N", "<NA>"])
def test_words_for_nothing_are_placeholders_in_any_case(word: str) -> None:
    """The case of a placeholder does not matter."""
    assert is_placeholder(word)


@each_case("word", ["", "0", "ada", "naa", "test", "nullable", "no", "info", "x"])
def test_other_words_are_not(word: str) -> None:
    """The list is closed: nothing is a placeholder by resemblance."""
    assert not is_placeholder(word)


def test_words_stand_trimmed_and_in_lower_case() -> None:
    """An entry that can never match would be a fault of the list."""
    assert {word for word in WORDS if word != word.lower().strip() or not word} == set()


def test_made_up_addresses_are_placeholders() -> None:
    """A doubled word or a local part that says there is none; a resemblance is not enough."""
    assert [address for address in EMAILS if not is_placeholder_email(address)] == []
    assert [address for address in NO_EMAILS if is_placeholder_email(address)] == []


def test_numbers_that_repeat_or_count_are_placeholders() -> None:
    """Short runs are left to the rule of the number."""
    assert [digits for digits in NUMBERS if not is_placeholder_number(digits)] == []
    assert [digits for digits in NO_NUMBERS if is_placeholder_number(digits)] == []


def test_a_run_is_one_digit_five_times_or_zeros() -> None:
    """Counting is not repeating."""
    assert all(map(is_repeated, ["0", "00", "11111", "999999"]))
    assert not any(map(is_repeated, ["", "1", "1111", "1234567890"]))


def test_spellings_cover_what_the_rules_refuse() -> None:
    """Words in their usual cases, made-up addresses and numbers, and the empty text."""
    written = set(spellings())
    assert {"", "null", "NULL", "Null", "None", "NaN", "n/a", "N/A", "test@test.com", "a@a.a"} <= written
    assert {"0000000000", "+0000000000", "1234567890", "9999999999", "0"} <= written
    assert "00000000-0000-0000-0000-000000000000" in written


# --- Marks that spreadsheets leave on numbers ---

MARKED = [
    ("apostrophe", "'00123", "00123"),
    ("formula of a text", '="00123"', "00123"),
    ("formula of a text with spaces", '=" 00123 "', "00123"),
    ("nothing", "00123", "00123"),
    ("one apostrophe only", "''1", "'1"),
    ("formula of a number stays", "=123", "=123"),
]
MANGLED = [
    *("1.23E+10", "1.23e10", "4,9E+12", "1E+18", "1.E+9", "14155550132.0", "14155550132,00", "7.0", "####"),
    *("=1+1", "="),
]
WHOLE = ["14155550132", "01.42.68.53.00", "1.5", "#", "E10", "1e", "", "0151 1234567", "12.34", "'1"]


def test_text_marks_come_off(wrong: Any) -> None:
    """The marks that keep digits whole are no part of the value."""
    assert wrong(unmarked, MARKED) == []


def test_mangled_numbers_are_seen() -> None:
    """Exponents, decimals of whole numbers, formulas and hash signs show a number type."""
    assert [text for text in MANGLED if not is_mangled(text)] == []
    assert [text for text in WHOLE if is_mangled(text)] == []


@each_case(
    "digits, rounded",
    [
        ("123456789012345000", True),
        ("1234567890123450000", True),
        ("123456789012345678", False),
        ("12345678901234500", False),
        ("100000000000000", False),
    ],
)
def test_rounding_shows_from_the_sixteenth_digit_on(digits: str, rounded: bool) -> None:
    """15 significant digits survive (IEEE 754 double), zeros follow; Arrow's expressions see it as Python's do."""
    assert (re.search(ROUNDED_ID, digits) is not None) == rounded
    assert pc.match_substring_regex(pa.array([digits]), ROUNDED_ID).to_pylist() == [rounded]


# --- Invisible characters ---

MARKS = {
    "zero-width space": "\u200b",
    "zero-width joiner": "\u200d",
    "word joiner": "\u2060",
    "byte order mark": "\ufeff",
    "soft hyphen": "\xad",
    "right-to-left mark": "\u200f",
    "left-to-right embedding": "\u202a",
    "pop directional formatting": "\u202c",
    "isolate": "\u2066",
    "variation selector": "\ufe0f",
    "tag": "\U000e0041",
    "Hangul filler": "\u3164",
}
CONTROLS = {"NUL": "\0", "escape": "\x1b", "Ctrl-Z": "\x1a", "unit separator": "\x1f", "C1": "\x9b", "delete": "\x7f"}


@each_case("name", MARKS)
def test_marks_come_off_at_the_ends_and_are_seen_inside(name: str) -> None:
    """A mark at the ends is an accident of copying, inside it changes the value."""
    mark = MARKS[name]
    assert trim(f"{mark} a b{mark}\t{mark}") == "a b"
    assert has_invisible(f"a{mark}b")


@each_case("name", CONTROLS)
def test_controls_stay_and_are_seen(name: str) -> None:
    """A control character is never taken off silently."""
    assert trim(CONTROLS[name]) == CONTROLS[name]
    assert has_invisible(CONTROLS[name])
    assert has_control(CONTROLS[name])


def test_every_white_space_of_unicode_comes_off() -> None:
    """White space of `str.isspace` is trimmed, except the four separators that Unicode calls controls."""
    spaces = [chr(code) for code in range(0x110000) if chr(code).isspace()]
    assert {sign for sign in spaces if trim(sign)} == set("\x1c\x1d\x1e\x1f")
    assert not any(has_invisible(sign) for sign in spaces if not trim(sign))


def test_every_format_control_and_surrogate_is_invisible() -> None:
    """Beside visible Arabic and Syriac number signs no character of the categories Cc, Cf and Cs goes unseen."""
    hidden = [chr(code) for code in range(0x110000) if unicodedata.category(chr(code)) in {"Cc", "Cf", "Cs"}]
    unseen = {unicodedata.name(sign, "") for sign in hidden if trim(sign) and not has_invisible(sign)}
    scripts = ("ARABIC", "SYRIAC", "KAITHI", "EGYPTIAN")
    assert {name for name in unseen if not name.startswith(scripts)} == set()


def test_tabs_and_line_breaks_are_controls_but_not_invisible() -> None:
    """Spaces of other sorts are neither."""
    assert all(has_control(sign) and not has_invisible(sign) for sign in "\t\n\r\v\f\x85\u2028")
    assert not any(has_control(sign) for sign in " \xa0\u3000a-ß日")


@given(st.text())
def test_trimming_twice_changes_nothing(text: str) -> None:
    """Trimming is idempotent and only shortens."""
    assert trim(trim(text)) == trim(text)
    assert trim(text) in text


# --- One sign for those that look alike ---

DASHES = "\u2010\u2011\u2012\u2013\u2014\u2015\u2212\u2043\ufe58\ufe63\uff0d"


def test_every_dash_is_a_hyphen() -> None:
    """And blanks and digits of full width are those of ASCII."""
    assert plain_signs(f"a{DASHES}b") == "a" + "-" * len(DASHES) + "b"
    assert plain_signs("０１５１\xa0１２\u202f３＠") == "0151 12 3@"


@given(st.text(st.characters(max_codepoint=127)))
def test_ascii_stays(text: str) -> None:
    """Nothing of it is a sign for another."""
    assert plain_signs(text) == text
