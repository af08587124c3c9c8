"""Area codes and calling codes in a column beside the numbers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from audiencekit.errors import MappingRefused, UsageError
from audiencekit.identifiers.countries import find_country
from audiencekit.sources.source import Source
from tests.cases import each_case

Open = Callable[..., Source]


def _list(name: str, *pairs: tuple[str, str], phone: str = "Phone") -> bytes:
    rows = [f"a{n}@example.com,{code},{number}" for n, (code, number) in enumerate(pairs * 10)]
    return "\n".join([f"Email,{name},{phone}", *rows, ""]).encode()


REFUSED = [
    ("Prefijo", "91", "1234567"),
    ("Indicatif", "33", "6 12 34 56 03"),
    ("Vorwahl", "30", "2345600"),
    ("Country Code", "276", "30 2345600"),
    ("Country Code", "380", "30 2345600"),
    ("Alpha", "030", "2345600"),
]


@each_case("name, code, number", REFUSED)
def test_numbers_without_their_codes_are_asked_for(open_bytes: Open, name: str, code: str, number: str) -> None:
    """By the name of the column, or by the trunk digit in the cells beside short numbers."""
    data = _list(name, (code, number))
    with pytest.raises(MappingRefused, match="seem to be without the codes") as caught:
        open_bytes(data, puts_in=True, country="DE")
    assert "`ignore=['Phone']`" in caught.value.hint
    assert "`area_code_column='" in caught.value.hint
    assert open_bytes(data, puts_in=True, country="DE", ignore=("Phone",)).mapping.names_by_kind() == {
        "email": ["Email"]
    }
    assert "phone_number" in open_bytes(data, puts_in=True, country="DE", ignore=("column2",)).mapping.names_by_kind()
    assert "phone_number" in open_bytes(data, country="DE").mapping.names_by_kind()


def _texts(source: Source, field: str = "c2") -> list[str | None]:
    return [row for batch in source.batches() for row in batch.columns.unwrap().column(field).to_pylist()]


@pytest.mark.parametrize(
    ("name", "code", "number", "joined"),
    [
        ("Vorwahl", "030", "2345600", "030 2345600"),
        ("Ortsvorwahl", "(030)", "2345600", "(030) 2345600"),
        ("Ortsvorwahl", "30", "2345600", "30 2345600"),
        ("Area Code", "212", "234-5600", "212 234-5600"),
        ("Prefisso", "06", "69812345", "06 69812345"),
        ("DDD", "11", "98765-4300", "11 98765-4300"),
        ("市外局番", "03", "3123-4567", "03 3123-4567"),
    ],
)
@pytest.mark.parametrize("puts_in", [True, False])
def test_area_codes_are_joined(open_bytes: Open, name: str, code: str, number: str, joined: str, puts_in: bool) -> None:
    """Where the name says so, or the cells begin with the trunk digit; whole numbers stay, doubtful ones are masked."""
    odd = [(code, "+49 171 2345600"), (code, "0171 2345600"), ("", "2345600"), ("", "2122345600"), (code, "")]
    source = open_bytes(_list(name, *[(code, number)] * 9, *odd), puts_in=puts_in)
    assert _texts(source)[:14] == [
        *[joined] * 9,
        *("+49 171 2345600", "0171 2345600", "? 2345600", "2122345600", ""),
    ]  # fmt: skip
    assert any("the area codes of the numbers in Phone" in note for note in source.notes)


@each_case("name, code, number", REFUSED)
def test_the_option_says_that_they_are_area_codes(open_bytes: Open, name: str, code: str, number: str) -> None:
    """Whatever the column is called."""
    data = _list(name, (code, number))
    assert _texts(open_bytes(data, puts_in=True, area_code_column=name))[0] == f"{code} {number}"


@each_case(
    "name, code, options",
    [
        ("Country Code", "49", {}),
        ("ISD", "49", {}),
        ("Phone Country Code", "380", {}),
        ("Landesvorwahl", "0049", {}),
        ("Indicatif", "33", {"country_code_column": "Indicatif"}),
        ("Alpha", "(+49)", {"country_code_column": "Alpha"}),
        ("Country Code", "380", {"country_code_column": "Country Code"}),
    ],
)
def test_calling_codes_are_the_country_of_their_rows(
    open_bytes: Open, name: str, code: str, options: dict[str, Any]
) -> None:
    """Without a plus where a name or an option says so."""
    source = open_bytes(_list(name, (code, "30 2345600")), puts_in=True, **options)
    assert source.mapping.country == 1
    expected = find_country("+" + code.strip("(+)").removeprefix("00"))
    assert {find_country(cell or "") for cell in _texts(source, "country")} == {expected}


def test_area_and_calling_codes_beside_one_number(open_bytes: Open) -> None:
    """Both are used."""
    data = b"Email,Country Code,Area Code,Phone\n" + b"a@example.com,49,030,2345600\n" * 9
    source = open_bytes(data, puts_in=True)
    assert (_texts(source, "country")[0], _texts(source, "c3")[0]) == ("+49", "030 2345600")


def test_each_number_has_the_area_code_before_it(open_bytes: Open) -> None:
    """Another column of whole numbers has none."""
    data = b"Email,Vorwahl,Telefon,Mobil\n" + b"a@example.com,030,2345600,171 23456001\n" * 9
    source = open_bytes(data, puts_in=True, country="DE")
    assert [(column.name, column.area) for column in source.mapping.columns] == [
        ("Email", None), ("Telefon", 1), ("Mobil", None)
    ]  # fmt: skip


def test_codes_that_agree_with_the_country_are_passed_over(open_bytes: Open) -> None:
    """A column of countries says the same."""
    data = b"Email,Indicatif,Phone,Country\n" + b"a@example.com,33,6 12 34 56 03,France\n" * 5
    assert open_bytes(data, puts_in=True).mapping.country == 3


def test_extensions_are_told(open_bytes: Open) -> None:
    """They are not joined."""
    source = open_bytes(_list("Ext", ("12", "030 2345600")), puts_in=True, country="DE")
    assert any("Ext: left out" in note for note in source.notes)


def test_options_of_codes_that_fit_nothing_are_refused(open_bytes: Open) -> None:
    """Without a column of numbers, and beside a column of countries."""
    with pytest.raises(MappingRefused, match="no column has phone numbers"):
        open_bytes(b"Email,Area Code\na@example.com,212\n", area_code_column="Area Code")
    with pytest.raises(UsageError, match="were both given"):
        open_bytes(b"", country_column="a", country_code_column="b")


@each_case(
    "name, code, number",
    [
        ("Vorwahl", "030", "030 2345600"),
        ("Vorwahl", "030", "+49 30 2345600"),
        ("Area Code", "212", "(212) 234-5600"),
        ("PLZ", "01067", "2345600"),
        ("Postal Code", "10117", "2345600"),
        ("Age", "42", "2345600"),
        ("Points", "030", "030 2345600"),
        ("Vorwahl", "", "030 2345600"),
    ],
)
def test_whole_numbers_are_taken(open_bytes: Open, name: str, code: str, number: str) -> None:
    """Whatever stands beside them."""
    source = open_bytes(_list(name, (code, number)), puts_in=True, country="DE")
    assert source.mapping.names_by_kind()["phone_number"] == ["Phone"]


@each_case("name", ["Vorwahl Land", "Country Code", "Indicatif", "ISD Code", "Alpha"])
def test_calling_codes_with_a_plus_are_the_country_of_their_rows(open_bytes: Open, name: str) -> None:
    """Also where a country is given for the others."""
    data = _list(name, ("+49", "030 2345600"), ("+33", "6 12 34 56 03"))
    for country in (None, "AT"):
        source = open_bytes(data, puts_in=True, country=country)
        assert source.mapping.country == 1
        assert source.uses[1].why in ("by the calling codes in its cells", "by name and content")


def test_a_column_of_countries_comes_first(open_bytes: Open) -> None:
    """Its cells say more than calling codes."""
    data = b"Email,Code,Phone,Country\n" + b"a@example.com,+1,416 967 1111,Canada\n" * 5
    assert open_bytes(data, puts_in=True).mapping.country == 3
