"""The checks of every raw value before the rule of its kind (reference: reliability 4)."""

from __future__ import annotations

from audiencekit.identifiers.kinds import Reason, looks_hashed
from audiencekit.identifiers.texts import has_invisible, is_placeholder


def refuse_at_once(trimmed: str) -> Reason | None:
    """Return the reason to reject a value of any kind: empty, a placeholder word, a hash, an invisible character."""
    if not trimmed:
        return Reason.EMPTY
    if is_placeholder(trimmed):
        return Reason.PLACEHOLDER
    if looks_hashed(trimmed):
        return Reason.ALREADY_HASHED
    return Reason.INVISIBLE_CHARACTER if has_invisible(trimmed) else None
