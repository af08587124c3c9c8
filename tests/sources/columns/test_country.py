"""The country of each row is found by the name and the cells of its column."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from audiencekit.records.batches import ColumnUse
from audiencekit.sources.source import Source
from tests.cases import each_case

Open = Callable[..., Source]


@each_case(
    "text, country",
    [
        ("email,country\na@example.com,DE\n", 1),
        ("email,country\na@example.com,49\n", None),
        ("email,country_code,country\na@example.com,49,Germany\n", 2),
        ("email,country\na@example.com,DE\nb@example.com,??\n", 1),
        ("email,country\na@example.com,\n", None),
        ("email,state\na@example.com,DE\n", None),
        ("email,Land\na@example.com,D\nb@example.com,A\nc@example.com,CH\n", 1),
        ("billing_country,shipping_country,email\nDE,,a@example.com\nDE,FR,b@example.com\nEurope,,c@example.com\n", 0),
    ],
)
def test_the_country_needs_name_and_content(open_bytes: Open, text: str, country: int | None) -> None:
    """Half of its cells must be countries; bare digits are none. Of several columns the one with most is taken."""
    assert open_bytes(text.encode()).mapping.country == country


def test_countries_that_are_not_known_are_noted(open_bytes: Open) -> None:
    """A user who gives a country for blank cells is told that other cells do not take it."""
    data = b"email,Land\na@example.com,Deutschland\nb@example.com,\nc@example.com,Atlantis\n"
    for country in (None, "DE"):
        notes = "\n".join(open_bytes(data, country=country).notes)
        assert "Land: unknown country in 1 of the first 2 cells" in notes
        assert "such rows have none" in notes
    assert "unknown country" not in "\n".join(open_bytes(b"email,Land\na@example.com,DE\nb@example.com,\n").notes)
    few = data + b"d@example.com,Lemuria\n"
    assert "say `country_column='Land'` if it is one" in "\n".join(open_bytes(few).notes)
    assert "unknown country" in "\n".join(open_bytes(few, country_column="Land").notes)


def test_a_given_country_column_is_used_whatever_it_holds(open_bytes: Open) -> None:
    """The user knows."""
    source = open_bytes(b"email,where\na@example.com,??\n", country_column="WHERE")
    assert (source.mapping.country, source.mapping.country_name) == (1, "where")


def test_a_name_that_is_to_be_given_back_can_be(open_bytes: Open) -> None:
    """As the shell takes it: names have spaces."""
    notes = open_bytes(b"email,billing country\na@example.com,Atlantis\nb@example.com,Utopia\nc@example.com,DE\n").notes
    assert any("say `country_column='billing country'`" in note for note in notes)


IN_SHORT: list[tuple[list[str], bool]] = [
    (["US"], True),
    (["US", "DE", "GB"], True),
    (["USA", "DEU", ""], True),
    (["us"], False),
    (["US", "DE", "marketing"], False),
    (["4100", "4200"], False),
    (["Visa", "Amex"], False),
    (["ann@example.com"], False),
    ([""], False),
    (["EN", "DE"], False),
]


@each_case("cells, is_country", IN_SHORT)
def test_a_column_cc_is_the_country_when_it_holds_codes(open_bytes: Open, cells: list[str], is_country: bool) -> None:
    """Mailchimp names it so; elsewhere it is a cost centre, a card, or the address of a copy."""
    source = open_bytes(
        "".join(f"{line}\n" for line in ["phone,CC", *(f"030 12345678,{cell}" for cell in cells)]).encode()
    )
    assert (source.mapping.country == 1) is is_country
    assert (ColumnUse("CC", "country", "by name and content") in source.uses) is is_country
    assert not any("named like a country" in note for note in source.notes)


AS_AT_HOME = ", and numbers without a plus are read as those of `country=`"
ASKED = "; say `country_column='Land'` if it is one"


@each_case(
    "cells, given, end",
    [
        ("XX", {}, "its cells are none; not used"),
        ("XX", {"country": "DE"}, f"its cells are none; not used{AS_AT_HOME}"),
        (["X", "CH", "X", "Y"], {}, f"most of its cells are none that is known; not used{ASKED}"),
        (["X", "CH", "X"], {"country": "DE"}, f"most of its cells are none that is known; not used{AS_AT_HOME}{ASKED}"),
    ],
)
def test_a_country_that_is_not_used_is_told(open_bytes: Open, cells: Any, given: dict[str, Any], end: str) -> None:
    """The number of a person in Austria may be that of another in Germany."""
    lines = ["phone,Land", *(f"030 12345678,{cell}" for cell in cells)]
    source = open_bytes("".join(f"{line}\n" for line in lines).encode(), **given)
    assert source.mapping.country is None
    assert f"Land: named like a country, but {end}" in source.notes


CODES = ["US", "DE", "GB"]
LOOKS: list[tuple[str, list[str], dict[str, Any], bool]] = [
    ("origin", CODES, {}, True),
    ("origin", ["DEU", "FRA", "", "USA"], {}, True),
    ("origin", CODES * 6 + ["??"], {}, False),
    ("origin", CODES * 7 + ["??"], {}, True),
    ("origin", CODES[:2], {}, False),
    ("origin", ["us", "de", "gb"], {}, False),
    ("origin", ["Germany", "France", "Spain"], {}, False),
    ("origin", CODES, {"country_column": "origin"}, False),
    ("origin", CODES, {"ignore": ("origin",)}, False),
    ("origin", ["NO"] * 3, {"consent_column": "origin"}, False),
    ("origin", CODES, {"country": "DE"}, True),
    ("origin", ["DE", "FR", "EN"], {}, False),
    ("origin", ["TX", "CA", "NY", "IL"], {}, False),
    # a name that says what they are
    ("state", ["CA", "IN", "DE"], {}, False),
    ("ST", ["CA", "IN", "DE"], {}, False),
    ("Province/State", ["CA", "IN", "DE"], {}, False),
    ("region code", ["CA", "IN", "DE"], {}, False),
    ("lang", ["DE", "FR", "ES"], {}, False),
    ("Language", ["DE", "FR", "ES"], {}, False),
    ("locale", ["DE", "FR", "ES"], {}, False),
    ("initials", ["DE", "FR", "ES"], {}, False),
    ("currency", ["USD", "EUR", "GBP"], {}, False),
]


@each_case("name, cells, options, looks", LOOKS)
def test_codes_of_countries_without_such_a_name_are_told(
    open_bytes: Open, name: str, cells: list[str], options: dict[str, Any], looks: bool
) -> None:
    """They are not used: they could be states or languages."""
    rows = "".join(f"a@example.com,030 12345678,{cell}\n" for cell in cells)
    source = open_bytes(f"email,phone,{name}\n{rows}".encode(), **options)
    told = f"{name}: looks like the country of each row; not used, say `country_column={name!r}` if it is"
    assert (told in source.notes) is looks
    assert (source.mapping.country is None) is ("country_column" not in options)


def test_codes_are_not_told_where_no_country_is_wanted(open_bytes: Open) -> None:
    """Without phone numbers, and beside a country."""
    rows = "a@example.com,DE,DE\n" * 3
    assert not any("looks like" in note for note in open_bytes(f"email,origin,x\n{rows}".encode()).notes)
    rows = "030 12345678,DE,DE\n" * 3
    assert not any("looks like" in note for note in open_bytes(f"phone,origin,land\n{rows}".encode()).notes)
