"""Sheets as sources: cells as they are stored, rows by their numbers, and nothing altered in silence."""

from __future__ import annotations

import datetime
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import openpyxl
import pytest

from audiencekit.errors import SourceRefused
from audiencekit.identifiers.kinds import Kind
from audiencekit.sources.options import SourceOptions
from audiencekit.sources.source import Source
from audiencekit.sources.sourceopening import open_source
from tests.sources.spreadsheets.conftest import Build, sheet_xml, strings_xml

Rows = Callable[[Source], list[dict[str, Any]]]
Faults = Callable[[Source], list[tuple[int, str | None, str]]]
HEADER = '<row r="1"><c r="A1" t="str"><v>email</v></c><c r="B1" t="inlineStr"><is><t>phone</t></is></c></row>'
EMAIL, PHONE = "bea@example.com", "+447700900123"
MAPPED = SourceOptions(columns=((Kind.EMAIL, "email"), (Kind.PHONE_NUMBER, "phone")))


def _row(number: int, email: str | None = EMAIL, phone: str = "") -> str:
    first = "" if email is None else f'<c r="A{number}" t="inlineStr"><is><t>{email}</t></is></c>'
    return f'<row r="{number}">{first}{phone}</row>'


def _sheet(tmp_path: Path, rows: list[list[Any]], name: str = "list.xlsx") -> Path:
    workbook = openpyxl.Workbook()
    for row in rows:
        workbook.active.append(row)
    workbook.save(tmp_path / name)
    return tmp_path / name


def _cells(found: list[dict[str, Any]]) -> list[list[Any]]:
    return [[cell for field, cell in row.items() if field != "row"] for row in found]


@pytest.mark.parametrize("name", ["list.xlsx", "list.xlsm", "list", "list.zip"])
def test_a_sheet_is_read_whatever_its_name(tmp_path: Path, rows_of: Rows, name: str) -> None:
    """Texts as they stand, whole numbers as digits, missing cells as nothing."""
    path = _sheet(tmp_path, [["email", "phone"], [EMAIL, PHONE], [f" {EMAIL}", 447700900123], [None, "007"]], "a.xlsx")
    source = open_source(path.rename(tmp_path / name), SourceOptions(country="GB"))
    assert source.mapping.names_by_kind() == {"email": ["email"], "phone_number": ["phone"]}
    found = rows_of(source)
    assert [row["row"] for row in found] == [1, 2, 3]
    assert _cells(found) == [[EMAIL, PHONE], [f" {EMAIL}", "447700900123"], [None, "007"]]
    assert source.description["format"] == "spreadsheet"
    assert source.rows_read == 3


@pytest.mark.parametrize(
    ("stored", "text"),
    [
        ("447700900123", "447700900123"),
        ("4.47700900123E+11", "447700900123"),
        ("447700900123.0", "447700900123"),
        ("9007199254740991", "9007199254740991"),
        ("0044", "44"),
        ("-12", "-12"),
    ],
)
def test_whole_numbers_are_their_digits(build: Build, rows_of: Rows, stored: str, text: str) -> None:
    """However they are written, none in another form."""
    path = build(HEADER + _row(2) + _row(3, phone=f'<c r="B3"><v>{stored}</v></c>'))
    assert _cells(rows_of(open_source(path, MAPPED)))[1][-1] == text


@pytest.mark.parametrize(
    ("cell", "reason"),
    [
        ("<v>447700900123.5</v>", "excel_mangled"),
        ("<v>9007199254740992</v>", "excel_mangled"),
        ("<v>4.477009001234567E+19</v>", "excel_mangled"),
        ("<v>1E+300</v>", "excel_mangled"),
    ],
)
def test_numbers_that_lost_digits_are_faults(build: Build, faults_of: Faults, cell: str, reason: str) -> None:
    """Told with row and column, and not read."""
    path = build(HEADER + _row(2) + _row(3, phone=f'<c r="B3">{cell}</c>'))
    assert faults_of(open_source(path, MAPPED)) == [(2, "phone", reason)]


def test_dates_and_truths_are_no_identifiers(tmp_path: Path, faults_of: Faults, rows_of: Rows) -> None:
    """As digits they would pass for phone numbers."""
    day = datetime.date(2024, 2, 3)
    path = _sheet(tmp_path, [["email", "phone"], [EMAIL, PHONE], [EMAIL, day], [EMAIL, True], [EMAIL, PHONE]])
    source = open_source(path, MAPPED)
    assert faults_of(source) == [(2, "phone", "ragged"), (3, "phone", "ragged")]
    assert [row["row"] for row in rows_of(source)] == [1, 4]


def test_many_of_them_refuse_the_list(tmp_path: Path, rows_of: Rows) -> None:
    """It is the wrong column, and the message says what to do."""
    rows = [[EMAIL, datetime.date(2024, 2, 3)] for _ in range(30)]
    source = open_source(_sheet(tmp_path, [["email", "phone"], [EMAIL, PHONE], *rows]), SourceOptions())
    with pytest.raises(SourceRefused, match="30 of 31 rows hold a date") as caught:
        rows_of(source)
    assert caught.value.row == 2


@pytest.mark.parametrize("error", ["#N/A", "#REF!", "#DIV/0!", "#VALUE!", "#NAME?", "#NUM!", "#NULL!"])
def test_errors_of_formulas_are_the_texts_that_people_see(build: Build, rows_of: Rows, error: str) -> None:
    """The rules of every kind reject them as placeholders; the row keeps its other identifiers."""
    path = build(HEADER + _row(2) + _row(3, phone=f'<c r="B3" t="e"><f>A1</f><v>{error}</v></c>'))
    assert _cells(rows_of(open_source(path, MAPPED)))[1] == [EMAIL, error]


@pytest.mark.parametrize("written", ["<f>A1</f><v></v>", "<f>A1</f><v/>", "<f>A1</f>", '<f t="shared" si="0"/>'])
def test_a_formula_that_was_never_computed_is_a_fault(
    build: Build, faults_of: Faults, rows_of: Rows, written: str
) -> None:
    """Programs that write workbooks leave the value out. One that comes to an empty text has a blank cell."""
    path = build(HEADER + _row(2) + _row(3, phone=f'<c r="B3">{written}</c>'))
    assert faults_of(open_source(path, MAPPED)) == [(2, "phone", "ragged")]
    path = build(HEADER + _row(2) + _row(3, phone=f'<c r="B3" t="str">{written}</c>'))
    assert _cells(rows_of(open_source(path, MAPPED)))[1] == [EMAIL, None]


def test_a_list_of_formulas_that_were_never_computed_is_refused(build: Build, rows_of: Rows) -> None:
    """It had blank cells, and was read without them."""
    rows = "".join(_row(number, phone=f'<c r="B{number}"><f>A1</f><v></v></c>') for number in range(2, 32))
    with pytest.raises(SourceRefused, match=r"30 of 30 rows hold .* a formula that was never computed") as caught:
        rows_of(open_source(build(HEADER + rows), MAPPED))
    assert "opens and saves the file" in caught.value.hint


def test_an_unknown_error_is_a_fault(build: Build, faults_of: Faults) -> None:
    """It could pass for an id."""
    path = build(HEADER + _row(2) + _row(3, phone='<c r="B3" t="e"><v>#BUSY!</v></c>'))
    assert faults_of(open_source(path, MAPPED)) == [(2, "phone", "ragged")]


def test_blank_rows_between_others_count(build: Build, rows_of: Rows) -> None:
    """So that a row has one distance from its number in the sheet; those at the end are none."""
    path = build(HEADER + _row(2) + _row(3, email=None) + _row(6) + '<row r="7"><c r="A7" s="1"/></row><row r="9"/>')
    source = open_source(path, MAPPED)
    found = rows_of(source)
    assert [(row["row"], row["c0"]) for row in found] == [(1, EMAIL), (2, None), (3, None), (4, None), (5, EMAIL)]
    assert source.rows_read == 5
    assert any("3 rows are blank between others, the first is row 3 of the sheet" in note for note in source.notes)
    assert "row 1 is row 2 of the sheet 'People'" in source.notes


def test_a_title_is_no_header(tmp_path: Path, rows_of: Rows) -> None:
    """A row of one cell above others of several."""
    path = _sheet(tmp_path, [["Customers of spring"], [], ["email", "phone"], [EMAIL, PHONE]])
    source = open_source(path, SourceOptions())
    assert _cells(rows_of(source)) == [[EMAIL, PHONE]]
    assert "what stands above row 3 of the sheet is taken for its title" in source.notes
    assert "row 1 is row 4 of the sheet 'Sheet'" in source.notes


def test_a_list_without_a_header(tmp_path: Path, rows_of: Rows) -> None:
    """The first row is a person; a first row of one address is no title."""
    for rows in ([[EMAIL, PHONE], [EMAIL, PHONE]], [[EMAIL], [EMAIL, PHONE], [EMAIL, PHONE]]):
        found = rows_of(open_source(_sheet(tmp_path, rows), SourceOptions()))
        assert [row["row"] for row in found] == list(range(1, len(rows) + 1))


@pytest.mark.parametrize("ranges", ["A2:A3", "A3:B4", "A1:A2"])
def test_a_cell_over_several_rows_refuses_the_list(build: Build, rows_of: Rows, ranges: str) -> None:
    """Which of them has its value?"""
    behind = f'<mergeCells count="1"><mergeCell ref="{ranges}"/></mergeCells>'
    rows = HEADER + _row(2) + _row(3) + _row(4)
    source = open_source(build(sheets={"People": sheet_xml(rows, behind=behind)}), SourceOptions())
    with pytest.raises(SourceRefused, match="column email is merged over rows"):
        rows_of(source)


@pytest.mark.parametrize("ranges", ["A1:B1", "A2:B2", "D2:D3"])
def test_other_merged_cells_are_no_fault(build: Build, rows_of: Rows, ranges: str) -> None:
    """In one row, or in a column that is not read."""
    behind = f'<mergeCells count="1"><mergeCell ref="{ranges}"/></mergeCells>'
    source = open_source(
        build(sheets={"People": sheet_xml(HEADER + _row(2) + _row(3), behind=behind)}), SourceOptions()
    )
    assert len(rows_of(source)) == 2


def test_hidden_rows_and_an_empty_column_are_told(build: Build, rows_of: Rows) -> None:
    """A filter hides rows of the list; a second table may stand beside it."""
    rows = HEADER + '<row r="2" hidden="1"><c r="A2" t="str"><v>bea@example.com</v></c><c r="D2"><v>5</v></c></row>'
    source = open_source(build(rows), SourceOptions())
    assert len(rows_of(source)) == 1
    assert "rows that are hidden in the sheet are read like the others: 1" in source.notes
    assert any("column C of the sheet is empty" in note for note in source.notes)


def test_shared_texts_are_found_by_their_places(build: Build, rows_of: Rows) -> None:
    """In several fonts they are one text; readings of East Asian texts are none; `_x000D_` is a letter."""
    strings = strings_xml(
        "<si><t>email</t></si><si><r><rPr><b/></rPr><t>bea@</t></r><r><t>example.com</t></r></si>"
        "<si><t>a&amp;b@example.com</t><rPh sb='0' eb='1'><t>x</t></rPh></si>"
        "<si><t>b_x000A__x005F_x@example.com</t></si><si/>"
    )
    cells = "".join(f'<row r="{n + 1}"><c r="A{n + 1}" t="s"><v>{n}</v></c></row>' for n in range(5))
    found = rows_of(open_source(build(cells, strings=strings), SourceOptions()))
    assert _cells(found) == [["bea@example.com"], ["a&b@example.com"], ["b\n_x@example.com"], [""]]


@pytest.mark.parametrize("place", ["7", "-1", "x", "1.5"])
def test_a_shared_text_that_is_not_there_is_damage(build: Build, place: str) -> None:
    """Nothing is taken in its place."""
    path = build(
        HEADER + _row(2, phone=f'<c r="B2" t="s"><v>{place}</v></c>'), strings=strings_xml("<si><t>a</t></si>")
    )
    with pytest.raises(SourceRefused, match="damaged: a cell shares a text that is not there"):
        open_source(path, SourceOptions())


def test_values_in_a_cell_are_divided(tmp_path: Path, rows_of: Rows) -> None:
    """As `split_cells=` says."""
    path = _sheet(tmp_path, [["email"], [f"{EMAIL}|bo@example.com"], [None], [EMAIL]])
    source = open_source(path, SourceOptions(split_cells="|"))
    assert _cells(rows_of(source)) == [[[EMAIL, "bo@example.com"]], [None], [[EMAIL]]]


def test_a_sheet_is_read_again_and_again(tmp_path: Path, rows_of: Rows) -> None:
    """With the same rows, and all of its bytes."""
    path = _sheet(tmp_path, [["email"], *([f"p{n}@example.com"] for n in range(50))])
    source = open_source(path, SourceOptions())
    assert rows_of(source) == rows_of(source)
    assert source.bytes_read == source.bytes_total == path.stat().st_size


def test_a_file_that_changes_meanwhile_is_refused(tmp_path: Path, rows_of: Rows) -> None:
    """Between the look and the reading, and while it is read."""
    path = _sheet(tmp_path, [["email"], [EMAIL]])
    source = open_source(path, SourceOptions())
    os.utime(_sheet(tmp_path, [["email"], [EMAIL], [EMAIL]]), ns=(1, 1))
    with pytest.raises(SourceRefused, match="changed while it was read"):
        rows_of(source)


@pytest.mark.parametrize(
    "rows",
    [
        _row(3) + _row(2),
        _row(2) + _row(2),
        '<row r="2"><c r="B2"><v>1</v></c><c r="A2"><v>1</v></c></row>',
        '<row r="2"><c r="A3"><v>1</v></c></row>',
        '<row r="2"><c r="A2" t="x"><v>1</v></c></row>',
        '<row r="1048577"><c r="A1048577"><v>1</v></c></row>',
        '<row r="2"><c r="XFE2"><v>1</v></c></row>',
        '<row r="2"><c r="A2"><v>1</c></row>',
        '<row r="2"><c r="A2" s="x"><v>1</v></c></row>',
        '<row r="2"><c r="B2"><v>twelve</v></c></row>',
    ],
)
def test_a_damaged_sheet_is_refused(build: Build, rows_of: Rows, rows: str) -> None:
    """Rows and cells stand in their order, and where they say."""
    with pytest.raises(SourceRefused, match="the workbook is damaged"):
        rows_of(open_source(build(HEADER + rows), SourceOptions()))
