"""The table of countries: complete, and without two meanings."""

from __future__ import annotations

from collections import Counter

import phonenumbers

from audiencekit.identifiers.countries import find_country
from audiencekit.identifiers.country_names import COUNTRIES, IN_OTHER_LANGUAGES


def test_the_table_holds_each_country_of_the_standard_once() -> None:
    """249 entries of ISO 3166-1, and the three that have phone numbers without being in it."""
    codes = {line.split("|")[0] for line in COUNTRIES.strip().splitlines()}
    assert len(codes) == 249 + len({"AC", "TA", "XK"})


def test_no_spelling_means_two_countries() -> None:
    """Each name finds the country of its own line."""
    lines = [line.split("|") for line in f"{COUNTRIES.strip()}{IN_OTHER_LANGUAGES}".strip().splitlines()]
    astray = [
        name for alpha2, *names in lines for name in (alpha2, *filter(None, names)) if find_country(name) != alpha2
    ]
    assert astray == []


def test_codes_have_their_form() -> None:
    """Two letters, and three letters that no other country has."""
    first_lines = {line.split("|")[0]: line.split("|")[1] for line in reversed(COUNTRIES.strip().splitlines())}
    alpha3 = [code for code in first_lines.values() if code]
    assert all(len(code) == 2 and code.isupper() for code in first_lines)
    assert all(len(code) == 3 and code.isupper() for code in alpha3)
    assert max(Counter(alpha3).values()) == 1


def test_every_region_with_phone_numbers_is_known() -> None:
    """phonenumbers has no region that a row could not name."""
    assert {region for region in phonenumbers.SUPPORTED_REGIONS if find_country(region) != region} == set()
