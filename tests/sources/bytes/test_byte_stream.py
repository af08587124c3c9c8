"""The text of a file in blocks: every declared encoding becomes UTF-8."""

from __future__ import annotations

import codecs
import gzip
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import BinaryIO

import pytest
from hypothesis import given, settings, strategies as st

from audiencekit.errors import InputOutputFailed, SourceRefused
from audiencekit.limits import MAX_LINE_BYTES
from audiencekit.sources.bytes import byte_stream as bytestream
from audiencekit.sources.bytes.byte_stream import (
    OTHER_FORMATS,
    ByteStream,
    Encoding,
    LineCounter,
    SourceFormat,
    TextSample,
    bounded_lines,
    find_encoding,
    find_format,
    non_blank_lines,
    take_sample,
    transcode,
)
from audiencekit.sources.bytes.files import RegularFile
from tests.cases import each_case

Write = Callable[..., Path]
LETTERS = st.text(st.characters(exclude_categories=["Cs"]))


@pytest.mark.parametrize("name", ["people.csv", "people.parquet", "people.csv.gz", "people"])
@pytest.mark.parametrize("packed", [False, True])
def test_bytes_decide_and_names_do_not(write: Write, people: bytes, name: str, packed: bool) -> None:
    """A gz file is one under any name, and text is text."""
    stream = ByteStream(RegularFile(write(gzip.compress(people, mtime=0) if packed else people, name)))
    assert (stream.format, stream.compression) == (SourceFormat.TEXT, "gz" if packed else None)
    assert b"".join(stream.blocks()) == people


def test_reading_starts_anew_each_time(write: Write, people: bytes) -> None:
    """Blocks come again from the first byte, and bytes_read is of the last pass."""
    stream = ByteStream(RegularFile(write(people)))
    for _ in range(2):
        assert b"".join(stream.blocks()) == people
        assert stream.bytes_read == len(people)


def test_bytes_read_are_those_on_disk(write: Write) -> None:
    """For a packed file they are the packed ones."""
    packed = gzip.compress(b"a@example.com\n" * 10_000, mtime=0)
    stream = ByteStream(RegularFile(write(packed)))
    assert stream.bytes_left is None  # the unpacked size is unknown
    assert sum(map(len, stream.blocks())) == 140_000
    assert stream.bytes_read == len(packed)


@each_case(
    "text",
    [
        b"\xef\xbb\xbf<?xml version='1.0'?>",
        b"{\\rtf1\\ansi",
        b"MIME-Version: 1.0\r\nX-Document-Type: Workbook\r\n",
        b"dn: cn=Ann Larch,mail=ann@larchpost.example\n",
        b"-- phpMyAdmin SQL Dump\n",
        b"INSERT INTO `people` (`email`) VALUES\n",
    ],
)
def test_other_texts_are_refused_by_name(write: Write, text: bytes) -> None:
    """Packed or not."""
    for data in (text, gzip.compress(text)):
        with pytest.raises(SourceRefused, match="which is not read") as caught:
            ByteStream(RegularFile(write(data)))
        assert "CSV" in caught.value.hint


def test_the_mark_is_found_in_a_first_member_of_one_byte(write: Write) -> None:
    """A mark may be spread over gz members."""
    data = b"".join(gzip.compress(bytes([byte]), mtime=0) for byte in "email\n".encode("utf-16"))
    stream = ByteStream(RegularFile(write(data)))
    assert b"".join(stream.blocks()) == b"email\n"


def test_a_file_that_changes_while_it_is_read_is_refused(write: Write) -> None:
    """The last block is followed by another look at the file."""
    path = write(b"a@example.com\n" * 100_000)
    stream = ByteStream(RegularFile(path))
    blocks = stream.blocks()
    next(blocks)
    with path.open("ab") as file:
        file.write(b"b@example.com\n")
    with pytest.raises(SourceRefused, match="changed"):
        list(blocks)


def test_a_read_error_is_an_input_output_failure(write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    """It carries the system's word and no context."""

    class Broken:
        def read(self, _: int) -> bytes:
            raise OSError(5, "Input/output error")

        def close(self) -> None:
            pass

    def opened(_: RegularFile) -> BinaryIO:
        return Broken()  # type: ignore[return-value]

    file = RegularFile(write(b"a"))
    monkeypatch.setattr(RegularFile, "open", opened)
    with pytest.raises(InputOutputFailed, match="Input/output error") as caught:
        ByteStream(file)
    assert caught.value.__context__ is None


@each_case("step", [1_000, 65_536, 262_144])
@each_case("length, refused", [(MAX_LINE_BYTES, False), (MAX_LINE_BYTES + 1, True)])
def test_lines_have_a_bound(step: int, length: int, refused: bool) -> None:
    """A line of MAX_LINE_BYTES passes, one byte more does not, however it is cut."""
    data = b"x\r" + b"y" * length + b"\nz"
    blocks = iter([data[start : start + step] for start in range(0, len(data), step)])
    if refused:
        with pytest.raises(SourceRefused, match="line is longer"):
            list(bounded_lines(blocks))
    else:
        assert b"".join(bounded_lines(blocks)) == data


@given(st.lists(st.text("ab\n\r", max_size=6).map(str.encode), max_size=6))
def test_a_line_ends_with_either_letter(blocks: list[bytes]) -> None:
    """Refused is what has more than a bound of other letters in a row, wherever it is cut."""
    runs = re.split(rb"[\n\r]", b"".join(blocks))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(bytestream, "MAX_LINE_BYTES", 6)
        if max(map(len, runs)) > 6:
            with pytest.raises(SourceRefused, match="line is longer"):
                list(bounded_lines(iter(blocks)))
        else:
            assert list(bounded_lines(iter(blocks))) == blocks


def test_a_sample_knows_whether_it_is_everything() -> None:
    """Blocks are taken until there is enough."""
    assert take_sample(iter([b"ab", b"cd"]), 3) == TextSample(b"abcd", is_whole=True)
    assert take_sample(iter([b"ab", b"cd", b"e"]), 3) == TextSample(b"abcd", is_whole=False)
    assert take_sample(iter([]), 3) == TextSample(b"", is_whole=True)


def test_blocks_stay_below_a_line_after_transcoding() -> None:
    """Otherwise a whole line could hide inside one block."""
    assert bytestream.BLOCK_BYTES * 3 < MAX_LINE_BYTES


@pytest.mark.parametrize("name", ["utf-16-le", "utf-16-be", "utf-32-le", "utf-8", "gb18030"])
@settings(deadline=None)
@given(text=LETTERS, step=st.integers(1, 9))
def test_text_survives_any_cut(name: str, text: str, step: int) -> None:
    """Letters of several bytes come out whole, wherever the blocks end."""
    data = text.encode(name)
    blocks = iter([data[start : start + step] for start in range(0, len(data), step)])
    assert b"".join(transcode(blocks, Encoding(name, 0))).decode() == text


@each_case(
    "name, data, text",
    [
        ("cp1252", b"M\xfcller \x80", "Müller €"),
        ("iso8859-1", b"M\xfcller \x80", "Müller \x80"),
        ("shift_jis", b"\x93\x8c\x8b\x9e", "東京"),
        ("iso8859-7", b"\xc1\xe8\xde\xed\xe1", "Αθήνα"),
        ("cp1251", b"\xcc\xee\xf1\xea\xe2\xe0", "Москва"),
    ],
)
def test_old_encodings_are_read_when_declared(name: str, data: bytes, text: str) -> None:
    """Their letters are those of the codec, nothing stands in for them."""
    assert b"".join(transcode(iter([data]), Encoding(name, 0))).decode() == text


@each_case(
    "name, data, expected",
    [
        ("cp1252", b"a\x81b", b"a\xffb"),
        ("shift_jis", b"a\xa0,b", b"a\xff,b"),
        ("utf-16-le", "a".encode("utf-16-le") + b"\x00\xd8" + "b".encode("utf-16-le"), b"a\xffb"),
        ("ascii", b"a\xe9\n", b"a\xff\n"),
        ("utf-16-le", b"a\0b", b"a\xff"),
    ],
)
def test_unknown_bytes_become_one_that_is_never_text(name: str, data: bytes, expected: bytes) -> None:
    """The byte FF tells the reader that this row is broken."""
    assert b"".join(transcode(iter([data]), Encoding(name, 0))) == expected


def test_the_mark_is_taken_off_across_blocks() -> None:
    """Only at the beginning, also when it comes byte by byte."""
    data = codecs.BOM_UTF8 + b"a" + codecs.BOM_UTF8
    blocks = iter([data[place : place + 1] for place in range(len(data))])
    assert b"".join(transcode(blocks, Encoding("utf-8", 3))) == b"a" + codecs.BOM_UTF8


@each_case(
    "first_bytes, declared, name, mark_bytes",
    [
        (b"email\n", None, "utf-8", 0),
        (b"", None, "utf-8", 0),
        (b"\xef\xbb\xbfemail\n", None, "utf-8", 3),
        (b"\xef\xbb\xbfemail\n", "utf-8", "utf-8", 3),
        (b"\xef\xbb\xbfemail\n", "utf-8-sig", "utf-8", 3),
        (b"email\n", "utf-8-sig", "utf-8", 0),
        (b"\xff\xfee\0m\0", None, "utf-16-le", 2),
        (b"\xfe\xff\0e\0m", None, "utf-16-be", 2),
        (b"\xff\xfee\0m\0", "utf-16", "utf-16-le", 2),
        (b"\xff\xfee\0m\0", "utf-16-le", "utf-16-le", 2),
        (b"e\0m\0a\0", "utf-16-le", "utf-16-le", 0),
        (b"\xff\xfe\0\0e\0\0\0", None, "utf-32-le", 4),
        (b"caf\xe9\n", "cp1252", "cp1252", 0),
        ("Jürgen Groß\n".encode(), "cp1252", "cp1252", 0),  # two letters: too few to contradict
        ("Jürgen Groß-Möller, Ærø\n".encode("cp1252"), "cp1252", "cp1252", 0),
        ("Пётр Её\n".encode("cp1251"), "cp1251", "cp1251", 0),
        ("山田ﾀﾛｳ\n".encode("shift_jis"), "shift_jis", "shift_jis", 0),
        (b"a\0b@example.com,1234\n", None, "utf-8", 0),
    ],
)
def test_marks_and_declarations_say_the_encoding(
    first_bytes: bytes, declared: str | None, name: str, mark_bytes: int
) -> None:
    """A mark is believed, and else the declaration; without either it is UTF-8."""
    assert find_encoding(first_bytes, declared) == Encoding(name, mark_bytes)


@each_case(
    "first_bytes, declared",
    [
        (b"\xef\xbb\xbfemail\n", "cp1252"),
        (b"\xff\xfee\0m\0", "utf-8"),
        (b"\xff\xfee\0m\0", "utf-16-be"),
        (b"e\0m\0a\0i\0l\0", "utf-16"),
        (b"e\0m\0a\0i\0l\0", None),
        (b"\0e\0m\0a\0i\0l", None),
        ("Jürgen Größ\n".encode(), "cp1252"),
        ("山田太郎\n".encode(), "shift_jis"),
        ("Jürgen Größer, é".encode()[:-1], "iso8859-1"),  # the first block ends in the middle of a letter
    ],
)
def test_contradictions_and_guesses_are_refused(first_bytes: bytes, declared: str | None) -> None:
    """A mark or letters against the declaration, and two-byte text in an unknown order."""
    with pytest.raises(SourceRefused):
        find_encoding(first_bytes, declared)


@each_case("magic", [magic for magic, _, _ in OTHER_FORMATS])
def test_other_formats_are_refused_by_name(magic: bytes) -> None:
    """People are told what it is and what to do."""
    with pytest.raises(SourceRefused, match="which is not read") as caught:
        find_format(magic + b"rest")
    assert caught.value.hint


def _blocks(data: bytes, size: int) -> Iterator[bytes]:
    return (data[start : start + size] for start in range(0, len(data), size))


@given(st.binary(max_size=60).map(lambda data: data.replace(b"q", b"\n")), st.integers(1, 9))
def test_lines_are_the_same_however_the_bytes_are_divided(data: bytes, size: int) -> None:
    """And the counter, which shares no code with the reader, counts as many."""
    counter = LineCounter()
    expected = [line.strip(b" \t\r") for line in data.split(b"\n") if line.strip(b" \t\r")]
    assert list(non_blank_lines(_blocks(data, size), counter)) == expected
    assert counter.lines == len(expected)


@each_case("size", [1000, 65_536, 3_000_000])
def test_an_overlong_line_is_none(size: int) -> None:
    """One byte more than allowed; its neighbours are read."""
    long, longest = b"x" * (MAX_LINE_BYTES + 1), b"y" * MAX_LINE_BYTES
    counter = LineCounter()
    data = b"\n".join([b"a", long, longest, b"b", long])
    assert list(non_blank_lines(_blocks(data, size), counter)) == [b"a", None, longest, b"b", None]
    assert counter.lines == 5
