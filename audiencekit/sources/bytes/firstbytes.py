"""The format and the encoding of a file, by its first bytes and never by its name."""

from __future__ import annotations

import codecs
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from audiencekit.errors import SourceRefused
from audiencekit.optiontext import option
from audiencekit.sources.bytes.openpgp import PgpContent

MAGIC_BYTES: Final = 64
PARQUET_MAGIC: Final = (b"PAR1", b"PARE")
_SAVE: Final = "save it as xlsx without a password, or as CSV UTF-8"
# First bytes of what people take for a table, and what to do about it.
OTHER_FORMATS: Final = (
    (b"PK\x05\x06", "an empty zip archive", "give the file itself"),
    (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "an old Excel workbook (xls), or one with a password", _SAVE),
    (b"7z\xbc\xaf\x27\x1c", "a 7z archive", "unpack it, or pack it as gz"),
    (b"SQLite format 3\x00", "a SQLite database", "say what to read of it: `from_sql`, as sqlite:///FILE"),
    (b"ARROW1", "an Arrow file", "write it as Parquet"),
    (b"Obj\x01", "an Avro file", "write it as Parquet"),
    (b"%PDF-", "a PDF document", "export the table as CSV"),
)
# The same of texts, in small letters; a byte order mark or blanks may come before.
_SPREADSHEET: Final = "export CSV; what a shop calls an Excel file can be opened there and saved as CSV UTF-8"
_KEY: Final = (PgpContent.KEY, "a list is encrypted for it: give the list")
OTHER_TEXTS: Final = (
    (b"<!doctype", "a web page", _SPREADSHEET),
    (b"<html", "a web page", _SPREADSHEET),
    (b"<table", "a table of a web page", _SPREADSHEET),
    (b"<?xml", "an XML document", _SPREADSHEET),
    (b"{\\rtf", "an RTF document", "export the table as CSV"),
    (
        b"-----begin age encrypted file-----",
        "an age file in letters",
        "encrypt it as binary, which is the default of age",
    ),
    (b"-----begin pgp signed message-----", "a signed text", "write out the text in it: gpg --decrypt"),
    (b"-----begin pgp public key block-----", *_KEY),
    (b"-----begin pgp private key block-----", *_KEY),
    (b"begin:vcard", "a file of vCards", "export the contacts as CSV"),
)

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


class SourceFormat(StrEnum):
    """The type of a file."""

    TEXT = "text"
    PARQUET = "parquet"
    WORKBOOK = "workbook"


@dataclass(frozen=True, slots=True)
class Encoding:
    """The encoding of a file, and how many bytes at its beginning are only a mark."""

    name: str
    mark_bytes: int


def find_format(first_bytes: bytes) -> SourceFormat:
    """The format by the first bytes of a file. Raises SourceRefused for formats that are not read."""
    if first_bytes.startswith(PARQUET_MAGIC):
        return SourceFormat.PARQUET
    for magic, what, instead in OTHER_FORMATS:
        if first_bytes.startswith(magic):
            raise SourceRefused(f"this is {what}, which is not read", hint=instead)
    text = first_bytes.removeprefix(codecs.BOM_UTF8).lstrip().lower()
    for beginning, what, instead in OTHER_TEXTS:
        if text.startswith(beginning):
            raise SourceRefused(f"this is {what}, which is not read", hint=instead)
    return SourceFormat.TEXT


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


def _wide_hint(family: str) -> str:
    return "say " + " or ".join(option("encoding", name) for name in WIDE[family])


def _looks_wide(first_bytes: bytes) -> bool:
    even, odd = first_bytes[::2], first_bytes[1::2]
    if not any(first_bytes):
        return False  # nothing but NUL is no text in any encoding
    return any(part.count(0) > NUL_SHARE * len(part) for part in (even, odd) if len(first_bytes) > LONGEST_MARK)
