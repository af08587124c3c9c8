"""Internationalised addresses in bulk: each domain is decided once (`domains`), local parts are of certain letters.

A letter is certain when neither lower case nor NFC changes it, wherever it stands, and the library takes it. These are
the small letters of some alphabets and the letters of scripts without case.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator
from functools import cache
from itertools import filterfalse, groupby
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from audiencekit.identifiers.email import MAX_ADDRESS_BYTES, MAX_LABEL_LENGTH
from audiencekit.identifiers.kinds import Reason
from audiencekit.records.columns.arrays import UNDECIDED, VALID, Bools, Codes, arrow_array, code_of, put
from audiencekit.records.columns.checks import FEW, compiled, matches
from audiencekit.records.columns.domains import BASIC_PLANE, IDEOGRAPHS, domain_in_ascii

# Latin, Greek, Cyrillic, Armenian, Hebrew, Arabic, Hiragana and Katakana: which of these are certain is asked.
_ALPHABETS: Final = ((0xDF, 0x24F), (0x370, 0x52F), (0x561, 0x586), (0x5D0, 0x5EA), (0x620, 0x64A), (0x3041, 0x30FF))
_IDEOGRAPHS: Final = "".join(f"{first}-{last}" for first, last in IDEOGRAPHS)

_ATEXT: Final = r"a-z0-9_!#$%&'*+\-/=?^`{|}~"
_NO_ATEXT: Final = r'\x00- "(),.:;<>@A-Z\[\\\]\x7f'  # the rest of ASCII
_AT: Final = pa.scalar("@", pa.string())  # with its type: to guess one, pyarrow looks for pandas each time
_MAX_BYTES: Final = MAX_LABEL_LENGTH  # of what is decided here, so that no part is too long before it is in ASCII


def decide_international(lowered: Any) -> tuple[Any, Codes]:
    """Return addresses and codes (UNDECIDED where not certain) of texts that are trimmed and in ASCII lower case.

    Placeholder addresses and invisible characters are for the caller to find. Holds raw values.
    """
    codes = np.full(len(lowered), UNDECIDED, dtype=np.int8)
    is_short = pc.binary_length(lowered).to_numpy(zero_copy_only=False) <= _MAX_BYTES
    rows = np.flatnonzero(is_short & _are_certain(lowered))
    if not len(rows):
        return lowered, codes
    names, domains = _parts(lowered.take(arrow_array(rows)))
    answers = [domain_in_ascii(domain) for domain in domains.dictionary.to_pylist()]
    in_ascii = ["" if isinstance(answer, Reason) else answer for answer in answers]
    addresses = pc.binary_join_element_wise(names, pa.array(in_ascii, pa.string()).take(domains.indices), _AT)
    found = np.array([_code(answer) for answer in answers], dtype=np.int8).take(domains.indices.to_numpy())
    found[pc.binary_length(addresses).to_numpy() > MAX_ADDRESS_BYTES] = UNDECIDED
    codes[rows] = found
    return put(lowered, rows, addresses), codes


def _parts(addresses: Any) -> tuple[Any, Any]:
    """The local parts, and the domains as a dictionary."""
    parts = pc.split_pattern(addresses, "@").flatten()
    places = np.arange(0, len(parts), 2)
    return parts.take(arrow_array(places)), parts.take(arrow_array(places + 1)).dictionary_encode()


def _code(answer: str | Reason) -> int:
    return code_of(answer) if isinstance(answer, Reason) else VALID


def _are_certain(lowered: Any) -> Bools:
    """For each text whether it has the certain form."""
    if len(lowered) > FEW:
        return matches(lowered, _certain_form())
    return np.fromiter(map(_has_certain_form, lowered.to_pylist()), np.bool_, len(lowered))


def _has_certain_form(lowered: str) -> bool:
    """The same of one text, letter by letter: to compile all of them for `re` takes longer than the rest of a list."""
    if compiled(_form(f"[^{_NO_ATEXT}]+")).search(lowered) is None:
        return False
    letters = filterfalse(str.isascii, lowered.partition("@")[0])
    return all(ord(letter) < BASIC_PLANE and certain_letters()[ord(letter)] for letter in letters)


@cache
def _certain_form() -> str:
    """A pattern for addresses with a certain local part and any domain."""
    letters = "".join(f"{run[0]}-{run[-1]}" for first, last in _ALPHABETS for run in _runs(first, last))
    return _form(f"[{_ATEXT}{letters}{_IDEOGRAPHS}]+")


def _form(atom: str) -> str:
    return rf"\A{atom}(?:\.{atom})*@[^@<>]+\z"


@cache
def certain_letters() -> Bools:
    """Return which code points of the basic plane are letters that are certain in a local part, without being asked."""
    are_certain = np.zeros(BASIC_PLANE, dtype=bool)
    alphabets = (run for first, last in _ALPHABETS for run in _runs(first, last))
    for letters in (*alphabets, *IDEOGRAPHS):
        are_certain[ord(letters[0]) : ord(letters[-1]) + 1] = True
    return are_certain


def _runs(first: int, last: int) -> Iterator[str]:
    """Certain letters that follow each other, among those of the given code points."""
    letters = map(chr, range(first, last + 1))
    return ("".join(run) for is_certain, run in groupby(letters, _is_certain) if is_certain)


def _is_certain(letter: str) -> bool:
    return letter.isalnum() and letter.lower() == letter and unicodedata.is_normalized("NFC", letter)
