"""A zip archive as the one file that it holds. Of two files neither is the list: they are named, and refused."""

from __future__ import annotations

import io
import lzma
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import closing
from typing import IO, Final

from audiencekit.errors import AudiencekitError, SourceRefused
from audiencekit.limits import INFLATION_GRACE_BYTES, MAX_INFLATION
from audiencekit.shown import shown
from audiencekit.sources.bytes.inflation import damaged
from audiencekit.sources.bytes.rawbytes import ByteReader, RawFile

ZIP: Final = "zip"
ZIP_MAGIC: Final = b"PK\x03\x04"
_OFFICE: Final = "[Content_Types].xml"  # of every document of Office
_OPEN_DOCUMENT: Final = frozenset({"mimetype", "content.xml"})
SHOWN_MEMBERS: Final = 5
_ENCRYPTED: Final = 0x1
_END, _END_BYTES = b"PK\x05\x06", 22  # of the record at its end, without the comment (APPNOTE, section 4.3.16)
_WRONG: Final = (zipfile.BadZipFile, zlib.error, lzma.LZMAError, EOFError, OSError, ValueError)
_PADDING: Final = ("__MACOSX/", ".DS_Store")  # what macOS adds to an archive


def is_office_document(file: RawFile) -> bool:
    """Whether a zip archive is a document of Office, such as a workbook. A damaged archive is none."""
    if not file.seekable:
        return False
    with closing(file.open()) as handle:
        reading = ByteReader(handle)
        try:
            return _OFFICE in zipfile.ZipFile(reading).namelist()
        except _WRONG:
            pass
    if reading.failure is not None:
        raise reading.failure
    return False


def zip_blocks(reading: ByteReader, block_bytes: int) -> Iterator[bytes]:
    """The bytes of the only file of the archive, in blocks of at most `block_bytes`.

    Raises SourceRefused for an archive of none or of several files, an encrypted or damaged one, and what unpacks to
    more than it may: before it is unpacked.
    """
    if not reading.seekable():
        raise SourceRefused("zip is read from its end, which a stream does not have", hint="give the path of a file")
    member, left_bytes = _opened(reading)
    while block := _read(member, reading, block_bytes):
        left_bytes -= len(block)
        yield block
    if left_bytes:
        raise damaged(ZIP, "its file is shorter than it says")


def _opened(reading: ByteReader) -> tuple[IO[bytes], int]:
    """The only file of the archive, and how many bytes it is said to have."""
    try:
        archive = zipfile.ZipFile(reading)
        if has_more_behind(reading, archive):
            raise damaged(ZIP, "bytes follow its end")
        entry = _only_member(archive)
        return archive.open(entry), entry.file_size
    except AudiencekitError:
        raise
    except NotImplementedError:
        unknown = True
    except _WRONG:
        unknown = False
    if unknown:
        raise SourceRefused("the zip file is packed by a method that is not read", hint="unpack it, or pack it as gz")
    raise reading.failure or damaged(ZIP, "its directory cannot be read")


def has_more_behind(reading: ByteReader, archive: zipfile.ZipFile) -> bool:
    """Whether bytes follow the end of the archive, which `zipfile` passes over."""
    reading.seek(-_END_BYTES - len(archive.comment), io.SEEK_END)
    return reading.read(len(_END)) != _END


def _only_member(archive: zipfile.ZipFile) -> zipfile.ZipInfo:
    entries = archive.infolist()
    files = [entry for entry in entries if not entry.is_dir() and not _is_padding(entry.filename)]
    if {entry.filename for entry in files} >= _OPEN_DOCUMENT:
        raise SourceRefused(
            "this is an OpenDocument file (ods), which is not read", hint="save it as xlsx or CSV UTF-8"
        )
    if not files:
        raise SourceRefused("the zip file holds no file", hint="give the file itself")
    if len(files) > 1:
        names = ", ".join(shown(entry.filename) for entry in files[:SHOWN_MEMBERS])
        more = f" and {len(files) - SHOWN_MEMBERS} more" if len(files) > SHOWN_MEMBERS else ""
        raise SourceRefused(
            f"the zip file holds {len(files)} files: {names}{more}", hint="unpack it, and give the files that are meant"
        )
    if min(entry.header_offset for entry in entries):
        raise damaged(ZIP, "bytes stand before its first file")  # such as another archive, whose rows would be missed
    _check(files[0])
    return files[0]


def _check(entry: zipfile.ZipInfo) -> None:
    if entry.flag_bits & _ENCRYPTED:
        raise SourceRefused("the zip file is encrypted", hint="unpack it, or have it encrypted with age")
    if entry.file_size > max(INFLATION_GRACE_BYTES, MAX_INFLATION * entry.compress_size):
        raise SourceRefused(
            f"the zip file unpacks to more than {MAX_INFLATION} times its size", hint="unpack it and look at it first"
        )


def _is_padding(name: str) -> bool:
    return name.startswith(_PADDING[0]) or name.rpartition("/")[2] == _PADDING[1]


def _read(member: IO[bytes], reading: ByteReader, block_bytes: int) -> bytes:
    try:
        return member.read(block_bytes)
    except AudiencekitError:
        raise
    except _WRONG:
        pass
    raise reading.failure or damaged(ZIP, "it is truncated, or its checksum or its data is wrong")
