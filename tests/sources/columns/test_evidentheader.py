"""Which words of a header are shown although they are not known, and that none is of a first row of people."""

from __future__ import annotations

import pytest

from audiencekit.sources.columns.evidentheader import evident_names
from audiencekit.sources.columns.header import Header
from audiencekit.sources.sampling import Sample


def shown(lines: list[str], given: tuple[str, ...] = ()) -> list[str]:
    """Return the notes on each column of a comma-separated file whose first line is taken for a header."""
    names, *rows = [tuple(line.split(",")) for line in lines]
    sample = Sample(names, tuple(zip(*rows, strict=True)) if rows else tuple(() for _ in names))
    header = Header.of(names, len(names), given)
    header = header.showing(evident_names(header, sample))
    return [header.shown(place) for place in range(len(names))]


@pytest.mark.parametrize(
    "lines",
    [
        ["first_name,last_name,Statie,email", "Ann,Lee,LA,a@example.com"],
        ["Email,First name,Lifecycle Stage", "a@example.com,Ann,subscriber"],
        ["Statie,Vorname,Stadt", "LA,Ann,"],
        ["Email SHA256,Cohort,Country", "973dfe463ec85785f5f95af5ba3906eedb2d931c24e69824a89ea65dba4e813b,spring,DE"],
        ["Mobil,Wohnort,Land", "0171 2345601,Berlin,DE"],
        ["IDFA,Bundle (v2),Platform", "4b61639e-47cc-4056-a16a-c8217e029462,shop,ios"],
        ["Email,Имя,Land", "a@example.com,Anna,DE"],
    ],
)
def test_words_of_a_header_beyond_doubt_are_shown(lines: list[str]) -> None:
    """One of its names says what its cells are, and most of them are words of headers."""
    assert shown(lines) == lines[0].split(",")


@pytest.mark.parametrize(
    "lines",
    [
        # people and places; the first person has no identifier
        ["Anneliese,Quandt,Berlin", "Bo,Ziegler,Paris"],
        ["Anneliese,Quandt,", "Bo,Ziegler,bo@example.com"],
        ["Anneliese,,Berlin,active", "Bo,bo@example.com,Paris,active"],
        # words of headers among the cells of a person
        ["Anneliese,Quandt,customer,active,newsletter", "Bo,Ziegler,lead,active,"],
        ["Anneliese,mobile,home", "Bo,home,work"],
        ["Anneliese,email", "Bo,phone"],
        ["Anneliese,mail,x", "Bo,sms,y"],
        ["Anneliese,twitter", "Bo,facebook"],
        # words for a missing identifier
        ["Anneliese,no email", "Bo,bo@example.com"],
        ["Anneliese,No Phone", "Bo,+49 30 12345601"],
        ["Anneliese,kein Telefon", "Bo,+49 30 12345601"],
        ["Anneliese,no-mail", "Bo,bo@example.com"],
        ["Anneliese,mail unknown", "Bo,bo@example.com"],
        ["Anneliese,email invalid", "Bo,bo@example.com"],
        ["Anneliese,test email", "Bo,bo@example.com"],
        ["Anneliese,no phone,customer,active", "Bo,+49 30 12345601,lead,active"],
        ["Anneliese,test email,customer,active", "Bo,bo@example.com,lead,active"],
        ["Anneliese,mail unknown,customer,active,gold,newsletter,web", "Bo,bo@example.com,lead,active,gold,,web"],
        # a word for an identifier over identifiers, and nothing else that is of a header
        ["Anneliese,Quandt,Berlin,email", "Bo,Ziegler,Paris,bo@example.com"],
        ["Anneliese,email", "Bo,bo@example.com"],
        # a header, and no cell that bears it out
        ["Anneliese,email", "x,"],
        ["Anneliese,email"],
    ],
)
def test_a_first_row_of_people_is_not_shown(lines: list[str]) -> None:
    """Whatever stands beside their names."""
    told = shown(lines)
    assert not any(word in " ".join(told) for word in ("Anneliese", "Quandt", "Berlin"))


@pytest.mark.parametrize(
    "name",
    [
        "ann@example.com",
        "Ann at @home",
        "+49 30 12345601",
        "Order 12345",
        "12 34 56",
        "x" * 65,
        "so\u202eso",
        "so\x1b[31m",
        "=HYPERLINK()",
        "@ann",
        "abcdefab-abcd-abcd-abcd-abcdefabcdef",
        "Ziegler",
        " ZIEGLER ",
        "...",
    ],
    ids=range(14),
)
def test_a_name_that_could_be_personal_is_never_shown(name: str) -> None:
    """An address, a number, what stands among the cells below it, and what does more than to be read."""
    assert shown([f"first name,{name},email", "Bo,Ziegler,bo@example.com"])[1] == "column2"


def test_a_name_that_the_user_gave_counts_as_known() -> None:
    """It is shown, and speaks for the others."""
    lines = ["Kundschaft,Wohnort,email", "Bo,Berlin,bo@example.com"]
    assert shown(lines) == ["column1", "column2", "email"]
    assert shown(lines, ("kundschaft",)) == ["Kundschaft", "Wohnort", "email"]


def test_without_a_header_there_are_no_names() -> None:
    """Only places."""
    assert evident_names(Header.of(None, 1, ()), Sample(None, (("a@example.com",),))) == frozenset()
