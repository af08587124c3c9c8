"""The rules for handles and for ids of accounts (reference: api-facts 1.7)."""

from __future__ import annotations

import re
import unicodedata
from typing import Final

from audiencekit.identifiers.common_checks import refuse_at_once
from audiencekit.identifiers.kinds import NormalizedHandle, NormalizedPlatformId, Reason, looks_hashed
from audiencekit.identifiers.texts import has_invisible, is_mangled, is_placeholder, trim, unmarked
from audiencekit.limits import MAX_HANDLE_LENGTH, MAX_PLATFORM_ID

# --- The rule for handles: no `@`, lower-case (reference: api-facts 1.7), 1 to 15 of a-z, 0-9, _ ---

# ASCII: without it, IGNORECASE lets the Kelvin sign and the dotless i pass as k and i.
_PROFILE_ADDRESS: Final = re.compile(
    r"(?:https?://)?(?:(?:www|mobile|m)\.)?(?:x|twitter)\.com/(?:#!/)?@?(\w+)(?:[/?#].*)?",
    re.ASCII | re.IGNORECASE | re.DOTALL,
)
_WORD: Final = re.compile(r"\w+", re.ASCII)

# Pages of the service itself that stand where a handle would.
PAGES: Final = frozenset(
    [
        *("about", "account", "compose", "download", "explore", "hashtag", "help", "home", "i", "intent"),
        *("jobs", "login", "logout", "messages", "notifications", "oauth", "privacy", "search", "settings"),
        *("share", "signup", "tos", "who_to_follow"),
    ]
)


def normalize_handle(text: str) -> NormalizedHandle | Reason:
    """Return the handle as it is hashed, or the reason to reject it.

    One `@` (also full-width) or a profile address is removed, and so is the apostrophe or `="…"` with which a
    spreadsheet keeps `@` from being read as a formula. The address of a post names its author and counts as the
    author's profile; the service's own pages (/home, /i/…, /intent/…) name no person.
    """
    trimmed = trim(text)
    if not trimmed:
        return Reason.EMPTY
    if looks_hashed(trimmed):
        return Reason.ALREADY_HASHED
    name = _bare_name(unmarked(trimmed))
    if is_placeholder(trimmed) or is_placeholder(name):
        return Reason.PLACEHOLDER
    if has_invisible(name):
        return Reason.INVISIBLE_CHARACTER
    # Before lower-casing, which would make an ASCII k of the Kelvin sign.
    if not _WORD.fullmatch(name):
        return Reason.INVALID_SYNTAX
    return Reason.TOO_LONG if len(name) > MAX_HANDLE_LENGTH else NormalizedHandle(name.lower())


def is_marked_handle(text: str) -> bool:
    """Whether `text` is clearly a handle: it has an `@`, or is a profile address."""
    written = unmarked(trim(text))
    return _bare_name(written) != written and not isinstance(normalize_handle(text), Reason)


def _bare_name(text: str) -> str:
    """Return `text` without `@` or profile address; an empty text for a page that names no person."""
    if "/" in text and (address := _PROFILE_ADDRESS.fullmatch(text)):
        return "" if address[1].lower() in PAGES else address[1]
    return text[1:] if text.startswith(("@", "＠")) else text


# --- The rule for user ids of the platform: plain integer text (reference: api-facts 1.7) ---

_MAX_DIGITS: Final = len(str(MAX_PLATFORM_ID))
_DECIMAL: Final = re.compile(r"[+-]?\d++[.,]\d*+")


def normalize_platform_id(text: str) -> NormalizedPlatformId | Reason:
    """Return the id as it is hashed, or the reason to reject it.

    Leading zeros are removed, as in the service's own script: they do not change an integer. Digits of other scripts
    become ASCII. Ids are signed 64-bit integers, and zero is not an id. A number with thousands separators is not an
    integer.
    """
    trimmed = trim(text)
    if (reason := refuse_at_once(trimmed)) is not None:
        return reason
    return _normalize_integer(unmarked(trimmed))


def _normalize_integer(text: str) -> NormalizedPlatformId | Reason:
    if not text.isdecimal():
        return Reason.EXCEL_MANGLED if is_mangled(text) or _DECIMAL.fullmatch(text) else Reason.NOT_INTEGER
    significant = _without_zeros(text)
    if not significant:
        return Reason.ZEROED
    if len(significant) > _MAX_DIGITS or int(significant) > MAX_PLATFORM_ID:
        return Reason.TOO_LONG
    return NormalizedPlatformId(str(int(significant)))


def _without_zeros(digits: str) -> str:
    """Return `digits` without leading zeros of any script, in at most one step for each script."""
    zeros = ""
    while digits and unicodedata.decimal(digits[0]) == 0:
        zeros += digits[0]
        digits = digits.lstrip(zeros)
    return digits
