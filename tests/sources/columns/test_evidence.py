"""The evidence of cells for the kind of their column."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from audiencekit.errors import MappingRefused
from audiencekit.identifiers.kinds import Kind
from audiencekit.sources.columns.evidence import evident_names, find_separator, look_at, plausible_share
from audiencekit.sources.columns.header import Header
from audiencekit.sources.sampling import Sample
from audiencekit.sources.source import Source
from tests.cases import each_case

HASH = "973dfe463ec85785f5f95af5ba3906eedb2d931c24e69824a89ea65dba4e813b"  # of test@example.com


def sample(cells: list[str]) -> Sample:
    """A sample of one column."""
    return Sample(None, (tuple(cells),))


@each_case(
    "cell, country, kind",
    [
        ("ann@example.com", None, Kind.EMAIL),
        ("+49 30 12345678", None, Kind.PHONE_NUMBER),
        ("+493012345678", None, Kind.PHONE_NUMBER),
        ("030 12345678", "DE", Kind.PHONE_NUMBER),
        ("(030) 1234-5678", "DE", Kind.PHONE_NUMBER),
        ("212-736-5000", "US", Kind.PHONE_NUMBER),
        ("030 12345678", None, None),
        ("6D92078A-8246-4BA4-AE5B-76104861E7DC", None, Kind.DEVICE_ID),
        (HASH, None, None),
        # digits and punctuation that are no phone numbers, in a country where they would be valid
        ("2127365000", "US", None),
        ("2024-05-17", "US", None),
        ("2024-05-17 10:11:12", "US", None),
        ("17.05.2024", "DE", None),
        ("05/17/2024", "US", None),
        ("212.73.65.0", "US", None),
        ("21273-6500", "US", None),
        ("212736.5000", "US", None),
        ("2,127,365,000", "US", None),
        ("-2127365000", "US", None),
        ("Anneliese", "US", None),
        ("212 736 500", "PL", Kind.PHONE_NUMBER),
        ("22.05.2024", "NO", None),
    ],
)
def test_single_cells_say_their_kind(cell: str, country: str | None, kind: Kind | None) -> None:
    """Only strong evidence counts; a plain integer is no phone number."""
    assert look_at(sample([cell]), 0, [country]).kind == kind


@each_case(
    "cells, kind",
    [
        (["a@example.com"] * 4 + ["x"], Kind.EMAIL),
        (["a@example.com"] * 3 + ["x"], None),
        (["a@example.com"] + ["", "n/a", "NULL", " - "] * 9, Kind.EMAIL),
        (["", "none"], None),
        ([], None),
    ],
)
def test_four_of_five_filled_cells_make_a_kind(cells: list[str], kind: Kind | None) -> None:
    """Cells that say nothing do not count."""
    assert look_at(sample(cells), 0, [None] * len(cells)).kind == kind


def test_wide_samples_are_looked_at_here_and_there() -> None:
    """A file of many columns opens in seconds: each column is asked less often, from its first row to its last."""
    people, others = ["a@example.com"] * 900, ["x"] * 100
    wide = Sample(None, tuple(tuple(others + people) for _ in range(1_000)))
    assert look_at(wide, 0, [None] * 1_000).kind is Kind.EMAIL


def test_hashes_are_seen() -> None:
    """Half of the filled cells are enough: the column is not in the clear."""
    assert look_at(sample([HASH, HASH.upper(), "x", ""]), 0, [None] * 4).looks_hashed
    assert not look_at(sample([HASH, "x", "y", ""]), 0, [None] * 4).looks_hashed


@each_case(
    "kind, cells, share",
    [
        (Kind.EMAIL, ["a@b", "x"], 0.5),
        (Kind.EMAIL, [HASH], 1.0),
        (Kind.PHONE_NUMBER, ["030 123456", "ext. 12345", "12", "a1@b23456"], 0.5),
        (Kind.PLATFORM_ID, ["12345", "1.2E+5", "abc", "a@example.com"], 0.5),
        (Kind.HANDLE, ["@ann", "two words"], 0.5),
        (Kind.DEVICE_ID, ["00000000-0000-0000-0000-000000000000", "x"], 0.5),
        (Kind.PARTNER_USER_ID, ["anything"], 1.0),
        (Kind.EMAIL, [], 0.0),
    ],
)
def test_plausible_cells_need_not_be_valid(kind: Kind, cells: list[str], share: float) -> None:
    """A broken number is still a number; an address is none."""
    assert plausible_share(kind, cells) == share


Open = Callable[..., Source]


@each_case(
    "text, kind, column",
    [
        ("mobile\n12015550123\n", Kind.PLATFORM_ID, "mobile"),
        ("screen_name\nann\n", Kind.PARTNER_USER_ID, "screen_name"),
        ("idfa\n4b61639e-47cc-4056-a16a-c8217e029462\n", Kind.PARTNER_USER_ID, "idfa"),
        ("what\n143567\n783214\n17874544\n", Kind.HANDLE, "what"),
    ],
)
def test_a_mapping_against_name_or_content_is_refused(open_bytes: Open, text: str, kind: Kind, column: str) -> None:
    """Where the values alone would not show it."""
    with pytest.raises(MappingRefused, match=f"column {column} "):
        open_bytes(text.encode(), columns=((kind, column),))


@each_case(
    "text, kind, column",
    [
        ("phone\na@example.com\n", Kind.EMAIL, "phone"),
        ("twitter\n143567\n783214\n17874544\n", Kind.PLATFORM_ID, "twitter"),
        ("what\nx1\n", Kind.PARTNER_USER_ID, "what"),
        ("what\n143567\nann\n", Kind.HANDLE, "what"),
    ],
)
def test_a_wrong_name_can_be_overruled(open_bytes: Open, text: str, kind: Kind, column: str) -> None:
    """When the cells say that it is wrong, or nothing speaks against the mapping."""
    columns = open_bytes(text.encode(), columns=((kind, column),)).mapping.columns
    assert [(found.kind, found.position) for found in columns] == [(kind, 0)]


ONE, TWO = "ann@example.com", "bob@example.com"
CASES: list[tuple[Kind, list[str], str | None]] = [
    (Kind.EMAIL, [f"{ONE} ::: {TWO}"], " ::: "),
    (Kind.EMAIL, [ONE] * 999 + [f"{ONE} ::: {TWO}"], " ::: "),
    (Kind.EMAIL, [f"{ONE};{TWO}"], ";"),
    (Kind.EMAIL, [f"{ONE}; {TWO} ;"], ";"),
    (Kind.EMAIL, [f"{ONE};"], ";"),
    (Kind.EMAIL, [f"{ONE}\n{TWO}"], "\n"),
    (Kind.EMAIL, [f"{ONE}\r\n{TWO}\r\n"], "\n"),
    (Kind.EMAIL, [f"{ONE};\n{TWO}"], ";"),
    # of few cells half, of more three, of many one in a hundred
    (Kind.EMAIL, [ONE, f"{ONE};{TWO}"], ";"),
    (Kind.EMAIL, [ONE] * 2 + [f"{ONE};{TWO}"], None),
    (Kind.EMAIL, [ONE] * 97 + [f"{ONE};{TWO}"] * 3, ";"),
    (Kind.EMAIL, [ONE] * 98 + [f"{ONE};{TWO}"] * 2, None),
    (Kind.EMAIL, [ONE] * 396 + [f"{ONE};{TWO}"] * 4, ";"),
    (Kind.EMAIL, [ONE] * 330 + [f"{ONE};{TWO}"] * 3, None),
    (Kind.EMAIL, [f"{ONE};{TWO}", "ann;"], None),
    (Kind.EMAIL, [ONE, TWO], None),
    (Kind.EMAIL, [], None),
    (Kind.EMAIL, ["ann@example;com", "an;n@example.com"], None),
    (Kind.EMAIL, [f"{ONE};{TWO}", "ann;", ";ann"], None),
    (Kind.EMAIL, ['"an;n"@example.com'], None),
    (Kind.EMAIL, [f"{ONE}:::{TWO}", f"{ONE},{TWO}", f"{ONE}|{TWO}"], None),
    (Kind.PHONE_NUMBER, ["+49 30 12345601 ::: +49 30 12345602"], " ::: "),
    (Kind.PHONE_NUMBER, ["030 12345601; 0171 2345602"], ";"),
    (Kind.PHONE_NUMBER, ["+493012345601\n+493012345602"], "\n"),
    (Kind.PHONE_NUMBER, ["+493012345601;ext=12345"], None),
    (Kind.PHONE_NUMBER, ["tel:+493012345601;phone-context=example.com; EXT=12345"], None),
    (Kind.PHONE_NUMBER, ["+493012345601;12"], None),
    (Kind.PHONE_NUMBER, ["+493012345601;ext=12345", "030 12345601;0171 2345602"], ";"),
    (Kind.DEVICE_ID, ["4b61639e-47cc-4056-a16a-c8217e029462;4b61639e-47cc-4056-a16a-c8217e029463"], None),
    (Kind.HANDLE, ["@ann ::: @bob"], None),
    (Kind.PARTNER_USER_ID, ["a;b", "c ::: d"], None),
]


@each_case("kind, cells, separator", CASES)
def test_separators_are_known_by_values_on_both_sides(kind: Kind, cells: list[str], separator: str | None) -> None:
    """Of addresses and numbers only; one that may stand in a value divides nothing."""
    assert find_separator(kind, cells) == separator


def shown(lines: list[str], given: tuple[str, ...] = ()) -> list[str]:
    """Return the notes on each column of a comma-separated file whose first line is taken for a header."""
    names, *rows = [tuple(line.split(",")) for line in lines]
    sample = Sample(names, tuple(zip(*rows, strict=True)) if rows else tuple(() for _ in names))
    header = Header.of(names, len(names), given)
    header = header.showing(evident_names(header, sample))
    return [header.shown(place) for place in range(len(names))]


@each_case(
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


@each_case(
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


@each_case(
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
