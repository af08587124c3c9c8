"""E-mail addresses where there are no kernels: nearly every ASCII text, and certain others; the rest is left."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import cache
from typing import Any, Final

import numpy as np
import pyarrow.compute as pc
from email_validator import SPECIAL_USE_DOMAIN_NAMES

from audiencekit.identifiers.email import CARRIERS, MAX_ADDRESS_BYTES, MAX_LABEL_LENGTH, MAX_LOCAL_LENGTH
from audiencekit.identifiers.kinds import Reason
from audiencekit.identifiers.texts import DOUBLED, MASK, MASKED, MAX_NORMALIZED, NO_ADDRESS, WHITE_SPACE
from audiencekit.records.columns.arrays import (
    PENDING,
    UNDECIDED,
    VALID,
    Bools,
    Bytes,
    Codes,
    Decisions,
    Places,
    arrow_array,
    code_of,
    put,
    text_buffers,
)
from audiencekit.records.columns.checks import (
    ALWAYS,
    KELVIN,
    NEVER,
    OPENING,
    Check,
    are_ascii,
    begin_codes,
    decide_in_order,
    matches,
    trim_texts,
)
from audiencekit.records.columns.international import decide_international
from audiencekit.records.columns.other_spellings import leave_emails

_ATOM: Final = r"[a-z0-9_!#$%&'*+\-/=?^`{|}~]+"
_LOCAL: Final = rf"{_ATOM}(?:\.{_ATOM})*"
_LABEL: Final = r"[a-z0-9](?:[a-z0-9\-]*[a-z0-9])?"
_TOP: Final = r"[a-z]{2,}"  # others in ASCII begin with xn--

# No two hyphens in a row, letters only at the top and no asterisk, so that most texts need no other look.
_PLAIN_ATOM: Final = _ATOM.replace("*", "")
_PLAIN_LOCAL: Final = rf"{_PLAIN_ATOM}(?:\.{_PLAIN_ATOM})*"
_PLAIN_LABEL: Final = r"[a-z0-9]+(?:-[a-z0-9]+)*"
_PLAIN: Final = rf"\A{_PLAIN_LOCAL}@(?:{_PLAIN_LABEL}\.)+[a-z][a-z]+\z"

# Up to here no part of a plain address can be too long.
_PLAIN_BYTES: Final = min(MAX_LOCAL_LENGTH, MAX_LABEL_LENGTH, MAX_ADDRESS_BYTES)

# A spreadsheet's marks around an address are for the definition to take off.
_MANGLED: Final = rf"\A(?:=|'[{WHITE_SPACE}]*=)"
# Signs that lists put around an address, too.
_OF_LIST: Final = r"""[,;]\z|\A(?:'(?s:.*)'|"(?s:.*)")\z"""
_MARKS: Final = np.frombuffer(b"'=", dtype=np.uint8)
# Dots that only some carriers of Japan take.
_OF_CARRIER: Final = rf"\A[^.@][^@]*@(?:{'|'.join(map(re.escape, CARRIERS))})\z"

_NAMED: Final = f"[^@.{WHITE_SPACE}]+"
_DOUBLES: Final = "|".join(f"{re.escape(word)}@{re.escape(word)}" for word in sorted(DOUBLED))
_PLACEHOLDER: Final = (
    rf"\A(?:(?:{_DOUBLES})(?:\.{_NAMED}){{1,2}}\z|{MASKED}\z|(?:{NO_ADDRESS.pattern}|[^@]*{re.escape(MASK)}[^@]*)@)"
)
_MAY_BE_MASKED: Final = r"\A[^@]*\*"

_BITS: Final = 5  # of a byte; they tell the letters from each other


def _joined(data: Bytes, *places: Places) -> Places:
    """The last bits of the bytes at `places` as one number. A place outside is taken for one at the end."""
    number = np.zeros(len(places[0]), dtype=np.int32)
    for place in places if len(data) else ():
        number <<= _BITS
        number |= data.take(place, mode="clip") & np.uint8((1 << _BITS) - 1)
    return number


def _marked(texts: Iterable[str], size: int) -> Bools:
    """A table of all texts of `size` bytes, by the number that `_joined` makes of them, in which `texts` are marked."""
    table = np.zeros(1 << size * _BITS, dtype=bool)
    for text in texts:
        places = np.arange(size, dtype=np.int32)
        table[_joined(np.frombuffer(text.encode(), dtype=np.uint8), *places[:, None])] = True
    return table


@cache
def _endings(names: tuple[str, ...]) -> Bools:
    return _marked((name[-2:] for name in names), 2)


# How placeholder addresses begin. A plain address that begins otherwise is none, whatever follows.
_OPENINGS: Final = _marked(
    [*(f"{word}@{word}"[:3] for word in DOUBLED), "n/a", "no-", "no.", "no_", "noe", "nom", "not"], 3
)

# The middle of masked domains, and how far it stands from the end of an address.
_CROSSES: Final = _marked(["xx"], 2)
_BEHIND_CROSSES: Final = len("xx.com")

_IN_BRACKETS: Final = r"\A[^<]*<[^<>]*@[^<>]*>\z"
_REFUSED: Final = code_of(Reason.INVALID_SYNTAX)


def decide_emails(texts: Any) -> Decisions:
    """The certain ones of `texts` (pa.StringArray): the address as the definition gives it, or its reason.

    Holds raw values: to be called from a guarded function only.
    """
    lowered = pc.ascii_lower(pc.fill_null(texts, "") if texts.null_count else texts)
    codes = begin_codes(_is_plain(lowered))
    rest = np.flatnonzero(codes == PENDING)
    if len(rest):
        # Cells that look like no address are often the same: a word for a missing value, two spaces before a name.
        left = trim_texts(lowered.take(arrow_array(rest))).dictionary_encode()
        addresses, found = _decide_distinct(left.dictionary)
        codes[rest] = found.take(left.indices.to_numpy())
        lowered = put(lowered, rest, addresses.take(left.indices))
    return Decisions.of(lowered, codes)


def _decide_distinct(trimmed: Any) -> tuple[Any, Codes]:
    """Addresses and codes of texts in lower case."""
    codes = begin_codes(_is_plain(trimmed))
    decide_in_order(trimmed, codes, OPENING)
    codes[(codes == PENDING) & _may_be_another(trimmed)] = UNDECIDED
    decide_in_order(trimmed, codes, _checks())
    left = np.flatnonzero(codes == UNDECIDED)
    texts = trimmed.take(arrow_array(left))
    addresses, found = decide_international(texts)
    # As it was written and in ASCII: a domain that is refused has no address that could begin doubtfully.
    found[_begins_doubtfully(*text_buffers(texts)) | _begins_doubtfully(*text_buffers(addresses))] = UNDECIDED
    found[_is_marked(*text_buffers(texts)) | matches(texts, rf"{_OF_LIST}|{_MAY_BE_MASKED}")] = UNDECIDED
    codes[left] = found
    leave_emails(trimmed, codes, UNDECIDED)
    return put(trimmed, left, addresses), codes


def _may_be_another(trimmed: Any) -> Bools:
    """Which texts Unicode's forms may change: of those that are longer than any address only the capitals of ASCII."""
    others = ~are_ascii(trimmed)
    rows = np.flatnonzero(others)
    if len(rows):
        texts = trimmed.take(arrow_array(rows))
        are_short = pc.utf8_length(texts).to_numpy(zero_copy_only=False) <= MAX_NORMALIZED
        others[rows] = are_short | matches(texts, KELVIN)
    return others


def _is_plain(lowered: Any) -> Bools:
    """Which of the texts are addresses at first sight."""
    offsets, data = text_buffers(lowered)
    plain = matches(lowered, _PLAIN) & (np.diff(offsets) <= _PLAIN_BYTES) & ~_is_marked(offsets, data)
    doubted = np.flatnonzero(plain & (_begins_doubtfully(offsets, data) | _ends_doubtfully(offsets, data)))
    if len(doubted):
        refused = matches(lowered.take(arrow_array(doubted)), rf"{_PLACEHOLDER}|{_special_use()}")
        plain[doubted[refused]] = False
    return plain


def _is_marked(offsets: Places, data: Bytes) -> Bools:
    """Which texts begin with a mark of a spreadsheet. An empty one has the first sign of the next one."""
    if not len(data):
        return np.zeros(len(offsets) - 1, dtype=bool)
    is_marked: Bools = np.isin(data.take(offsets[:-1], mode="clip"), _MARKS)
    return is_marked


def _begins_doubtfully(offsets: Places, data: Bytes) -> Bools:
    """Which addresses begin as a placeholder does."""
    starts = offsets[:-1]
    return _OPENINGS.take(_joined(data, starts, starts + 1, starts + 2))


def _ends_doubtfully(offsets: Places, data: Bytes) -> Bools:
    """Which addresses end as a special-use domain does, or as a masked one."""
    ends = offsets[1:]
    middles = ends - _BEHIND_CROSSES
    is_special: Bools = _endings(tuple(SPECIAL_USE_DOMAIN_NAMES)).take(_joined(data, ends - 2, ends - 1))
    return is_special | _CROSSES.take(_joined(data, middles, middles + 1))


def _special_use() -> str:
    """Domains that the library refuses by name, read anew since a host program may change its list."""
    return _at_or_below(SPECIAL_USE_DOMAIN_NAMES)


def _at_or_below(names: Sequence[str]) -> str:
    return rf"[@.](?:{'|'.join(map(re.escape, names))})\z" if names else NEVER


def _checks() -> tuple[Check, ...]:
    """The definition's checks of an ASCII address, in its order."""
    too_long = code_of(Reason.TOO_LONG)
    return (
        Check(_OF_LIST, UNDECIDED),
        Check(r'\A="[^"]*"\z', UNDECIDED),
        Check(_MANGLED, code_of(Reason.EXCEL_MANGLED)),
        Check(r"\A'[^@]*\z", _REFUSED),
        Check(r"\A'", UNDECIDED),
        Check(_IN_BRACKETS, code_of(Reason.DISPLAY_NAME)),
        Check(r"\A[^@]+@[^@]+\z", _REFUSED, holds=False),
        Check(_PLACEHOLDER, code_of(Reason.PLACEHOLDER)),
        Check(rf"\A[^@]{{{MAX_LOCAL_LENGTH + 1}}}", too_long, least=MAX_LOCAL_LENGTH + 1),
        Check(rf"\A(?s:.{{{MAX_ADDRESS_BYTES + 1}}})", too_long, least=MAX_ADDRESS_BYTES + 1),
        Check(_OF_CARRIER, UNDECIDED),
        Check(rf"\A{_LOCAL}@", _REFUSED, holds=False),
        *_domain_checks(too_long),
    )


def _domain_checks(too_long: int) -> tuple[Check, ...]:
    # The definition looks at the top alone; a dotted name on the library's list is for it to judge.
    tops = [name for name in SPECIAL_USE_DOMAIN_NAMES if "." not in name]
    return (
        Check(_at_or_below(tops), code_of(Reason.SPECIAL_USE_DOMAIN)),
        Check(rf"@(?s:.*)[^.@]{{{MAX_LABEL_LENGTH + 1}}}", too_long, least=MAX_LABEL_LENGTH + 1),
        Check(rf"@(?:[^@]*\.)?[^.@]{{2}}--|{_special_use()}", UNDECIDED),
        Check(rf"@(?:{_LABEL}\.)+(?:{_TOP})\z", _REFUSED, holds=False),
        Check(ALWAYS, VALID),
    )
