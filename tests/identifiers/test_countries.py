"""Countries as people write them."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, strategies as st

from audiencekit.identifiers.countries import find_country

KNOWN = [
    *(("alpha-2", "DE", "DE"), ("lower case", "de", "DE"), ("alpha-3", "DEU", "DE"), ("name", "Germany", "DE")),
    *(("capitals and spaces", "  GERMANY ", "DE"), ("UK", "UK", "GB"), ("dotted", "U.K.", "GB")),
    *(
        ("Great Britain", "Great Britain", "GB"),
        ("England", "England", "GB"),
        ("United Kingdom", "united kingdom", "GB"),
    ),
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
    "",
    " ",
    "Atlantis",
    "+44",
    "44",
    "0044",
    "001",
    "XX",
    "ZZ",
    "Virgin Islands",
    "Europe",
    "X",
    "FL",
    "DEUT",
    "n/a",
    "#N/A",
    "-",
]


def test_codes_names_and_everyday_variants_are_found(wrong: Any) -> None:
    """Case, accents, punctuation and a leading article do not matter."""
    assert wrong(lambda text: find_country(text) or "", KNOWN) == []


@pytest.mark.parametrize("text", UNKNOWN)
def test_anything_else_is_no_country(text: str) -> None:
    """Calling codes, ambiguous names and nothing at all are not guessed."""
    assert find_country(text) is None


@given(st.text(st.characters(exclude_categories=())))
def test_any_text_gives_a_code_or_none(text: str) -> None:
    """Nothing raises."""
    found = find_country(text)
    assert found is None or len(found) == 2
