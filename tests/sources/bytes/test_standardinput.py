"""Standard input is read once, looked at before, and never a terminal."""

from __future__ import annotations

import fcntl
import gzip
import io
import os
import random
import resource
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from audiencekit.errors import NotFinished, SourceRefused
from audiencekit.sources.bytes import standardinput
from audiencekit.sources.bytes.standardinput import KEPT_BYTES, StandardInput
from audiencekit.sources.options import SourceOptions
from audiencekit.sources.patience import WAIT_ON
from audiencekit.sources.source import Source
from audiencekit.sources.sourceopening import open_source

Rows = Callable[[Source], list[dict[str, Any]]]


class Pipe:
    """A process whose standard input is `data`."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self._monkeypatch = monkeypatch

    def __call__(self, data: bytes) -> Source:
        self._monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data)))
        return open_source("-", SourceOptions())


@pytest.fixture
def pipe(monkeypatch: pytest.MonkeyPatch) -> Pipe:
    """Opens bytes as what is piped in."""
    return Pipe(monkeypatch)


@pytest.mark.parametrize("pack", [bytes, gzip.compress])
@pytest.mark.parametrize(
    "data", [b"email\na@example.com\nb@example.com\n", b'{"email":"a@example.com"}\n{"email":"b@example.com"}\n']
)
def test_text_is_read_from_a_pipe(pipe: Pipe, rows_of: Rows, data: bytes, pack: Callable[[bytes], bytes]) -> None:
    """Packed or not, delimited or NDJSON."""
    source = pipe(pack(data))
    assert [row["c0"] for row in rows_of(source)] == ["a@example.com", "b@example.com"]
    assert (source.name, source.bytes_total, source.repeatable) == ("standard input", 0, False)
    assert source.parts[0].repeatable is False


def test_a_long_input_is_read_once(pipe: Pipe, rows_of: Rows) -> None:
    """No row is lost between the look and the pass, and a second pass is refused rather than short."""
    draw = random.Random(3)
    lines = [f"{draw.getrandbits(400):x}@example.com" for _ in range(100_000)]
    source = pipe("\n".join(["email", *lines]).encode())
    assert [row["c0"] for row in rows_of(source)] == lines
    with pytest.raises(SourceRefused, match="standard input: it can be read only once"):
        rows_of(source)


def test_a_look_never_takes_more_than_is_kept(pipe: Pipe, rows_of: Rows, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also of text of four bytes a letter: what is kept is more than that."""
    monkeypatch.setattr(standardinput, "KEPT_BYTES", KEPT_BYTES // 2 + 1_500_000)
    data = ("email\n" + "a@example.com\n" * 200_000).encode("utf-32")
    assert len(data) > KEPT_BYTES
    assert len(rows_of(pipe(data))) == 200_000


def test_a_fault_in_the_middle_is_told_like_that_of_a_file(
    pipe: Pipe, rows_of: Rows, write: Callable[..., Path]
) -> None:
    """With its row and the rows of the whole input, although nothing is read twice."""
    good = b"".join(b"p%d@example.com,x\n" % n for n in range(600_000))
    data = b"email,name\n" + good + b'"q@example.com"x,y\n' + good
    told = []
    for source in (pipe(data), open_source(write(data), SourceOptions())):
        with pytest.raises(SourceRefused) as caught:
            rows_of(source)
        told.append((str(caught.value).partition(": ")[2], caught.value.row, caught.value.rows_read))
    assert told[0] == told[1] == ("row 600001 has letters after a closing quote", 600_001, 1_200_001)


def test_parquet_is_read_from_a_pipe(pipe: Pipe, rows_of: Rows) -> None:
    """It is read from its end, and held in memory for that."""
    sink = io.BytesIO()
    pq.write_table(pa.table({"email": ["a@example.com"]}), sink)
    assert [row["row"] for row in rows_of(pipe(sink.getvalue()))] == [1]


def test_nothing_to_read_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """A terminal, at which a person would sit and wonder, and no standard input at all."""
    terminal, other_end = os.openpty()
    with os.fdopen(terminal, "rb", buffering=0), open(other_end, closefd=True) as stdin:
        monkeypatch.setattr(sys, "stdin", stdin)
        with pytest.raises(SourceRefused, match="standard input: it is a terminal"):
            open_source("-", SourceOptions())
    monkeypatch.setattr(sys, "stdin", None)
    with pytest.raises(SourceRefused, match="there is none"):
        open_source("-", SourceOptions())


def test_an_empty_input_is_an_empty_file(pipe: Pipe) -> None:
    """As when the program before it failed."""
    with pytest.raises(SourceRefused, match="standard input: the file is empty") as caught:
        pipe(b"")
    assert "header" in caught.value.hint


def test_the_kept_beginning_is_replayed_to_every_reader() -> None:
    """Each begins with the first byte, as long as none went too far."""
    standard = StandardInput(io.BytesIO(b"abcdef"))
    with standard.open() as first:
        assert first.read(2) == b"ab"
    with standard.open() as second:
        assert [second.read(1), second.read(3), second.read(9), second.read(9)] == [b"a", b"bcd", b"ef", b""]
    with standard.open() as third:
        assert third.read(9) == b"abcdef"


def test_the_caller_is_asked_while_no_bytes_come(monkeypatch: pytest.MonkeyPatch) -> None:
    """The bytes that have come are read whole, however they were cut; the caller can give up an input that stops."""
    waits: list[int] = []

    def wait_on() -> None:
        waits.append(len(waits))
        if len(waits) == 1:
            os.write(source, b"def")
        else:
            raise NotFinished("interrupted")

    monkeypatch.setattr(standardinput, "WAIT_MILLISECONDS", 0)
    live, source = os.pipe()
    os.write(source, b"abc")
    token = WAIT_ON.set(wait_on)
    try:
        with os.fdopen(live, "rb") as stdin, StandardInput(stdin).open() as handle:
            assert handle.read(5) == b"abcde"
            with pytest.raises(NotFinished):
                handle.read(5)
    finally:
        WAIT_ON.reset(token)
        os.close(source)
    assert waits == [0, 1]


@pytest.mark.skipif(resource.getrlimit(resource.RLIMIT_NOFILE)[0] <= 1_024, reason="no process here has so many files")
def test_a_high_file_number_is_as_good_as_any() -> None:
    """A program with many files may put one of them in place of its standard input."""
    reads, writes = os.pipe()
    high = fcntl.fcntl(reads, fcntl.F_DUPFD_CLOEXEC, 1_024)
    os.write(writes, b"abc")
    os.close(writes)
    os.close(reads)
    with os.fdopen(high, "rb") as stdin, StandardInput(stdin).open() as handle:
        assert [handle.read(9), handle.read(9)] == [b"abc", b""]
