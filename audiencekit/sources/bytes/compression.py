"""Packed members in a stream, each read to its checksum, and a cap on the size that a few bytes may unpack to."""

from __future__ import annotations

import bz2
import io
import lzma
import zipfile
import zlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing
from dataclasses import dataclass
from typing import IO, Final, Protocol

import pyarrow as pa

from audiencekit.errors import AudiencekitError, SourceRefused
from audiencekit.limits import INFLATION_GRACE_BYTES, MAX_INFLATION, MAX_UNPACKING_BYTES
from audiencekit.sources.bytes.files import ByteReader, RawFile
from audiencekit.text import shown

GZ_WINDOW: Final = 31  # zlib's code for "a gz header, its CRC and its length"


class Member(Protocol):
    """One packed member, unpacked piece by piece. The classes of `bz2` and `lzma` are such."""

    @property
    def eof(self) -> bool:
        """Whether its end was reached, and its checksum is right."""

    @property
    def needs_input(self) -> bool:
        """Whether all given data is unpacked."""

    @property
    def unused_data(self) -> bytes:
        """The bytes after its end."""

    def decompress(self, data: bytes, max_length: int) -> bytes:
        """Return up to `max_length` unpacked bytes of earlier data that was left, then of `data`."""


class GzMember:
    """A member of gz."""

    def __init__(self) -> None:
        self._member = zlib.decompressobj(GZ_WINDOW)
        self.needs_input = True

    @property
    def eof(self) -> bool:
        """Whether its end was reached, and its checksum is right."""
        return self._member.eof

    @property
    def unused_data(self) -> bytes:
        """The bytes after its end."""
        return self._member.unused_data

    def decompress(self, data: bytes, max_length: int) -> bytes:
        """Return up to `max_length` unpacked bytes of earlier data that was left, then of `data`."""
        unpacked = self._member.decompress(self._member.unconsumed_tail + data, max_length)
        self.needs_input = not self._member.unconsumed_tail and len(unpacked) < max_length
        return unpacked


@dataclass(frozen=True, slots=True)
class MemberForm:
    """A form of compression by members: its name, the first bytes of each member, and how one is unpacked."""

    name: str
    magic: bytes
    begin: Callable[[], Member]
    wrong: str = "its checksum, its length or its data is wrong"

    def blocks(self, packed_blocks: Iterable[bytes], block_bytes: int) -> Iterator[bytes]:
        """The unpacked bytes of `packed_blocks`, which begin with a member, in blocks of at most `block_bytes`.

        Raises SourceRefused for a truncated member, a wrong checksum or length, and bytes that belong to no member.
        """
        member, rest = self.begin(), b""
        for packed in packed_blocks:
            rest += packed
            while not member.eof or len(rest) >= len(self.magic):
                if member.eof:
                    member = self._next_member(rest)
                unpacked = self._unpack(member, rest, block_bytes)
                rest = member.unused_data if member.eof else b""
                if unpacked:
                    yield unpacked
                if not member.eof and member.needs_input:
                    break
        if not member.eof:
            raise damaged(self.name, "it ends in the middle of a member")
        if rest:
            raise damaged(self.name, "bytes follow its last member")

    def _next_member(self, rest: bytes) -> Member:
        if not rest.startswith(self.magic):
            raise damaged(self.name, "bytes follow its last member")
        return self.begin()

    def _unpack(self, member: Member, packed: bytes, block_bytes: int) -> bytes:
        try:
            return member.decompress(packed, block_bytes)
        except (zlib.error, lzma.LZMAError, OSError, ValueError):
            pass
        raise damaged(self.name, self.wrong)


GZ: Final = MemberForm("gz", b"\x1f\x8b", GzMember)
BZIP2: Final = MemberForm("bzip2", b"BZh", bz2.BZ2Decompressor)
XZ: Final = MemberForm(
    "xz",
    b"\xfd7zXZ\x00",
    lambda: lzma.LZMADecompressor(lzma.FORMAT_XZ, memlimit=MAX_UNPACKING_BYTES),
    f"its checksum or its data is wrong, or it takes more than {MAX_UNPACKING_BYTES:,} bytes of memory",
)


def bounded(blocks: Iterable[bytes], name: str, packed_bytes: Callable[[], int]) -> Iterator[bytes]:
    """Return the blocks unchanged. Raises SourceRefused for more than MAX_INFLATION times the bytes packed so far."""
    unpacked_bytes = 0
    for block in blocks:
        unpacked_bytes += len(block)
        if unpacked_bytes > max(INFLATION_GRACE_BYTES, MAX_INFLATION * packed_bytes()):
            raise inflated_too_far(name)
        yield block


def inflated_too_far(name: str) -> SourceRefused:
    """Return the refusal of a file that unpacks to more bytes than any list needs."""
    return SourceRefused(
        f"the {name} file unpacks to more than {MAX_INFLATION} times its size", hint="unpack it and look at it first"
    )


def damaged(name: str, why: str) -> SourceRefused:
    """Return the refusal of a damaged packed file."""
    return SourceRefused(f"the {name} file is damaged: {why}", hint="get the file again; nothing of it can be trusted")


ZIP: Final = "zip"
ZIP_MAGIC: Final = b"PK\x03\x04"
_OFFICE: Final = "[Content_Types].xml"  # of every document of Office
_OPEN_DOCUMENT: Final = frozenset({"mimetype", "content.xml"})
_NUMBERS: Final = "Index/"  # where Apple's programs keep their tables (.iwa)
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
    while block := _read_member(member, reading, block_bytes):
        left_bytes -= len(block)
        yield block
    if left_bytes:
        raise damaged(ZIP, "its file is shorter than it says")


def _opened(reading: ByteReader) -> tuple[IO[bytes], int]:
    """Return the only file of the archive, and the number of bytes that the archive gives for it."""
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
    if any(entry.filename.startswith(_NUMBERS) for entry in files):
        raise SourceRefused("this is a file of Apple Numbers, which is not read", hint="export it as CSV UTF-8 or xlsx")
    if not files:
        raise SourceRefused("the zip file holds no file", hint="give the file itself")
    if len(files) > 1:
        names = ", ".join(shown(entry.filename) for entry in files[:SHOWN_MEMBERS])
        more = f" and {len(files) - SHOWN_MEMBERS} more" if len(files) > SHOWN_MEMBERS else ""
        raise SourceRefused(
            f"the zip file holds {len(files)} files: {names}{more}", hint="unpack it, and give the files that are meant"
        )
    if min(entry.header_offset for entry in entries):
        raise damaged(ZIP, "there is data before its first file")  # such as another archive, whose rows would be missed
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


def _read_member(member: IO[bytes], reading: ByteReader, block_bytes: int) -> bytes:
    try:
        return member.read(block_bytes)
    except AudiencekitError:
        raise
    except _WRONG:
        pass
    raise reading.failure or damaged(ZIP, "it is truncated, or its checksum or its data is wrong")


ZSTD: Final = "zstd"
ZSTD_MAGIC: Final = b"\x28\xb5\x2f\xfd"


def zstd_blocks(reading: ByteReader, block_bytes: int) -> Iterator[bytes]:
    """The unpacked bytes, in blocks of at most `block_bytes`. Raises SourceRefused for a damaged or truncated frame."""
    stream = pa.CompressedInputStream(pa.PythonFile(reading, mode="r"), ZSTD)
    while block := _read_zstandard(stream, reading, block_bytes):
        yield block


def _read_zstandard(stream: pa.NativeFile, reading: ByteReader, block_bytes: int) -> bytes:
    try:
        return bytes(stream.read(block_bytes))
    except (pa.ArrowException, OSError, ValueError):
        pass
    if reading.failure is not None:
        raise reading.failure
    raise damaged(ZSTD, "it is truncated, or its checksum or its data is wrong")


@dataclass(frozen=True, slots=True)
class Compression:
    """A form of packed files. `unpack` gives blocks of at most so many bytes, and raises SourceRefused."""

    name: str
    magic: bytes
    unpack: Callable[[ByteReader, int], Iterator[bytes]]

    def blocks(self, reading: ByteReader, block_bytes: int) -> Iterator[bytes]:
        """The unpacked bytes. Raises SourceRefused for a damaged file and for a bomb."""
        return bounded(self.unpack(reading, block_bytes), self.name, lambda: reading.position)


def _by_members(form: MemberForm) -> Compression:
    return Compression(form.name, form.magic, lambda reading, size: form.blocks(reading.blocks(size), size))


COMPRESSIONS: Final = (
    _by_members(GZ),
    _by_members(BZIP2),
    _by_members(XZ),
    Compression(ZSTD, ZSTD_MAGIC, zstd_blocks),
    Compression(ZIP, ZIP_MAGIC, zip_blocks),
)


def compression_of(first_bytes: bytes) -> Compression | None:
    """The compression of a file that begins so; None for one that is not packed."""
    return next((compression for compression in COMPRESSIONS if first_bytes.startswith(compression.magic)), None)
