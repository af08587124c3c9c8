"""User ids of the platform in bulk: of digits of other scripts all but whole numbers are left to the definition."""

from __future__ import annotations

from functools import cache
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from audiencekit.identifiers.kinds import Reason
from audiencekit.limits import MAX_PLATFORM_ID
from audiencekit.preparation.columnar.buffers import Bytes, arrow_array, code_points
from audiencekit.preparation.columnar.checks import (
    ALWAYS,
    OPENING,
    SPACES,
    Check,
    are_ascii,
    begin_codes,
    decide_in_order,
    matches,
    trim_texts,
)
from audiencekit.preparation.columnar.decisions import PENDING, UNDECIDED, VALID, Codes, Decisions, code_of, put
from audiencekit.preparation.columnar.signs import CODE_POINTS, foreign_digits, signs

_MAX_DIGITS: Final = len(str(MAX_PLATFORM_ID))
# Small enough at first sight: shorter than the largest, or as long and with a lesser first digit.
_LESSER: Final = f"[1-{int(str(MAX_PLATFORM_ID)[0]) - 1}]"
_PLAIN: Final = rf"\A(?:[1-9][0-9]{{0,{_MAX_DIGITS - 2}}}|{_LESSER}[0-9]{{{_MAX_DIGITS - 1}}})\z"
_MARKED: Final = r"""\A(?:'|="[^"]*"\z)"""

# Numbers as spreadsheets mangle them: the same forms as in identifiers/texts.py.
_MANGLED: Final = (
    r"\A[+-]?[0-9]+(?:[.,][0-9]*)?e[+-]?[0-9]+\z",
    r"(?s)\A(?:[+-]?[0-9]{5,}[.,]0{1,6}|.*[0-9][.,]0)\z",
    r"\A#{2,}\z",
    r"\A=",
    r"\A[+-]?[0-9]+[.,][0-9]*\z",
)
# Behind the marks of a spreadsheet the definition knows white space that is not ASCII, too.
_FOREIGN: Final = rf"""\A(?:'[{SPACES}]*[^\x00-\x7f]|="(?s:.*)[^\x00-\x7f])"""
# Numbers of which the definition says the same in digits of any script, but for those as long as a hash.
_OF_ANY_SCRIPT: Final = r"""\A(?:'?[0-9]{1,63}|="[0-9]{1,60}"|[+-]?[0-9]{1,30}[.,][0-9]{0,30})\z"""
_OF_ANY_BYTES: Final = 256  # at most, of 64 characters
_NO_DIGIT: Final = ord("!")
_FOREIGN_CHECKS: Final = (Check(_FOREIGN, UNDECIDED), Check(f"[{foreign_digits()}]", UNDECIDED))
_NUMBER_CHECKS: Final = (
    *(Check(pattern, code_of(Reason.EXCEL_MANGLED)) for pattern in _MANGLED),
    Check(r"\A[0-9]+\z", code_of(Reason.NOT_INTEGER), holds=False),
    Check(r"\A0+\z", code_of(Reason.ZEROED)),
    Check(rf"\A0*[1-9][0-9]{{{_MAX_DIGITS}}}", code_of(Reason.TOO_LONG)),
    Check(ALWAYS, VALID),
)


def decide_platform_ids(texts: Any) -> Decisions:
    """The certain ones of `texts` (pa.StringArray): the id as the definition gives it, or its reason.

    Holds raw values: to be called from a guarded function only.
    """
    lowered = _in_ascii(pc.ascii_lower(trim_texts(texts)))
    numbers = _unmarked(lowered)
    codes = begin_codes(matches(numbers, _PLAIN))  # which nothing is that any other check refuses
    if not (codes == PENDING).any():
        return Decisions.of(numbers, codes)
    decide_in_order(lowered, codes, OPENING)
    decide_in_order(lowered, codes, _FOREIGN_CHECKS)
    decide_in_order(numbers, codes, _NUMBER_CHECKS)
    digits = pc.ascii_ltrim(numbers, "0")
    _refuse_large(digits, codes)
    return Decisions.of(digits, codes)


def _in_ascii(texts: Any) -> Any:
    """The numbers of `texts` in digits of ASCII, the others as they are."""
    rows = np.flatnonzero(~are_ascii(texts) & (pc.binary_length(texts).to_numpy() <= _OF_ANY_BYTES))
    if not len(rows):
        return texts
    begins, codes = code_points(texts.take(arrow_array(rows)))
    signs_of = pa.py_buffer(_digits()[np.minimum(codes, CODE_POINTS)])
    written = pa.StringArray.from_buffers(len(rows), pa.py_buffer(begins), signs_of)
    numbers = np.flatnonzero(matches(written, _OF_ANY_SCRIPT))
    return put(texts, rows[numbers], written.take(arrow_array(numbers)))


@cache
def _digits() -> Bytes:
    """Of each character the digit of ASCII that it is, or a sign that no number has; what is ASCII as it is."""
    are_digits = (signs() >= ord("0")) & (signs() <= ord("9"))
    found = np.append(np.where(are_digits, signs(), np.uint8(_NO_DIGIT)), np.uint8(_NO_DIGIT))
    found[:0x80] = np.arange(0x80)
    return found


def _unmarked(lowered: Any) -> Any:
    """Each text without the marks that keep a spreadsheet from making a number of it."""
    rows = np.flatnonzero(matches(lowered, _MARKED))
    marked = lowered.take(arrow_array(rows))
    behind = pc.ascii_ltrim_whitespace(pc.utf8_slice_codeunits(marked, 1, None))
    within = pc.ascii_trim_whitespace(pc.utf8_slice_codeunits(marked, 2, -1))
    return put(lowered, rows, pc.if_else(pc.starts_with(marked, "'"), behind, within))


def _refuse_large(digits: Any, codes: Codes) -> None:
    """Puts TOO_LONG for ids as long as the largest and above it: texts of one length order as numbers do."""
    as_long = pc.equal(pc.binary_length(digits), pa.scalar(_MAX_DIGITS, pa.int32()))
    larger = pc.and_(as_long, pc.greater(digits, pa.scalar(str(MAX_PLATFORM_ID), pa.string())))
    above: Any = larger.to_numpy(zero_copy_only=False)
    codes[np.logical_and(codes == VALID, above)] = code_of(Reason.TOO_LONG)
