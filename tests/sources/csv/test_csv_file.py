"""Delimited files: rows in, columns out, faulty rows apart."""

from __future__ import annotations

import csv
import gzip
import io
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, assume, given, settings, strategies as st

from audiencekit.errors import AudiencekitError, Bug, SourceRefused
from audiencekit.identifiers.kinds import Kind
from audiencekit.limits import MAX_CELL_BYTES
from audiencekit.sources.csv import csv_file as delimited, csv_file as pieces
from audiencekit.sources.csv.cells import WantedCells
from audiencekit.sources.csv.csv_file import HEAD_BYTES, Pieces
from audiencekit.sources.options import SourceOptions
from audiencekit.sources.source import Source, open_source
from tests.cases import each_case
from tests.examples import examples

Open = Callable[..., Source]
Rows = Callable[[Source], list[dict[str, Any]]]
Faults = Callable[[Source], list[tuple[int, str | None, str]]]


def test_rows_are_numbered_without_blank_ones(open_bytes: Open, rows_of: Rows) -> None:
    """The first data row is 1; a quoted line end does not end a row."""
    source = open_bytes(b'\nemail,note\n\na@example.com,"x\n\ny"\n\n\r\nb@example.com,\n\n')
    assert rows_of(source) == [{"row": 1, "c0": "a@example.com"}, {"row": 2, "c0": "b@example.com"}]
    assert source.rows_read == 2


def test_cells_stay_as_they_stand(open_bytes: Open, rows_of: Rows) -> None:
    """Spaces, leading zeros, NULs and case are left to the normalisers."""
    source = open_bytes(
        b"email,phone\n A@Example.com ,0049\x0030 123456\n",
        columns=((Kind.PHONE_NUMBER, "phone"), (Kind.EMAIL, "email")),
    )
    assert rows_of(source) == [{"row": 1, "c0": " A@Example.com ", "c1": "0049\x0030 123456"}]


def test_country_and_operation_have_their_fields(open_bytes: Open, rows_of: Rows) -> None:
    """As text, beside the identifiers."""
    source = open_bytes(b"what,email,country\nDelete,a@example.com,DE\n", operation_column="what")
    assert rows_of(source) == [{"row": 1, "country": "DE", "operation": "Delete", "c1": "a@example.com"}]


def test_cells_are_split_when_declared(open_bytes: Open, rows_of: Rows) -> None:
    """Identifiers become lists; the country stays text."""
    data = b"email,country\na@example.com|b@example.com,DE\n,FR\n"
    assert rows_of(open_bytes(data, split_cells="|")) == [
        {"row": 1, "country": "DE", "c0": ["a@example.com", "b@example.com"]},
        {"row": 2, "country": "FR", "c0": []},
    ]


@each_case(
    "data, options, first",
    [
        (b"email\na@example.com\n", {}, 1),
        (b"a@example.com\nb@example.com\n", {}, 1),
        (b"a\na@example.com\n", {"header": False, "columns": ((Kind.EMAIL, "column1"),)}, 2),
        (b"b@example.com\na@example.com\n", {"header": True, "columns": ((Kind.EMAIL, "column1"),)}, 1),
    ],
)
def test_the_header_is_decided_or_said(
    open_bytes: Open, rows_of: Rows, data: bytes, options: dict[str, Any], first: int
) -> None:
    """A first record with an identifier in it is a row; the user's option goes before that."""
    assert {"row": first, "c0": "a@example.com"} in rows_of(open_bytes(data, **options))


RAGGED: list[tuple[bytes, list[tuple[int, str | None, str]]]] = [
    (
        b"a,email\n1,a@example.com\n2\n3,b@example.com,x\n4,c@example.com,, \n",
        [(2, None, "ragged"), (3, None, "ragged")],
    ),
    # trailing columns without a name may be missing, but not others
    (b"email,a,,\na@example.com,1\nb@example.com,1,2\nc@example.com,1,2,3\nd@example.com\n", [(4, None, "ragged")]),
    # without a header the usual width counts
    (b"a@example.com,1\nb@example.com\nc@example.com,3\n", [(2, None, "ragged")]),
]


@each_case("data, faults", RAGGED)
def test_rows_of_another_width_are_faults(
    open_bytes: Open, faults_of: Faults, data: bytes, faults: list[tuple[int, str | None, str]]
) -> None:
    """Extra cells are none when they are empty."""
    assert faults_of(open_bytes(data)) == faults


def test_a_broken_byte_costs_its_row(open_bytes: Open, rows_of: Rows, faults_of: Faults) -> None:
    """Also in a column that is not mapped; the rows around it are sound."""
    source = open_bytes(b"email,city\na@example.com,K\xf6ln\nb@example.com,K\xc3\xb6ln\n\xc0\xaf@example.com,x\n")
    assert faults_of(source) == [(1, None, "encoding"), (3, None, "encoding")]
    assert [row["row"] for row in rows_of(source)] == [2]
    assert source.rows_read == 3


def test_many_broken_bytes_refuse_the_file(open_bytes: Open, rows_of: Rows) -> None:
    """It is in another encoding that was not declared: latin-1 is never a silent stand-in."""
    data = b"email,city\n" + b"a@example.com,K\xf6ln\n" * 20
    source = open_bytes(data)
    with pytest.raises(SourceRefused, match="20 of 20 rows") as caught:
        rows_of(source)
    assert (caught.value.row, caught.value.rows_read) == (1, 20)
    assert "`encoding=" in caught.value.hint
    assert len(rows_of(open_bytes(data, encoding="cp1252"))) == 20


def test_a_header_in_another_encoding_refuses_the_file(open_bytes: Open) -> None:
    """One broken name is proof enough."""
    with pytest.raises(SourceRefused, match="header is not UTF-8"):
        open_bytes(b"email,Stra\xdfe\na@example.com,x\n")


def test_a_cell_too_large_costs_its_row(open_bytes: Open, faults_of: Faults) -> None:
    """Measured in bytes, and in columns that are read only."""
    fits, not_quite = "é" * (MAX_CELL_BYTES // 2), "é" * (MAX_CELL_BYTES // 2) + "x"
    rows = [f"a@example.com,{not_quite}", f"{not_quite},x", f"{fits},x", "b@example.com,y"]
    source = open_bytes(("email,note\n" + "\n".join(rows)).encode(), columns=((Kind.EMAIL, "email"),))
    assert faults_of(source) == [(2, "email", "too_large")]


def test_faults_at_the_end_are_handed_out(open_bytes: Open, faults_of: Faults, monkeypatch: pytest.MonkeyPatch) -> None:
    """A batch without a sound row still carries its faults."""
    monkeypatch.setattr(delimited, "BATCH_ROWS", 2)
    data = b"email,a\na@example.com,1\nb@example.com,2\nx\ny\nz\n"
    assert [row for row, _, _ in faults_of(open_bytes(data))] == [3, 4, 5]


@pytest.mark.parametrize(("name", "bound"), [("BATCH_ROWS", 3), ("BATCH_LETTERS", 40)])
def test_batches_are_bounded(open_bytes: Open, monkeypatch: pytest.MonkeyPatch, name: str, bound: int) -> None:
    """By rows, and by letters when the rows are long."""
    monkeypatch.setattr(delimited, name, bound)
    source = open_bytes(b"email\n" + b"a@example.com\n" * 10)
    sizes = [batch.columns.unwrap().num_rows for batch in source.batches()]
    assert sum(sizes) == 10
    assert max(sizes) <= 4


@each_case("data", [b"", b"\n\r\n\n", b"\xef\xbb\xbf", b"\xff\xfe", gzip.compress(b"", mtime=0)])
def test_empty_files_are_refused(open_bytes: Open, data: bytes) -> None:
    """Blank lines and marks are nothing."""
    with pytest.raises(SourceRefused, match="empty"):
        open_bytes(data)


def test_a_header_alone_has_no_rows(open_bytes: Open, rows_of: Rows) -> None:
    """Whether that is a success is the caller's to say."""
    source = open_bytes(b"email,phone\n")
    assert rows_of(source) == []
    assert source.rows_read == 0


def test_a_file_that_lost_its_line_ends_is_refused(open_bytes: Open) -> None:
    """All people in one record would be no people at all."""
    for data in (b"email,name,a@example.com,Ann,b@example.com,Bob", b'"first_name","email""Ann","a@example.com"'):
        with pytest.raises(SourceRefused, match="lost its line ends"):
            open_bytes(data)


@each_case("first", [b"sep=;\r\n", b'"sep=;"\n', b"\xef\xbb\xbfSEP=;\n"])
def test_the_line_that_tells_excel_the_delimiter_is_no_row(open_bytes: Open, rows_of: Rows, first: bytes) -> None:
    """It is believed, and not counted."""
    source = open_bytes(first + b"email;name\na@example.com;Doe, Ann\n")
    assert rows_of(source) == [{"row": 1, "c0": "a@example.com"}]
    assert source.description["delimiter"] == "semicolon"


@each_case(
    "data, encoding",
    [
        ("email,city\na@example.com,Köln\n".encode("utf-16"), None),
        ("email,city\na@example.com,Köln\n".encode("utf-16-be"), "utf-16-be"),
        ("email,city\na@example.com,Köln\n".encode("cp1252"), "cp1252"),
        ("email,city\na@example.com,東京\n".encode("shift_jis"), "shift_jis"),
        ("email,city\na@example.com,Köln\n".encode("utf-8-sig"), None),
        (gzip.compress("email,city\na@example.com,Köln\n".encode("utf-16"), mtime=0), None),
    ],
)
def test_declared_and_marked_encodings_are_read(
    open_bytes: Open, rows_of: Rows, faults_of: Faults, data: bytes, encoding: str | None
) -> None:
    """Without a fault, and the first name without a mark."""
    source = open_bytes(data, encoding=encoding)
    assert rows_of(source) == [{"row": 1, "c0": "a@example.com"}]
    assert faults_of(source) == []


def test_bytes_that_the_declared_encoding_does_not_know_cost_their_row(open_bytes: Open, faults_of: Faults) -> None:
    """The declaration is no licence to guess."""
    source = open_bytes(b"email,city\na@example.com,\x81\nb@example.com,x\n", encoding="cp1252")
    assert faults_of(source) == [(1, None, "encoding")]


def test_the_description_is_for_people(open_bytes: Open) -> None:
    """Format, compression, encoding, delimiter, header and width."""
    assert open_bytes(gzip.compress(b"email;a\nx@example.com;1\n", mtime=0)).description == {
        "format": "delimited",
        "compression": "gz",
        "encoding": "utf-8",
        "delimiter": "semicolon",
        "header": True,
        "header_row": 1,
        "columns": 2,
    }


@each_case("first", ["sep=\u00e9\n", '"sep=;\n', "sep=;;\n", 'sep="\n'])
def test_other_first_lines_are_records(open_bytes: Open, rows_of: Rows, first: str) -> None:
    """Only one whole line with one character declares the delimiter: these are titles, or make an unreadable file."""
    source = None
    try:
        source = open_bytes((first + "email;name\na@example.com;Doe, Ann\n").encode())
        rows_of(source)
    except SourceRefused:
        return
    assert source is not None
    assert source.description["header_row"] == 2


CELL = st.text(st.characters(exclude_categories=["Cs"]), max_size=8) | st.text(
    st.sampled_from('",;\n\r\t |\x00'), max_size=4
)


@settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=examples(60))
@given(
    table=st.lists(st.lists(CELL, min_size=3, max_size=3), min_size=1, max_size=12),
    delimiter=st.sampled_from(",;\t|"),
    line_end=st.sampled_from(["\n", "\r\n", "\r"]),
    encoding=st.sampled_from(["utf-8", "utf-8-sig", "utf-16", "utf-16-be"]),
    packed=st.booleans(),
)
def test_written_tables_are_read_back(
    tmp_path: Path, table: list[list[str]], delimiter: str, line_end: str, encoding: str, packed: bool
) -> None:
    """Every cell of every dialect, encoding and compression comes back as it was, row by row."""
    assume(sum(row[2].strip().isdecimal() for row in table) < 2)  # handles are no numbers
    text = io.StringIO()
    writer = csv.writer(text, delimiter=delimiter, lineterminator=line_end, quoting=csv.QUOTE_ALL)
    writer.writerows([["email", "phone", "handle"], *table])
    data = text.getvalue().encode(encoding)
    path = tmp_path / "table"
    path.write_bytes(gzip.compress(data, mtime=0) if packed else data)
    columns = ((Kind.EMAIL, "email"), (Kind.PHONE_NUMBER, "phone"), (Kind.HANDLE, "handle"))
    declared = encoding if encoding == "utf-16-be" else None
    source = open_source(path, SourceOptions(columns=columns, delimiter=delimiter, encoding=declared))
    read = [row for batch in source.batches() for row in batch.columns.unwrap().to_pylist()]
    filled = {number: row for number, row in enumerate(table, 1) if any(cell.strip(" \t") for cell in row)}
    assert {row["row"]: [row["c0"], row["c1"], row["c2"]] for row in read} == filled


@settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=examples(150))
@given(st.binary(max_size=200) | st.text(st.sampled_from('email,;"\n\r\t@+1\x00é'), max_size=80).map(str.encode))
def test_any_bytes_are_read_or_refused(tmp_path: Path, data: bytes) -> None:
    """No file raises anything but our own errors, and none of them is a bug."""
    path = tmp_path / "any"
    path.write_bytes(data)
    try:
        source = open_source(path, SourceOptions())
        rows = sum(b.columns.unwrap().num_rows + b.faults.num_rows for b in source.batches())
    except AudiencekitError as error:
        assert not isinstance(error, Bug)  # noqa: PT017
        return
    assert rows == source.rows_read


RECORDS = WantedCells(",", 2, [0, 1])
RECORD = b"someone@example.com,+4930123456\n"


def _blocks(data: bytes, size: int) -> list[bytes]:
    return [data[start : start + size] for start in range(0, len(data), size)]


@each_case("block_bytes", [100, HEAD_BYTES, 300_000])
def test_the_first_piece_is_small_whatever_the_blocks(block_bytes: int) -> None:
    """The rest come as they were asked for."""
    data = RECORD * 20_000
    found = [piece.data for piece in Pieces(iter(_blocks(data, block_bytes)), RECORDS, piece_bytes=100_000)]
    assert len(found[0]) == HEAD_BYTES // len(RECORD) * len(RECORD)
    assert all(100_000 - len(RECORD) < len(piece) <= 100_000 + block_bytes for piece in found[1:-1])
    assert b"".join(found) == data


@given(
    rows=st.lists(st.sampled_from([RECORD, b"\n", b"\r\n", b'"a\nb",c\r\n', b"x\r", b'"a""b"\n']), max_size=40),
    cut=st.integers(0, 3),
    block_bytes=st.integers(1, 300),
    head_bytes=st.integers(1, 300),
)
def test_nothing_is_lost_between_pieces(rows: list[bytes], cut: int, block_bytes: int, head_bytes: int) -> None:
    """Wherever blocks and pieces end, but for line ends between records, which say nothing."""
    data = b"".join(rows)
    data = data[: len(data) - cut]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pieces, "HEAD_BYTES", head_bytes)
        found = list(Pieces(iter(_blocks(data, block_bytes)), RECORDS, piece_bytes=block_bytes))
    joined = b"".join(piece.data for piece in found)
    assert joined.replace(b"\r", b"").replace(b"\n", b"") == data.replace(b"\r", b"").replace(b"\n", b"")
    assert all(piece.data.endswith((b"\r", b"\n")) for piece in found if piece.records > 0)


def test_the_rest_follows_the_last_piece() -> None:
    """Also when the head of the file is all that was taken."""
    data = RECORD * 2_000
    cut_up = Pieces(iter([data]), RECORDS, piece_bytes=100_000)
    first = next(iter(cut_up)).data
    assert first + b"".join(cut_up.rest()) == data


@each_case("readers", [1, 2, 5])
def test_the_last_pieces_are_small_where_the_end_is_known(readers: int) -> None:
    """From where each reader has less than a piece to do, none is longer than its share of what is to come."""
    data, size = RECORD * 40_000, 100_000
    given = 0

    def blocks() -> Iterator[bytes]:
        nonlocal given
        for block in _blocks(data, 1_000):
            given += len(block)
            yield block

    cut_up = Pieces(blocks(), RECORDS, piece_bytes=size, readers=readers, bytes_left=lambda: len(data) - given)
    found = [len(piece.data) for piece in cut_up]
    assert sum(found) == len(data)
    left = len(data)
    for length in found:
        share = max(left // readers, size // 6)
        assert length <= min(size, share) + 1_000
        left -= length
    assert max(found) > size - 1_000
    assert readers == 1 or found[-2] < size // 2


def test_an_unknown_end_makes_no_piece_smaller() -> None:
    """As through a pipe, or from a packed file."""
    found = [
        len(piece.data)
        for piece in Pieces(iter(_blocks(RECORD * 20_000, 1_000)), RECORDS, piece_bytes=100_000, readers=5)
    ]
    assert min(found[1:-1]) > 99_000
