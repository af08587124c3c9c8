"""The one door: what is correct for a value of any kind. The columnar path must say the same, byte for byte.

Nothing here or below it raises, whatever the text.
"""

from __future__ import annotations

from audiencekit.identifiers.kind_table import KINDS
from audiencekit.identifiers.kinds import DEFAULT_RULES, Kind, Normalized, Reason, Rules

__all__ = ["Normalized", "normalize_identifier"]


def normalize_identifier(
    kind: Kind, text: str, *, country: str | None = None, rules: Rules = DEFAULT_RULES
) -> Normalized | Reason:
    """`text` as it is hashed (a partner user id: as it is sent), or why it does not qualify.

    `country` is what the row says of its country; only phone numbers use it.
    """
    return KINDS[kind].normalize(text, country, rules)
