"""Any declared encoding to UTF-8, in a stream; marks at the beginning are believed and taken off.

A byte that the encoding does not know becomes the byte FF, which is never part of UTF-8: so a broken byte costs its row
and not the file, and no other letter can stand in for it.
"""

from __future__ import annotations

import codecs
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from audiencekit.errors import SourceRefused
from audiencekit.optiontext import option

# Longest first: the mark of UTF-32-LE begins with that of UTF-16-LE.
MARKS: Final = (
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
LONGEST_MARK: Final = 4  # bytes
WIDE: Final = {"utf-16": ("utf-16-le", "utf-16-be"), "utf-32": ("utf-32-le", "utf-32-be")}
NUL_SHARE: Final = 0.3  # of every second byte: text of two bytes a letter that was not declared
BROKEN_BYTE: Final = "\udcff"  # leaves as the byte FF through `surrogateescape`
_MARK_BROKEN: Final = "audiencekit-mark-broken"


def _mark_broken(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeDecodeError):
        raise error
    return BROKEN_BYTE, error.end


codecs.register_error(_MARK_BROKEN, _mark_broken)


@dataclass(frozen=True, slots=True)
class Encoding:
    """The encoding of a file, and how many bytes at its beginning are only a mark."""

    name: str
    mark_bytes: int


def find_encoding(first_bytes: bytes, declared: str | None) -> Encoding:
    """The encoding by the mark in `first_bytes` or as `declared`, else UTF-8.

    Raises SourceRefused when mark and declaration differ, and for UTF-16 and UTF-32 of unknown byte order.
    """
    wanted = "utf-8" if declared is None or declared == "utf-8-sig" else declared
    for mark, name in MARKS:
        if first_bytes.startswith(mark):
            if declared is not None and wanted not in (name, name[:6]):
                raise SourceRefused(f"it begins with the mark of {name}, but `encoding=` says {declared}")
            return Encoding(name, len(mark))
    if wanted in WIDE:
        raise SourceRefused(f"it has no byte order mark, so {wanted} is ambiguous", hint=_wide_hint(wanted))
    if declared is None and _looks_wide(first_bytes):
        raise SourceRefused("it looks like UTF-16 without a byte order mark", hint=_wide_hint("utf-16"))
    return Encoding(wanted, 0)


def transcode(blocks: Iterator[bytes], encoding: Encoding) -> Iterator[bytes]:
    """UTF-8 blocks without the mark. UTF-8 passes as it is, broken bytes and all: the reader meets them by row."""
    rest = encoding.mark_bytes
    decoder = None if encoding.name == "utf-8" else codecs.getincrementaldecoder(encoding.name)(_MARK_BROKEN)
    for whole in blocks:
        block, rest = whole[rest:], max(0, rest - len(whole))
        if decoder is not None:
            block = decoder.decode(block).encode("utf-8", "surrogateescape")
        if block:
            yield block
    if decoder is not None:
        last = decoder.decode(b"", True).encode("utf-8", "surrogateescape")
        if last:
            yield last


def _wide_hint(family: str) -> str:
    return "say " + " or ".join(option("encoding", name) for name in WIDE[family])


def _looks_wide(first_bytes: bytes) -> bool:
    even, odd = first_bytes[::2], first_bytes[1::2]
    if not any(first_bytes):
        return False  # nothing but NUL is no text in any encoding
    return any(part.count(0) > NUL_SHARE * len(part) for part in (even, odd) if len(first_bytes) > LONGEST_MARK)
