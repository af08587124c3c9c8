"""Letters of local parts that are not ASCII: judged one by one when a list first has them, then known to the kernels.

A letter is certain when lower case and NFC leave it as it is, and the definition takes it. A capital is known by its
small letter, one of two codes by the other, one that NFC takes apart by its parts, a letter and the mark behind it by
the letter that NFC makes of them. Lower case leaves a letter and its parts equivalent, so that each is known by itself.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from itertools import chain, filterfalse
from threading import Lock
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from audiencekit.identifiers.email import MAX_LABEL_LENGTH, lower
from audiencekit.records.columns.arrays import Bytes
from audiencekit.records.columns.checks import signs
from audiencekit.records.columns.domains import BASIC_PLANE, CODE_POINTS, DOMAIN_LETTERS, mapped
from audiencekit.records.columns.international import certain_letters
from audiencekit.records.columns.odd_addresses import is_certain_letter, judge_letters
from audiencekit.records.columns.text_kernels import Letters

# As `kernels/src/folding.rs` reads them. Composed ones end in a mark of a class once they are decomposed; NFC may join
# joining ones to the one before. Greater numbers than CLASSES are marks of a canonical combining class.
LETTER: Final = 1
COMPOSED: Final = 2
MARK: Final = 3
COMPOSED_MARK: Final = 4
JOINING: Final = 5
JOINING_MARK: Final = 6
CLASSES: Final = 10


_FIRST_IDEOGRAPH: Final = 0x3400
_CAPITAL_SIGMA: Final = "\u03a3"  # the one capital whose small letter depends on its place
_SMALL_SIGMAS: Final = "\u03c2\u03c3"
_UNCERTAIN: Final = "\0"  # of two, where it is not certain what becomes of them
_ONE: Final = "\0"  # in place of the second, for what becomes of one
_JOINS: Final = "\0"  # in place of the first, for those that NFC may join to one
_MOST_PARTS: Final = 3  # of what becomes of one
_MAPPED: Final = range(_MOST_PARTS + 1, _MOST_PARTS + 7)  # the same, for what a domain has in place of one

_LONGEST: Final = 1_024  # characters; longer texts are no addresses
_BITS: Final = 21  # of a code point, three of which are a fold
_SPREAD: Final = 0x9E3779B97F4A7C15  # an odd number with bits at random
_SPREAD_BITS: Final = 40
_WORD: Final = (1 << 64) - 1
_ROOM: Final = 4  # places of a table for each fold, at least
# Where letters stand that NFC may join of two: not among ideographs, nor the syllables of Hangul, joined by a rule.
_COMPOSED: Final = range(0xC0, _FIRST_IDEOGRAPH), range(0xA000, 0xAC00), range(0xD7A4, 0x20000)
_AT_ONCE: Final = 64  # of these
_DOMAIN: Final = re.compile(r"@([^@\n]*)")
# To decode a longer label takes the square of its length, and no label is longer.
_ENCODED: Final = re.compile(rf"(?i)\bxn--([a-z0-9-]{{1,{MAX_LABEL_LENGTH}}})")


class KnownLetters:
    """The letters that were judged so far. Several threads may ask."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._seen: set[str] = set()
        self._seen_in_domains: set[str] = set()
        self._folds: dict[tuple[str, str], str] = {}
        self._mapped: dict[int, str] = {}  # as str.translate takes them
        self._kinds: Bytes = np.zeros(CODE_POINTS, dtype=np.uint8)
        self._kinds[:BASIC_PLANE] = certain_letters()
        for code in np.flatnonzero(self._kinds[:_FIRST_IDEOGRAPH]).tolist():
            self._kinds[code] = COMPOSED if _is_composed(chr(code)) else LETTER
        self._letters: Letters | None = None

    def letters(self) -> Letters:
        """All of it as the kernels are given it: what is learned later is not written into it."""
        with self._lock:
            if self._letters is None:
                kinds, folds = self._kinds.copy(), folding_table(self._folds)
                in_domains = DOMAIN_LETTERS.classes(are_known=kinds > 0, stay=(kinds > 0) & (kinds <= COMPOSED_MARK))
                self._letters = Letters(signs=signs(), local=kinds, domain=in_domains, folds=folds)
            return self._letters

    def learn(self, texts: Any) -> bool:
        """Judge the letters of `texts` (pa.StringArray) that no text had before; return whether there were any.

        Holds raw values: to be called from a guarded function only.
        """
        joined = "\n".join(text for text in texts.to_pylist() if text and len(text) <= _LONGEST)
        if joined.isascii() and "--" not in joined:
            return False
        with self._lock:
            encoded = {letter for label in set(_ENCODED.findall(joined)) for letter in _decoded(label)}
            is_surveyed = not DOMAIN_LETTERS.survey(encoded)
            encoded = set(filterfalse(DOMAIN_LETTERS.is_unencoded, encoded))
            of_domains = self._of_domains(joined, encoded) - self._seen_in_domains
            new = _foreign(joined) | of_domains
            new -= self._seen
            judge_letters(sorted(set(chain.from_iterable(map(_shown_with, new)))))
            for letter in new:
                self._judge(letter)
            DOMAIN_LETTERS.learn(of_domains)
            self._seen |= new
            self._seen_in_domains |= of_domains
            is_known = not new and not of_domains and is_surveyed
            if not is_known:
                self._letters = None
        return not is_known

    def _of_domains(self, joined: str, encoded: set[str]) -> set[str]:
        domains = unicodedata.normalize("NFC", "\n".join(set(_DOMAIN.findall(joined))))
        parts = unicodedata.normalize("NFC", domains.lower())
        letters = _foreign({*parts, *encoded, *(_SMALL_SIGMAS if _CAPITAL_SIGMA in joined else "")})
        self._map(letters - self._seen_in_domains)
        if letters.isdisjoint(map(chr, self._mapped)):
            return letters
        translated = parts.translate(self._mapped)
        return letters | _foreign({*translated, *unicodedata.normalize("NFC", translated)})

    def _map(self, letters: set[str]) -> None:
        """Note what domains have in place of some of `letters`."""
        for letter, parts in zip(letters, map(mapped, letters), strict=True):
            if 0 < len(parts) <= len(_MAPPED):
                self._mapped[ord(letter)] = parts
                self._folds.update({(letter, chr(place)): part for place, part in zip(_MAPPED, parts, strict=False)})

    def _judge(self, letter: str) -> None:
        written = lower(letter)
        if written != letter:
            self._judge_parts(letter, written)
        elif ord(letter) < CODE_POINTS and not self._kinds[ord(letter)] and is_certain_letter(letter):
            self._kinds[ord(letter)] = _kind_of_certain(letter)
            for base, composed in composing().get(letter, ()):
                self._folds.update(self._composition(base, letter, composed))

    def _judge_parts(self, letter: str, written: str) -> None:
        """Note the result of lower case and NFC for `letter` in any place: one or more letters."""
        if letter == _CAPITAL_SIGMA or len(written) > _MOST_PARTS or not all(map(self._is_certain, written)):
            return
        places = _ONE if len(written) == 1 else map(chr, range(1, _MOST_PARTS + 1))
        self._folds.update({(letter, place): part for place, part in zip(places, written, strict=False)})

    def _is_certain(self, letter: str) -> bool:
        if letter.isascii():
            return is_certain_letter(letter)
        self._judge(letter)
        return ord(letter) < CODE_POINTS and self._kinds[ord(letter)] > 0

    def _composition(self, base: str, mark: str, composed: str) -> Iterator[tuple[tuple[str, str], str]]:
        """Return the letter that NFC composes of a small letter and `mark`."""
        joined = lower(base + mark)
        if lower(base) == base and joined != base + mark:
            is_certain = joined == composed and self._is_certain(composed)
            yield (base, mark), composed if is_certain else _UNCERTAIN
            yield (_JOINS, mark), mark


def _shown_with(letter: str) -> Iterator[str]:
    """The letters on which it hangs what becomes of `letter`."""
    composed = (lower(composed) for _, composed in composing().get(letter, ()))
    return (part for part in chain(lower(letter), *composed) if not part.isascii())


def _foreign(letters: Iterable[str]) -> set[str]:
    return set(filterfalse(str.isascii, set(letters)))


def _decoded(encoded: str) -> str:
    try:
        return encoded.encode().decode("punycode")
    except UnicodeError:
        return ""


def folding_table(folds: Mapping[tuple[str, str], str]) -> npt.NDArray[np.int64]:
    """Return what becomes of one or two characters where the kernels look for it, or in the next place that is free."""
    table = np.zeros(1 << (_ROOM * len(folds)).bit_length(), dtype=np.int64)
    for (first, second), folded in folds.items():
        key = ord(first) << _BITS | ord(second)
        place = (key * _SPREAD & _WORD) >> _SPREAD_BITS
        while table[place & len(table) - 1]:
            place += 1
        table[place & len(table) - 1] = key << _BITS | ord(folded)
    return table


def _kind_of_certain(letter: str) -> int:
    """Return the kind of a letter that the definition keeps unchanged between any others."""
    parts = unicodedata.normalize("NFD", letter)
    is_mark, is_joining = unicodedata.category(letter).startswith("M"), letter in composing()
    if unicodedata.combining(letter):
        return CLASSES + unicodedata.combining(letter) if is_mark and parts == letter else 0
    if is_joining or parts[0] in composing():
        return (JOINING_MARK if is_mark else JOINING) if parts == letter else 0
    if is_mark:
        return COMPOSED_MARK if _is_composed(letter) else MARK
    return COMPOSED if _is_composed(letter) else LETTER


def _is_composed(letter: str) -> bool:
    return unicodedata.combining(unicodedata.normalize("NFD", letter)[-1]) > 0


@cache
def composing() -> dict[str, list[tuple[str, str]]]:
    """For each character that NFC may join to the one before it: these, and what becomes of both."""
    found: dict[str, list[tuple[str, str]]] = {}
    for composed in chain.from_iterable(map(_perhaps_composed, _COMPOSED)):
        parts = unicodedata.decomposition(composed)
        if parts and "<" not in parts and " " in parts:
            base, mark = (chr(int(part, 16)) for part in parts.split())
            found.setdefault(mark, []).append((base, composed))
    for jamo in map(chr, chain(range(0x1161, 0x1176), range(0x11A7, 0x11C3))):
        found.setdefault(jamo, [])
    return found


def _perhaps_composed(codes: range) -> Iterator[str]:
    """The characters of `codes` that are next to one that NFD takes apart: asking each one takes ten times as long."""
    characters = np.arange(codes.start, codes.stop, dtype="<u4").tobytes().decode("utf-32-le", "surrogatepass")
    for begin in range(0, len(characters), _AT_ONCE):
        if not unicodedata.is_normalized("NFD", block := characters[begin : begin + _AT_ONCE]):
            yield from block


KNOWN: Final = KnownLetters()
