"""Packed members in a stream, each read to its checksum, and a cap on the size that a few bytes may unpack to."""

from __future__ import annotations

import bz2
import lzma
import zlib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Final, Protocol

from audiencekit.errors import SourceRefused
from audiencekit.limits import INFLATION_GRACE_BYTES, MAX_INFLATION, MAX_UNPACKING_BYTES

GZ_WINDOW: Final = 31  # zlib's code for "a gz header, its CRC and its length"


class Member(Protocol):
    """One packed member, unpacked piece by piece. The classes of `bz2` and `lzma` are such."""

    @property
    def eof(self) -> bool:
        """Whether its end was reached, and its checksum is right."""

    @property
    def needs_input(self) -> bool:
        """Whether nothing more comes out of what it was given."""

    @property
    def unused_data(self) -> bytes:
        """The bytes behind its end."""

    def decompress(self, data: bytes, max_length: int) -> bytes:
        """Up to `max_length` unpacked bytes of `data` and of what was left of earlier data."""


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
        """The bytes behind its end."""
        return self._member.unused_data

    def decompress(self, data: bytes, max_length: int) -> bytes:
        """Up to `max_length` unpacked bytes of `data` and of what was left of earlier data."""
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
    """The same blocks. Raises SourceRefused for more than MAX_INFLATION times the bytes packed so far."""
    unpacked_bytes = 0
    for block in blocks:
        unpacked_bytes += len(block)
        if unpacked_bytes > max(INFLATION_GRACE_BYTES, MAX_INFLATION * packed_bytes()):
            raise inflated_too_far(name)
        yield block


def inflated_too_far(name: str) -> SourceRefused:
    """The refusal of a file of which more comes out than any list needs."""
    return SourceRefused(
        f"the {name} file unpacks to more than {MAX_INFLATION} times its size", hint="unpack it and look at it first"
    )


def damaged(name: str, why: str) -> SourceRefused:
    """The refusal of a packed file that is not whole."""
    return SourceRefused(f"the {name} file is damaged: {why}", hint="get the file again; nothing of it can be trusted")
