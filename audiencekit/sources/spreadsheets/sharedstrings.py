"""The texts that cells share, by their places in the list: as Excel keeps most of the texts of a workbook."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from audiencekit.errors import SourceRefused
from audiencekit.sources.spreadsheets.container import Container
from audiencekit.sources.spreadsheets.markup import Attributes, parse
from audiencekit.sources.spreadsheets.plainmarkup import CLOSED, Grammar, joined, rewritten, runs_end, without_fonts
from audiencekit.sources.spreadsheets.xmlblocks import PREFIX, MarkupForm, Units

MAX_STRINGS_BYTES: Final = 268_435_456  # of XML; the texts are held in memory
_ITEM, _TEXT, _RUN, _READING, _FONT, _ITEM_END, _TEXT_END, _RUN_END, _READING_END = range(1, 10)
_BETWEEN: Final = (_ITEM, _ITEM + CLOSED, 0)
# Excel in Japanese and Chinese writes behind a text how it is read, and in which font that is shown.
_BEHIND_TEXT: Final = (_READING, _FONT + CLOSED, _ITEM_END)
_GRAMMAR: Final = Grammar(
    {
        b"si>": _ITEM, b"t>": _TEXT, b"t ": _TEXT, b"t/>": _TEXT, b"rPh ": _READING, b"phoneticPr ": _FONT,
        b"r>": _RUN, b"/si>": _ITEM_END, b"/t>": _TEXT_END, b"/rPh>": _READING_END, b"/r>": _RUN_END,
    },
    {
        0: _BETWEEN,
        _ITEM: (_TEXT, _TEXT + CLOSED, _RUN),
        _RUN: (_TEXT, _TEXT + CLOSED),
        _TEXT: (_TEXT_END,),
        _TEXT + CLOSED: (_FONT + CLOSED, _ITEM_END, _RUN_END),
        _TEXT_END: (*_BEHIND_TEXT, _READING_END, _RUN_END),
        _RUN_END: (_RUN, *_BEHIND_TEXT),
        _READING: (_TEXT,),
        _READING_END: _BEHIND_TEXT,
        _FONT + CLOSED: (_ITEM_END,),
        _ITEM_END: _BETWEEN,
    },
)  # fmt: skip
_FORM: Final = MarkupForm(b"sst", re.compile(b"<" + PREFIX + rb"sst(?:\s[^<>]*[^/<>])?>"), b"si", b"sst")
_ESCAPE: Final = re.compile(r"_x([0-9A-Fa-f]{4})_")


def read_strings(container: Container, part: str | None) -> Any:
    """All shared texts of a workbook, a pa.StringArray. Raises SourceRefused when they take too much memory."""
    if part is None:
        return pa.array([], pa.string())
    if container.size_bytes(part) > MAX_STRINGS_BYTES:
        raise SourceRefused(
            f"the texts of the workbook take more than {MAX_STRINGS_BYTES:,} bytes", hint="save the sheet as CSV UTF-8"
        )
    units = Units(container.blocks(part), _FORM)
    pieces = [piece for unit in units for piece in _texts(units, unit)]
    pieces += AnyTexts().read(units.rest())
    return unescaped(pa.concat_arrays(pieces))


def _texts(units: Units, piece: bytes) -> Iterator[Any]:
    texts = plain_texts(units.unprefixed(piece))
    if texts is None:
        yield from AnyTexts().read(units.alone(piece))
    else:
        yield texts


def plain_texts(piece: bytes) -> Any | None:
    """The texts that `piece` is made of, one an item; None when it is not plain."""
    tags = _GRAMMAR.find(without_fonts(piece))
    if tags is None or not runs_end(tags, _RUN, _RUN_END):
        return None
    items = np.flatnonzero((tags.codes == _ITEM) | (tags.codes == _ITEM + CLOSED))
    texts, readings = np.flatnonzero(tags.codes == _TEXT), np.flatnonzero(tags.codes == _READING)
    if (tags.codes == _READING_END).sum() != len(readings) or (tags.codes[readings + 3] != _READING_END).any():
        return None
    texts = texts[(tags.codes[texts - 1] == _ITEM) | (tags.codes[texts - 1] == _RUN)]
    found = tags.texts_behind(texts)
    owners = np.searchsorted(items, texts) - 1
    if found is not None and (owners[1:] == owners[:-1]).any():
        found, owners = joined(found, owners), np.unique(owners)
    if found is None or len(found) == len(items):
        return found
    places = np.full(len(items), -1, dtype=np.int64)
    places[owners] = np.arange(len(owners))
    return pc.fill_null(found.take(pa.array(places, mask=places < 0)), "")


class AnyTexts:
    """Shared texts in any sound XML, item by item: those in several fonts are one text, readings of it are none."""

    def __init__(self) -> None:
        self._within: list[str] = []
        self._parts: list[str] = []
        self._texts: list[str] = []

    def read(self, blocks: Iterable[bytes]) -> Iterator[Any]:
        """The texts that end in each of `blocks`. Raises SourceRefused for what is no sound list."""
        for _ in parse(blocks, self._begin, self._end, self._text):
            yield pa.array(self._texts, pa.string())
            self._texts = []

    def _begin(self, name: str, attributes: Attributes) -> None:
        self._within.append(name)
        if name == "si":
            self._parts = []

    def _text(self, text: str) -> None:
        if self._within[-1] == "t" and "rPh" not in self._within:
            self._parts.append(text)

    def _end(self, name: str) -> None:
        self._within.pop()
        if name == "si":
            self._texts.append("".join(self._parts))


def unescaped(texts: Any) -> Any:
    """`texts` with the letters that XML cannot hold, which stand in them as `_x000D_`: ISO 29500-1, 22.9.2.19."""
    are_escaped = pc.match_substring(texts, "_x")
    if not pc.any(are_escaped).as_py():
        return texts
    return rewritten(texts, are_escaped, lambda text: _ESCAPE.sub(_letter, text))


def _letter(found: re.Match[str]) -> str:
    letter = chr(int(found[1], 16))
    return found[0] if "\ud800" <= letter <= "\udfff" else letter
