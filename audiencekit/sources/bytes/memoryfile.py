"""Bytes that came in a stream, held in memory: so that what is read from its end is read without a file on disk."""

from __future__ import annotations

import io
from collections.abc import Iterable
from typing import BinaryIO, Final

from audiencekit.errors import SourceRefused
from audiencekit.limits import MAX_HELD_BYTES
from audiencekit.sources.bytes.rawbytes import Identity, RawFile

_HINT: Final = "unpack or decrypt it where that is safe, and give the file; or write the list as CSV, which is streamed"


class HeldFile:
    """The bytes that `blocks` bring, which come out of `outer`. Raises SourceRefused for more than MAX_HELD_BYTES."""

    seekable = True

    def __init__(self, outer: RawFile, blocks: Iterable[bytes]) -> None:
        held = io.BytesIO()
        for block in blocks:
            if held.tell() + len(block) > MAX_HELD_BYTES:
                raise SourceRefused(
                    f"what is read from its end is held in memory when it comes in a stream, and it is more than"
                    f" {MAX_HELD_BYTES:,} bytes",
                    hint=_HINT,
                )
            held.write(block)
        self._outer, self._data = outer, held.getvalue()  # shared with every handle, not copied

    def __repr__(self) -> str:
        return f"<HeldFile of {self.size_bytes} bytes>"

    @property
    def size_bytes(self) -> int:
        """Bytes that are held."""
        return len(self._data)

    @property
    def identity(self) -> Identity:
        """That of the file which they came from."""
        return self._outer.identity

    @property
    def repeatable(self) -> bool:
        """As that file is."""
        return self._outer.repeatable

    def open(self) -> BinaryIO:
        """A handle at the first byte."""
        return io.BytesIO(self._data)

    def check_unchanged(self, handle: BinaryIO) -> None:
        """Nothing: what is held does not change, and its file was looked at when all of it had come."""
