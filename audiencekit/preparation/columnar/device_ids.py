"""Device ids in bulk: every text is decided."""

from __future__ import annotations

from typing import Any, Final

import pyarrow.compute as pc

from audiencekit.identifiers.device_id import SHARED
from audiencekit.identifiers.kinds import DEFAULT_RULES, Reason, Rules
from audiencekit.preparation.columnar.checks import (
    ALWAYS,
    OPENING,
    Check,
    begin_codes,
    decide_in_order,
    matches,
    trim_texts,
    unmark_texts,
)
from audiencekit.preparation.columnar.decisions import VALID, Decisions, code_of

_FORM: Final = r"(?:[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|[0-9a-f]{16})"
_REPEATED: Final = "|".join(f"{digit}[{digit}-]*" for digit in "0123456789abcdef")
_NOBODYS: Final = "|".join((*sorted(SHARED), _REPEATED))

_FORM_CHECKS: Final = (
    Check(r"\A(?:[0-]*0[0-]*|\{[0-]*0[0-]*\})\z", code_of(Reason.ZEROED)),
    Check(rf"\A(?:{_FORM}|\{{{_FORM}\}})\z", code_of(Reason.INVALID_SYNTAX), holds=False),
    Check(rf"\A\{{?(?:{_NOBODYS})\}}?\z", code_of(Reason.PLACEHOLDER)),
    Check(ALWAYS, VALID),
)


def decide_device_ids(texts: Any, rules: Rules = DEFAULT_RULES) -> Decisions:
    """The certain ones of `texts` (pa.StringArray): the id as the definition gives it, or its reason.

    Holds raw values: to be called from a guarded function only.
    """
    trimmed = trim_texts(texts)
    bare = unmark_texts(trimmed)
    lowered = pc.ascii_lower(bare)
    plain = matches(lowered, rf"\A{_FORM}\z") & ~matches(lowered, rf"\A(?:{_NOBODYS})\z")
    codes = begin_codes(plain)
    decide_in_order(pc.ascii_lower(trimmed), codes, OPENING)
    decide_in_order(lowered, codes, _FORM_CHECKS)
    # A valid id holds no braces but those around it.
    kept = lowered if rules.device_id_case == "lower" else bare
    return Decisions.of(pc.ascii_trim(kept, "{}"), codes)
