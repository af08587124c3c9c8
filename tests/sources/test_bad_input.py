"""Bad files: each gets one answer, the same in bulk as from the careful reader, far from the beginning as near it."""

from __future__ import annotations

import gzip
import os
from collections.abc import Callable, Iterator
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from audiencekit.errors import AudiencekitError, SourceRefused
from audiencekit.identifiers.kinds import Kind
from audiencekit.records.batches import TextBatch
from audiencekit.sources.csv import csv_file as delimited
from audiencekit.sources.options import SourceOptions
from audiencekit.sources.source import Source, open_source
from tests.cases import each_case
from tests.shortened import shortened

Write = Callable[..., Path]
Open = Callable[..., Source]

HEADER = "email,phone,note"
GOOD = "p{}@example.com,+4930123456,x"
PIECE_BYTES = 10_000
BEFORE = 1_200  # rows: some pieces of the bulk reader
MORE = 600


def _answer(batches: Iterator[TextBatch]) -> Any:
    """(row numbers and first cells that are not plain ones, faults), or (words, row, rows read) of the refusal."""
    odd: list[Any] = []
    faults: list[Any] = []
    rows = 0
    try:
        for batch in batches:
            columns = batch.columns.unwrap()
            rows += columns.num_rows
            for row, cell in zip(columns.column("row").to_pylist(), columns.column("c0").to_pylist(), strict=True):
                if cell != f"p{row}@example.com":
                    odd.append((row, cell))
            faults += [(fault["row"], fault["reason"]) for fault in batch.faults.to_pylist()]
    except SourceRefused as error:
        return str(error).removeprefix("people.csv: "), error.row, error.rows_read
    return rows, odd, faults


def _file(bad: str, ends: str = "\n") -> str:
    lines = [HEADER, *(GOOD.format(row) for row in range(1, BEFORE + 1))]
    return ends.join(lines) + ends + bad


AT = BEFORE + 1
WIDTH = "have another number of cells than the header, or most rows, have"
CASES: list[tuple[str, str, Any]] = [
    ("a zero-width space", "p\u200bq@x.de,1,x\n", (AT, [(AT, "p\u200bq@x.de")], [])),
    ("a soft hyphen and a mark", "\u202ep\u00adq@x.de\u2069,1,x\n", (AT, [(AT, "\u202ep\u00adq@x.de\u2069")], [])),
    ("a byte order mark in the middle", "\ufeffq@x.de,1,x\n", (AT, [(AT, "\ufeffq@x.de")], [])),
    ("blank cells", ",,\n", (BEFORE, [], [])),
    ("blank cells, some of them in quotes", ' ,"",\t\n', (BEFORE, [], [])),
    ("too many blank cells", ",,,,\n", (BEFORE, [], [])),
    ("a row with nothing that is used", ",,y\n", (AT, [(AT, "")], [])),
    ("a NUL", "q\0@x.de,1,x\n", (AT, [(AT, "q\0@x.de")], [])),
    ("other line ends", "q@x.de,1,x\r\nr@x.de,1,x\rs@x.de,1,x\n",
     (AT + 2, [(AT, "q@x.de"), (AT + 1, "r@x.de"), (AT + 2, "s@x.de")], [])),
    ("line separators of Unicode", "q\u2028\u0085\x0b\x0c@x.de,1,x\n", (AT, [(AT, "q\u2028\u0085\x0b\x0c@x.de")], [])),
    ("blank lines", "\n\r\n\n  \nq@x.de,1,x\n\n\n", (BEFORE + 1, [(AT + 1, "q@x.de")], [(AT, "ragged")])),
    ("the end of a DOS file", "\x1a", (BEFORE, [], [(AT, "ragged")])),
    ("no last line end", "q@x.de,1,x", (AT, [(AT, "q@x.de")], [])),
    ("line ends in quotes", '"q\n\r\n@x.de",1,x\n', (AT, [(AT, "q\n\r\n@x.de")], [])),
    ("a short row and a long one", "q@x.de,1\nr@x.de,1,x,y\ns@x.de,1,x\n",
     (AT, [(AT + 2, "s@x.de")], [(AT, "ragged"), (AT + 1, "ragged")])),
    ("a trailing delimiter", "q@x.de,1,x,\n", (AT, [(AT, "q@x.de")], [])),
    ("a huge cell", "q" * 70_000 + ",1,x\n", (BEFORE, [], [(AT, "too_large")])),
    ("a second table", "\nname,city\n" + "Ann,Berlin\n" * 400,
     (f"401 of {BEFORE + 401:,} rows {WIDTH}, the first is row {AT}", AT, BEFORE + 401)),
    ("an open quote", '"q@x.de,1,x\n' + "r@x.de,1,x\n" * 9,
     (f"a quote is opened in row {AT} or later and never closed", AT, BEFORE)),
    ("letters after a quote", '"q"@x.de,1,x\n', (f"row {AT} has letters after a closing quote", AT, AT)),
    ("a backslash before a quote", '"q\\"@x.de",1,x\n', (f"row {AT} has letters after a closing quote", AT, AT)),
]  # fmt: skip


@pytest.mark.parametrize(("name", "bad", "expected"), CASES, ids=[case[0] for case in CASES])
@pytest.mark.parametrize("then_more", [False, True])
def test_the_answer_is_known_and_the_same_twice(
    open_bytes: Open, monkeypatch: pytest.MonkeyPatch, name: str, bad: str, expected: Any, then_more: bool
) -> None:
    """From the bulk reader and from the careful one; good rows behind change no row number."""
    monkeypatch.setattr(delimited, "PIECE_BYTES", PIECE_BYTES)
    monkeypatch.setattr("audiencekit.sources.bytes.byte_stream.BLOCK_BYTES", PIECE_BYTES)
    if then_more and (not bad.endswith("\n") or isinstance(expected[0], str)):
        expected = None
    more = "z@example.com,1,x\n" * MORE if then_more else ""
    source = open_bytes((_file(bad) + more).encode())
    quick, careful = _answer(source.batches()), _answer(source._table.careful_batches(source.mapping))  # type: ignore[attr-defined]
    assert quick == careful
    if expected is not None and then_more:
        rows, odd, faults = expected
        last = max(rows + len(faults), AT)  # a row of blank cells is numbered
        numbered = range(last + 1, last + MORE + 1)
        expected = (rows + MORE, [*odd, *((row, "z@example.com") for row in numbered)], faults)
    assert expected in (None, quick)


SHORT = [("\r\n", 7), ("\n", 4_096), ("\r", 7)]
BLOCKS = [*SHORT, *(pair for pair in product(["\n", "\r\n", "\r"], [7, 4_096]) if pair not in SHORT)]


@pytest.mark.parametrize(
    ("encoding", "letter", "broken"),
    [
        ("cp1252", "€éœ", b"\x81"),
        ("shift_jis", "あソ表ｱ", b"\x81\xff"),
        ("utf-16-le", "é€😀", b"\x00\xdc"),
        ("utf-16-be", "é€😀", b"\xdc\x00"),
        ("utf-8", "é€😀", b"\xed\xa0\x80"),
        ("utf-8", "é€😀", b"\xc0\xaf"),
    ],
)
@pytest.mark.parametrize(("end", "block_bytes"), shortened(BLOCKS, len(SHORT)))
def test_declared_encodings_hold_across_blocks(
    open_bytes: Open,
    monkeypatch: pytest.MonkeyPatch,
    encoding: str,
    letter: str,
    broken: bytes,
    end: str,
    block_bytes: int,
) -> None:
    """Letters of several bytes stay whole, and a byte that is none costs its row and no other."""
    monkeypatch.setattr("audiencekit.sources.bytes.byte_stream.BLOCK_BYTES", block_bytes)
    rows = 60 if block_bytes == 7 else 1_000
    good = [f"{letter * (n % 3)}p{n}@example.com,{letter}" for n in range(rows)]
    head = end.join(["email,name", *good, ""]).encode(encoding)
    tail = end.join([",x", *good, ""]).encode(encoding)
    source = open_bytes(
        head + "q".encode(encoding) + broken + tail, encoding=encoding, columns=((Kind.EMAIL, "email"),)
    )
    cells = [cell for batch in source.batches() for cell in batch.columns.unwrap().column("c0").to_pylist()]
    assert cells == [line.split(",")[0] for line in good] * 2
    faults = [fault for batch in source.batches() for fault in batch.faults.to_pylist()]
    assert faults == [{"row": rows + 1, "column": None, "reason": "encoding"}]


@each_case(
    "data",
    ["é@example.com,1\n".encode("latin-1"), "é@example.com,1\n".encode("cp1252"), "あ@x.jp,1\n".encode("shift_jis")],
)
def test_no_encoding_is_guessed(open_bytes: Open, data: bytes) -> None:
    """Latin-1, in which every byte is a letter, would make hashes that match no person."""
    source = open_bytes(b"email,n\n" + data * 11 + b"a@example.com,1\n" * 100)
    with pytest.raises(SourceRefused, match="not text in this encoding, the first is row 1") as caught:
        list(source.batches())
    assert "`encoding=" in caught.value.hint


@each_case("lines", [1, 2, 3])
def test_lines_before_the_header_are_no_names(open_bytes: Open, lines: int) -> None:
    """Above names that say nothing, a title ends in a refusal, not in people of the wrong column."""
    title = b"".join(b"Export of the spring campaign %d\n" % n for n in range(lines))
    data = title + b"alpha,beta\n" + b"".join(b"p%d@example.com,+4930123456%02d\n" % (n, n) for n in range(40))
    with pytest.raises(SourceRefused) as caught:
        list(open_bytes(data).batches())
    assert "`header_row=N`" in caught.value.hint


@each_case("size", [100, 5_000_000])
def test_zeros_are_not_another_encoding(open_bytes: Open, size: int) -> None:
    """A packed file of nothing but NUL has no line; that is what is said."""
    told = ""
    try:
        told = str(open_bytes(gzip.compress(b"\0" * size, mtime=0)).description["encoding"])
    except SourceRefused as error:
        told = str(error)
    assert told.removeprefix("people.csv: ") in ("utf-8", "a line is longer than 1,048,576 bytes")


def test_a_bomb_is_refused_before_it_is_large(write: Write) -> None:
    """Rows that unpack to far more than their share of bytes."""
    packed = (
        gzip.compress(b"email,note\n", mtime=0) + gzip.compress(b"a@example.com," + b"0" * 60_000 + b"\n", mtime=0) * 3
    )
    bomb = gzip.compress(b"a@example.com," + b"0" * 900_000 + b"\n", compresslevel=9, mtime=0) * 150
    source = open_source(write(packed + bomb), SourceOptions())
    with pytest.raises(SourceRefused, match="unpacks to more than 200 times its size"):
        list(source.batches())


@each_case("path", ["/dev/zero", "/dev/null", "/dev/tty", "/proc/self/mem"])
def test_devices_are_no_files(path: str) -> None:
    """Some have no end, and some are terminals of other users."""
    if not os.path.exists(path):
        pytest.skip("there is no such device here")
    with pytest.raises(AudiencekitError):
        list(open_source(path, SourceOptions()).batches())


@each_case("name", ["people.csv", "people.csv.gz", "people.jsonl"])
def test_a_file_that_changes_while_it_is_read_is_refused(write: Write, name: str) -> None:
    """Appended to, after the look or in the middle of the pass; whatever its format."""
    line = b'{"email":"a@example.com"}\n' if name.endswith("jsonl") else b"a@example.com,x\n"
    data = (b"" if name.endswith("jsonl") else b"email,name\n") + line * 200_000
    path = write(gzip.compress(data, mtime=0) if name.endswith("gz") else data, name)
    for reads_first in (False, True):
        source = open_source(path, SourceOptions())
        batches = source.batches()
        if reads_first:
            next(batches)
        with path.open("ab") as file:
            file.write(gzip.compress(line, mtime=0) if name.endswith("gz") else line)
        with pytest.raises(SourceRefused, match="changed while it was read"):
            list(batches)
        path.write_bytes(gzip.compress(data, mtime=0) if name.endswith("gz") else data)
