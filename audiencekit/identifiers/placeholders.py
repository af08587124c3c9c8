"""Fillings of cells whose value was unknown: closed lists, applied to the trimmed, lower-cased value.

Sources: reference, reliability 4 ("Placeholders"); the missing-value words that spreadsheets, databases and
data frames write; the junk that public upload tools report. A word is listed only when no person plausibly
owns it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


# For every kind.
WORDS: Final = _words(
    r"""
    null nil none nan na n/a n.a. n.a n/d nat undefined unknown missing empty blank tbd tba noemail nophone
    no-email no-phone (null) <null> [null] {null} <na> <none> <nil> <empty> (none) (empty) (blank) (unknown)
    \n -nan +nan 1.#ind 1.#qnan -1.#ind -1.#qnan #n/a #na #null! #ref! #value! #name? #div/0! #num! #error!
    - -- --- – — _ __ ___ . .. ... … ? ?? ??? * ** *** / // \ # '' "" () [] {}
    """
) | {
    "#n/a n/a",
    "not available",
    "not applicable",
    "not provided",
    "not given",
    "not set",
    "no data",
    "no value",
    "no email",
    "no phone",
    "no number",
}

_LONGEST_WORD: Final = max(map(len, WORDS))  # characters; no text has fewer in lower case

# `word@word.<any top-level domain>` is no one's address for these words.
DOUBLED: Final = _words(
    """
    a aa aaa abc asd asdf b email fake foo mail na nan no nobody noemail noemailaddress nomail none null
    qwe qwerty test testing unknown user x xx xxx xyz
    """
)

# Local parts that say "there is none", at any domain, or in which a mask has left no letter.
NO_ADDRESS: Final = re.compile(
    r"no[-_.]?(?:e[-_]?)?mail(?:[-_.]?(?:address|provided|given|available))?|not[-_.]?provided|n/a|x{4,64}|\*"
)
# In a local part. One asterisk may be a person's (RFC 5322); shops, databases and programs write several for letters.
MASK: Final = "**"
MASKED: Final = r"[a-z0-9]xxx@xxxx\.com"  # the email() of SQL Server's masks, in lower case
_MASKED: Final = re.compile(MASKED)
_DOUBLED_EMAIL: Final = re.compile(r"([^@\s.]+)@\1(?:\.[^@\s.]+){1,2}")  # test@test.com, test@test.co.uk

# How people count, and from how many digits on it is no chance any more: shorter ones are in use.
_COUNTS: Final = {"1234567890": 7, "0123456789": 7, "9876543210": 9, "0987654321": 9}
_SHORTEST_RUN: Final = 5  # digits; runs of one digit that are shorter fail as numbers anyway
_LONGEST_RUN: Final = 15  # digits, ITU-T E.164

_ZEROED_DEVICE_IDS: Final = ("00000000-0000-0000-0000-000000000000", "0" * 16, "0" * 32)


def is_placeholder(text: str) -> bool:
    """Whether `text`, trimmed, is one of the words that mean "no value", whatever the kind."""
    return len(text) <= _LONGEST_WORD and text.lower() in WORDS


def is_placeholder_email(address: str) -> bool:
    """Whether the lower-cased `address` is a made-up one such as test@test.com or noemail@anything, or a masked one."""
    doubled = _DOUBLED_EMAIL.fullmatch(address)
    if (doubled and doubled[1] in DOUBLED) or _MASKED.fullmatch(address):
        return True
    local = address.partition("@")[0]
    return MASK in local or NO_ADDRESS.fullmatch(local) is not None


def is_repeated(digits: str) -> bool:
    """Whether `digits` is one digit over and over, or zeros only."""
    return bool(digits) and len(set(digits)) == 1 and (digits[0] == "0" or len(digits) >= _SHORTEST_RUN)


def is_placeholder_number(digits: str) -> bool:
    """Whether `digits` is one digit repeated, or counts up from 0 or 1, or down from 9 or 0, once."""
    counts = any(len(digits) >= least and count.startswith(digits) for count, least in _COUNTS.items())
    return counts or is_repeated(digits)


def spellings() -> Iterator[str]:
    """Placeholders as people write them, so that a hash of one is known. Open families are cut to the usual."""
    yield from ("", " ", "0", "NaN", "#N/A N/A", *_ZEROED_DEVICE_IDS)
    for word in WORDS:
        yield from (word, word.upper(), word.capitalize(), word.title())
    for word in DOUBLED:
        for end in ("com", "net", "org", "de", word):
            yield from (f"{word}@{word}.{end}", f"{word}@{word}.{end}".upper())
    for run in _runs():
        yield from (run, "+" + run)


def _runs() -> Iterator[str]:
    for length in range(_SHORTEST_RUN, _LONGEST_RUN + 1):
        yield from (digit * length for digit in "0123456789")
        yield from (count[:length] for count, least in _COUNTS.items() if length >= least)
