"""The rule for device ids: lower-case, advertising ids with their dashes (reference: api-facts 1.7)."""

from __future__ import annotations

import re
from typing import Final

from audiencekit.identifiers.common_checks import refuse_at_once
from audiencekit.identifiers.kinds import DEFAULT_RULES, NormalizedDeviceId, Reason, Rules
from audiencekit.identifiers.texts import trim, unmarked

# IDFA and AAID: the form of a UUID. Version bits are not looked at: a device may show any.
_ADVERTISING_ID: Final = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE)
_ADVERTISING_ID_LENGTH: Final = 36
_ANDROID_ID: Final = re.compile(r"[0-9a-f]{16}", re.IGNORECASE)

# Ids of no one device: a fault of Android 2.2 gave the first to many, the others stand in documentation.
SHARED: Final = frozenset(
    {
        "9774d56d682e549c",
        "0123456789abcdef",
        "12345678-1234-1234-1234-123456789012",
        "12345678-1234-1234-1234-123456789abc",
        "12345678-1234-5678-1234-567812345678",
    }
)


def normalize_device_id(text: str, *, rules: Rules = DEFAULT_RULES) -> NormalizedDeviceId | Reason:
    """Return the id as it is hashed, or the reason to reject it.

    Braces around an advertising id, and the apostrophe or `="…"` of a spreadsheet, are removed. 32 hex digits without
    dashes are refused, since they may as well be an MD5. A zeroed id means that the owner of the device opted out.
    """
    trimmed = trim(text)
    if (reason := refuse_at_once(trimmed)) is not None:
        return reason
    return _normalize_form(_bare(trimmed), rules)


def is_advertising_id(text: str) -> bool:
    """Whether the trimmed `text` is like an advertising id, with or without braces and marks of a spreadsheet."""
    return len(text) >= _ADVERTISING_ID_LENGTH and _ADVERTISING_ID.fullmatch(_bare(trim(text))) is not None


def _bare(trimmed: str) -> str:
    """Return `trimmed` without the marks of a spreadsheet and without braces."""
    text = unmarked(trimmed)
    return text[1:-1] if text[0:1] == "{" and text[-1:] == "}" else text


def _normalize_form(text: str, rules: Rules) -> NormalizedDeviceId | Reason:
    if "0" in text and not text.strip("0-"):
        return Reason.ZEROED
    if not (_ADVERTISING_ID.fullmatch(text) or _ANDROID_ID.fullmatch(text)):
        return Reason.INVALID_SYNTAX
    lowered = text.lower()
    if len(set(lowered) - {"-"}) == 1 or lowered in SHARED:
        return Reason.PLACEHOLDER
    return NormalizedDeviceId(lowered if rules.device_id_case == "lower" else text)
