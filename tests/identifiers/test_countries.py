"""The table of countries: complete, and without two meanings."""

from __future__ import annotations

from collections import Counter
from typing import Any

import phonenumbers
from hypothesis import given, strategies as st

from audiencekit.identifiers.countries import (
    COUNTRIES,
    IN_OTHER_LANGUAGES,
    UNKNOWN_COUNTRY,
    country_of_row,
    find_country,
)
from tests.cases import each_case

# --- The table of countries: complete, and without two meanings ---


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


# --- Countries as people write them ---

KNOWN = [
    *(("alpha-2", "DE", "DE"), ("lower case", "de", "DE"), ("alpha-3", "DEU", "DE"), ("name", "Germany", "DE")),
    *(("capitals and spaces", "  GERMANY ", "DE"), ("UK", "UK", "GB"), ("dotted", "U.K.", "GB")),
    *(
        ("Great Britain", "Great Britain", "GB"),
        ("England", "England", "GB"),
        ("United Kingdom", "united kingdom", "GB"),
    ),
    *(("code and name", "DE - Deutschland", "DE"), ("name and code", "Germany / DE", "DE"), ("flag", "🇩🇪", "DE")),
    *(("brackets", "Deutschland (DE)", "DE"), ("flag and name", "🇩🇪 Germany", "DE"), ("its own name", "Ελλάδα", "GR")),
    *(("WooCommerce", "United States (US)", "US"), ("WooCommerce", "United Kingdom (UK)", "GB")),
    *(("USA", "USA", "US"), ("U.S.A.", "U.S.A.", "US"), ("full name", "The United States of America", "US")),
    *(("South Korea", "South Korea", "KR"), ("Korea, Republic of", "Korea, Republic of", "KR")),
    *(("Czech Republic", "Czech Republic", "CZ"), ("Viet Nam", "Viet Nam", "VN"), ("Vietnam", "Vietnam", "VN")),
    *(("Holland", "Holland", "NL"), ("the Netherlands", "the Netherlands", "NL"), ("Ivory Coast", "Ivory Coast", "CI")),
    *(
        ("with accents", "Côte d'Ivoire", "CI"),
        ("typographic", "Cote d’Ivoire", "CI"),
        ("hyphens", "Timor Leste", "TL"),
    ),
    *(("Turkey", "Turkey", "TR"), ("Türkiye", "Türkiye", "TR"), ("Russia", "Russian Federation", "RU")),
    *(("ampersand", "Trinidad & Tobago", "TT"), ("St.", "St. Lucia", "LC"), ("UAE", "UAE", "AE")),
    *(("Congo, Kinshasa", "Congo, Democratic Republic of the", "CD"), ("Congo", "Congo", "CG")),
    *(("Taiwan", "Taiwan", "TW"), ("Hong Kong", "Hong Kong", "HK"), ("Kosovo", "Kosovo", "XK"), ("Greece", "EL", "GR")),
    *(
        ("decomposed", "Re\u0301union", "RE"),
        ("full-width", "ＤＥ", "DE"),
        ("own name", "Deutschland", "DE"),
        ("German", "Frankreich", "FR"),
        ("French", "États-Unis", "US"),
        ("Spanish", "Países Bajos", "NL"),
        ("Italian", "Regno Unito", "GB"),
        ("Portuguese", "Alemanha", "DE"),
        ("Dutch", "Duitsland", "DE"),
        ("Polish", "Niemcy", "DE"),
        ("Turkish", "Almanya", "DE"),
        ("Russian", "Германия", "DE"),
        ("Japanese", "アメリカ合衆国", "US"),
        ("Korean", "일본", "JP"),
        ("Chinese", "德国", "DE"),
        ("Arabic", "مصر", "EG"),
        ("Namibia", "NA", "NA"),
        ("sign of vehicles", "D", "DE"),
        ("sign of vehicles in lower case", "a", "AT"),
    ),
]
UNKNOWN = [
    *("", " ", "Atlantis", "Georgia (US)", "IN - Indiana", "Germany / AT", "🇩🇪 France", "🇽🇽", "+999", "44"),
    *("001", "XX", "ZZ", "Virgin Islands", "Europe", "X", "FL", "DEUT", "n/a", "#N/A", "-"),
]


def test_codes_names_and_everyday_variants_are_found(wrong: Any) -> None:
    """Case, accents, punctuation and a leading article do not matter."""
    assert wrong(lambda text: find_country(text) or "", KNOWN) == []


@each_case("text, country", [("+49", "DE"), (" +44 ", "GB"), ("0033", "FR"), ("+1", "US"), ("+ 39", "IT")])
def test_a_calling_code_is_its_country(text: str, country: str) -> None:
    """Of several countries the main one."""
    assert find_country(text) == country


@each_case("text", UNKNOWN)
def test_anything_else_is_no_country(text: str) -> None:
    """Digits without a plus, ambiguous names and nothing at all are not guessed."""
    assert find_country(text) is None


@each_case(
    "cell, country",
    [
        *(
            ("DE", "DE"),
            (" deutschland ", "DE"),
            ("NA", "NA"),
            ("+49", "DE"),
            ("Großbritannien", "GB"),
            ("Tyskland", "DE"),
        ),
        *((cell, None) for cell in ("", " ", "n/a", "-", "unknown", "NULL", "\\N", "False", "00")),
        *((cell, None) for cell in ("XX", "k.A.", "(not set)", "-- Select Country --", "Bitte wählen")),
        *((cell, UNKNOWN_COUNTRY) for cell in ("Atlantis", "Deutschlnd", "ZZ", "+999", "Virgin Islands", "12")),
    ],
)
def test_a_cell_that_says_another_word_is_an_unknown_country(cell: str, country: str | None) -> None:
    """Only of a cell that says nothing may the country be that of the whole list."""
    assert country_of_row(cell) == country


@given(st.text(st.characters(exclude_categories=())))
def test_any_text_gives_a_code_or_none(text: str) -> None:
    """Nothing raises."""
    found = find_country(text)
    assert found is None or len(found) == 2
