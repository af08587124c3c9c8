"""gz in a stream: every member, checksum and length looked at, and a cap on what a few bytes may become."""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Iterator
from contextlib import suppress
from typing import Final

from audiencekit.errors import SourceRefused
from audiencekit.limits import INFLATION_GRACE_BYTES, MAX_INFLATION

GZ_MAGIC: Final = b"\x1f\x8b"
GZ_WINDOW: Final = 31  # zlib's code for "a gz header, its CRC and its length"


class Inflation:
    """Unpacks gz members one after the other into blocks of at most `block_bytes`.

    Raises SourceRefused for a truncated member, a wrong checksum or length, bytes that belong to no member, and more
    unpacked bytes than MAX_INFLATION times the packed ones.
    """

    def __init__(self, block_bytes: int) -> None:
        self._block_bytes = block_bytes
        self._packed_bytes = self._unpacked_bytes = 0

    def blocks(self, packed_blocks: Iterable[bytes]) -> Iterator[bytes]:
        """The unpacked bytes of `packed_blocks`, which begin with a member."""
        member, rest = zlib.decompressobj(GZ_WINDOW), b""
        for packed in packed_blocks:
            self._packed_bytes += len(packed)
            rest += packed
            while rest:
                if member.eof:
                    if len(rest) < len(GZ_MAGIC):
                        break
                    member = _next_member(rest)
                unpacked = self._inflate(member, rest)
                rest = member.unused_data if member.eof else member.unconsumed_tail
                if unpacked:
                    yield unpacked
        if rest and member.eof:
            raise _damaged("bytes follow its last member")
        yield from self._remainder(member)

    def _remainder(self, member: zlib._Decompress) -> Iterator[bytes]:
        while not member.eof:
            unpacked = self._inflate(member, b"")
            if not unpacked:
                break
            yield unpacked
        if not member.eof:
            raise _damaged("it ends in the middle of a member")

    def _inflate(self, member: zlib._Decompress, packed: bytes) -> bytes:
        unpacked = None
        with suppress(zlib.error):
            unpacked = member.decompress(packed, self._block_bytes)
        if unpacked is None:
            raise _damaged("its checksum, its length or its data is wrong")
        self._unpacked_bytes += len(unpacked)
        allowed = max(INFLATION_GRACE_BYTES, MAX_INFLATION * self._packed_bytes)
        if self._unpacked_bytes > allowed:
            raise SourceRefused(
                f"the gz file unpacks to more than {MAX_INFLATION} times its size",
                hint="unpack it and look at it first",
            )
        return unpacked


def _next_member(rest: bytes) -> zlib._Decompress:
    if not rest.startswith(GZ_MAGIC):
        raise _damaged("bytes follow its last member")
    return zlib.decompressobj(GZ_WINDOW)


def _damaged(what: str) -> SourceRefused:
    return SourceRefused(f"the gz file is damaged: {what}", hint="get the file again; nothing of it can be trusted")
