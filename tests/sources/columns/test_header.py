"""Whether there is a header, which of its names are shown, and how columns are found by name."""

from __future__ import annotations

import pytest

from audiencekit.errors import MappingRefused
from audiencekit.sources.columns.header import Header, compare_key, is_header, is_whole_file


@pytest.mark.parametrize(
    ("cells", "named"),
    [
        (["email", "phone"], True),
        (["Anneliese", "Quandt"], True),
        (["2019", "2020-01-31", "20200131", "31.12.2020"], True),
        (["", ""], True),
        (["1", "2", "3"], True),
        (["Anneliese", "anneliese@example.com"], False),
        ([" ANNELIESE@EXAMPLE.COM "], False),
        (["name", "+49 30 12345678"], False),
        (["name", "030 12345678"], False),
        (["name", "4155550123"], False),
        (["6D92078A-8246-4BA4-AE5B-76104861E7DC"], False),
        (["ab" * 32], False),
    ],
    ids=range(12),
)
def test_an_identifier_among_the_cells_means_no_header(cells: list[str], named: bool) -> None:
    """Identifiers and long numbers are data; words, years and dates may be names."""
    assert is_header(cells) is named


def test_a_name_that_the_user_gave_is_a_header() -> None:
    """Whatever else stands beside it."""
    assert is_header([" Kunde ", "ann@example.com"], ("kunde",))


@pytest.mark.parametrize(
    ("one", "other"),
    [("Email", "  EMAIL "), ("\ufeffemail", "email"), ("Straße", "STRASSE"), ("e\u0301", "\u00e9"), ("a \t b", "A B")],
    ids=range(5),
)
def test_names_are_compared_without_case_space_and_mark(one: str, other: str) -> None:
    """Two that differ in nothing else are one name."""
    assert compare_key(one) == compare_key(other)


NAMES = ("Email", "Kiyomitsu", "", "phone ", "EMAIL", "column9")


@pytest.fixture
def header() -> Header:
    """Six columns, two of them with the same name; the user wrote one name."""
    return Header.of(NAMES, 6, ("kiyomitsu",))


@pytest.mark.parametrize(("position", "shown"), [(0, "Email"), (1, "Kiyomitsu"), (2, "column3"), (3, "phone")])
def test_names_are_shown_when_known_or_given(header: Header, position: int, shown: str) -> None:
    """Others are shown by their place, counted from 1."""
    assert header.shown(position) == shown


def test_names_that_were_not_given_are_not_shown() -> None:
    """The same header without the user's word."""
    assert Header.of(NAMES, 6, ()).shown(1) == "column2"


@pytest.mark.parametrize(
    ("name", "position"), [("PHONE", 3), ("kiyomitsu", 1), ("column3", 2), ("Column1", 0), ("column9", 5)]
)
def test_columns_are_found_by_name_or_place(header: Header, name: str, position: int) -> None:
    """A literal name goes before a place."""
    assert header.find(name) == position


@pytest.mark.parametrize("name", ["mobile", "column7", "column0", "", "column", "columnx"])
def test_missing_columns_are_refused_with_what_there_is(header: Header, name: str) -> None:
    """The hint lists names that may be shown."""
    with pytest.raises(MappingRefused, match="no column") as caught:
        header.find(name)
    assert "phone" in caught.value.hint


def test_same_names_are_refused(header: Header) -> None:
    """With their places, by which they can be told apart."""
    with pytest.raises(MappingRefused, match="column1 and column5 have the same name"):
        header.find("email")


def test_columns_without_header_have_places_only() -> None:
    """The message says that there is no header."""
    header = Header.of(None, 3, ())
    assert header.listed() == "column1, column2, column3"
    assert header.find("column2") == 1
    with pytest.raises(MappingRefused, match="no header"):
        header.find("email")


def test_long_lists_are_cut() -> None:
    """A message stays readable."""
    assert Header.of(None, 100, ()).listed().endswith("column40 and 60 more")


def test_a_header_shows_no_names_itself(header: Header) -> None:
    """Its words may be personal."""
    assert "Kiyomitsu" not in repr(header)


@pytest.mark.parametrize(
    ("cells", "lost"),
    [
        (["email", "ann@example.com", "bob@example.com"], True),
        (["first_name", 'web"Anneliese', "ann@example.com"], True),
        (["ann@example.com", "+493012345678"], False),
        (["email", "phone"], False),
        (["Anneliese", "ann@example.com"], False),
    ],
    ids=range(5),
)
def test_a_file_without_line_ends_is_known_by_its_only_record(cells: list[str], lost: bool) -> None:
    """Names and people in one record were several records once."""
    assert is_whole_file(cells) is lost
