"""An XML part in pieces of whole units, such as the rows of a sheet, as far as it is written as programs write it."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from audiencekit.errors import SourceRefused

MAX_UNIT_BYTES: Final = 16_777_216  # of XML
_MAX_HEAD_BYTES: Final = 1_048_576  # before the first unit
_STRANGE: Final = b"<!"  # a document type, a comment or the like
_UTF_8: Final = (
    rb"""(?:\xef\xbb\xbf)?\s*(?:<\?xml(?:(?!encoding)[^>])*(?:encoding=["'][Uu][Tt][Ff]-8["'][^>]*)?>)?\s*"""
)


# In front of the names of elements: programs made with the SDK of the format write `x:` there.
PREFIX: Final = rb"([A-Za-z][A-Za-z0-9]*:)?"


@dataclass(frozen=True, slots=True)
class MarkupForm:
    """The way of a part whose root is `root`: elements `unit` between `begin` and the end of the element `within`."""

    root: bytes
    begin: re.Pattern[bytes]
    unit: bytes
    within: bytes

    def head_of(self, data: bytes) -> tuple[bytes, bytes] | None:
        """The XML of `data` up to the first unit, when it is UTF-8, and the prefix of its names."""
        found = self.begin.search(data)
        if found is None or _STRANGE in data[: found.end()]:
            return None
        root = re.match(_UTF_8 + b"<" + PREFIX + self.root + rb"[\s>]", data)
        return (data[: found.end()], root[1] or b"") if root and root[1] == found[1] else None


class Units:
    """`head` and pieces of whole units of a part that comes in `blocks`; what is left is for a parser.

    Iterate over the pieces first. `rest` begins with `head`, so that it is sound by itself where the part is. A comment
    that holds the end of a unit is cut in two, neither of which is sound.
    """

    def __init__(self, blocks: Iterator[bytes], form: MarkupForm) -> None:
        self._blocks, self._form = blocks, form
        data = b""
        for block in blocks:
            data += block
            if form.begin.search(data) or len(data) > _MAX_HEAD_BYTES:
                break
        head = form.head_of(data)
        self.is_plain = head is not None
        self.head, self._prefix = head or (b"", b"")
        self._left = data[len(self.head) :]

    def __iter__(self) -> Iterator[bytes]:
        blocks = itertools.chain([b""], self._blocks) if self.is_plain else iter(())
        for block in blocks:
            data = self._left + block
            unit_end = self._closing(self._form.unit)
            last = data.rfind(unit_end)
            behind = 0 if last < 0 else last + len(unit_end)
            end = data.find(self._closing(self._form.within), behind)  # behind the last unit, or not yet there
            cut = max(end, behind)
            self._left = data[cut:]
            if data[:cut].strip():
                yield data[:cut]
            if end >= 0:
                return
            if len(self._left) > MAX_UNIT_BYTES:
                raise SourceRefused(
                    f"a row or a text of the workbook takes more than {MAX_UNIT_BYTES:,} bytes",
                    hint="save the sheet as CSV UTF-8",
                )

    def rest(self) -> Iterator[bytes]:
        """The XML behind the pieces, behind the head again."""
        return itertools.chain([self.head, self._left], self._blocks)

    def alone(self, piece: bytes) -> Iterator[bytes]:
        """One piece as a document of its own."""
        closing = b"" if self._form.within == self._form.root else self._closing(self._form.root)
        return iter((self.head, piece, self._closing(self._form.within) + closing))

    def unprefixed(self, piece: bytes) -> bytes:
        """`piece` without the prefix of its names; nothing where some have none, or another."""
        if not self._prefix:
            return piece
        opening, closing = b"<" + self._prefix, b"</" + self._prefix
        all_have_it = piece.count(opening) + piece.count(closing) == piece.count(b"<")
        return piece.replace(opening, b"<").replace(closing, b"</") if all_have_it else b""

    def _closing(self, name: bytes) -> bytes:
        return b"</" + self._prefix + name + b">"
