"""Rows read in bulk are those that a parser finds, and what is not plain is left to it."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import example, given, settings, strategies as st

from audiencekit.errors import SourceRefused
from audiencekit.sources.excel import xml_rows as xml_rows
from audiencekit.sources.excel.fast_rows import Units, plain_rows
from audiencekit.sources.excel.sheet_cells import CellType, SheetRows, letters_of
from audiencekit.sources.excel.xml_rows import AnyRows, SheetRowReader, plain_texts
from tests.cases import each_case
from tests.examples import examples
from tests.sources.excel.conftest import MAIN, sheet_xml, strings_xml

TEXTS = st.sampled_from(["1", "", "bea@example.com", "a\r\nb\r", "&amp;&#228;", "ä", "\U0001f600", " x ", "&lt;v&gt;"])
TYPES = st.sampled_from(["", ' t="s"', ' t="str"', ' t="n"', ' t="b"', ' t="e"', ' t="d"'])
STYLES = st.sampled_from(["", ' s="0"', ' s="12"'])
INNER = st.sampled_from(
    ["<v>{}</v>", "<f>A1</f><v>{}</v>", '<f t="shared" si="0"/><v>{}</v>', "<v>{}</v>", "<v/>", "<f/>"]
)
FONT = '<rPr><b/><sz val="11" /><color theme="1"/><rFont val="Arial"/></rPr>'
INLINE = st.sampled_from(
    [
        *(
            "<is><t>{}</t></is>",
            '<is><t xml:space="preserve">{}</t></is>',
            "<is><t/></is>",
            "<is><r><t>{}</t></r></is>",
        ),
        *(f"<is><r>{FONT}<t>{{}}</t></r><r><rPr/><t>é &amp;</t></r></is>", "<is><r><t/></r><r><t>b{}</t></r></is>"),
    ]
)


@st.composite
def rows_xml(draw: st.DrawFn) -> str:
    written, are_named = "", draw(st.booleans())
    for number in sorted(draw(st.sets(st.integers(1, 40), min_size=1, max_size=6))):
        cells = ""
        for place in sorted(draw(st.sets(st.sampled_from([0, 1, 2, 25, 26, 701, 702, 16_383]), max_size=4))):
            name = f' r="{letters_of(place)}{number}"' if are_named else ""
            style = draw(STYLES)
            if draw(st.booleans()):
                cells += f'<c{name}{style} t="inlineStr">{draw(INLINE).format(draw(TEXTS))}</c>'
            elif draw(st.booleans()):
                cells += f"<c{name}{style}{draw(TYPES)}>{draw(INNER).format(draw(TEXTS))}</c>"
            else:
                cells += f"<c{name}{style}/>"
        hidden = draw(st.sampled_from(["", ' hidden="1"', ' hidden="true"', ' spans="1:2" ht="15"']))
        row = f' r="{number}"{hidden}' if are_named else hidden
        written += f"<row{row}>{cells}</row>" if cells else f"<row{row}/>"
    return written


def _told(rows: list[SheetRows]) -> list[Any]:
    cells = [
        (int(one.numbers[at]), place, kind, style, text)
        for one in rows
        for place, column in sorted(one.columns.items())
        for at, kind, style, text in zip(
            column.at.tolist(), column.types.tolist(), column.styles.tolist(), column.texts.to_pylist(), strict=True
        )
    ]
    facts = [number for one in rows for number in one.numbers.tolist()], sum(one.hidden for one in rows)
    return [*facts, max(one.width for one in rows), max(one.last for one in rows), *sorted(cells)]


def _parsed(rows: str) -> list[SheetRows]:
    return list(AnyRows(None).read([sheet_xml(rows).encode()]))


@given(rows_xml())
@example("<row><c><f/></c><c/><c/></row><row/><row><c><f>A1</f><v></v></c></row>")  # two kinds of missing values
@settings(deadline=None, max_examples=examples(100))
def test_they_are_those_of_a_parser(rows: str) -> None:
    """Numbers, columns, types, styles and texts. Formulas without a value are left to the parser."""
    found, expected = plain_rows(rows.encode(), None), _parsed(rows)
    types = {int(kind) for one in expected for column in one.columns.values() for kind in column.types}
    assert (found is None) == (CellType.UNCOMPUTED in types)
    if found is not None:
        for column in found.columns.values():
            column.texts.validate(full=True)
        assert _told([found]) == _told(expected)


@given(rows_xml(), st.data())
@settings(deadline=None, max_examples=examples(100))
def test_a_letter_that_is_another_changes_both_or_neither(rows: str, data: st.DataObject) -> None:
    """A sheet that the parser refuses is not plain, or has the same cells up to the fault."""
    place = data.draw(st.integers(0, len(rows) - 1))
    letter = data.draw(st.sampled_from(list('<>/"=&rcvt0129 AZ\r')))
    changed = rows[:place] + letter + rows[place + 1 :]
    found = plain_rows(changed.encode(), None)
    try:
        expected = _told(_parsed(changed))
    except SourceRefused:
        return
    if found is not None:
        assert _told([found]) == expected


@given(rows_xml(), st.integers(1, 300))
@settings(deadline=None, max_examples=examples(50))
def test_any_division_into_blocks_gives_the_same_rows(rows: str, size: int) -> None:
    """A sheet comes in blocks that end anywhere."""
    plain = sheet_xml(rows, behind='<mergeCells><mergeCell ref="A1:B2"/></mergeCells>')
    # With a comment in front, a parser reads all.
    for xml in (plain, _prefixed(plain), plain.replace("<sheetData>", "<!-- --><sheetData>")):
        data = xml.encode()
        reader = SheetRowReader(iter([data[at : at + size] for at in range(0, len(data), size)]), None)
        assert _told(list(reader)) == _told(_parsed(rows))
        assert reader.merged == ["A1:B2"]


@given(rows_xml())
@settings(deadline=None, max_examples=examples(50))
def test_other_ways_of_writing_give_the_same_rows(rows: str) -> None:
    """A prefix of some names, UTF-16 and a comment are left to the parser."""
    expected = _told(_parsed(rows))
    plain = sheet_xml(rows)
    for data in (
        _prefixed(plain).encode(),
        plain.replace("<row", f'<x:row xmlns:x="{MAIN}"').replace("</row", "</x:row").encode(),
        _prefixed(plain).replace("<x:row", f'<row xmlns="{MAIN}"').replace("</x:row", "</row").encode(),
        ('<?xml version="1.0" encoding="UTF-16"?>' + plain).encode("utf-16"),
        plain.replace("<row", "<!-- <row> --><row").encode(),
        plain.replace("<row", "\r\n<row").encode(),
        plain.replace("<sheetData>", "<sheetData >").encode(),
    ):
        assert _told(list(SheetRowReader(iter([data]), None))) == expected


def _prefixed(xml: str) -> str:
    return xml.replace("<", "<x:").replace("<x:/", "</x:").replace("xmlns=", "xmlns:x=")


def test_a_prefix_of_all_names_makes_no_parser_necessary(monkeypatch: pytest.MonkeyPatch) -> None:
    """As programs write it that are made with the SDK of the format; in shared texts, too."""
    rows = '<row r="1"><c r="A1" t="s"><v>0</v></c></row>'
    monkeypatch.setattr(AnyRows, "_begin_cell", None)
    found = next(iter(SheetRowReader(iter([_prefixed(sheet_xml(rows)).encode()]), None)))
    assert found.columns[0].texts.to_pylist() == ["0"]
    units = Units(iter([_prefixed(strings_xml("<si><t>a</t></si>")).encode()]), xml_rows._STRINGS_FORM)
    assert [plain_texts(units.unprefixed(piece)).to_pylist() for piece in units] == [["a"]]


def test_only_wanted_columns_are_read() -> None:
    """But a row with a value in another one is a row."""
    rows = '<row r="1"><c r="A1"><v>1</v></c><c r="B1"><v>2</v></c></row><row r="2"><c r="C2"><v>3</v></c></row>'
    for found in (plain_rows(rows.encode(), {1}), *_parsed_with(rows, {1})):
        assert found is not None
        assert found.numbers.tolist() == [1, 2]
        assert list(found.columns) == [1]


def _parsed_with(rows: str, wanted: set[int]) -> list[SheetRows]:
    return [found for found in AnyRows(wanted).read([sheet_xml(rows).encode()]) if len(found.numbers)]


def test_rows_and_cells_may_name_no_place() -> None:
    """They stand one behind the other, then; after an empty row, too."""
    rows = '<row><c><v>1</v></c><c s="1"><v>2</v></c></row><row/><row><c/><c t="str"><v>3</v></c></row>'
    plain = plain_rows(rows.encode(), None)
    assert plain is not None
    assert _told([plain]) == _told(_parsed(rows))
    found = [one for one in SheetRowReader(iter([sheet_xml(rows).encode()]), None) if len(one.numbers)]
    assert [one.numbers.tolist() for one in found] == [[1, 3]]
    assert found[0].columns[1].texts.to_pylist() == ["2", "3"]


def test_rows_without_a_number_go_on_behind_the_last() -> None:
    """Of the piece before, and of any number."""
    data = sheet_xml('<row r="7"><c r="A7"><v>1</v></c></row>' + "<row><c><v>2</v></c></row>" * 3).encode()
    for size in (len(data), 20):
        blocks = [data[at : at + size] for at in range(0, len(data), size)]
        found = list(SheetRowReader(iter(blocks), None))
        assert [number for one in found for number in one.numbers.tolist()] == [7, 8, 9, 10]


@each_case(
    "rows",
    [
        '<row><c><v>1</v></c><c r="C1"><v>2</v></c></row>',
        '<row><c s="1" r="B1"/><c><v>2</v></c></row>',
        '<row spans="1:2" r="4"><c><v>2</v></c></row>',
        '<row r="2"><c r="A2"><v>1</v></c></row><row><c><v>2</v></c></row>',
        '<row><c t="inlineStr"><is><r><t>a</t></is></c><c t="inlineStr"><is><t>b</t></r></is></c></row>',
        '<row r="1"><c r="A1" t="inlineStr"><is><r><rPr><b></rPr><t>a</t></r></is></c></row>',
        f"<row>{'<c/>' * 16_384}<c><v>1</v></c></row>",
    ],
)
def test_rows_that_are_not_plain(rows: str) -> None:
    """Places of which only some are told, and parts of texts that do not end, are for the parser."""
    assert plain_rows(rows.encode(), None) is None


@each_case(
    "data",
    [
        sheet_xml('<row r="1"><c r="A1"><v>1</v></c></row>').encode()[:-20],
        sheet_xml("").encode() + b"<more/>",
        b'<!DOCTYPE x [<!ENTITY a "b">]>' + sheet_xml("").encode(),
        sheet_xml('<row r="1"><c r="A1"><v>&undefined;</v></c></row>').encode(),
        sheet_xml('<row r="1"><c r="A1"><v>\x01</v></c></row>').encode(),
        sheet_xml('<row r="1"><c r="A1"><v>x</v></c></row>').encode().replace(b"x<", b"\xff<"),
        b"",
    ],
)
def test_damaged_xml_is_refused(data: bytes) -> None:
    """With a word on what to do."""
    with pytest.raises(SourceRefused) as caught:
        list(SheetRowReader(iter([data]), None))
    assert caught.value.hint
