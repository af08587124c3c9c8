"""Sheets as sources: cells as they are stored, rows by their numbers, and nothing altered in silence."""

from __future__ import annotations

import datetime
import io
import os
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import fastexcel
import openpyxl
import pytest
from openpyxl.utils.datetime import CALENDAR_MAC_1904, CALENDAR_WINDOWS_1900

from audiencekit.errors import SourceRefused, UsageError
from audiencekit.identifiers.kinds import Kind
from audiencekit.pipeline import check
from audiencekit.settings import load_settings
from audiencekit.sources.excel import fast_rows, workbook as container, xml_rows
from audiencekit.sources.excel.sheet_cells import letters_of
from audiencekit.sources.excel.workbook import is_date_format
from audiencekit.sources.options import SourceOptions
from audiencekit.sources.source import Source, open_source
from tests.cases import each_case
from tests.sources.excel.conftest import MAIN, Build, packed, parts, sheet_xml, strings_xml

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


@each_case("name", ["list.xlsx", "list.xlsm", "list", "list.zip"])
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


@each_case(
    "stored, text",
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


@each_case(
    "cell, reason",
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
    assert faults_of(source) == [(2, "phone", "not_text"), (3, "phone", "not_text")]
    assert _cells(rows_of(source)) == [[EMAIL, PHONE], [EMAIL, None], [EMAIL, None], [EMAIL, PHONE]]


def test_cells_that_cannot_be_read_are_told_however_few(tmp_path: Path) -> None:
    """Their rows go on."""
    day = datetime.date(2024, 2, 3)
    rows = [[f"p{n}@example.com", day if n < 3 else f"+1212234560{n}"] for n in range(10)]
    plan = check(_sheet(tmp_path, [["email", "phone"], *rows]), settings=load_settings({}, directory=tmp_path))
    assert [(warning.code, warning.column, warning.count) for warning in plan.warnings] == [("not_text", "phone", 3)]
    assert (plan.records, plan.rejections) == (10, {"not_text": 3})


def test_false_is_no_value(tmp_path: Path, faults_of: Faults, rows_of: Rows) -> None:
    """Odoo writes it where one is missing: the rest of the row counts."""
    path = _sheet(tmp_path, [["email", "phone"], [EMAIL, PHONE], [EMAIL, False], [False, PHONE]])
    source = open_source(path, MAPPED)
    assert faults_of(source) == []
    assert _cells(rows_of(source)) == [[EMAIL, PHONE], [EMAIL, "n/a"], ["n/a", PHONE]]


def test_many_of_them_refuse_a_list_of_people_to_keep_or_take_out(tmp_path: Path, rows_of: Rows) -> None:
    """A person who cannot be read from it would be missed."""
    rows = [[EMAIL, datetime.date(2024, 2, 3)] for _ in range(30)]
    lenient = open_source(_sheet(tmp_path, [["email", "phone"], [EMAIL, PHONE], *rows]), SourceOptions(puts_in=True))
    assert len(rows_of(lenient)) == 31
    source = open_source(_sheet(tmp_path, [["email", "phone"], [EMAIL, PHONE], *rows]), SourceOptions())
    with pytest.raises(SourceRefused, match="30 of 31 rows hold a date") as caught:
        rows_of(source)
    assert caught.value.row == 2


@each_case("error", ["#N/A", "#REF!", "#DIV/0!", "#VALUE!", "#NAME?", "#NUM!", "#NULL!"])
def test_errors_of_formulas_are_the_texts_that_people_see(build: Build, rows_of: Rows, error: str) -> None:
    """The rules of every kind reject them as placeholders; the row keeps its other identifiers."""
    path = build(HEADER + _row(2) + _row(3, phone=f'<c r="B3" t="e"><f>A1</f><v>{error}</v></c>'))
    assert _cells(rows_of(open_source(path, MAPPED)))[1] == [EMAIL, error]


@each_case("written", ["<f>A1</f><v></v>", "<f>A1</f><v/>", "<f>A1</f>", '<f t="shared" si="0"/>'])
def test_a_formula_that_was_never_computed_is_a_fault(
    build: Build, faults_of: Faults, rows_of: Rows, written: str
) -> None:
    """Programs that write workbooks leave the value out. One that comes to an empty text has a blank cell."""
    path = build(HEADER + _row(2) + _row(3, phone=f'<c r="B3">{written}</c>'))
    assert faults_of(open_source(path, MAPPED)) == [(2, "phone", "not_text")]
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
    assert faults_of(open_source(path, MAPPED)) == [(2, "phone", "not_text")]


def test_blank_rows_between_others_are_numbered_and_not_counted(build: Build, rows_of: Rows) -> None:
    """So a row has one distance from its number in the sheet."""
    path = build(HEADER + _row(2) + _row(3, email=None) + _row(6) + '<row r="7"><c r="A7" s="1"/></row><row r="9"/>')
    source = open_source(path, MAPPED)
    found = rows_of(source)
    assert [(row["row"], row["c0"]) for row in found] == [(1, EMAIL), (5, EMAIL)]
    assert source.rows_read == 2
    assert any("3 rows are blank between others, the first is row 3 of the sheet" in note for note in source.notes)
    assert "row 1 is row 2 of the sheet 'People'" in source.notes


def test_a_title_is_no_header(tmp_path: Path, rows_of: Rows) -> None:
    """A row of one cell above others of several."""
    path = _sheet(tmp_path, [["Customers of spring"], [], ["email", "phone"], [EMAIL, PHONE]])
    source = open_source(path, SourceOptions())
    assert _cells(rows_of(source)) == [[EMAIL, PHONE]]
    assert "the rows above row 3 of the sheet are taken for its title" in source.notes
    assert "row 1 is row 4 of the sheet 'Sheet'" in source.notes


def test_a_list_without_a_header(tmp_path: Path, rows_of: Rows) -> None:
    """The first row is a person; a first row of one address is no title."""
    for rows in ([[EMAIL, PHONE], [EMAIL, PHONE]], [[EMAIL], [EMAIL, PHONE], [EMAIL, PHONE]]):
        found = rows_of(open_source(_sheet(tmp_path, rows), SourceOptions()))
        assert [row["row"] for row in found] == list(range(1, len(rows) + 1))


@each_case("ranges", ["A2:A3", "A3:B4", "A1:A2"])
def test_a_cell_over_several_rows_refuses_the_list(build: Build, rows_of: Rows, ranges: str) -> None:
    """Which of them has its value?"""
    behind = f'<mergeCells count="1"><mergeCell ref="{ranges}"/></mergeCells>'
    rows = HEADER + _row(2) + _row(3) + _row(4)
    source = open_source(build(sheets={"People": sheet_xml(rows, behind=behind)}), SourceOptions())
    with pytest.raises(SourceRefused, match="column email is merged over rows"):
        rows_of(source)


@each_case("ranges", ["A1:B1", "A2:B2", "D2:D3"])
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


@each_case("place", ["7", "-1", "x", "1.5"])
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
    assert _cells(rows_of(source)) == [[[EMAIL, "bo@example.com"]], [[EMAIL]]]


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


@each_case(
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


EMPTY = sheet_xml('<row r="1"><c r="A1" s="0"/></row>')
BEA = sheet_xml(
    '<row r="1"><c r="A1" t="str"><v>email</v></c></row><row r="2"><c r="A2" t="str"><v>bea@example.com</v></c></row>'
)
BO = BEA.replace("bea@", "bo@")


@each_case("sheets", [{"A": BEA}, {"A": EMPTY, "B": BEA}, {"H!": BO, "B": BEA}, {"B": BEA, "C": EMPTY}])
def test_the_only_visible_sheet_with_a_cell_is_the_list(build: Build, rows_of: Rows, sheets: dict[str, str]) -> None:
    """Whatever stands beside it; hidden ones are told."""
    source = open_source(build(sheets=sheets), SourceOptions())
    assert [row["c0"] for row in rows_of(source)] == ["bea@example.com"]
    assert any("not read, since hidden: 'H'" in note for note in source.notes) == ("H!" in sheets)


def test_of_several_none_is_guessed(build: Build) -> None:
    """They are named, and the option that decides."""
    with pytest.raises(SourceRefused, match="2 sheets with cells: 'A', 'B'") as caught:
        open_source(build(sheets={"A": BEA, "B": BO, "H!": BO}), SourceOptions())
    assert "sheet='A'" in caught.value.hint


@each_case("name, email", [("A", "bea"), ("b", "bo"), (" B ", "bo"), ("H", "bo")])
def test_a_sheet_is_named(build: Build, rows_of: Rows, name: str, email: str) -> None:
    """In capitals or not; a hidden one, too, which is told."""
    source = open_source(build(sheets={"A": BEA, "B": BO, "H!": BO}), SourceOptions(sheet=name))
    assert [row["c0"] for row in rows_of(source)] == [f"{email}@example.com"]
    assert any("is hidden, and read because it was named" in note for note in source.notes) == (name == "H")


@each_case(
    "sheet, emails",
    [("*", ["bea", "bo"]), (("*",), ["bea", "bo"]), (("b", "A"), ["bo", "bea"]), (["A", "H"], ["bea", "bo"])],
)
def test_several_sheets_are_one_list(build: Build, rows_of: Rows, sheet: Any, emails: list[str]) -> None:
    """In the order in which they are named; each says where its rows begin."""
    sheets = {"A": BEA, "B": BO, "C": EMPTY, "H!": BO}
    source = open_source(build(sheets=sheets), SourceOptions(sheet=sheet))
    assert [(row["row"], row["c0"]) for row in rows_of(source)] == [
        (number, f"{email}@example.com") for number, email in enumerate(emails, 1)
    ]
    assert [(part.name.rpartition(", ")[2], part.first_row) for part in source.parts] == [
        (f"sheet {name}", number)
        for number, name in enumerate(["A", "B"] if "*" in sheet else [one.upper() for one in sheet], 1)
    ]


def test_sheets_with_other_headers_are_no_list(build: Build) -> None:
    """Those that differ from the first are named."""
    sheets = {"A": BEA, "B": BO.replace("email", "mail"), "C": BO, "D": BO.replace("email", "E-Mail")}
    with pytest.raises(SourceRefused, match="header of sheet 'B' and 'D' is not that of sheet 'A'"):
        open_source(build(sheets=sheets), SourceOptions(sheet="*"))


def test_several_sheets_of_a_handle_are_refused(build: Build) -> None:
    """It can be read once."""
    file = io.BytesIO(Path(build(sheets={"A": BEA, "B": BO})).read_bytes())
    with pytest.raises(SourceRefused, match="from a file only"):
        open_source(file, SourceOptions(sheet="*"))


def test_a_name_that_no_sheet_has_is_refused(build: Build) -> None:
    """With the names that there are."""
    with pytest.raises(UsageError, match="no such sheet") as caught:
        open_source(build(sheets={"A": BEA, "H!": BO}), SourceOptions(sheet="C"))
    assert "'A', 'H'" in caught.value.hint


@each_case(
    "sheets, words",
    [
        ({"A": EMPTY}, "'A' is empty"),
        ({"A": EMPTY, "B": EMPTY}, "no sheet with a cell"),
        ({"H!": BEA}, "hidden are 'H'"),
    ],
)
def test_a_workbook_without_a_list_is_refused(build: Build, sheets: dict[str, str], words: str) -> None:
    """An empty sheet is no list of no one."""
    with pytest.raises(SourceRefused, match=words):
        open_source(build(sheets=sheets), SourceOptions())


def test_the_option_is_for_workbooks(tmp_path: Path) -> None:
    """Of other files it would be ignored."""
    (tmp_path / "a.csv").write_text("email\nbea@example.com\n")
    with pytest.raises(UsageError, match="`sheet=` is for spreadsheets"):
        open_source(tmp_path / "a.csv", SourceOptions(sheet="A"))
    with pytest.raises(UsageError, match="names no sheet"):
        SourceOptions(sheet=" ")


def test_tables_are_told(build: Build, tmp_path: Path) -> None:
    """Two in a sheet may be two lists."""
    workbook = openpyxl.Workbook()
    for row in (["email", None, "shop"], ["bea@example.com", None, "A"]):
        workbook.active.append(row)
    for name, reach in (("People", "A1:A2"), ("Shops", "C1:C2")):
        workbook.active.add_table(openpyxl.worksheet.table.Table(displayName=name, ref=reach))
    workbook.save(tmp_path / "two.xlsx")
    notes = open_source(tmp_path / "two.xlsx", SourceOptions()).notes
    assert "the sheet holds 2 tables (A1:A2, C1:C2), which are read as one list" in notes


def _changed(data: bytes, name: str, rewrite: Callable[[zipfile.ZipInfo], None]) -> bytes:
    """The archive with another entry in its directory for the member `name`."""
    target = io.BytesIO(data)
    with zipfile.ZipFile(target, "a") as archive:
        rewrite(archive.getinfo(name))
        archive._didModify = True  # type: ignore[attr-defined]
    return target.getvalue()


SHEET = "xl/worksheets/sheet1.xml"
WHOLE = packed(parts({"A": BEA}, strings=strings_xml("<si><t>a</t></si>")))


@each_case(
    "data, words",
    [
        (WHOLE[: len(WHOLE) // 2], "damaged"),
        (_changed(WHOLE, SHEET, lambda entry: setattr(entry, "file_size", 10)), "damaged"),
        (_changed(WHOLE, SHEET, lambda entry: setattr(entry, "file_size", entry.file_size + 10)), "damaged"),
        (_changed(WHOLE, SHEET, lambda entry: setattr(entry, "CRC", 1)), "damaged"),
        (_changed(WHOLE, SHEET, lambda entry: setattr(entry, "flag_bits", 1)), "encrypted"),
        (_changed(WHOLE, SHEET, lambda entry: setattr(entry, "file_size", 1 << 34)), "more than 200 times its size"),
        (packed({k: v for k, v in parts({"A": BEA}).items() if k != SHEET}), "a part of it is missing"),
        (packed({**parts({"A": BEA}), "_rels/.rels": "<Relationships/>"}), "does not say where its sheets are"),
        (packed({**parts({"A": BEA}), "xl/workbook.xml": "<document/>"}), "no workbook"),
        (packed({**parts({"A": BEA}), "xl/workbook.xml": '<!DOCTYPE a [<!ENTITY b "c">]><a/>'}), "document type"),
        (packed({**parts({"A": BEA}), "xl/workbook.xml": "<workbook>"}), "its XML is not sound"),
        *(
            (packed({**parts({"A": BEA}), part: "<a>" * 200 + "</a>" * 200}), "elements of XML within each other")
            for part in (SHEET, "xl/workbook.xml", "_rels/.rels")
        ),
        (packed({k: v.replace("workbook.xml", "workbook.bin") for k, v in parts({"A": BEA}).items()}), "xlsb"),
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(512), "an old Excel workbook .xls., or one with a password"),
        (packed({"mimetype": "application/vnd.oasis.opendocument.spreadsheet", "content.xml": ""}), "OpenDocument"),
    ],
)
def test_a_damaged_workbook_is_refused(tmp_path: Path, rows_of: Rows, data: bytes, words: str) -> None:
    """At the latest when it was read, and with a word on what to do."""
    (tmp_path / "list.xlsx").write_bytes(data)
    with pytest.raises(SourceRefused, match=words) as caught:
        rows_of(open_source(tmp_path / "list.xlsx", SourceOptions()))
    assert caught.value.hint


def test_two_parts_of_one_name_are_refused(tmp_path: Path) -> None:
    """Programs take one or the other."""
    target = io.BytesIO(WHOLE)
    with zipfile.ZipFile(target, "a") as archive, pytest.warns(UserWarning, match="Duplicate name"):
        archive.writestr(SHEET, BO)
    (tmp_path / "list.xlsx").write_bytes(target.getvalue())
    with pytest.raises(SourceRefused, match="two parts of it have the same name"):
        open_source(tmp_path / "list.xlsx", SourceOptions())


def test_bombs_are_refused_before_they_cost_memory(
    build: Build, monkeypatch: pytest.MonkeyPatch, rows_of: Rows
) -> None:
    """Many shared texts, a row without an end, a list that is held as a whole."""
    strings = strings_xml("<si><t>a</t></si>" * 10_000)
    for place, name, most, words in (
        (xml_rows, "MAX_STRINGS_BYTES", 100_000, "the texts of the workbook take more than"),
        (container, "MAX_SMALL_PART_BYTES", 100, "a list in the workbook takes more than"),
    ):
        path = build(sheets={"A": BEA}, strings=strings)
        monkeypatch.setattr(place, name, most)
        with pytest.raises(SourceRefused, match=words):
            open_source(path, SourceOptions())
        monkeypatch.undo()
    monkeypatch.setattr(fast_rows, "MAX_UNIT_BYTES", 1_000_000)
    row = '<row r="1">' + '<c r="A1" t="str"><v>x</v></c>' * 200_000
    with pytest.raises(SourceRefused, match="takes more than 1,000,000 bytes"):
        open_source(build(row), SourceOptions())


def test_long_texts_that_many_cells_share_are_refused(build: Build, rows_of: Rows) -> None:
    """A text of a megabyte in each of a thousand cells is a gigabyte; in few of them it is too large for its row."""
    strings = strings_xml(f"<si><t>email</t></si><si><t>{'x' * 1_000_000}</t></si>")
    header = '<row r="1"><c r="A1" t="s"><v>0</v></c></row>'
    rows = [header, *(f'<row r="{n}"><c r="A{n}" t="s"><v>1</v></c></row>' for n in range(2, 1_000))]
    with pytest.raises(SourceRefused, match="share long texts"):
        open_source(build("".join(rows), strings=strings), SourceOptions())
    wide = "".join(f'<c r="{letters_of(n)}2" t="s"><v>1</v></c>' for n in range(100))
    with pytest.raises(SourceRefused, match="the first rows of the sheet hold more than"):
        open_source(build(f'{header}<row r="2">{wide}</row>', strings=strings), SourceOptions())


@each_case("place", ["9" * 18, "9" * 30])
def test_a_place_beyond_all_numbers_is_damage(build: Build, place: str) -> None:
    """It is told as such, and not quoted."""
    with pytest.raises(SourceRefused, match="shares a text that is not there") as caught:
        open_source(build(f'<row r="1"><c r="A1" t="s"><v>{place}</v></c></row>'), SourceOptions())
    assert "999" not in str(caught.value)


def test_a_stray_cell_costs_nothing(build: Build, rows_of: Rows) -> None:
    """Others reserve memory for all cells between the first and the last."""
    stray = '<row r="200000"><c r="AAA200000"><v>1</v></c></row>'
    path = build(sheets={"A": BEA.replace("</sheetData>", f"{stray}</sheetData>")})
    source = open_source(path, SourceOptions())
    assert source.mapping.names_by_kind() == {"email": ["email"]}
    assert sum(row["c0"] is not None for row in rows_of(source)) == 1
    assert source.rows_read == 2


def test_a_sheet_with_blank_rows_is_followed_by_another(build: Build, rows_of: Rows) -> None:
    """No row has the number of one in another file."""
    path = build(HEADER + _row(2) + _row(6))
    other = path.with_name("other.xlsx")
    other.write_bytes(path.read_bytes())
    joined = open_source([path, other], MAPPED)
    assert [row["row"] for row in rows_of(joined)] == [1, 5, 6, 10]
    assert [(part.first_row, part.rows) for part in joined.parts] == [(1, 2), (6, 2)]
    assert joined.rows_read == 4


def test_a_stray_cell_far_below_refuses_nothing(tmp_path: Path) -> None:
    """It is one row without an identifier."""
    workbook = openpyxl.Workbook()
    sheet = workbook.active
    for row in [["email", "name"], *([f"p{n}@example.com", "n"] for n in range(30))]:
        sheet.append(row)
    sheet["D9000"] = " "
    workbook.save(tmp_path / "list.xlsx")
    plan = check(tmp_path / "list.xlsx", settings=load_settings({}, directory=tmp_path))
    assert (plan.verdict, plan.rows.read, plan.rejections) == ("ready", 31, {"no_identifier": 1})


@each_case("epoch", [CALENDAR_WINDOWS_1900, CALENDAR_MAC_1904])
def test_a_date_counts_from_the_epoch_of_its_workbook(tmp_path: Path, epoch: datetime.datetime) -> None:
    """It may name a column."""
    workbook = openpyxl.Workbook()
    workbook.epoch = epoch
    workbook.active.append(["email", datetime.date(2024, 2, 3)])
    workbook.active.append([EMAIL, "x"])
    workbook.save(tmp_path / "list.xlsx")
    assert open_source(tmp_path / "list.xlsx", SourceOptions(ignore=("2024-02-03",))).mapping.columns


@each_case("code, is_date", [
        ("yyyy-mm-dd", True), ("dd/mm/yy;@", True), ("[$-409]h:mm AM/PM", True), ("[h]:mm:ss", True), ('"Day" d', True),
        ("General", False), ("0.00", False), ("@", False), ('0 "days"', False), ("[Red]0", False), (r"0\d", False),
        ('_-* #,##0.00 "€"_-', False), ("[$€-407] 0", False), ("0.00E+00", False), ("mm:ss.0", True),
    ])  # fmt: skip
def test_formats_that_show_a_date(code: str, is_date: bool) -> None:
    """By letters outside of literal texts, colours and currencies."""
    assert is_date_format(code) is is_date


def test_styles_say_which_numbers_are_dates(build: Build, faults_of: Faults) -> None:
    """Built-in formats and own ones; those of other lists of styles do not count."""
    styles = (
        f'<styleSheet xmlns="{MAIN}"><numFmts><numFmt numFmtId="164" formatCode="d.m.yy"/></numFmts>'
        '<cellStyleXfs><xf numFmtId="14"/><xf numFmtId="14"/></cellStyleXfs>'
        '<cellXfs><xf numFmtId="0"/><xf numFmtId="22"/><xf numFmtId="164"/><xf numFmtId="2"/></cellXfs></styleSheet>'
    )
    rows = "".join(f'<row r="{n + 2}"><c r="A{n + 2}" s="{n}"><v>44770</v></c></row>' for n in range(4))
    source = open_source(
        build(f'<row r="1"><c r="A1" t="str"><v>day</v></c></row>{rows}', styles=styles),
        SourceOptions(columns=((Kind.PARTNER_USER_ID, "day"),)),
    )
    assert faults_of(source) == [(2, "day", "not_text"), (3, "day", "not_text")]


def test_a_date_names_a_column_as_iso_8601(tmp_path: Path, rows_of: Rows) -> None:
    """With or without a time."""
    workbook = openpyxl.Workbook()
    workbook.active.append(["email", datetime.date(2024, 2, 3), datetime.datetime(2024, 2, 4, 5, 6)])  # noqa: DTZ001
    workbook.active.append(["bea@example.com", "x", "y"])
    workbook.save(tmp_path / "list.xlsx")
    source = open_source(tmp_path / "list.xlsx", SourceOptions(ignore=("2024-02-03", "2024-02-04")))
    assert [row["c0"] for row in rows_of(source)] == ["bea@example.com"]


def test_it_reads_as_another_reader_does(tmp_path: Path, rows_of: Rows) -> None:
    """Texts of any letters and whole numbers, by openpyxl into the file and by fastexcel out of it."""
    texts = ["bea@example.com", "ä & <b>", "\U0001f600", " x ", "_x0041_", "a\nb", "007", "é" * 300]
    workbook = openpyxl.Workbook()
    workbook.active.append(["email", "note"])
    for number, text in enumerate(texts):
        workbook.active.append([f"p{number}@example.com", text if number % 2 else 447700900000 + number])
        workbook.active.append([f"q{number}@example.com", text])
    workbook.save(tmp_path / "list.xlsx")
    expected = fastexcel.read_excel(tmp_path / "list.xlsx").load_sheet(0, header_row=0, dtypes="string").to_arrow()
    source = open_source(tmp_path / "list.xlsx", SourceOptions(columns=((Kind.PARTNER_USER_ID, "note"),)))
    assert [row["c1"] for row in rows_of(source)] == expected.column(1).to_pylist()
