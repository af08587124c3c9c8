"""Reading in bulk gives what the careful reader gives, or hands over."""

from __future__ import annotations

import csv
import io
import random
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

from audiencekit.errors import AudiencekitError
from audiencekit.identifiers.kinds import Kind
from audiencekit.kernels.library import find_library
from audiencekit.limits import MAX_CELL_BYTES
from audiencekit.sources.csv import csv_file as delimited, csv_file as pieces, records as counting
from audiencekit.sources.csv.cell_kernels import CellKernels, Room
from audiencekit.sources.csv.cells import Cells, WantedCells
from audiencekit.sources.csv.csv_file import Piece, Pieces
from audiencekit.sources.csv.plain_cells import ArrowReader, PlainCells, _is_text
from audiencekit.sources.options import SourceOptions
from audiencekit.sources.source import Source, open_source
from tests.cases import each_case
from tests.examples import examples
from tests.kernels.installed import installed

OPTIONS = SourceOptions(columns=((Kind.EMAIL, "column1"), (Kind.HANDLE, "column3")), header=True, delimiter=",")


def _read(batches: Any) -> tuple[Any, ...]:
    """Rows, cells and faults of a pass, or the refusal that ended it."""
    rows: list[Any] = []
    faults: list[Any] = []
    try:
        for batch in batches:
            rows += batch.columns.unwrap().to_pylist()
            faults += batch.faults.to_pylist()
    except AudiencekitError as error:
        message = str(error).removeprefix("list.csv: ")
        return type(error), message, getattr(error, "row", None), getattr(error, "rows_read", None)
    return rows, faults


def _both(source: Source) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
    quick = _read(source.batches())
    careful = _read(source._table.careful_batches(source.mapping))  # type: ignore[attr-defined]
    return quick, careful


def _have_kernels(monkeypatch: pytest.MonkeyPatch, found: bool) -> None:
    monkeypatch.setattr(pieces, "CELL_LOOPS", installed(CellKernels) if found else PlainCells())


CELL = st.one_of(
    st.sampled_from(
        ["", "a@example.com", "x", '"', 'say "hi"', "a,b", "line\nend", "\r", "\0", "é", "  ", "' '", "\\"]
    ),
    st.text(alphabet='ab@.,"\n\r\t é', max_size=8),
)


@settings(max_examples=examples(80), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    rows=st.lists(st.lists(CELL, min_size=3, max_size=4), min_size=1, max_size=30),
    quoting=st.sampled_from([csv.QUOTE_MINIMAL, csv.QUOTE_ALL]),
    ends=st.sampled_from(["\n", "\r\n", "\r"]),
    damage=st.none() | st.tuples(st.integers(0, 400), st.sampled_from([b'"', b"\n", b"\xff", b"\0", b",", b"\r"])),
    piece_bytes=st.integers(1, 200),
    head_bytes=st.integers(1, 200),
    has_kernels=st.booleans(),
)
def test_quick_and_careful_reading_agree(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    rows: list[list[str]],
    quoting: Any,
    ends: str,
    damage: tuple[int, bytes] | None,
    piece_bytes: int,
    head_bytes: int,
    has_kernels: bool,
) -> None:
    """On any table, in any quoting and with any line ends, damaged or not, wherever the pieces end."""
    _have_kernels(monkeypatch, has_kernels and find_library() is not None)
    text = io.StringIO(newline="")
    csv.writer(text, quoting=quoting, lineterminator=ends).writerows([["a", "b", "c"], *rows])
    data = text.getvalue().encode()
    if damage is not None:
        data = data[: damage[0]] + damage[1] + data[damage[0] :]
    (tmp_path / "list.csv").write_bytes(data)
    monkeypatch.setattr(delimited, "PIECE_BYTES", piece_bytes)
    monkeypatch.setattr("audiencekit.sources.csv.records.SCAN_BYTES", piece_bytes)
    monkeypatch.setattr(pieces, "HEAD_BYTES", head_bytes)
    monkeypatch.setattr("audiencekit.sources.bytes.byte_stream.BLOCK_BYTES", piece_bytes)
    try:
        source = open_source(tmp_path / "list.csv", OPTIONS)
    except AudiencekitError:
        return
    in_bulk, careful = _both(source)
    assert in_bulk == careful


DAMAGED = st.lists(
    st.sampled_from(
        [b"a@example.com,x,h\n"] * 4 + [b'"b@example.com","x\ny",h\r\n', b"c@example.com,x,h,\r", b"a,b\n", b"\n",
         b'x,say "hi",h\n', b"d@example.com,\xff,h\n", b"\xc3,x,\n", b"a,b,c,d\n", b'a,"b,c\n', b'"', b'"a"b,c,d\n',
         b"e@example.com,x\0,h\n", b"\xef\xbb\xbf,x,h\n", b'a,b,c,""\n', "f,é,\xa0, \n".encode(), b"g,h,i,\xa0\n"]
    ) | st.binary(max_size=6),
    max_size=40,
)  # fmt: skip


@settings(max_examples=examples(150), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    lines=DAMAGED,
    header=st.sampled_from([b"a,b,c\n", b"a,b,c,,\n", b"a,b,c\r"]),
    piece_bytes=st.integers(1, 300),
    batch_rows=st.integers(1, 9),
)
def test_damaged_lines_are_read_as_with_care(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    lines: list[bytes],
    header: bytes,
    piece_bytes: int,
    batch_rows: int,
) -> None:
    """The same rows, faults and refusals, wherever pieces and batches end."""
    (tmp_path / "list.csv").write_bytes(header + b"".join(lines))
    monkeypatch.setattr(delimited, "PIECE_BYTES", piece_bytes)
    monkeypatch.setattr(delimited, "BATCH_ROWS", batch_rows)
    monkeypatch.setattr(pieces, "HEAD_BYTES", 1)
    monkeypatch.setattr("audiencekit.sources.bytes.byte_stream.BLOCK_BYTES", piece_bytes)
    monkeypatch.setattr("audiencekit.sources.unreadable_rows.tolerated_fault_rows", lambda rows: rows)
    options = SourceOptions(columns=((Kind.EMAIL, "a"), (Kind.HANDLE, "c")), delimiter=",")
    try:
        source = open_source(tmp_path / "list.csv", options)
    except AudiencekitError:
        return
    in_bulk, careful = _both(source)
    assert in_bulk == careful


def _spy(monkeypatch: pytest.MonkeyPatch) -> list[bool]:
    """Notes for every piece whether it was read in bulk."""
    taken: list[bool] = []
    original: Callable[[Pieces], Iterator[Piece]] = Pieces.__iter__

    def noted(self: Pieces) -> Iterator[Piece]:
        for piece in original(self):
            taken.append(piece.cells is not None)
            yield piece

    monkeypatch.setattr(Pieces, "__iter__", noted)
    return taken


@pytest.mark.parametrize("quoting", [csv.QUOTE_MINIMAL, csv.QUOTE_ALL])
@pytest.mark.parametrize("ends", ["\n", "\r\n"])
@pytest.mark.parametrize("found", [True, False], ids=["compiled", "plain"])
def test_ordinary_lists_are_read_in_bulk(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, quoting: Any, ends: str, found: bool
) -> None:
    """All but the piece with the header, quoted or not; a ragged row costs itself, without kernels its own piece."""
    _have_kernels(monkeypatch, found)
    taken = _spy(monkeypatch)
    monkeypatch.setattr(delimited, "PIECE_BYTES", 100_000)
    monkeypatch.setattr("audiencekit.sources.bytes.byte_stream.BLOCK_BYTES", 100_000)
    draw = random.Random(7)
    with (tmp_path / "list.csv").open("w", newline="") as file:
        writer = csv.writer(file, quoting=quoting, lineterminator=ends)
        writer.writerow(["a", "b", "c"])
        writer.writerows([f"p{n}@example.com", draw.choice(["x, y", "é"]), f"h{n}"] for n in range(10_000))
        writer.writerow(["p@example.com", "short"])
        writer.writerows([f"q{n}@example.com", "", f"h{n}"] for n in range(10_000))
    source = open_source(tmp_path / "list.csv", OPTIONS)
    rows, faults = _read(source.batches())
    assert [row["row"] for row in rows] == [n for n in range(1, 20_002) if n != 10_001]
    assert faults == [{"row": 10_001, "column": None, "reason": "ragged"}]
    assert rows[10_000]["c0"] == "q0@example.com"
    assert taken.count(False) == (1 if found else 2)
    assert taken.count(True) >= 3


@each_case(
    "name, piece",
    [
        ("a NUL", b"a,b,c\0\n"),
        ("a broken byte in a cell that is not read", b"a,\xff,c\n"),
        ("a lone carriage return", b"a,b,c\rd,e,f\n"),
        ("a line end in quotes", b'a,b,"c\nd"\n'),
        ("a short row", b"a,b\n"),
        ("a long row", b"a,b,c,d\n"),
        ("no end", b"a,b,c"),
        ("another count", b"a,b,c\nd,e,f\ng,h,i\n"),
        ("a cell of 64 KB", b"a,b," + b"c" * 65_537 + b"\n"),
    ],
)
def test_an_uncertain_piece_is_handed_over(name: str, piece: bytes) -> None:
    """Nothing is guessed."""
    assert ArrowReader(WantedCells(",", 3, [0, 2]))._columns(piece, 1) is None, name


@each_case("piece", [b"", b"a,b,c", b"\n\r\n", b"a,b\n", b'a,b,"c"d\ne,f,g\n', b'a,b,"c\nd,e,f\n', b'"a""b,c,d\n'])
def test_a_piece_of_which_kernels_say_nothing_is_handed_over(piece: bytes) -> None:
    """Without a whole plain line, or where a cell does not end behind its closing quote."""
    assert _begun(piece, WantedCells(",", 3, [0, 2])) is None


@each_case(
    "line",
    [b"x,\xff,z\n", b"x,y\r\n", b"x,y,z,more\n", b'x,y,z,""\n', b"x\n", b"x,y," + b"z" * 65_537 + b"\n", b'"x\ny",z\n'],
)
def test_a_line_of_another_form_is_apart(line: bytes) -> None:
    """The lines around it are read, and it keeps its number."""
    begun = _begun(b"a,b,c\n\r\n" + line + b"\nd,e,f\n" + line + b"g,h,i\nleft", WantedCells(",", 3, [0, 2]))
    assert begun is not None
    assert _lists(begun.columns) == {0: ["a", "d", "g"], 2: ["c", "f", "i"]}
    assert begun.records == 5
    assert begun.apart is not None
    assert (begun.apart.numbers.tolist(), begun.apart.data) == ([1, 3], line * 2)


@each_case(
    "text, first, last",
    [
        (b"a,b,c\0\n", ["a"], ["c\0"]),
        (b"a,b,c\rd,e,f\r\ng,h,i\n", ["a", "d", "g"], ["c", "f", "i"]),
        (b'a "b" c, "",d"\n"",e"e,"f,",\n', ['a "b" c', ""], ['d"', "f,"]),
        (b"a,b,c,, \t\r\nd,e,f\n", ["a", "d"], ["c", "f"]),
        (b"a,b,c\r\nd,e,f,g\n", ["a", "d"], ["c", "f"]),
    ],
)
def test_letters_and_line_ends_are_those_of_csv(text: bytes, first: list[str], last: list[str]) -> None:
    """Nothing of these is apart."""
    begun = _begun(text, WantedCells(",", 4, [0, 2], 3))
    assert begun is not None
    assert _lists(begun.columns) == {0: first, 2: last}
    assert begun.apart is None


@pytest.mark.parametrize("found", [True, False], ids=["compiled", "plain"])
def test_a_byte_order_mark_within_a_file_is_a_letter(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, found: bool
) -> None:
    """Also where a piece begins with it, as files do that were put together from several."""
    _have_kernels(monkeypatch, found)
    monkeypatch.setattr(delimited, "PIECE_BYTES", 1)
    monkeypatch.setattr(pieces, "HEAD_BYTES", 1)
    monkeypatch.setattr("audiencekit.sources.bytes.byte_stream.BLOCK_BYTES", 6)
    (tmp_path / "list.csv").write_bytes("a,b,c\nd,e,f\n\ufeffg,h,i\n".encode())
    in_bulk, careful = _both(open_source(tmp_path / "list.csv", OPTIONS))
    assert in_bulk == careful
    assert [row["c0"] for row in in_bulk[0]] == ["d", "\ufeffg"]


def test_only_wanted_columns_are_read() -> None:
    """As text, whatever they look like; an empty cell is empty and not missing."""
    found = ArrowReader(WantedCells(";", 3, [0, 2])).read(b'007;x;1.0\n"";y;null\nleft')
    assert (found.records, found.whole_bytes) == (2, 20)
    assert _lists(found.columns) == {0: ["007", ""], 2: ["1.0", "null"]}


def test_the_records_at_the_beginning_of_a_text_are_read() -> None:
    """The wanted cells of its whole records; what follows them is left."""
    begun = _begun_of_three(b'007;x;1.0\n"";"y;";"say ""null"""\r\nleft;"over')
    assert begun is not None
    assert (begun.records, begun.whole_bytes) == (2, 34)
    assert _lists(begun.columns) == {0: ["007", ""], 2: ["1.0", 'say "null"']}


def _begun_of_three(text: bytes) -> Cells | None:
    return _begun(text, WantedCells(";", 3, [0, 2]))


def _begun(text: bytes, wanted: WantedCells) -> Cells | None:
    return installed(CellKernels).read_cells(text, wanted, Room(), longest=MAX_CELL_BYTES)


def _lists(cells: dict[int, Any] | None) -> dict[int, list[str | None]]:
    assert cells is not None
    for column in cells.values():
        column.validate(full=True)
    return {place: column.to_pylist() for place, column in cells.items()}


FRAGMENTS = st.sampled_from(
    [b"a", b"bc", b",", b",", b"\n", b"\n", b"\r\n", b"\r", b'"', b'""', b'",', b',"', b'","', b'"\n', b'\n"', b" ",
     b"\0", b"\xff", "é".encode(), b"x" * 40, b"y" * 65]
)  # fmt: skip
ROWS = st.lists(
    st.sampled_from([b"a", b"", b" ", b'""', b'"b"', b'"a,""b"', b'"\n\r"', "é".encode(), b"x" * 40]), min_size=1
)


PLAIN_ROWS = st.tuples(ROWS, st.integers(1, 3), st.sampled_from([b"\n", b"\r\n", b"\r"])).map(
    lambda drawn: b"".join(
        b",".join(drawn[0][place : place + drawn[1]]) + drawn[2] for place in range(0, len(drawn[0]), drawn[1])
    )
)


def _csv_rows(data: bytes) -> list[list[str]] | None:
    """As `csv` reads them, broken bytes and all; None where it refuses."""
    try:
        text = io.StringIO(data.decode(errors="surrogateescape"), newline="")
        return list(filter(None, csv.reader(text, strict=True)))
    except csv.Error:
        return None


def _is_plain(row: list[str], least: int, width: int) -> bool:
    return len(row) >= least and not any(map(str.strip, row[width:])) and _encodes("".join(row))


def _encodes(text: str) -> bool:
    return not any("\ud800" <= letter <= "\udfff" for letter in text)


@pytest.mark.skipif(find_library() is None, reason="this installation has no kernels of this version")
@settings(max_examples=examples(300), deadline=None)
@given(
    data=st.lists(st.lists(FRAGMENTS, max_size=30).map(b"".join) | PLAIN_ROWS, max_size=3).map(b"".join),
    shape=st.tuples(st.integers(1, 3), st.integers(1, 3), st.integers(1, 3)).map(sorted),
)
def test_kernels_read_what_csv_reads(data: bytes, shape: list[int]) -> None:
    """Every row that is plain; the others are apart, and no other. Of what `csv` refuses, they say nothing."""
    wanted, least, width = shape
    begun = _begun(data, WantedCells(",", width, range(wanted), least))
    if begun is None:
        rows = _csv_rows(data[: max(data.rfind(b"\n"), data.rfind(b"\r", 0, -1)) + 1])
        assert rows is None or not any(_is_plain(row, least, width) and len(row) <= width for row in rows[:-1])
        return
    assert data[: begun.whole_bytes].endswith((b"\n", b"\r"))
    assert counting.cut(data[: begun.whole_bytes], counting.Patterns(","))[0] == begun.records
    rows = _csv_rows(data[: begun.whole_bytes])
    assert rows is not None
    apart = [] if begun.apart is None else begun.apart.numbers.tolist()
    assert begun.apart is None or _csv_rows(begun.apart.data) == [rows[number] for number in apart]
    read = [row for number, row in enumerate(rows) if number not in set(apart)]
    assert len(rows) == begun.records
    assert all(_is_plain(row, least, width) for row in read)
    assert _lists(begun.columns) == {place: [row[place] for row in read] for place in range(wanted)}
    # A quoted cell behind the last one is looked at with care, though it may be empty.
    assert all(not _is_plain(rows[number], least, width) or len(rows[number]) > width for number in apart)


@settings(max_examples=examples(150), deadline=None)
@given(data=st.lists(FRAGMENTS, max_size=30).map(b"".join) | PLAIN_ROWS, width=st.integers(1, 3))
def test_arrow_reads_what_csv_reads(data: bytes, width: int) -> None:
    """Where it reads at all."""
    found = ArrowReader(WantedCells(",", width, range(width))).read(data)
    if found.columns is not None:
        rows = _csv_rows(data[: found.whole_bytes])
        assert rows is not None
        assert len(rows) == found.records
        assert _lists(found.columns) == {place: [row[place] for row in rows] for place in range(width)}


def _decodes(piece: bytes) -> bool:
    try:
        return piece.decode() is not None
    except UnicodeDecodeError:
        return False


@given(
    st.lists(
        st.one_of(
            st.binary(max_size=4),
            st.text(max_size=4).map(str.encode),
            st.sampled_from(
                [b"\xed\xa0\x80", b"\xed\x9f\xbf", b"\xc0\x80", b"\xe0\x9f\xbf", b"\xf0\x8f\xbf\xbf",
                 b"\xf4\x8f\xbf\xbf", b"\xf4\x90\x80\x80", b"\xe2\x82", b"\xc3"]
            ),
        ),
        max_size=12,
    ).map(b"".join)
)  # fmt: skip
def test_utf8_is_what_python_decodes(piece: bytes) -> None:
    """No surrogates, nothing longer than needed, nothing beyond Unicode, nothing cut off."""
    assert _is_text(piece) == _decodes(piece)
