"""Every declared encoding becomes UTF-8, and nothing undeclared is guessed."""

from __future__ import annotations

import codecs

import pytest
from hypothesis import given, settings, strategies as st

from audiencekit.errors import SourceRefused
from audiencekit.sources.bytes.transcoding import Encoding, find_encoding, transcode

LETTERS = st.text(st.characters(exclude_categories=["Cs"]))


@pytest.mark.parametrize(
    ("first_bytes", "declared", "name", "mark_bytes"),
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
        (b"a\0b@example.com,1234\n", None, "utf-8", 0),
    ],
)
def test_marks_and_declarations_say_the_encoding(
    first_bytes: bytes, declared: str | None, name: str, mark_bytes: int
) -> None:
    """A mark is believed, and else the declaration; without either it is UTF-8."""
    assert find_encoding(first_bytes, declared) == Encoding(name, mark_bytes)


@pytest.mark.parametrize(
    ("first_bytes", "declared"),
    [
        (b"\xef\xbb\xbfemail\n", "cp1252"),
        (b"\xff\xfee\0m\0", "utf-8"),
        (b"\xff\xfee\0m\0", "utf-16-be"),
        (b"e\0m\0a\0i\0l\0", "utf-16"),
        (b"e\0m\0a\0i\0l\0", None),
        (b"\0e\0m\0a\0i\0l", None),
    ],
)
def test_contradictions_and_guesses_are_refused(first_bytes: bytes, declared: str | None) -> None:
    """A mark against the declaration, and two-byte text in an unknown order."""
    with pytest.raises(SourceRefused):
        find_encoding(first_bytes, declared)


@pytest.mark.parametrize("name", ["utf-16-le", "utf-16-be", "utf-32-le", "utf-8", "gb18030"])
@settings(deadline=None)
@given(text=LETTERS, step=st.integers(1, 9))
def test_text_survives_any_cut(name: str, text: str, step: int) -> None:
    """Letters of several bytes come out whole, wherever the blocks end."""
    data = text.encode(name)
    blocks = iter([data[start : start + step] for start in range(0, len(data), step)])
    assert b"".join(transcode(blocks, Encoding(name, 0))).decode() == text


@pytest.mark.parametrize(
    ("name", "data", "text"),
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


@pytest.mark.parametrize(
    ("name", "data", "expected"),
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
