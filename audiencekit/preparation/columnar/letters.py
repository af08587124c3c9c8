"""Letters of local parts that are not ASCII: judged one by one when a list first has them, then known to the kernels.

A letter is certain when lower case and NFC leave it as it is, whatever stands beside it, and the definition takes it. A
capital is known by its small letter, one of two codes by the other, a letter and the mark behind it by the one letter
that NFC makes of them.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator
from functools import cache
from itertools import chain
from threading import Lock
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from audiencekit.identifiers.email import MAX_LABEL_LENGTH, lower
from audiencekit.preparation.columnar.buffers import Bytes
from audiencekit.preparation.columnar.domains import BASIC_PLANE, CERTAIN
from audiencekit.preparation.columnar.international import certain_letters
from audiencekit.preparation.columnar.odd_addresses import is_certain_letter
from audiencekit.preparation.columnar.signs import signs
from audiencekit.preparation.columnar.textkernels import Letters

CODE_POINTS: Final = 0x20000  # the two planes in which every script of today stands, and emoji
CERTAIN_LETTER: Final = 1
CERTAIN_MARK: Final = 2  # as a letter, but not in front
_LEAST_CLASS: Final = 6  # of a mark that others pass (its canonical combining class); lesser ones overlay a letter

# Two characters in lower case, of which NFC makes no single one: the capital stands for them in the kernels.
DOTTED_I: Final = "\u0130"
_DOTTED_I_LOWERED: Final = "i\u0307"
_FINAL_SIGMA: Final = "\u03a3"  # the one capital whose small letter depends on its place

_LONGEST: Final = 1_024  # characters; longer texts are no addresses
_BITS: Final = 21  # of a code point, three of which are a fold
_SYLLABLES: Final = range(0xAC00, 0xD7A4)  # of Hangul: joined by a rule; Python knows their parts from 3.14 on
_DOMAIN: Final = re.compile(r"@([^@]*)")
# To decode a longer label takes the square of its length, and no label is longer.
_ENCODED: Final = re.compile(rf"(?i)\bxn--([a-z0-9-]{{1,{MAX_LABEL_LENGTH}}})")


class KnownLetters:
    """The letters that were judged so far. Several threads may ask."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._seen: set[str] = set()
        self._seen_in_domains: set[str] = set()
        self._folds: dict[tuple[str, str], str] = {}
        self.kinds: Bytes = np.zeros(CODE_POINTS, dtype=np.uint8)
        self.kinds[:BASIC_PLANE] = certain_letters()
        self.folds: npt.NDArray[np.int64] = np.zeros(0, dtype=np.int64)

    def letters(self) -> Letters:
        """All of it as the kernels are given it."""
        return Letters(signs=signs(), local=self.kinds, domain=CERTAIN.known(), folds=self.folds)

    def learn(self, texts: Any) -> bool:
        """Judge the letters of `texts` (pa.StringArray) that no text had before; return whether there were any.

        Holds raw values: to be called from a guarded function only.
        """
        joined = "\n".join(text for text in texts.to_pylist() if text and len(text) <= _LONGEST)
        if joined.isascii() and "--" not in joined:
            return False
        with self._lock:
            new = {letter for letter in joined if not letter.isascii()} - self._seen
            of_domains = self._of_domains(joined) - self._seen_in_domains
            self._judge_all(new)
            for letter in of_domains:
                CERTAIN.has(letter)
            self._seen |= new
            self._seen_in_domains |= of_domains
        return bool(new or of_domains)

    def _of_domains(self, joined: str) -> set[str]:
        decoded = map(_decoded, set(_ENCODED.findall(joined)))
        parts = lower("".join(set(chain.from_iterable(_DOMAIN.findall(joined)))))
        return {letter for letter in {*parts, *"".join(decoded)} if not letter.isascii()}

    def _judge_all(self, letters: Iterable[str]) -> None:
        before = len(self._folds)
        for letter in letters:
            self._judge(letter)
        if len(self._folds) > before:
            packed = (_packed(*pair, one) for pair, one in self._folds.items())
            self.folds = np.sort(np.fromiter(packed, np.int64, len(self._folds)))

    def _judge(self, letter: str) -> None:
        if letter == DOTTED_I:
            self.kinds[ord(DOTTED_I)] = CERTAIN_LETTER
            self._folds[_DOTTED_I_LOWERED[0], _DOTTED_I_LOWERED[1]] = DOTTED_I
        elif letter in composing():
            self._folds.update(self._compositions(letter))
        elif _becomes_another(letter):
            small = lower(letter)
            self._judge(small)
            if self.kinds[ord(small)] == CERTAIN_LETTER:
                self._folds[letter, "\0"] = small
        elif ord(letter) < CODE_POINTS and is_certain_letter(letter):
            self.kinds[ord(letter)] = _kind(letter)

    def _compositions(self, mark: str) -> Iterator[tuple[tuple[str, str], str]]:
        """The small letters that NFC makes of a letter and `mark`, as far as they are certain."""
        if mark == _DOTTED_I_LOWERED[1]:
            self._judge(DOTTED_I)
        for base, composed in composing()[mark]:
            if not _is_same_of_capitals(base, mark, composed):
                continue
            if not self.kinds[ord(composed)] and is_certain_letter(composed):
                self.kinds[ord(composed)] = _kind(composed)
            if self.kinds[ord(composed)] in (CERTAIN_LETTER, CERTAIN_MARK):
                yield (base, mark), composed


def _decoded(encoded: str) -> str:
    try:
        return encoded.encode().decode("punycode")
    except UnicodeError:
        return ""


def _packed(base: str, mark: str, folded: str) -> int:
    return (ord(base) << _BITS | ord(mark)) << _BITS | ord(folded)


def _becomes_another(letter: str) -> bool:
    """Whether lower case and NFC always make the same other letter of `letter`, a capital or one of two codes."""
    other = lower(letter)
    return len(other) == 1 and other != letter and letter != _FINAL_SIGMA and ord(max(letter, other)) < CODE_POINTS


def _kind(letter: str) -> int:
    if not unicodedata.category(letter).startswith("M"):
        return CERTAIN_LETTER
    combining = unicodedata.combining(letter)
    if not combining:
        return CERTAIN_MARK
    return combining if combining >= _LEAST_CLASS else 0


def _is_same_of_capitals(base: str, mark: str, composed: str) -> bool:
    """Whether `composed` comes of the small and of the capital letter."""
    capital = base.upper() if base.upper().lower() == base else base
    return lower(base + mark) == composed == lower(capital + mark)


@cache
def composing() -> dict[str, list[tuple[str, str]]]:
    """For each character that NFC may join to the one before it: these, and what becomes of both."""
    found: dict[str, list[tuple[str, str]]] = {}
    for composed in map(chr, chain(range(0xC0, _SYLLABLES.start), range(_SYLLABLES.stop, CODE_POINTS))):
        parts = unicodedata.decomposition(composed)
        if parts and "<" not in parts and " " in parts:
            base, mark = (chr(int(part, 16)) for part in parts.split())
            found.setdefault(mark, []).append((base, composed))
    for jamo in map(chr, chain(range(0x1161, 0x1176), range(0x11A7, 0x11C3))):
        found.setdefault(jamo, [])
    return found


KNOWN: Final = KnownLetters()
