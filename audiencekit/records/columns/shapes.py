"""Texts of any script in signs of ASCII: as many characters, each by the class that patterns of the definition ask for.

They show what the text shows once it is in NFKC. Of a character on which that hangs what stands around it, and of one
that changes its class, nothing is said.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from audiencekit.identifiers.texts import plain_signs
from audiencekit.records.columns.arrays import Bools, Bytes, code_points
from audiencekit.records.columns.checks import CODE_POINTS
from audiencekit.records.columns.letters import composing

ODD: Final = 0x7F  # what becomes of it is not certain
LETTER: Final = ord("Q")  # no pattern asks for it by name, nor for the last one
DIGIT: Final = ord("5")
OTHER: Final = ord("!")
_FOREIGN: Final = 0x80  # added to the sign of a character that is none of ASCII
_JUDGED: Final = 0x100

_FOLDED: Final = "İıſ\u212a"  # letters of ASCII where their case does not count


@dataclass(frozen=True, slots=True, repr=False)
class Shapes:
    """The shapes of texts, and which of these have a digit of another script, and which a sign that stands for `@`."""

    texts: Any  # pa.StringArray
    have_digits: Bools
    have_at: Bools


class _Signs:
    """The sign of each character, judged when a text first has it. Several threads may ask: they write the same."""

    def __init__(self) -> None:
        self._table = np.zeros(CODE_POINTS + 1, dtype=np.uint16)
        self._table[:0x80] = np.arange(0x80) | _JUDGED
        self._table[CODE_POINTS] = ODD | _JUDGED

    def of(self, codes: npt.NDArray[np.uint32]) -> npt.NDArray[np.uint16]:
        """The sign of each of `codes`, ODD for those above all that are looked at."""
        codes = np.minimum(codes, CODE_POINTS)
        signs = self._table[codes]
        if (signs == 0).any():
            are_new = np.zeros(CODE_POINTS, dtype=bool)
            are_new[codes[signs == 0]] = True
            new = np.flatnonzero(are_new)
            self._table[new] = [_sign_of(chr(code)) | _JUDGED for code in new.tolist()]
            signs = self._table[codes]
        return signs


_SIGNS: Final = _Signs()


def shapes_of(texts: Any) -> Shapes:
    """The shapes of `texts` (a pa.StringArray). Holds raw values: to be called from a guarded function only."""
    begins, codes = code_points(texts)
    signs = _SIGNS.of(codes)
    written = (signs & 0x7F).astype(np.uint8)
    shapes = pa.StringArray.from_buffers(len(texts), pa.py_buffer(begins), pa.py_buffer(written))
    foreign = signs.astype(np.uint8)
    return Shapes(shapes, _have(foreign, DIGIT, begins), _have(foreign, ord("@"), begins))


def _have(signs: Bytes, sign: int, begins: npt.NDArray[np.int32]) -> Bools:
    """Return for each text whether one of its characters has this sign and is none of ASCII."""
    until = np.concatenate([[0], np.cumsum(signs == sign | _FOREIGN)])[begins]
    found: Bools = until[1:] > until[:-1]
    return found


def _sign_of(character: str) -> int:
    plain = plain_signs(character)
    if len(plain) != 1 or character in _FOLDED or not {character, plain}.isdisjoint(composing()):
        return ODD
    if _class_of(plain) != _class_of(character):
        return ODD
    if plain.isascii():
        return ord(plain) | (_FOREIGN if plain == "@" else 0)
    return ord("'") if plain == "’" else _class_of(plain)


def _class_of(character: str) -> int:
    if character.isdecimal():
        return DIGIT | _FOREIGN
    if character.isspace():
        return ODD
    return LETTER if character.isalnum() else OTHER
