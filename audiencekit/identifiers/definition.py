"""The definition of a correct value of any kind. The columnar rules must give the same result, byte for byte.

Nothing here or below raises an error, for any text.
"""

from __future__ import annotations

from audiencekit.identifiers.kind_table import KINDS
from audiencekit.identifiers.kinds import DEFAULT_RULES, Kind, Normalized, Reason, Rules

__all__ = ["Normalized", "normalize_identifier"]


def normalize_identifier(
    kind: Kind, text: str, *, country: str | None = None, rules: Rules = DEFAULT_RULES
) -> Normalized | Reason:
    """Return `text` as it is hashed (a partner user id: as it is sent), or the reason to reject it.

    `country` is the country in the row; only phone numbers use it.
    """
    return KINDS[kind].normalize(text, country, rules)
