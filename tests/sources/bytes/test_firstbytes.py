"""The first bytes say the format, and the encoding where nothing is declared."""

from __future__ import annotations

import pytest

from audiencekit.errors import SourceRefused
from audiencekit.sources.bytes.firstbytes import OTHER_FORMATS, Encoding, find_encoding, find_format


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


@pytest.mark.parametrize("magic", [magic for magic, _, _ in OTHER_FORMATS], ids=[what for _, what, _ in OTHER_FORMATS])
def test_other_formats_are_refused_by_name(magic: bytes) -> None:
    """People are told what it is and what to do."""
    with pytest.raises(SourceRefused, match="which is not read") as caught:
        find_format(magic + b"rest")
    assert caught.value.hint
