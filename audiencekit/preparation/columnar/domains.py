"""Internationalised domains: what is certain letter by letter, and the definition for all others.

A domain of plain labels is certain when every letter of it that is not ASCII is: the definition takes such a letter as
it stands, between any others. That holds for letters that read from left to right, need no neighbours, and are what
they are in every form of Unicode (IDNA 2008, RFC 5892 section 3 and RFC 5893 section 2).
"""

from __future__ import annotations

import re
import unicodedata
from functools import cache, lru_cache
from typing import Final

import numpy as np
from email_validator import SPECIAL_USE_DOMAIN_NAMES

from audiencekit.identifiers.email import MAX_DOMAIN_LENGTH, MAX_LABEL_LENGTH, MEMOISED_DOMAINS, ascii_domain, lower
from audiencekit.identifiers.reasons import Reason
from audiencekit.preparation.columnar.buffers import Bytes

_LABEL: Final = r"[^\W_]+(?:-[^\W_]+)*"
_PLAIN: Final = re.compile(rf"(?:{_LABEL}\.)+(?P<top>[a-z]{{2,}})")
BASIC_PLANE: Final = 2**16  # code points
_BETWEEN_OTHERS: Final = "a{}a.com"


@lru_cache(maxsize=MEMOISED_DOMAINS)
def domain_in_ascii(domain: str) -> str | Reason:
    """The decision of the definition on `domain`, in any case of letters."""
    lowered = lower(domain)
    return _certain(lowered) or ascii_domain(lowered)


def _certain(domain: str) -> str | None:
    """`domain` in ASCII when that is certain."""
    form = _PLAIN.fullmatch(domain)
    if form is None or not all(letter.isascii() or CERTAIN.has(letter) for letter in domain):
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
    """Which letters are certain, as far as it was asked."""

    def __init__(self) -> None:
        self._are_certain = np.zeros(BASIC_PLANE, dtype=bool)  # a byte each: threads that write bits lose some
        self.has = cache(self._find)

    def known(self) -> Bytes:
        """One byte for each code point of the basic plane: 1 where a letter is known to be certain, or else 0."""
        return self._are_certain.astype(np.uint8)

    def _find(self, letter: str) -> bool:
        """Whether the definition takes `letter` as it stands, with whatever certain letters beside it."""
        if unicodedata.category(letter) not in ("Ll", "Lo") or unicodedata.bidirectional(letter) != "L":
            return False
        label = f"a{letter}a".encode("punycode").decode()
        is_certain = ascii_domain(_BETWEEN_OTHERS.format(letter)) == f"xn--{label}.com"
        if is_certain and ord(letter) < BASIC_PLANE:
            self._are_certain[ord(letter)] = True
        return is_certain


CERTAIN: Final = CertainLetters()
