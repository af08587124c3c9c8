"""XML as spreadsheet programs write it, looked at in bulk: where its tags stand, and whether they follow a grammar.

Tags are known by their first letters, and a table says which may follow which. Whatever is written another way is not
judged here: a parser reads it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from audiencekit.records.columns.arrays import arrow_array, list_array

Bytes: TypeAlias = npt.NDArray[np.uint8]
Places: TypeAlias = npt.NDArray[np.int64]

CLOSED: Final = 32  # added to the code of a tag that closes itself
_CODES: Final = 64
_PADDING: Final = bytes(64)  # behind a piece: what is looked at beyond its last tag is nothing
_LARGEST_ASCII: Final = 0x7F
_ENTITY: Final = re.compile(r"&(?:(lt|gt|amp|quot|apos)|#(\d{1,7})|#x([0-9a-fA-F]{1,6}));|(&)")
# The font of a part of a text, as it stands in XML.
_FONT: Final = re.compile(rb'<rPr>(?:<[A-Za-z]+(?: [A-Za-z]+="[^"<>&]*")* ?/>)*</rPr>|<rPr ?/>')
_NAMED: Final = {"lt": "<", "gt": ">", "amp": "&", "quot": '"', "apos": "'"}


@dataclass(frozen=True, slots=True, repr=False)
class Tags:
    """The tags of a piece: where each begins and ends, and its code. They are all of the piece, apart from texts."""

    buffer: Bytes
    begins: Places
    ends: Places
    codes: npt.NDArray[np.uint8]

    def texts_behind(self, places: Places) -> Any | None:
        """The texts between tags and those that follow, as a pa.StringArray; None where they are no text."""
        return texts_between(self.buffer, self.ends[places] + 1, self.begins[places + 1])


class Grammar:
    """Tags by how they begin, and which may follow which; 0 is the beginning and the end of a piece.

    Heads that end in `>` are whole tags, and known by their first two letters, or three, and their length.
    """

    def __init__(self, heads: Mapping[bytes, int], follows: Mapping[int, tuple[int, ...]]) -> None:
        self._heads = tuple(heads)
        self._numbers = np.zeros(65_536, dtype=np.uint8)  # of heads, from 1, by their first two letters
        self._others: list[tuple[int, int, int]] = []  # the first head with the letters of another, its third one, it
        for number, head in enumerate(heads, 1):
            letters = head[0] | head[1] << 8
            if first := int(self._numbers[letters]):
                self._others.append((first, head[2], number))
            else:
                self._numbers[letters] = number
        self._codes = np.array([0, *heads.values()], dtype=np.uint8)
        self._sizes = np.array([0, *(len(head) if head.endswith(b">") else 0 for head in heads)], dtype=np.int64)
        self._may_follow = np.zeros(_CODES * _CODES, dtype=bool)
        for code, others in follows.items():
            self._may_follow[[code * _CODES + other for other in others]] = True

    def find(self, piece: bytes) -> Tags | None:
        """The tags of `piece`; None when it is not plain. Its line ends become line feeds (XML 1.0, section 2.11)."""
        piece = piece.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
        buffer = np.frombuffer(piece + _PADDING, dtype=np.uint8)
        begins, ends = np.flatnonzero(buffer == ord("<")), np.flatnonzero(buffer == ord(">"))
        if not len(begins) or len(begins) != len(ends) or _is_strange(buffer[: len(piece)]):
            return None
        if not (begins < ends).all() or not (ends[:-1] < begins[1:]).all():
            return None
        numbers = self._numbers[buffer[begins + 1] | buffer[begins + 2].astype(np.uint16) << 8]
        for first, third, other in self._others:
            numbers[(numbers == first) & (buffer[begins + 3] == third)] = other
        if not numbers.all() or not self._begin_so(buffer, begins, ends, numbers):
            return None
        codes = self._codes[numbers] + np.where(buffer[ends - 1] == ord("/"), np.uint8(CLOSED), np.uint8(0))
        way = np.zeros(len(codes) + 2, dtype=np.uint16)
        way[1:-1] = codes
        return Tags(buffer, begins, ends, codes) if self._may_follow[way[:-1] * _CODES + way[1:]].all() else None

    def _begin_so(self, buffer: Bytes, begins: Places, ends: Places, numbers: npt.NDArray[np.uint8]) -> bool:
        """Whether whole tags are as long as their heads, and others begin with them to the last letter."""
        sizes = self._sizes[numbers]
        if not ((sizes == 0) | (sizes == ends - begins)).all():
            return False
        for number, head in enumerate(self._heads, 1):
            if len(head) > 2 and not head.endswith(b">"):
                places = begins[numbers == number] + 1
                if not stand(buffer, places + 2, head[2:]):
                    return False
        return True


def _is_strange(buffer: Bytes) -> bool:
    """Whether there is a letter that XML cannot hold."""
    low = buffer[buffer < ord(" ")]
    return bool(((low != ord("\n")) & (low != ord("\t"))).any())


def without_fonts(piece: bytes) -> bytes:
    """`piece` without the fonts of parts of texts, of which no text is."""
    return _FONT.sub(b"", piece) if b"<rPr" in piece else piece


def runs_end(tags: Tags, run: int, run_end: int) -> bool:
    """Whether each part of a text, from a tag `run` on, has one text and ends, and nothing else ends so."""
    runs = np.flatnonzero(tags.codes == run)
    if np.count_nonzero(tags.codes == run_end) != len(runs):
        return False
    return bool((tags.codes[runs + np.where(tags.codes[runs + 1] < CLOSED, 3, 2)] == run_end).all())


def joined(texts: Any, owners: Places) -> Any:
    """`texts` (a pa.StringArray), those in a row that have one of `owners` in common as one."""
    firsts = np.flatnonzero(np.concatenate([[True], owners[1:] > owners[:-1]]))
    counts = np.diff(np.append(firsts, len(owners)))
    return pc.binary_join(list_array(counts, texts), "")


def have(buffer: Bytes, places: Places, letters: bytes) -> Any:
    """Of each place whether `letters` begin there."""
    found = buffer[places] == letters[0]
    for at in range(1, len(letters)):
        found &= buffer[places + at] == letters[at]
    return found


def stand(buffer: Bytes, places: Places, letters: bytes) -> bool:
    """Whether `letters` begin at all of `places`."""
    return bool(have(buffer, places, letters).all())


def digits_at(buffer: Bytes, places: Places, most: int) -> tuple[Places, Places]:
    """The numbers of up to `most` digits that begin at `places`, and where each ends; 0 where there is none."""
    values, ends = np.zeros(len(places), dtype=np.int64), places.copy()
    reading = np.ones(len(places), dtype=bool)
    for _ in range(most):
        digits = buffer[ends] - np.uint8(ord("0"))
        reading &= digits < 10
        if not reading.any():
            break
        values = np.where(reading, values * 10 + digits, values)
        ends += reading
    return values, ends


def texts_between(buffer: Bytes, begins: Places, ends: Places) -> Any | None:
    """The texts in `buffer` from each of `begins` to its end, without entities; None where they are no UTF-8."""
    # A text, what stands between it and the next, that text, and so on: Arrow copies every second one.
    offsets = np.empty(2 * len(begins), dtype=np.int32)
    offsets[::2], offsets[1::2] = begins, ends
    every = pa.StringArray.from_buffers(max(len(offsets) - 1, 0), pa.py_buffer(offsets), pa.py_buffer(buffer))
    found = every.take(arrow_array(np.arange(0, len(offsets), 2)))
    letters = np.frombuffer(found.buffers()[2] or b"", dtype=np.uint8)
    if len(letters) and letters.max() > _LARGEST_ASCII and not _is_text(found):
        return None
    return _without_entities(found) if (letters == ord("&")).any() else found


def rewritten(texts: Any, are_wanted: Any, rewrite: Any) -> Any:
    """`texts` (a pa.StringArray), those that `are_wanted` (a boolean pa.Array) changed by `rewrite`."""
    places = np.flatnonzero(are_wanted.to_numpy(zero_copy_only=False))
    changed = pa.array([rewrite(text) for text in texts.take(arrow_array(places)).to_pylist()], pa.string())
    return pc.replace_with_mask(texts, are_wanted, changed)


def _without_entities(texts: Any) -> Any | None:
    try:
        return rewritten(texts, pc.match_substring(texts, "&"), lambda text: _ENTITY.sub(_letter, text))
    except (ValueError, OverflowError):
        return None  # a parser says what is wrong


def _letter(found: re.Match[str]) -> str:
    named, decimal, hexadecimal, lone = found.groups()
    if lone:
        raise ValueError
    if named:
        return _NAMED[named]
    letter = chr(int(decimal) if decimal else int(hexadecimal, 16))
    if not letter.isprintable() and letter not in "\t\n\r\x85\u2028":
        raise ValueError
    return letter


def _is_text(texts: Any) -> bool:
    try:
        texts.validate(full=True)
    except pa.ArrowInvalid:
        return False
    return True
