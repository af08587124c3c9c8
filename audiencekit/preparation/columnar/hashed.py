"""Columns that arrive hashed, in bulk: every text is decided."""

from __future__ import annotations

from typing import Any, Final

import pyarrow as pa
import pyarrow.compute as pc

from audiencekit.identifiers.kinds import PLACEHOLDER_HASHES, Reason
from audiencekit.limits import SHA256_HEX_LENGTH
from audiencekit.preparation.columnar.checks import (
    ALWAYS,
    BLANK,
    HASHED,
    WORD,
    Check,
    begin_codes,
    decide_in_order,
    matches,
    trim_texts,
)
from audiencekit.preparation.columnar.decisions import Decisions, code_of

_CHECKS: Final = (
    BLANK,
    WORD,
    Check(HASHED.pattern, code_of(Reason.WRONG_HASH), holds=False),
    Check(r"\A0+\z", code_of(Reason.ZEROED)),
    # A value with the form of a hash that reaches this check is the hash of a placeholder.
    Check(ALWAYS, code_of(Reason.HASH_OF_PLACEHOLDER)),
)
_ZEROS: Final = "0" * SHA256_HEX_LENGTH
_REFUSED: Final = pa.array([_ZEROS, *sorted(PLACEHOLDER_HASHES)])


def decide_hashed(texts: Any) -> Decisions:
    """The certain ones of `texts` (pa.StringArray): the hash in lower case, or the definition's reason.

    Holds personal data: to be called from a guarded function only.
    """
    lowered = pc.ascii_lower(trim_texts(texts))
    known = pc.is_in(lowered, value_set=_REFUSED).to_numpy(zero_copy_only=False)
    codes = begin_codes(matches(lowered, HASHED.pattern) & ~known)
    decide_in_order(lowered, codes, _CHECKS)
    return Decisions.of(lowered, codes)
