"""Which texts look like a person's data, in bulk: the patterns of the definition, over texts in signs of ASCII.

All that a pattern finds in a text it finds in its shape, too. What it finds there otherwise is left to the definition.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import pyarrow.compute as pc

from audiencekit.identifiers.kinds import Reason
from audiencekit.identifiers.partner_user_id import (
    BRACKETED_AT,
    CONTAINED,
    GROUPED_DIGITS,
    HANDLE,
    IN_ANY_DIGITS,
    IN_GROUPS,
    IP_ADDRESS,
    LAYERS,
    LONGEST_IP,
    MAX_SPELLED,
    NAME,
    PHONE_NUMBERS,
    SPELLED_AT,
    SPOKEN_AT,
)
from audiencekit.preparation.columnar.buffers import Bools, arrow_array
from audiencekit.preparation.columnar.checks import are_ascii, matches, matches_among, trim_texts
from audiencekit.preparation.columnar.decisions import UNDECIDED, VALID, Codes, code_of, put
from audiencekit.preparation.columnar.disguises import hold_others, shown_texts
from audiencekit.preparation.columnar.shapes import shapes_of

_PERSONAL: Final = code_of(Reason.LOOKS_PERSONAL)
_CERTAIN: Final = rf"(?i:{CONTAINED}|{BRACKETED_AT})|\A(?:{'|'.join((NAME, HANDLE, *PHONE_NUMBERS))})\z"
_WORD: Final = r"\A[^\W\d_]{2,}\z"
# All others hang on something else: a length, the script, the value of digits.
_ODD: Final = "[^ -~]"
_GROUPED: Final = rf"\A{IN_GROUPS}\z"
_GROUPED_DIGITS: Final = rf"\A{GROUPED_DIGITS}\z"
_SPOKEN: Final = rf"(?i:{SPOKEN_AT})\z"
_SPELLED: Final = rf"(?i:{SPELLED_AT})\z"
_INTERNET: Final = rf"\A{IP_ADDRESS}\z"
_DIGITS: Final = rf"\A{IN_ANY_DIGITS}\z"
_LIKELY: Final = "|".join((_ODD, _GROUPED, _SPOKEN, _SPELLED, _INTERNET, _DIGITS, _WORD))

# An address of the internet as `ipaddress` takes it (RFC 4291, section 2.2), but for brackets and the one in the other.
_BYTE: Final = "(?:25[0-5]|2[0-4][0-9]|1[0-9]{2}|[1-9]?[0-9])"
_GROUP: Final = "[0-9A-Fa-f]{1,4}"
_CUT: Final = "|".join(f"(?:{_GROUP}:){{1,{7 - behind}}}(?::{_GROUP}){{1,{behind}}}" for behind in range(1, 7))
_IPV6: Final = rf"(?:{_GROUP}:){{7}}{_GROUP}|(?:{_GROUP}:){{1,7}}:|{_CUT}|:(?::{_GROUP}){{1,7}}|::"
_IP: Final = rf"\A(?:{_BYTE}(?:\.{_BYTE}){{3}}(?::[0-9]{{1,5}})?|{_IPV6})\z"
_RARE_IP: Final = r"[\[\]]|:.*\..*\."


def judge_likeness(texts: Any) -> Codes:
    """VALID for those of `texts` (a trimmed pa.StringArray) that look like no person's data, or LOOKS_PERSONAL.

    UNDECIDED where that is not certain. Holds raw values: to be called from a guarded function only.
    """
    return _judge(texts, LAYERS)


def _judge(texts: Any, layers: int) -> Codes:
    codes = _judge_shapes(texts)
    if not layers:
        return codes
    for rows, shown in shown_texts(texts):
        found = _judge(trim_texts(shown), layers - 1)
        codes[rows] = np.where(codes[rows] == _PERSONAL, _PERSONAL, np.where(found == VALID, codes[rows], found))
    codes[hold_others(texts, codes == VALID)] = UNDECIDED
    return codes


def _judge_shapes(texts: Any) -> Codes:
    are_foreign = ~are_ascii(texts)
    have_digits, have_at = np.zeros(len(texts), dtype=bool), np.zeros(len(texts), dtype=bool)
    others = np.flatnonzero(are_foreign)
    if len(others):
        shapes = shapes_of(texts.take(arrow_array(others)))
        have_digits[others], have_at[others] = shapes.have_digits, shapes.have_at
        texts = put(texts, others, shapes.texts)
    are_certain = matches(texts, _CERTAIN)
    codes = np.where(are_certain, _PERSONAL, np.where(have_at, UNDECIDED, VALID)).astype(np.int8)
    likely = np.flatnonzero(matches(texts, _LIKELY))
    if len(likely):
        are_likely, is_left = _judge_likely(texts.take(arrow_array(likely)), are_foreign[likely], have_digits[likely])
        codes[likely[are_likely]] = _PERSONAL
        codes[likely[is_left]] = UNDECIDED
    return codes


def _judge_likely(shapes: Any, are_foreign: Bools, have_digits: Bools) -> tuple[Bools, Bools]:
    """Which of `shapes` are a person's, and of which that is not certain."""
    lengths = pc.binary_length(shapes).to_numpy(zero_copy_only=False)
    in_groups = matches(shapes, _GROUPED)
    personal = matches_among(shapes, in_groups, _GROUPED_DIGITS)
    are_digits = matches_among(shapes, are_foreign & ~personal, _DIGITS)
    internet = matches_among(shapes, ~in_groups & (lengths <= LONGEST_IP), _INTERNET)
    are_others = ~in_groups & ~internet & (lengths <= MAX_SPELLED)
    spelled = matches_among(shapes, are_others, _SPELLED)
    personal |= matches_among(shapes, are_others, _SPOKEN)
    personal |= spelled & ~are_foreign
    personal |= matches_among(shapes, internet & ~are_foreign, _IP)
    personal |= matches_among(shapes, are_foreign & ~in_groups, _WORD)
    personal |= are_digits & have_digits
    left = are_foreign & (spelled | internet | are_digits) | matches_among(shapes, internet, _RARE_IP)
    return personal, (left & ~personal) | matches_among(shapes, ~in_groups, _ODD)
