"""Texts of cells before any rule: invisible characters, Unicode forms, signs, numbers from Excel, placeholders."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from typing import Final, Literal

# --- Placeholders for unknown values: closed lists, applied to the trimmed, lower-cased value ---
#
# Sources: reference, reliability 4 ("Placeholders"); the missing-value words that spreadsheets, databases and data
# frames write; the junk that public upload tools report. A word is listed only when no person plausibly owns it.


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
    """Whether the lower-cased `address` is made up, such as test@test.com or noemail@anything, or masked."""
    doubled = _DOUBLED_EMAIL.fullmatch(address)
    if (doubled and doubled[1] in DOUBLED) or _MASKED.fullmatch(address):
        return True
    local = address.partition("@")[0]
    return MASK in local or NO_ADDRESS.fullmatch(local) is not None


def is_repeated(digits: str) -> bool:
    """Whether `digits` is one repeated digit, or zeros only."""
    return bool(digits) and len(set(digits)) == 1 and (digits[0] == "0" or len(digits) >= _SHORTEST_RUN)


def is_placeholder_number(digits: str) -> bool:
    """Whether `digits` is one repeated digit, or counts up from 0 or 1, or down from 9 or 0, once."""
    counts = any(len(digits) >= least and count.startswith(digits) for count, least in _COUNTS.items())
    return counts or is_repeated(digits)


def spellings() -> Iterator[str]:
    """Return placeholders in their usual spellings, to recognise their hashes.

    Open families are limited to usual members.
    """
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


# --- Traces of spreadsheets on numbers: marks that keep a number whole, and forms that have lost it ---

# A leading apostrophe and ="…" tell a spreadsheet that digits are text: the number behind them is whole.
_TEXT_FORMULA: Final = re.compile(r'="([^"]*)"')

# Digits are never given back: a long cell is read once by each.
_MANGLED: Final = (
    re.compile(r"[+-]?\d++(?:[.,]\d*+)?e[+-]?\d++", re.IGNORECASE),  # 1.23E+10
    re.compile(r"[+-]?\d{5,}+[.,]0{1,6}"),  # 14155550132.00
    re.compile(r"#{2,}"),  # a column too narrow to show its number
)

_DECIMAL_ZERO: Final = re.compile(r"\d[.,]0")  # at the end of whatever it is: 14155550132.0

KEPT_DIGITS: Final = 15  # significant digits of a spreadsheet's number (IEEE 754 double)
ROUNDED_DIGITS: Final = 3  # zeros in a row behind them that are more than chance
# An id with more digits than a spreadsheet keeps, and zeros in their place. One such id can be true; many in a column
# cannot (reference: reliability 4, "Numeric ids"). For RE2 and `re` alike.
ROUNDED_ID: Final = f"^[0-9]{{{KEPT_DIGITS}}}0{{{ROUNDED_DIGITS},}}$"


def unmarked(text: str) -> str:
    """`text` without one leading apostrophe or the wrapping `="…"`."""
    if formula := _TEXT_FORMULA.fullmatch(text):
        return formula[1].strip()
    return text[1:].lstrip() if text.startswith("'") else text


# A cell whose text is a link; programs that read a workbook as text leave the formula.
_LINK_FORMULA: Final = re.compile(
    r"""=\s*HYPERLINK\(\s*"(?:mailto:|tel:)?([^"]*)"\s*(?:[,;]\s*"([^"]*)"\s*)?\)""", re.IGNORECASE | re.ASCII
)


def unlinked(text: str) -> str:
    """The text that a cell with a formula of a link shows, where the link leads to the same; else `text`."""
    if not text.startswith("=") or (link := _LINK_FORMULA.fullmatch(text)) is None:
        return text
    target, shown = trim(link[1]), trim(link[2] or link[1])
    return shown if target.casefold() == shown.casefold() else text


QUOTES: Final = ("''", '""')


def unquoted(text: str) -> str:
    """`text` without quotes around the whole of it, else without the marks of a spreadsheet."""
    return trim(text[1:-1]) if len(text) > 1 and text[0] + text[-1] in QUOTES else unmarked(text)


def is_mangled(text: str) -> bool:
    """Whether `text` shows that a spreadsheet converted it to a number: digits may be lost."""
    if text.startswith("="):  # a formula
        return True
    if not (text[-1:].isdecimal() or text.endswith("#")):
        return False
    return any(form.fullmatch(text) for form in _MANGLED) or _DECIMAL_ZERO.fullmatch(text[-3:]) is not None


# --- Invisible characters: removed at the ends of a value, refused inside it ---
#
# `str.strip()` removes the no-break space but neither U+200B nor U+FEFF, so both lists are written out here. White
# space inside a value is not invisible: what it means is for the rule of the kind to say.

# Unicode PropList.txt, White_Space.
WHITE_SPACE: Final = "\t\n\v\f\r \x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000"

# Unicode DerivedCoreProperties.txt, Default_Ignorable_Code_Point (soft hyphen, joiners, bidi marks, byte
# order mark, variation selectors, tags), and the interlinear annotation marks.
MARKS: Final = (
    "\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164"
    "\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff"
)

# Control characters that are not white space, and surrogates, which no UTF-8 can hold.
SURROGATES: Final = "\ud800-\udfff"
CONTROLS: Final = f"\x00-\x08\x0e-\x1f\x7f-\x84\x86-\x9f{SURROGATES}"

_INVISIBLE: Final = re.compile(f"[{MARKS}{CONTROLS}]")
BREAKS: Final = "\t\n\v\f\r\x85\u2028\u2029"
_CONTROL: Final = re.compile(f"[{BREAKS}{MARKS}{CONTROLS}]")


def characters_of(ranges: str) -> str:
    """Return every character that `ranges`, the inside of a regular expression's class, names."""
    listed: list[str] = []
    for match in re.finditer(r"(.)-(.)|(.)", ranges, re.DOTALL):
        first, last, single = match.groups()
        listed += [single] if single else map(chr, range(ord(first), ord(last) + 1))
    return "".join(listed)


_TRIMMED_OF_ASCII: Final = "".join(filter(str.isascii, characters_of(WHITE_SPACE)))
# A class finds a character in a fifteenth of the time that str.strip() takes to look through 4,000 of them.
_TRIMMED: Final = re.compile(f"[{WHITE_SPACE}{MARKS}]*")


def trim(text: str) -> str:
    """Return `text` without white space and invisible marks at its ends. Control characters stay."""
    if text.isascii():
        return text.strip(_TRIMMED_OF_ASCII)
    return text[_trimmed(text) : len(text) - _trimmed(text[::-1])]


def _trimmed(text: str) -> int:
    """Return how many characters are removed at the beginning of `text`."""
    found = _TRIMMED.match(text)
    return found.end() if found else 0


def has_invisible(text: str) -> bool:
    """Whether `text` has an invisible mark, a control character that is not white space, or a surrogate."""
    return _INVISIBLE.search(text) is not None


def has_control(text: str) -> bool:
    """Whether `text` has a character that `has_invisible` finds, or a tab or line break."""
    return _CONTROL.search(text) is not None


# --- One sign for those that look alike, such as those of a word processor for `-`, a blank or `@` ---

# Hyphens, dashes, bars and minus signs that NFKC leaves as they are. The soft hyphen is an invisible character.
_DASHES: Final = re.compile("[‐‑‒–—―⁃−⸺⸻\u058a\u30a0]")


def plain_signs(text: str) -> str:
    """Return `text` in NFKC with every dash as `-`, for checks only, never for sending."""
    return text if text.isascii() else _DASHES.sub("-", in_form("NFKC", _DASHES.sub("-", text)))


# --- Unicode's normal forms, for texts that are short enough ---

# To put the marks on one letter in order takes the square of their number: 2 seconds for a cell of the largest size.
# Nothing that qualifies is as long: an address has 254 bytes, and four characters become one at most.
MAX_NORMALIZED: Final = 2_048  # characters


def in_form(form: Literal["NFC", "NFKC", "NFKD"], text: str) -> str:
    """Return `text` in this Unicode form; a long text unchanged."""
    return unicodedata.normalize(form, text) if len(text) <= MAX_NORMALIZED else text
