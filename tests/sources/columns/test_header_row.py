"""A header below the first line: taken where the cells below say so, asked for where a person may stand above it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from audiencekit.errors import SourceRefused, UsageError
from audiencekit.identifiers.kinds import Kind
from audiencekit.sources.options import SourceOptions
from audiencekit.sources.source import Source
from tests.cases import each_case

Open = Callable[..., Source]
Rows = Callable[[Source], list[dict[str, Any]]]
PEOPLE = "".join(f"Ada,ada{n}@example.com,(212) 234-56{n:02},ref{n}@example.org\n" for n in range(30))
HEADER = "Name,E-Mail,Phone,Referrer Email\n"


@each_case(
    "above, line",
    [
        ("", 1),
        ("Customers of spring\n", 2),
        ("Customers of spring,,,\nPeriod,2026-02-28,to,2026-03-31\n,,,\n", 4),
        ("Customers,,,Others\n", 2),
        ("Email list 2026,,,\n\n", 3),
        ('Notes:\n"A text, which has\nseveral lines"\n\n', 5),
        ("Format version,Start date,End date,Sender\n5,2026-06-01,2026-06-30,Northwind\n", 3),
        ("".join(f"Line {n},,,\n" for n in range(19)), 20),
    ],
)
def test_titles_and_headings_are_no_header(open_bytes: Open, rows_of: Rows, above: str, line: int) -> None:
    """Rows are counted from the line below the header."""
    source = open_bytes((above + HEADER + PEOPLE).encode(), country="US", puts_in=True)
    assert source.mapping.names_by_kind() == {"email": ["E-Mail"], "phone_number": ["Phone"]}
    assert source.description["header_row"] == line
    rows = rows_of(source)
    assert [row["row"] for row in rows] == list(range(1, 31))
    assert [row["c1"] for row in rows] == [f"ada{n}@example.com" for n in range(30)]


def test_lines_of_signs_below_it_belong_to_it(open_bytes: Open, rows_of: Rows) -> None:
    """SAP writes so."""
    rows = "".join(f"|Ada|ada{n}@example.com|\n" for n in range(30))
    source = open_bytes(f"List\n-----\n|Name|E-Mail|\n-----\n{rows}".encode())
    assert [row["row"] for row in rows_of(source)] == list(range(1, 31))


PERSON_ABOVE = "Bo,bo@example.com,(212) 234-5699,\n" + HEADER + PEOPLE


def test_a_person_above_it_is_asked_for(open_bytes: Open, rows_of: Rows) -> None:
    """Of a list whose people are put in; of another the first line stays a row."""
    data = PERSON_ABOVE.encode()
    with pytest.raises(SourceRefused, match="the header seems to be line 2") as caught:
        open_bytes(data, puts_in=True)
    assert "`header_row=2`" in caught.value.hint
    assert "`header=False`" in caught.value.hint
    assert rows_of(open_bytes(data))[0]["c1"] == "bo@example.com"
    assert len(rows_of(open_bytes(data, puts_in=True, header_row=2))) == 30
    assert len(rows_of(open_bytes(data, puts_in=True, header=False))) == 32


def test_a_second_header_of_a_list_with_one_is_a_row(open_bytes: Open, rows_of: Rows) -> None:
    """Two exports in one file."""
    source = open_bytes(("E-Mail\nada@example.com\nE-Mail,Phone\n" + PEOPLE).encode(), delimiter=";", puts_in=True)
    assert source.mapping.names_by_kind() == {"email": ["E-Mail"]}


def test_the_row_with_a_given_name_is_the_header(open_bytes: Open) -> None:
    """Whatever its words are."""
    rows = "".join(f"x,ada{n}@example.com\n" for n in range(9))
    source = open_bytes(f"List,\nAlpha,Beta\n{rows}".encode(), columns=((Kind.EMAIL, "Beta"),))
    assert source.mapping.names_by_kind() == {"email": ["Beta"]}


def test_a_given_row(open_bytes: Open) -> None:
    """It is counted as an editor counts; one that is not there is told."""
    rows = "".join(f"x,ada{n}@example.com\n" for n in range(9))
    data = f"List,\n\nAlpha,Beta\n{rows}".encode()
    source = open_bytes(data, header_row=3)
    assert source.mapping.names_by_kind() == {"email": ["column2"]}
    for missing in (2, 99):
        with pytest.raises(SourceRefused, match=f"line {missing} is blank, or not among the first rows"):
            open_bytes(data, header_row=missing)
    with pytest.raises(UsageError, match="were both given"):
        SourceOptions(header=False, header_row=3)


@each_case("name", ["Email", "E-Mail"])
def test_a_heading_says_whose_a_column_is(open_bytes: Open, name: str) -> None:
    """Where two names are the same, and where it speaks of other people."""
    rows = "".join(f"Ada,ada{n}@example.com,em{n}@example.org,+121223456{n:02}\n" for n in range(10))
    data = f"Person,,Emergency,\nName,{name},Email,Mobile\n{rows}".encode()
    columns = open_bytes(data, puts_in=True).mapping.columns
    assert [column.position for column in columns] == [1]
    assert [column.position for column in open_bytes(data).mapping.columns] == [1, 2, 3]
    titled = f"Customers,,,\nName,{name},Work Email,Mobile\n{rows}".encode()
    assert [column.position for column in open_bytes(titled, puts_in=True).mapping.columns] == [1, 2, 3]
