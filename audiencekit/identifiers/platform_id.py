"""The rule for user ids of the platform: plain integer text (reference: api-facts 1.7)."""

from __future__ import annotations

import re
import unicodedata
from typing import Final

from audiencekit.identifiers.commonchecks import refuse_at_once
from audiencekit.identifiers.excel import is_mangled, unmarked
from audiencekit.identifiers.invisible import trim
from audiencekit.identifiers.kinds import NormalizedPlatformId
from audiencekit.identifiers.reasons import Reason
from audiencekit.limits import MAX_PLATFORM_ID

_MAX_DIGITS: Final = len(str(MAX_PLATFORM_ID))
_DECIMAL: Final = re.compile(r"[+-]?\d++[.,]\d*+")


def normalize_platform_id(text: str) -> NormalizedPlatformId | Reason:
    """The id as it is hashed, or why there is none.

    Leading zeros come off, as in the service's own script: they do not change an integer. Digits of other
    scripts become ASCII. Ids are 64-bit and signed, and zero is no one. Thousands separators are no integer.
    """
    trimmed = trim(text)
    if (reason := refuse_at_once(trimmed)) is not None:
        return reason
    return _normalize_integer(unmarked(trimmed))


def _normalize_integer(text: str) -> NormalizedPlatformId | Reason:
    if not text.isdecimal():
        return Reason.EXCEL_MANGLED if is_mangled(text) or _DECIMAL.fullmatch(text) else Reason.NOT_INTEGER
    significant = _without_zeros(text)
    if not significant:
        return Reason.ZEROED
    if len(significant) > _MAX_DIGITS or int(significant) > MAX_PLATFORM_ID:
        return Reason.TOO_LONG
    return NormalizedPlatformId(str(int(significant)))


def _without_zeros(digits: str) -> str:
    """`digits` without zeros of any script in front: in as many steps as scripts, however many zeros they are."""
    zeros = ""
    while digits and unicodedata.decimal(digits[0]) == 0:
        zeros += digits[0]
        digits = digits.lstrip(zeros)
    return digits
