"""What every raw value is asked first, before the rule of its kind (reference: reliability 4)."""

from __future__ import annotations

from .hashing import looks_hashed
from .invisible import has_invisible
from .placeholders import is_placeholder
from .reasons import Reason


def refuse_at_once(trimmed: str) -> Reason | None:
    """Why a trimmed value is of no kind: empty, a placeholder word, a hash, an invisible character; in this order."""
    if not trimmed:
        return Reason.EMPTY
    if is_placeholder(trimmed):
        return Reason.PLACEHOLDER
    if looks_hashed(trimmed):
        return Reason.ALREADY_HASHED
    return Reason.INVISIBLE_CHARACTER if has_invisible(trimmed) else None
