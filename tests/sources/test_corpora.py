"""Public messy files: each is read to the number of rows that it has, or refused for a reason judged right."""

from __future__ import annotations

import csv
import io
import json
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from audiencekit.errors import AudiencekitError, SourceRefused
from audiencekit.identifiers.kinds import Kind
from audiencekit.records.batches import TextBatch
from audiencekit.sources.bytes import byte_stream
from audiencekit.sources.columns.header import named_kind
from audiencekit.sources.csv import csv_file as delimited, csv_file as pieces
from audiencekit.sources.options import SourceOptions
from audiencekit.sources.source import Source, open_source
from tests.cases import each_case
from tests.shortened import shortened

CORPUS = Path(__file__).resolve().parents[2].parent / "shared" / "corpora" / "csv"
CASES: list[dict[str, Any]] = (
    json.loads((CORPUS / "manifest.json").read_text("utf-8"))["cases"] if CORPUS.exists() else []
)
pytestmark = pytest.mark.skipif(not CASES, reason="the public files are not here")

DELIMITERS = {"comma": ",", "semicolon": ";", "tab": "\t", "pipe": "|"}
# Why a file is refused: words of the message, and the ids of the files.
REFUSED = {
    # Quotes with letters after them, or escaped by backslashes or other signs: `csv` says the same when it is strict.
    "letters after a closing quote": """85790c656c 929dd32500 546093eba9 0712db98a2 4d87880e8a f5395a477e 1d978a87eb
        bb560a70d7 1636d5dd36 8e6046e698 4d71d2cfaa 77facfe050 90ee13c9ae 1400c7ea28 ba89f4f748 009a0f3062
        6dc4638abb f62289e4f0 c495b34ef2 9083c4e4b8 38d8eadb9c 23be1a53ed 6a6805248a acfb9102c7 c2c64a3ad2 891ef4462c
        4571bf3416 9d82a0101b ea95fbd877 879778f1fe 2e2a7fd23b e2fd3dbc14""",
    "never closed": "ced6ca4d55 a5e1d938cc 203177a1c1 40f073da17 f6e1c6c712",
    # Bytes that are no UTF-8, in the first record or in all rows, and no encoding is declared.
    "not UTF-8": """99a38921d2 b843f7fd1b 50615e1101 aeeaa6388f 22e46bed9e b884fd13ae a94c707f3f 38d50d7a94 8bc2dc35e3
        5334bf576a""",
    "hold bytes that are not text": "497accfec9",
    "is empty": "0251b0fbb3 d591f6f9cc 43739ada3e",
    # Two lines of a fuzzer.
    "ambiguous": "c260343bbe 1d2715f5c8",
    # Divided by spaces, quoted by apostrophes, a first line that is no header, a header shorter than its rows.
    "another number of cells": """8a418e9bf0 175ae70d41 bc7af86ba6 850fc442cf 6af8fe0c24 800c4c9880 42202e6b71
        6cdb9e7f11""",
}
WHY = {f"cs-{case}": why for why, cases in REFUSED.items() for case in cases.split()}
# Objects, one a line, whatever the name says; one of the lines is none.
JSON_LINES = {"cs-94f9e54dbd": 4}
# Where the ground truth names another delimiter: the file has semicolons, and commas nowhere.
OTHER_DELIMITER = {"cs-4b5ad99286": ";"}

# Cells in which the published rows are not those of the published file: a phone number was replaced there.
OTHER_CELLS = {"cs-ccc81919e0": 0}


def open_case(case: dict[str, Any], **options: Any) -> Source:
    """The file of a case as a source."""
    return open_source(CORPUS / case["file"], SourceOptions(**options))


def read_to_the_end(source: Source) -> int:
    """Sound rows and faults."""
    return sum(batch.columns.unwrap().num_rows + batch.faults.num_rows for batch in source.batches())


def count_by_csv(case: dict[str, Any], source: Source) -> tuple[int, int]:
    """Non-blank records after the header by `csv` over the decoded file, and how many of them have blank cells only."""
    path = CORPUS / case["file"]
    data = path.read_bytes() if source.description["compression"] is None else _only_member(path)
    wide = str(source.description["encoding"]).startswith("utf-16")
    text = data.decode("utf-16" if wide else "utf-8-sig", "surrogateescape")
    records = csv.reader(io.StringIO(text, newline=""), delimiter=DELIMITERS[str(source.description["delimiter"])])
    rows = [cells for cells in records if cells][bool(source.description["header"]) :]
    return len(rows), sum(len(cells) > 1 and not any(cell.strip(" \t") for cell in cells) for cells in rows)


def _only_member(path: Path) -> bytes:
    with zipfile.ZipFile(path) as archive:
        (name,) = archive.namelist()
        return archive.read(name)


@pytest.mark.slow
@each_case("case", CASES)
def test_every_file_is_read_whole_or_refused(case: dict[str, Any]) -> None:
    """Rows read are those that `csv` counts; a refusal is of the kind that was judged right."""
    if case["id"] in WHY:
        with pytest.raises(SourceRefused, match=WHY[case["id"]]):
            read_to_the_end(open_case(case))
        return
    source = open_case(case)
    records, blank = (JSON_LINES[case["id"]], 0) if case["id"] in JSON_LINES else count_by_csv(case, source)
    assert (read_to_the_end(source), source.rows_read) == (records - blank, records)


def _answer(batches: Iterator[TextBatch]) -> tuple[Any, ...]:
    """Rows and faults, or the refusal with its row and the rows read."""
    rows, faults = [], []
    try:
        for batch in batches:
            rows += batch.columns.unwrap().to_pylist()
            faults += batch.faults.to_pylist()
    except SourceRefused as error:
        return str(error).rpartition("csv: ")[2], error.row, error.rows_read
    return rows, faults


@pytest.mark.slow
@pytest.mark.parametrize(
    ("piece_bytes", "most_bytes"), shortened([(500, 4_000), (2_097_152, 2_097_152), (500, 20_000), (1, 8_000)], 1)
)
def test_every_file_gets_the_same_answer_in_bulk_as_from_the_careful_reader(
    piece_bytes: int, most_bytes: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All columns of it: rows, faults, or the words, the row and the count of the refusal."""
    monkeypatch.setattr(delimited, "PIECE_BYTES", piece_bytes)
    monkeypatch.setattr(pieces, "HEAD_BYTES", piece_bytes)
    monkeypatch.setattr(byte_stream, "BLOCK_BYTES", max(piece_bytes, 64))
    # In small pieces a large file takes long, and shows no more than a small one.
    paths = [path for path in sorted(CORPUS.rglob("*.csv")) if path.stat().st_size < most_bytes]
    for path in paths:
        options = SourceOptions(columns=((Kind.PARTNER_USER_ID, "column1"),), header=False)
        try:
            source = open_source(path, options)
        except AudiencekitError:
            continue
        careful = _answer(source._table.careful_batches(source.mapping))  # type: ignore[attr-defined]
        assert _answer(source.batches()) == careful, path.name


@pytest.mark.slow
@each_case("case", [case for case in CASES if case.get("parameters", {}).get("delimiter")])
def test_delimiters_are_those_of_the_ground_truth(case: dict[str, Any]) -> None:
    """Unless the file is refused, or the ground truth is wrong about it."""
    if case["id"] in WHY or case["id"] in JSON_LINES:
        return
    expected = OTHER_DELIMITER.get(case["id"], case["parameters"]["delimiter"])
    assert DELIMITERS[str(open_case(case).description["delimiter"])] == expected


@each_case("case", [case for case in CASES if "expected_rows" in case])
def test_rows_are_those_expected(case: dict[str, Any], rows_of: Callable[[Source], list[dict[str, Any]]]) -> None:
    """Every cell, read through columns that are mapped by place."""
    expected = case["expected_rows"]
    listed = expected if isinstance(expected, list) else [expected]
    rows = [list(row.values()) for row in listed]
    columns = tuple(
        (named_kind(name) or Kind.PARTNER_USER_ID, f"column{place + 1}") for place, name in enumerate(listed[0])
    )
    read = rows_of(open_case(case, columns=columns, header=True))
    places = [place for place in range(len(columns)) if place != OTHER_CELLS.get(case["id"])]
    assert [[row[f"c{place}"] for place in places] for row in read] == [
        [row[place] for place in places] for row in rows
    ]


CONTACTS: dict[str, dict[str, list[int]]] = {
    "12b07e7c-audience_members_1.csv": {"email": [0, 1, 2], "phone_number": [3, 4, 5]},
    "3ec4ae8a-data-orginal.csv": {"email": [9], "phone_number": [7, 8]},
    "496ae1d2-fakeleaddata.csv": {"email": [8], "phone_number": [9], "handle": [13], "country": [7]},
    "54385c16-uk-500.csv": {"email": [9]},
    "56e59b9f-subs-domain-blocklist.csv": {"email": [0]},
    "64c98321-subs.csv": {"email": [0]},
    "880b9b7c-uk-500.csv": {"email": [9], "phone_number": [7, 8]},
    "a6363450-ca-500.csv": {"email": [9], "phone_number": [7, 8]},
    "b7eb29c2-contacts_export.csv": {"email": [12, 13, 14], "phone_number": [15, 16, 17]},
    "f3c167f4-uk-500.csv": {"email": [9], "phone_number": [7, 8]},
}


def mapped(source: Source) -> dict[str, list[int]]:
    """Positions by kind, the country's among them."""
    found: dict[str, list[int]] = {}
    for column in source.mapping.columns:
        found.setdefault(column.kind.value, []).append(column.position)
    return found | ({"country": [source.mapping.country]} if source.mapping.country is not None else {})


@pytest.mark.slow
@each_case("name", CONTACTS)
def test_contact_lists_are_recognised(name: str) -> None:
    """Each was read by eye."""
    assert mapped(open_source(CORPUS / "contacts" / name, SourceOptions())) == CONTACTS[name]


def test_a_country_makes_national_numbers_recognisable() -> None:
    """In the list without a header, where no name helps."""
    source = open_source(CORPUS / "contacts" / "54385c16-uk-500.csv", SourceOptions(country="GB"))
    assert mapped(source) == {"email": [9], "phone_number": [7, 8]}
    assert read_to_the_end(source) == 500


@each_case("name, rows", [("f3c167f4-uk-500.csv", 500), ("880b9b7c-uk-500.csv", 2)])
def test_lists_whose_lines_end_in_carriage_returns_are_read(name: str, rows: int) -> None:
    """They look like one line in most terminals, and are not."""
    assert read_to_the_end(open_source(CORPUS / "contacts" / name, SourceOptions())) == rows
    data = (CORPUS / "contacts" / name).read_bytes()
    assert (data.count(b"\r"), data.count(b"\n")) == (rows + 1, 0)


def test_a_list_that_lost_its_line_ends_is_refused(tmp_path: Path) -> None:
    """The same list without its carriage returns."""
    data = (CORPUS / "contacts" / "880b9b7c-uk-500.csv").read_bytes()
    (tmp_path / "lost.csv").write_bytes(data.replace(b"\r", b""))
    with pytest.raises(SourceRefused, match="lost its line ends"):
        open_source(tmp_path / "lost.csv", SourceOptions())
