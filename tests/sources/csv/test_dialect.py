"""The delimiter is the character that divides the records evenly; a tie is refused."""

from __future__ import annotations

import pytest

from audiencekit.errors import SourceRefused
from audiencekit.sources.csv.dialect import Division, find_delimiter, show_delimiter
from tests.cases import each_case

TABLE = [
    ("a,b\n1,2\n", ","),
    ("a;b\n1;2\n", ";"),
    ("a\tb\n1\t2\n", "\t"),
    ("a|b\n1|2\n", "|"),
    # decimal commas, and commas in names
    ("id;value\n1;2,5\n2;3,5\n", ";"),
    ("id;value;mail\n" + "1;2,5;a@example.com\n" * 50, ";"),
    ("name\temail\n" + "Doe, Ann\tann@example.com\n" * 5, "\t"),
    ("Doe, Ann;ann@example.com\nRoe, Bob;bob@example.com\n", ";"),
    # delimiters inside quotes divide nothing
    ('"a;b","c;d"\n"1;2","3;4"\n', ","),
    ('a,b\n"1;1;1;1\n;",2\n', ","),
    # other line ends
    ("a;b\r1;2\r3;4\r", ";"),
    ("a;b\r\n\r\n1;2\n", ";"),
    # some ragged rows
    ("a,b,c\n" + "1,2,3\n" * 20 + "1,2\n", ","),
    ("a|b|c\n1|2\n3|4|5\n", "|"),
    ("a,email\n1,a@example.com\n2\n3,b@example.com,x\n4,c@example.com,,\n", ","),
    # the first record decides when the others are equally uneven
    ("a;b\n" + "1,5;2,5\n" * 30 + "1,5\n", ";"),
    # a trailing delimiter
    ("a;b;\n1;2;\n", ";"),
    # one column
    ("email\nann@example.com\nbob@example.com\n", ","),
    ("email", ","),
    ("", ","),
    # one column in which the comma is a letter, now and then
    ("name\nAnn\nBob\nCid\nDoe, Eve\n", ";"),
]


@each_case("text, delimiter", TABLE)
def test_delimiters_are_found(text: str, delimiter: str) -> None:
    """By the evenness of the division, then by what the cells are."""
    assert find_delimiter(text, whole=True) == delimiter


@each_case("text", ["a;b,c\n", "a,b;c\n1,2;3\n", "a|b\tc\n" * 10])
def test_a_tie_is_refused_with_the_choices(text: str) -> None:
    """It is never guessed."""
    with pytest.raises(SourceRefused, match="ambiguous") as caught:
        find_delimiter(text, whole=True)
    assert "`delimiter=`" in caught.value.hint


def test_the_choices_are_named() -> None:
    """By words, since a tab cannot be seen."""
    with pytest.raises(SourceRefused, match="tab and pipe"):
        find_delimiter("a|b\tc\n", whole=True)


def test_the_cut_end_of_a_sample_is_not_judged() -> None:
    """The last record of a cut sample is half a record."""
    text = "a;b;c\n1;2;3\n4;5"
    assert Division(";", [["a", "b", "c"], ["1", "2", "3"]]).even_share == 1.0
    assert find_delimiter(text, whole=False) == ";"


@each_case("delimiter, shown", [(",", "comma"), ("\t", "tab"), (" ", "space"), ("^", "'^'")])
def test_delimiters_have_names(delimiter: str, shown: str) -> None:
    """For people."""
    assert show_delimiter(delimiter) == shown


def test_a_division_shows_no_cells() -> None:
    """Its records are personal data."""
    assert "ann" not in repr(Division(",", [["ann"]]))
