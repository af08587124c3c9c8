"""Placeholders for unknown values."""

from __future__ import annotations

import pytest

from audiencekit.identifiers.placeholders import (
    WORDS,
    is_placeholder,
    is_placeholder_email,
    is_placeholder_number,
    is_repeated,
    spellings,
)

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


@pytest.mark.parametrize("word", ["null", "NULL", "None", "NaN", "n/a", "N/A", "#N/A", "-", "unknown", "\\N", "<NA>"])
def test_words_for_nothing_are_placeholders_in_any_case(word: str) -> None:
    """The case of a placeholder does not matter."""
    assert is_placeholder(word)


@pytest.mark.parametrize("word", ["", "0", "ada", "naa", "test", "nullable", "no", "info", "x"])
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
