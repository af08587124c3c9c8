"""A table of a web page is read as the CSV that it would be, whatever its name."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable
from html import escape
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, strategies as st

from audiencekit.errors import SourceRefused, UsageError
from audiencekit.limits import MAX_LINE_BYTES
from audiencekit.sources.html_table import csv_of_table
from audiencekit.sources.options import SourceOptions
from audiencekit.sources.source import Source, open_source
from tests.cases import each_case

Rows = Callable[[Source], list[dict[str, Any]]]
Write = Callable[..., Path]
ROW = "<tr><td>ann@larchpost.example</td></tr>"
LIST = f"<table><tr><th>email</th></tr>{ROW}</table>"


def _rows(page: str | bytes, piece: int = 1 << 20) -> list[list[str]]:
    data = page.encode() if isinstance(page, str) else page
    pieces = (data[start : start + piece] for start in range(0, len(data), piece))
    return list(csv.reader(io.StringIO(b"".join(csv_of_table(pieces)).decode(), newline="")))


def _open(path: Path, **options: Any) -> Source:
    return open_source(path, SourceOptions(**options))


@each_case(
    "page, rows",
    [
        ("<table><tr><th>a<th>b<tr><td>1<td>2</table>", [["a", "b"], ["1", "2"]]),
        ("<TABLE><TR><TD>a</TD></TR><tr></tr><TR><TD>1</TD></TR></TABLE>", [["a"], ["1"]]),
        ("<table><tr><td colspan=2>a<td>b<tr><td>1<td>2<td>3</table>", [["a", "", "b"], ["1", "2", "3"]]),
        ("<table><tr><td>a<tr><td> x \n  y<br>z&amp;&nbsp;&#43;49 </table>", [["a"], ["x y\nz&\xa0+49"]]),
        ("<table><tr><td>a<tr><td>1<script>'<td>no'</script><style>td{}</style></table>", [["a"], ["1"]]),
        ("<table><tr><td>a<tr><td><a href='mailto:b@c.example'>d@e.example</a></table>", [["a"], ["d@e.example"]]),
        ("<table><tr><td>Report</table><table><tr><td>a<tr><td>1</table>", [["a"], ["1"]]),
        ("<table><tr><td><table><tr><td>a<tr><td>1</table><tr><td>foot</table>", [["a"], ["1"]]),
        ("<table><tr><td>a<tr><td>one <table><tr><td>inner</table> two</table>", [["a"], ["one two"]]),
        ("<table><tr><td>email</table>", [["email"]]),
        ("<p>Hello</p><!-- <table> --><table><tr><td>a<tr><td>1</table>", [["a"], ["1"]]),
    ],
)
def test_rows(page: str, rows: list[list[str]]) -> None:
    """In pieces of every size, too."""
    assert _rows(page) == rows
    assert all(_rows(page, piece) == rows for piece in (1, 2, 3, 7))


@each_case(
    "page, words",
    [
        ("<!doctype html><title>Log in</title><form>", "without a table"),
        (f"{LIST}<hr>{LIST}", "several tables"),
        ("<table><tr><td>a</table><table><tr><td>b</table>", "no table of this web page has two rows"),
        (f"<table><tr><td>email{ROW}", "no end"),
        ("<table><tr><td>email<tr><td rowspan=2>ann@larchpost.example<tr></table>", "row 2 of the table is merged"),
        (f"<table><tr><td>a{ROW}<!-- " + "x" * 2 * MAX_LINE_BYTES, "longer than"),
    ],
)
def test_refused(page: str, words: str) -> None:
    """It must be plain which table is the list, and its end must be there."""
    with pytest.raises(SourceRefused, match=words) as caught:
        _rows(page, 4_096)
    assert "larchpost" not in str(caught.value)


@given(
    st.lists(
        st.lists(st.text(st.characters(exclude_categories=["Cs", "Cc", "Z"]), min_size=1), min_size=2, max_size=4),
        min_size=2,
    )
)
def test_any_cells_come_back(rows: list[list[str]]) -> None:
    """Whatever they hold, when it is written as HTML asks for."""
    cells = "".join("<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in row) + "</tr>" for row in rows)
    assert _rows(f"<table>{cells}</table>", 5) == rows


def test_a_page_is_a_source_whatever_its_name(write: Write, rows_of: Rows) -> None:
    """Shops call it xls. The header is found as in CSV, and rows are numbered behind it."""
    page = "<html><body><table><tr><th>E-Mail<th>Country<tr><td>ann@larchpost.example<td>DE</table></body></html>"
    source = _open(write(page.encode(), "orders.xls"))
    assert rows_of(source) == [{"row": 1, "country": "DE", "c0": "ann@larchpost.example"}]
    assert source.description["format"] == "html"
    assert "delimiter" not in source.description


@each_case(
    "declared, options",
    [
        ("<meta charset=windows-1252>", {}),
        ("<meta content='text/html; charset=windows-1252'>", {}),
        ("<meta charset=nonsense>", {"encoding": "cp1252"}),
        ("<meta charset=utf-8>", {"encoding": "cp1252"}),
    ],
)
def test_the_encoding_is_that_of_the_page(write: Write, rows_of: Rows, declared: str, options: dict[str, Any]) -> None:
    """Or the one that the user says."""
    page = f"<html>{declared}<table><tr><td>email<tr><td>jörg@larchpost.example</table>"
    source = _open(write(page.encode("cp1252")), **options)
    assert rows_of(source) == [{"row": 1, "c0": "jörg@larchpost.example"}]


def test_a_delimiter_is_not_ignored(write: Write) -> None:
    """A web page has none."""
    with pytest.raises(UsageError, match="delimiter"):
        _open(write(LIST.encode()), delimiter=";")
