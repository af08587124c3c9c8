"""Handles in bulk: every text is decided."""

from __future__ import annotations

from typing import Any, Final

import pyarrow.compute as pc

from audiencekit.identifiers.accounts import PAGES
from audiencekit.identifiers.kinds import Reason
from audiencekit.limits import MAX_HANDLE_LENGTH
from audiencekit.preparation.columnar.checks import (
    ALWAYS,
    BLANK,
    HASHED,
    INVISIBLE,
    WORD,
    Check,
    begin_codes,
    decide_in_order,
    matches,
    pattern_of,
    trim_texts,
    unmark_texts,
)
from audiencekit.preparation.columnar.decisions import VALID, Decisions, code_of

_SITE: Final = r"\A(?:https?://)?(?:(?:www|mobile|m)\.)?(?:x|twitter)\.com/(?:#!/)?@?"
_ADDRESS: Final = rf"{_SITE}([a-z0-9_]+)(?:[/?#](?s:.*))?\z"
_PLAIN: Final = rf"\A[a-z0-9_]{{1,{MAX_HANDLE_LENGTH}}}\z"

_PAGE: Final = pattern_of(sorted(PAGES))

_WHOLE_CHECKS: Final = (BLANK, HASHED, WORD)
_NAME_CHECKS: Final = (
    WORD,
    INVISIBLE,
    Check(r"\A[a-z0-9_]+\z", code_of(Reason.INVALID_SYNTAX), holds=False),
    Check(rf"\A.{{{MAX_HANDLE_LENGTH + 1}}}", code_of(Reason.TOO_LONG)),
    Check(ALWAYS, VALID),
)


def decide_handles(texts: Any) -> Decisions:
    """The certain ones of `texts` (pa.StringArray): the handle as the definition gives it, or its reason.

    Holds raw values: to be called from a guarded function only.
    """
    lowered = pc.ascii_lower(trim_texts(texts))
    names = _bare_names(unmark_texts(lowered))
    codes = begin_codes(matches(names, _PLAIN) & ~matches(names, WORD.pattern))
    decide_in_order(lowered, codes, _WHOLE_CHECKS)
    decide_in_order(names, codes, _NAME_CHECKS)
    return Decisions.of(names, codes)


def _bare_names(lowered: Any) -> Any:
    """Each text without profile address or one `@`; nothing of a page that names no one."""
    marked = pc.or_(pc.starts_with(lowered, "@"), pc.starts_with(lowered, "＠"))
    names = pc.if_else(marked, pc.utf8_slice_codeunits(lowered, 1, None), lowered)
    addressed = pc.match_substring_regex(lowered, _ADDRESS)
    if not pc.any(addressed).as_py():
        return names
    found = pc.replace_substring_regex(lowered.filter(addressed), _ADDRESS, r"\1")
    found = pc.if_else(pc.match_substring_regex(found, _PAGE), "", found)
    return pc.replace_with_mask(names, addressed, found)
