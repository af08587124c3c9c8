"""Area codes and calling codes in a column beside the numbers."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from audiencekit.errors import MappingRefused
from audiencekit.sources.source import Source

Open = Callable[..., Source]


def _list(name: str, *pairs: tuple[str, str], phone: str = "Phone") -> bytes:
    rows = [f"a{n}@example.com,{code},{number}" for n, (code, number) in enumerate(pairs * 10)]
    return "\n".join([f"Email,{name},{phone}", *rows, ""]).encode()


@pytest.mark.parametrize(
    ("name", "code", "number"),
    [
        ("Vorwahl", "030", "2345600"),
        ("Ortsvorwahl", "(030)", "2345600"),
        ("Area Code", "212", "234-5600"),
        ("Prefisso", "06", "69812345"),
        ("Prefijo", "91", "1234567"),
        ("Indicatif", "33", "6 12 34 56 03"),
        ("DDD", "11", "98765-4300"),
        ("Country Code", "49", "30 2345600"),
        ("ISD", "91", "98765 43210"),
        ("Alpha", "030", "2345600"),
    ],
)
def test_numbers_without_their_codes_are_asked_for(open_bytes: Open, name: str, code: str, number: str) -> None:
    """By the name of the column, or by the trunk digit in the cells beside short numbers."""
    data = _list(name, (code, number))
    with pytest.raises(MappingRefused, match="seem to be without the codes") as caught:
        open_bytes(data, puts_in=True, country="DE")
    assert "`ignore=['Phone']`" in caught.value.hint
    assert open_bytes(data, puts_in=True, country="DE", ignore=("Phone",)).mapping.names_by_kind() == {
        "email": ["Email"]
    }
    assert "phone_number" in open_bytes(data, puts_in=True, country="DE", ignore=("column2",)).mapping.names_by_kind()
    assert "phone_number" in open_bytes(data, country="DE").mapping.names_by_kind()


@pytest.mark.parametrize(
    ("name", "code", "number"),
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


@pytest.mark.parametrize("name", ["Vorwahl Land", "Country Code", "Indicatif", "ISD Code", "Alpha"])
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
