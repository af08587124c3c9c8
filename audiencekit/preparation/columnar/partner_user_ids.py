"""Partner user ids in bulk: whatever is printable ASCII at first sight, but for what is nearly a person's data.

The definition refuses what looks like a person's data. Every such form needs an `@`, a plus, words of letters with
blanks between, or is written in digits and separators alone; none of the forms here is any of these, unless it is
encoded, spells the `@` out, is a profile or an address of the internet, or is a number in the groups of North America.
These and all further texts are looked at by the patterns of the definition itself.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import pyarrow.compute as pc

from audiencekit.identifiers.kinds import Reason
from audiencekit.identifiers.partner_user_id import MANGLED, SPELLED_AT
from audiencekit.identifiers.texts import BREAKS, CONTROLS, MARKS, SURROGATES, WHITE_SPACE
from audiencekit.limits import MAX_PARTNER_USER_ID_LENGTH
from audiencekit.preparation.columnar.buffers import arrow_array
from audiencekit.preparation.columnar.checks import (
    BLANK,
    WORD,
    Check,
    decide_in_order,
    matches,
    matches_among,
    trim_texts,
)
from audiencekit.preparation.columnar.decisions import PENDING, VALID, Codes, Decisions, code_of
from audiencekit.preparation.columnar.disguises import hold_others
from audiencekit.preparation.columnar.likenesses import judge_likeness

_SIGNS: Final = "!-$'-*,-?A-~"  # printable, and none that begins an address, a number or a code of one sign
_DIGITS: Final = r"[0-9]+(?:\.0)?"
_GROUPED: Final = r"[1-9][0-9]*(?:[.-][0-9]+)+"  # a phone number in such groups has a zero in front
_SIGNED: Final = rf"[{_SIGNS}]*[A-Za-z_][{_SIGNS}]*"
_WORDED: Final = rf"[ {_SIGNS}]*(?:[A-Za-z_][ {_SIGNS}]*[0-9]|[0-9][ {_SIGNS}]*[A-Za-z_])[ {_SIGNS}]*"
_BASE64: Final = r"(?:[0-9/][0-9+/]*)?[A-Za-z][A-Za-z0-9+/]*={0,2}"
_PLAIN: Final = rf"\A(?:{_DIGITS}|{_GROUPED}|{_SIGNED}|{_WORDED}|{_BASE64})\z"
_NORTH_AMERICAN: Final = r"\A(?:1[.-])?[0-9]{3}[.-][0-9]{3}[.-][0-9]{4}\z"
# IPv6 has six colons at least, or two that stand together.
_INTERNET: Final = r"\A[0-9]+(?:\.[0-9]+){3}\z|::|(?::[^:]*){5}:|(?:\A|[ /.(])(?i:x|twitter)\.(?i:com)/"
_AT: Final = rf"{SPELLED_AT}\z|(?i: at )|[(\[{{<] ?(?i:at) ?[)\]}}>]"
_DOUBTFUL: Final = rf"{_AT}|{_INTERNET}|{_NORTH_AMERICAN}"

_OFF: Final = f"[{WHITE_SPACE}{MARKS}]*"  # at the ends
_BEYOND: Final = f"[{BREAKS}{MARKS}{CONTROLS.removesuffix(SURROGATES)}\ufffd]"
_WORDS: Final = WORD.pattern.removeprefix(r"\A").removesuffix(r"\z")
# Nothing else is looked at by any of the checks.
_CHECKED: Final = rf"\A{_OFF}(?:(?i:{_WORDS}|{MANGLED}){_OFF})?\z|{_BEYOND}"
_WORD_CHECKS: Final = (WORD,)
_SIGN_CHECKS: Final = (
    Check(_BEYOND.replace("\ufffd", ""), code_of(Reason.INVISIBLE_CHARACTER)),
    Check("\ufffd", code_of(Reason.INVALID_SYNTAX)),
)
_FORM_CHECKS: Final = (Check(rf"\A(?i:{MANGLED})\z", code_of(Reason.EXCEL_MANGLED)),)


def decide_partner_user_ids(texts: Any) -> Decisions:
    """The certain ones of `texts` (pa.StringArray): the id as it stands, or its reason.

    Holds raw values: to be called from a guarded function only.
    """
    filled = pc.fill_null(texts, "")
    trimmed = pc.ascii_trim(filled, " ")
    plain = matches(trimmed, _PLAIN)
    plain &= ~matches_among(pc.ascii_lower(trimmed), plain, WORD.pattern)
    plain &= ~matches_among(trimmed, plain, _DOUBTFUL)
    plain &= ~hold_others(trimmed, plain)
    codes = np.zeros(len(filled), dtype=np.int8)
    codes[pc.utf8_length(filled).to_numpy(zero_copy_only=False) > MAX_PARTNER_USER_ID_LENGTH] = code_of(Reason.TOO_LONG)
    rest = np.flatnonzero(~plain)
    if len(rest):
        codes[rest] = _judge(filled.take(arrow_array(rest)), codes[rest])
    return Decisions.of(filled, codes)


def _judge(texts: Any, lengths: Codes) -> Codes:
    """The decisions on `texts`, of which `lengths` says for the long ones that they are too long."""
    trimmed = trim_texts(texts)
    checked = np.flatnonzero(matches(texts, _CHECKED))
    codes = np.where(lengths == VALID, PENDING, lengths).astype(np.int8)
    codes[checked] = _check(texts.take(arrow_array(checked)), trimmed.take(arrow_array(checked)), codes[checked])
    left = np.flatnonzero(codes == PENDING)
    codes[left] = judge_likeness(trimmed.take(arrow_array(left)))
    return codes


def _check(texts: Any, trimmed: Any, codes: Codes) -> Codes:
    codes = codes.copy()
    codes[matches(trimmed, BLANK.pattern)] = BLANK.code
    decide_in_order(pc.ascii_lower(trimmed), codes, _WORD_CHECKS)
    decide_in_order(texts, codes, _SIGN_CHECKS)
    decide_in_order(trimmed, codes, _FORM_CHECKS)
    return codes
