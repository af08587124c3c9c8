"""Internationalised domains: decided letter by letter where that is certain, else by the definition.

A label is certain when every letter of it that is not ASCII is, and stands where it may: the definition takes such a
letter as it stands. That holds for letters, marks and digits that need no certain neighbours and are what they are in
every form of Unicode; marks are not the first, and letters from right to left stand with none from left to right
(IDNA 2008, RFC 5891 section 4.2.3.2, RFC 5892 section 3 and RFC 5893 section 2).
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from functools import cache, lru_cache, partial
from typing import Final

import numpy as np
from email_validator import SPECIAL_USE_DOMAIN_NAMES

from audiencekit.identifiers.email import MAX_DOMAIN_LENGTH, MAX_LABEL_LENGTH, MEMOISED_DOMAINS, ascii_domain, lower
from audiencekit.identifiers.kinds import Reason
from audiencekit.identifiers.texts import in_form
from audiencekit.records.columns.arrays import Bools, Bytes

_LABEL: Final = r"[^\W_]+(?:-[^\W_]+)*"
_PLAIN: Final = re.compile(rf"(?:{_LABEL}\.)+(?P<top>[a-z]{{2,}})")
BASIC_PLANE: Final = 2**16  # code points
CODE_POINTS: Final = 0x40000  # the planes in which every script stands, emoji, and Chinese characters
# Chinese characters and Korean syllables, in Unicode since 3.0 and before: all are certain, and too many to ask for.
IDEOGRAPHS: Final = ("\u3400\u4db5", "\u4e00\u9fa5", "\uac00\ud7a3")

# The class of a letter in a label, as `kernels/src/international.rs` reads it. Digits and most marks have no direction.
CERTAIN: Final = 1
HYPHEN: Final = 2
MARK: Final = 4  # it is not the first, and from right to left not behind a hyphen
LEFT: Final = 8  # from left to right
RIGHT: Final = 16
STAYS: Final = 32  # NFC leaves it as it is, whatever stands beside it
REFUSED: Final = 64  # no domain has it, whatever stands beside it, and neither lower case nor NFC changes it
NEUTRAL: Final = 128  # no direction of its own, and not the last of a label from right to left
UNENCODED: Final = NEUTRAL  # alone: it is not certain, and no label behind `xn--` stands for it

_SMALL: Final = np.frombuffer(b"abcdefghijklmnopqrstuvwxyz", dtype=np.uint8)
_DIGITS: Final = np.frombuffer(b"0123456789", dtype=np.uint8)
_MARKS: Final = ("Mn", "Mc")
_SYMBOLS: Final = ("P", "S")  # the first letters of their categories
_MAPPED_TO_DOT: Final = "\u3002"  # of which NFKC makes nothing else, and of others it
_NO_DOMAIN: Final = re.compile(r"[\x00-,/:-`{-\x7f]|\.\.")  # of ASCII in lower case
_IN_CONTEXT: Final = "\xb7\u0375\u05f3\u05f4\u30fb"  # symbols that some neighbours allow (RFC 5892, appendix A)
_CATEGORIES: Final = (*_MARKS, "Ll", "Lo", "Lm", "Nd")
_DIRECTIONS: Final = {"L": LEFT, "R": RIGHT, "AL": RIGHT, "NSM": 0, "ON": NEUTRAL}
_FROM_LEFT: Final = "q"  # no mark joins this letter
_FROM_RIGHT: Final = "\u05d0"
_AT_ONCE: Final = 8  # letters: with as many of a frame they are no longer than a label
_ENCODED: Final = frozenset((*_CATEGORIES, "Lu"))
_EXCEPTIONS: Final = f"\xdf\u03c2\u06fd\u06fe\u0f0b\u3007{_IN_CONTEXT}"  # RFC 5892, section 2.6


@lru_cache(maxsize=MEMOISED_DOMAINS)
def domain_in_ascii(domain: str) -> str | Reason:
    """The decision of the definition on `domain`, in any case of letters."""
    lowered = lower(domain)
    return _certain(lowered) or ascii_domain(lowered)


def _certain(domain: str) -> str | None:
    """`domain` in ASCII when that is certain."""
    form = _PLAIN.fullmatch(domain)
    if form is None or not all(
        letter.isascii() or DOMAIN_LETTERS.class_of(letter) == CERTAIN | LEFT for letter in domain
    ):
        return None
    # Read anew each time: a host program may change the library's list.
    if form["top"] in {name.rpartition(".")[2] for name in SPECIAL_USE_DOMAIN_NAMES}:
        return None
    if not unicodedata.is_normalized("NFC", domain):
        return None
    labels = [label if label.isascii() else f"xn--{label.encode('punycode').decode()}" for label in domain.split(".")]
    in_ascii = ".".join(labels)
    return in_ascii if len(in_ascii) <= MAX_DOMAIN_LENGTH and max(map(len, labels)) <= MAX_LABEL_LENGTH else None


class CertainLetters:
    """The letters, marks and digits that are certain, for those asked so far."""

    def __init__(self) -> None:
        self._classes: Bytes = np.zeros(CODE_POINTS, dtype=np.uint8)
        for first, last in IDEOGRAPHS:
            self._classes[ord(first) : ord(last) + 1] = CERTAIN | LEFT
        self._surveyed: set[int] = set()
        self.class_of = cache(self._find)

    def classes(self, *, are_known: Bools, stay: Bools) -> Bytes:
        """For each code point its class, in the bits above: 0 where nothing is certain.

        `are_known` says of each code point whether it is known what NFC makes of it, and `stay` whether it leaves it.
        """
        classes = self._classes.copy()
        are_certain = (classes & CERTAIN > 0) & are_known
        classes[~are_certain & (classes != REFUSED) & (classes != UNENCODED)] = 0
        classes[are_certain & stay] |= STAYS
        classes[_SMALL] = CERTAIN | LEFT | STAYS
        classes[_DIGITS] = CERTAIN | STAYS
        classes[ord("-")] = CERTAIN | HYPHEN | STAYS
        return classes

    def survey(self, encoded: Iterable[str]) -> bool:
        """Note which code points in the planes of the `encoded` letters no label has; return whether one was new.

        All of them at once: labels that were mistyped never have the same, and to judge one takes 200 microseconds.
        """
        planes = {ord(letter) // BASIC_PLANE for letter in encoded if ord(letter) < CODE_POINTS} - self._surveyed
        for plane in planes:
            classes = self._classes[plane * BASIC_PLANE : (plane + 1) * BASIC_PLANE]
            begin = plane * BASIC_PLANE
            may_be = np.zeros(BASIC_PLANE, dtype=bool)
            may_be[[ord(letter) - begin for letter in _encoded(map(chr, range(begin, begin + BASIC_PLANE)))]] = True
            classes[(classes == 0) & ~may_be] = UNENCODED
        self._surveyed |= planes
        return bool(planes)

    def is_unencoded(self, letter: str) -> bool:
        """Whether no label after `xn--` encodes `letter`, which is of a surveyed plane."""
        return ord(letter) >= CODE_POINTS or self._classes[ord(letter)] in (UNENCODED, REFUSED)

    def learn(self, letters: Collection[str]) -> None:
        """Judge `letters` as `class_of` does, in a fraction of the time."""
        new = [letter for letter in letters if self._is_open(letter)]
        for frame in (_FROM_LEFT, _FROM_RIGHT):
            framed = sorted(letter for letter in new if _frame(letter) == frame)
            for letter in accepted(framed, partial(_are_taken, frame), at_once=_AT_ONCE):
                self._classes[ord(letter)] = _class_of_certain(letter)
        for letter in letters:  # signs, and those that were refused
            self.class_of(letter)

    def _is_open(self, letter: str) -> bool:
        return ord(letter) < CODE_POINTS and self._classes[ord(letter)] in (0, UNENCODED)

    def _find(self, letter: str) -> int:
        if self._is_open(letter) and (found := _judge(letter)):
            self._classes[ord(letter)] = found
        return int(self._classes[ord(letter)]) if ord(letter) < CODE_POINTS else 0


def _judge(letter: str) -> int:
    """The class of `letter`, by the definition's verdict on a label with it between others."""
    if _is_in_no_domain(letter):
        return REFUSED if ascii_domain(f"q{letter}q.com") is Reason.INVALID_SYNTAX else 0
    frame = _frame(letter)
    return _class_of_certain(letter) if frame and _are_taken(frame, letter) else 0


def _is_in_no_domain(letter: str) -> bool:
    """Whether `letter` is a symbol, or NFKC makes some sign of it that no domain has, as UTS 46 then does, too."""
    if lower(letter) != letter or letter in _EXCEPTIONS or unicodedata.category(letter) in _MARKS:
        return False
    alike = in_form("NFKC", letter)
    if alike == letter:
        return letter != _MAPPED_TO_DOT and unicodedata.category(letter).startswith(_SYMBOLS)
    return _NO_DOMAIN.search(alike) is not None or any(
        _judge(sign) == REFUSED for sign in alike if not sign.isascii() and sign != letter
    )


def mapped(letter: str) -> str:
    """The letters, and dots, that a domain has in place of `letter` wherever it stands (UTS 46); empty where it stays.

    And where that is not certain. The definition finds domains for special use, all of ASCII, by NFKC.
    """
    alike = in_form("NFKC", letter).replace(_MAPPED_TO_DOT, ".")
    if alike == letter or unicodedata.category(letter) in _MARKS:
        return ""
    frame = _FROM_RIGHT if _DIRECTIONS.get(unicodedata.bidirectional(letter)) == RIGHT else _FROM_LEFT
    in_ascii = ascii_domain(f"{frame}{letter}{frame}.com")
    if isinstance(in_ascii, Reason):
        return ""
    found = ".".join(map(_decoded, in_ascii.split("."))).removeprefix(frame).removesuffix(f"{frame}.com")
    return found if found == lower(alike) or not any(map(str.isascii, found + alike)) else ""


def _decoded(label: str) -> str:
    return label.removeprefix("xn--").encode().decode("punycode") if label.startswith("xn--") else label


def _frame(letter: str) -> str:
    """The letter to stand at both sides of `letter` in a label; empty where none makes it certain."""
    if unicodedata.category(letter) not in _CATEGORIES:
        return ""
    direction = _DIRECTIONS.get(unicodedata.bidirectional(letter))
    return "" if direction is None else _FROM_RIGHT if direction == RIGHT else _FROM_LEFT


def _are_taken(frame: str, letters: Sequence[str]) -> bool:
    """Whether the definition accepts a label of `letters` unchanged, with `frame` before, between and after them."""
    label = f"{frame}{frame.join(letters)}{frame}"
    return ascii_domain(f"{label}.com") == f"xn--{label.encode('punycode').decode()}.com"


def _class_of_certain(letter: str) -> int:
    mark = MARK if unicodedata.category(letter) in _MARKS else 0
    return CERTAIN | _DIRECTIONS[unicodedata.bidirectional(letter)] | mark


def _encoded(letters: Iterable[str]) -> Iterator[str]:
    """Return those of `letters` that an encoded label may contain (RFC 5892, section 3)."""
    known = [letter for letter in letters if unicodedata.category(letter) in _ENCODED or letter in _EXCEPTIONS]
    # All at once, between line ends, which nothing joins.
    forms = unicodedata.normalize("NFKC", "\n".join(known).casefold()).split("\n") if known else []
    return (letter for letter, form in zip(known, forms, strict=True) if letter == form or letter in _EXCEPTIONS)


DOMAIN_LETTERS: Final = CertainLetters()


def accepted(letters: Sequence[str], takes: Callable[[Sequence[str]], bool], *, at_once: int) -> Iterator[str]:
    """Return those of `letters` that are accepted alone. `takes` says whether several are accepted side by side.

    It is asked of `at_once` letters, and of each half of these again where it refuses them.
    """
    for begin in range(0, len(letters), at_once):
        yield from _accepted(letters[begin : begin + at_once], takes)


def _accepted(letters: Sequence[str], takes: Callable[[Sequence[str]], bool]) -> Iterator[str]:
    if takes(letters):
        yield from letters
    elif len(letters) > 1:
        middle = len(letters) // 2
        yield from _accepted(letters[:middle], takes)
        yield from _accepted(letters[middle:], takes)
