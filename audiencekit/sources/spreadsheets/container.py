"""The parts of a workbook: XML in a zip archive, unpacked in a stream, each to its end and its checksum."""

from __future__ import annotations

import lzma
import zipfile
import zlib
from collections.abc import Callable, Generator
from contextlib import closing
from typing import Final, Self, TypeVar

from audiencekit.errors import AudiencekitError, SourceRefused
from audiencekit.limits import INFLATION_GRACE_BYTES, MAX_INFLATION
from audiencekit.sources.bytes.rawbytes import ByteReader, RawFile
from audiencekit.sources.bytes.zipmember import has_more_behind

T = TypeVar("T")
BLOCK_BYTES: Final = 1_048_576
MAX_SMALL_PART_BYTES: Final = 33_554_432  # of a part that is held as a whole, such as the list of styles
_ENCRYPTED: Final = 0x1
_WRONG: Final = (zipfile.BadZipFile, zlib.error, lzma.LZMAError, EOFError, OSError, ValueError, NotImplementedError)


class Container:
    """The open archive of a workbook. Raises SourceRefused for one that is damaged, encrypted or a bomb."""

    def __init__(self, file: RawFile) -> None:
        self._file = file
        self._handle = file.open()
        self._reading = ByteReader(self._handle)
        try:
            self._archive = self._attempt(self._opened)
            self._entries = _entries_of(self._archive)
        except BaseException:
            self._handle.close()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._archive.close()
        self._handle.close()

    def __contains__(self, name: str) -> bool:
        return name in self._entries

    @property
    def position(self) -> int:
        """The byte of the file behind those that were read last."""
        return self._reading.position

    def size_bytes(self, name: str) -> int:
        """Bytes of the unpacked part, as the archive says. Raises SourceRefused when there is no such part."""
        return self._entry(name).file_size

    def read(self, name: str) -> bytes:
        """All of a small part."""
        if self.size_bytes(name) > MAX_SMALL_PART_BYTES:
            raise SourceRefused(
                f"a list in the workbook takes more than {MAX_SMALL_PART_BYTES:,} bytes",
                hint="save the sheet as CSV UTF-8",
            )
        return b"".join(self.blocks(name))

    def blocks(self, name: str) -> Generator[bytes]:
        """The unpacked bytes of a part. Raises SourceRefused for a damaged one, at the latest behind the last block."""
        entry = self._entry(name)
        left_bytes = entry.file_size
        with closing(self._attempt(lambda: self._archive.open(entry))) as member:
            while block := self._attempt(lambda: member.read(BLOCK_BYTES)):
                left_bytes -= len(block)
                yield block
        if left_bytes:
            raise damaged("a part of it is shorter than it says")

    def check_unchanged(self) -> None:
        """Raises SourceRefused when the file changed while it was read."""
        self._file.check_unchanged(self._handle)

    def _entry(self, name: str) -> zipfile.ZipInfo:
        entry = self._entries.get(name)
        if entry is None:
            raise damaged("a part of it is missing")
        if entry.flag_bits & _ENCRYPTED:
            raise SourceRefused("the workbook is encrypted", hint="save it without a password")
        if entry.file_size > max(INFLATION_GRACE_BYTES, MAX_INFLATION * entry.compress_size):
            raise SourceRefused(
                f"the workbook unpacks to more than {MAX_INFLATION} times its size",
                hint="its cells are nearly all alike: look at it first",
            )
        return entry

    def _opened(self) -> zipfile.ZipFile:
        archive = zipfile.ZipFile(self._reading)
        if has_more_behind(self._reading, archive):
            raise damaged("bytes follow its end")
        return archive

    def _attempt(self, work: Callable[[], T]) -> T:
        """The result of `work`. The errors of the libraries quote names and values, and are left behind."""
        try:
            return work()
        except AudiencekitError:
            raise
        except _WRONG:
            pass
        raise self._reading.failure or damaged("it is truncated, or a checksum or its data is wrong")


def _entries_of(archive: zipfile.ZipFile) -> dict[str, zipfile.ZipInfo]:
    """The members by name. Of two members with one name it is unknown which one a program would show."""
    entries = {entry.filename: entry for entry in archive.infolist()}
    if len(entries) < len(archive.infolist()):
        raise damaged("two parts of it have the same name")
    return entries


def damaged(why: str) -> SourceRefused:
    """The refusal of a workbook that is not whole."""
    return SourceRefused(f"the workbook is damaged: {why}", hint="save it again with the program that wrote it")
