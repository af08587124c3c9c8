"""Only regular files, and only as long as they stay the same."""

from __future__ import annotations

import fcntl
import gzip
import io
import os
import random
import resource
import socket
import sys
from collections.abc import Callable
from concurrent.futures import Future
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from audiencekit.errors import InputOutputFailed, NotFinished, SourceRefused
from audiencekit.sources.bytes import files as standardinput
from audiencekit.sources.bytes.files import KEPT_BYTES, WAIT_ON, RegularFile, StandardInput, result_of, shown_path
from audiencekit.sources.options import SourceOptions
from audiencekit.sources.source import Source, open_source
from tests.cases import each_case

Write = Callable[..., Path]


@each_case(
    "path, shown",
    [
        ("/data/people.csv", "people.csv"),
        ("people\x1b[31m.csv", "people\\x1b[31m.csv"),
        ("a\nb.csv", "a\\nb.csv"),
        ("a\u202eb.csv", "a\\u202eb.csv"),
        ("kunden_\u00e4.csv", "kunden_\u00e4.csv"),
        (os.fsdecode(b"a\xff.csv"), "a\\xff.csv"),
        ("x" * 300, "x" * 200 + "..."),
    ],
)
def test_shown_paths_cannot_steer_a_terminal(path: str, shown: str) -> None:
    """Control characters, bidi marks and broken bytes are escaped; letters are not."""
    assert shown_path(path) == shown


def test_a_file_opens_more_than_once(write: Write) -> None:
    """Each opening starts at the first byte."""
    file = RegularFile(write(b"abc"))
    for _ in range(2):
        with file.open() as handle:
            assert handle.read() == b"abc"
            file.check_unchanged(handle)
    assert file.size_bytes == 3


def test_a_symbolic_link_to_a_file_is_a_file(write: Write, tmp_path: Path) -> None:
    """Links are followed."""
    link = tmp_path / "link.csv"
    link.symlink_to(write(b"abc"))
    with RegularFile(link).open() as handle:
        assert handle.read() == b"abc"


def test_a_missing_file_is_refused(tmp_path: Path) -> None:
    """Also below something that is no directory, and under a name that no path can have."""
    (tmp_path / "file").write_bytes(b"")
    for path in (tmp_path / "none", tmp_path / "file" / "none", "a\0b"):
        with pytest.raises(SourceRefused, match="no such file"):
            RegularFile(path)


def test_a_directory_is_refused(tmp_path: Path) -> None:
    """The message says what it is."""
    with pytest.raises(SourceRefused, match="a directory"):
        RegularFile(tmp_path)


def test_a_pipe_is_refused_without_waiting(tmp_path: Path) -> None:
    """Opening a pipe without a writer would never come back."""
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(SourceRefused, match="a pipe"):
        RegularFile(tmp_path / "pipe")


def test_a_device_is_refused() -> None:
    """It may have no end."""
    with pytest.raises(SourceRefused, match="a device"):
        RegularFile("/dev/zero")


def test_a_socket_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is ever read from one."""
    monkeypatch.chdir(tmp_path)
    with socket.socket(socket.AF_UNIX) as door:
        door.bind("door")
        with pytest.raises(SourceRefused, match="a socket"):
            RegularFile("door")


@pytest.mark.skipif(os.geteuid() == 0, reason="nothing is unreadable for root")
def test_an_unreadable_file_is_an_input_output_failure(write: Write) -> None:
    """The system's word on it is passed on."""
    path = write(b"abc")
    path.chmod(0)
    with pytest.raises(InputOutputFailed):
        RegularFile(path).open()


def test_a_system_error_at_opening_is_an_input_output_failure(write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without cause and context: only the system's word is kept."""

    def no(*_: object) -> int:
        raise OSError(5, "Input/output error")

    file = RegularFile(write(b"abc"))
    monkeypatch.setattr(os, "open", no)
    with pytest.raises(InputOutputFailed, match="Input/output error") as caught:
        file.open()
    assert caught.value.__context__ is None


def test_a_replaced_file_is_refused_at_opening(write: Write) -> None:
    """Another inode under the same path is another file."""
    path = write(b"abc")
    file = RegularFile(path)
    other = path.with_name("other")
    other.write_bytes(b"abc")
    other.replace(path)
    with pytest.raises(SourceRefused, match="changed"):
        file.open()


@each_case("change", ["append", "touch", "replace", "pipe"])
def test_a_change_while_reading_is_refused(write: Write, change: str) -> None:
    """Size, time, inode and being a regular file at all are looked at again."""
    path = write(b"abc")
    file = RegularFile(path)
    with file.open() as handle:
        if change == "append":
            path.write_bytes(b"abcd")
        elif change == "touch":
            os.utime(path, ns=(1, 1))
        else:
            path.unlink()
            os.mkfifo(path) if change == "pipe" else path.write_bytes(b"abc")
        with pytest.raises(SourceRefused):
            file.check_unchanged(handle)


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
    good = b"".join(b"p%d@example.com,x\n" % n for n in range(70_000))
    data = b"email,name\n" + good + b'"q@example.com"x,y\n' + good
    told = []
    for source in (pipe(data), open_source(write(data), SourceOptions())):
        with pytest.raises(SourceRefused) as caught:
            rows_of(source)
        told.append((str(caught.value).partition(": ")[2], caught.value.row, caught.value.rows_read))
    assert told[0] == told[1] == ("row 70001 has letters after a closing quote", 70_001, 140_001)


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


class Late(Future[int]):
    """Done just after its wait was over."""

    def result(self, timeout: float | None = None) -> int:
        if timeout is not None and not self.done():
            self.set_result(7)
            raise TimeoutError
        return super().result(timeout)


def test_work_that_ends_with_the_wait_is_done() -> None:
    """It is no timeout."""
    assert result_of(Late(), lambda: pytest.fail("it was asked")) == 7


def test_a_timeout_of_the_work_is_its_exception() -> None:
    """It is not waited on for it."""
    coming: Future[int] = Future()
    coming.set_exception(TimeoutError("its own"))
    with pytest.raises(TimeoutError, match="its own"):
        result_of(coming, lambda: pytest.fail("it was asked"))


def test_the_answer_ends_the_wait() -> None:
    """Asked twice here; the work is left as it is."""
    coming: Future[int] = Future()
    answers = iter([None, KeyboardInterrupt()])

    def wait_on() -> None:
        if (answer := next(answers)) is not None:
            raise answer

    with pytest.raises(KeyboardInterrupt):
        result_of(coming, wait_on)
    assert not coming.done()


@each_case(
    "missing, hint",
    [
        ("mailchimp.cvs", "did you mean mailchimp.csv?"),
        ("Mailchimp.CSV", "did you mean mailchimp.csv?"),
        ("my", "did you mean 'my list.csv'? Put quotes around a name with a space"),
        ("list.csv", "did you mean 'my list.csv'? Put quotes around a name with a space"),
        ("orders.xlsx", "no file in that directory has such a name: correct the path, or see whether the export ran"),
        ("nowhere/mailchimp.csv", "its directory is not there, or cannot be read"),
    ],
)
def test_a_missing_file_is_answered_with_the_one_that_is_meant(tmp_path: Path, missing: str, hint: str) -> None:
    """By the names in its directory; a name of two words was not put between quotes."""
    for name in ("mailchimp.csv", "my list.csv", "notes"):
        tmp_path.joinpath(name).write_text("email\n")
    with pytest.raises(SourceRefused, match="there is no such file") as caught:
        RegularFile(tmp_path / missing)
    assert caught.value.hint == hint


@each_case(
    "missing, words", [("orders.xlsx", "give the path of its directory"), ("\u2014-country", "begins with two hyphens")]
)
def test_a_name_alone_may_be_elsewhere_or_an_option(missing: str, words: str) -> None:
    """A text program makes one long dash of two hyphens."""
    with pytest.raises(SourceRefused) as caught:
        RegularFile(missing)
    assert words in caught.value.hint
