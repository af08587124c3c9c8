"""Invented phone numbers: really valid, in every form."""

from __future__ import annotations

import phonenumbers
from phonenumbers import PhoneNumberFormat

from benchmarks.draws import Draws
from benchmarks.phone_numbers import PhoneNumbers


def _drawn(rows: int) -> list[tuple[str, str]]:
    numbers, countries = PhoneNumbers().clean(Draws(1, 0, rows))
    return list(zip(numbers.to_pylist(), countries.to_pylist(), strict=True))


def test_nearly_all_are_valid_in_their_country() -> None:
    """At least 98 % in each of the sixteen."""
    valid: dict[str, list[bool]] = {}
    for text, country in _drawn(8_000):
        valid.setdefault(country, []).append(phonenumbers.is_valid_number(phonenumbers.parse(text, country)))
    assert len(valid) == 16
    assert all(sum(found) / len(found) >= 0.98 for found in valid.values())


def test_the_three_forms_are_equally_frequent() -> None:
    """E.164, international with its spaces, national without the country."""
    drawn = _drawn(6_000)
    national = sum(not text.startswith("+") for text, _ in drawn)
    e164 = sum(text.startswith("+") and text[1:].isdigit() for text, _ in drawn)
    assert 1_800 <= national <= 2_200
    assert 1_800 <= e164 <= 2_200


def test_the_last_digits_vary() -> None:
    """Two numbers in a list are hardly ever the same one."""
    e164 = {
        phonenumbers.format_number(phonenumbers.parse(text, country), PhoneNumberFormat.E164)
        for text, country in _drawn(8_000)
    }
    assert len(e164) > 7_900
