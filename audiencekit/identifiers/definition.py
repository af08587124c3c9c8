"""The one door: what is correct for a value of any kind. The columnar path must say the same, byte for byte.

Nothing here or below it raises, whatever the text.
"""

from __future__ import annotations

from audiencekit.identifiers.device_id import normalize_device_id
from audiencekit.identifiers.email import normalize_email
from audiencekit.identifiers.handle import normalize_handle
from audiencekit.identifiers.kinds import Kind, Normalized
from audiencekit.identifiers.partner_user_id import normalize_partner_user_id
from audiencekit.identifiers.phone_number import normalize_phone_number
from audiencekit.identifiers.platform_id import normalize_platform_id
from audiencekit.identifiers.reasons import Reason
from audiencekit.identifiers.rules import DEFAULT_RULES, Rules

__all__ = ["Normalized", "normalize_identifier"]


def normalize_identifier(
    kind: Kind, text: str, *, country: str | None = None, rules: Rules = DEFAULT_RULES
) -> Normalized | Reason:
    """`text` as it is hashed (a partner user id: as it is sent), or why it does not qualify.

    `country` is what the row says of its country; only phone numbers use it.
    """
    match kind:
        case Kind.EMAIL:
            return normalize_email(text)
        case Kind.PHONE_NUMBER:
            return normalize_phone_number(text, country=country, rules=rules)
        case Kind.DEVICE_ID:
            return normalize_device_id(text, rules=rules)
        case Kind.HANDLE:
            return normalize_handle(text)
        case Kind.PLATFORM_ID:
            return normalize_platform_id(text)
        case Kind.PARTNER_USER_ID:
            return normalize_partner_user_id(text)
