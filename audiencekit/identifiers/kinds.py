"""The kinds of identifiers, their rules, the reasons to reject a value, and SHA-256 (reference: api-facts 1.7)."""

from __future__ import annotations

import hashlib
import re
from base64 import urlsafe_b64decode
from dataclasses import dataclass
from enum import StrEnum
from typing import Final, Literal, NewType, TypeAlias

from audiencekit.errors import UsageError
from audiencekit.identifiers.countries import find_country
from audiencekit.identifiers.texts import is_placeholder, spellings, trim
from audiencekit.limits import SHA256_HEX_LENGTH

# --- SHA-256 of normalised identifiers, and identifiers that arrive hashed (reference: api-facts 1.7) ---

Sha256Hex = NewType("Sha256Hex", str)

_SHA256_HEX: Final = re.compile(rf"[0-9a-fA-F]{{{SHA256_HEX_LENGTH}}}")
# The same 32 bytes as databases and feeds write them: hex behind `\x` (PostgreSQL) or `0x` (SQL Server), and base64
# (RFC 4648, sections 4 and 5), whose last sign before the `=` has two bits that are zero.
_BEHIND_PREFIX: Final = re.compile(rf"(?:\\x|0x)([0-9a-f]{{{SHA256_HEX_LENGTH}}})", re.IGNORECASE)
_BASE64: Final = re.compile("(?:[A-Za-z0-9+/]{42}|[A-Za-z0-9_-]{42})[AEIMQUYcgkosw048]=")
_SHORTEST_HASH: Final = 44  # characters
_URL_SAFE: Final = str.maketrans("+/", "-_")


def hash_normalized(normalized: Hashable) -> Sha256Hex:
    """Return the lower-case hex SHA-256 of the UTF-8 bytes, without salt."""
    return _sha256_hex(normalized)


def looks_hashed(text: str) -> bool:
    """Whether `text`, without white space around it, has the form of a SHA-256: in hex, in any case, or base64."""
    return len(text) >= _SHORTEST_HASH and _in_hex(trim(text)) is not None


def _in_hex(trimmed: str) -> str | None:
    """Return the lower-case hex of a SHA-256; None for any other text."""
    if _SHA256_HEX.fullmatch(trimmed):
        return trimmed.lower()
    if found := _BEHIND_PREFIX.fullmatch(trimmed):
        return found[1].lower()
    return urlsafe_b64decode(trimmed.translate(_URL_SAFE)).hex() if _BASE64.fullmatch(trimmed) else None


def accept_hashed(text: str) -> Sha256Hex | Reason:
    """Return the lower-case hex of a value in a column that is declared hashed, or the reason to reject it.

    Base64, and hex behind `0x` or `\\x`, are the same hash. Whether the value was normalised before hashing cannot be
    seen. Other lengths and encodings are refused, and so are the hashes of the empty text, of placeholders in their
    usual spellings, and of zeroed device ids.
    """
    trimmed = trim(text)
    if not trimmed:
        return Reason.EMPTY
    if is_placeholder(trimmed):
        return Reason.PLACEHOLDER
    if (lowered := _in_hex(trimmed)) is None:
        return Reason.WRONG_HASH
    if not lowered.strip("0"):
        return Reason.ZEROED
    return Reason.HASH_OF_PLACEHOLDER if lowered in PLACEHOLDER_HASHES else Sha256Hex(lowered)


def _sha256_hex(text: str) -> Sha256Hex:
    return Sha256Hex(hashlib.sha256(text.encode()).hexdigest())


PLACEHOLDER_HASHES: Final[frozenset[str]] = frozenset(map(_sha256_hex, spellings()))


# --- Why a value or a row does not qualify: a closed list of stable codes ---


class Reason(StrEnum):
    """The codes of the reasons. Their texts for people are in `docs/messages.md`, and a test compares the two."""

    EMPTY = "empty"
    PLACEHOLDER = "placeholder"
    INVALID_SYNTAX = "invalid_syntax"
    SPECIAL_USE_DOMAIN = "special_use_domain"
    TOO_LONG = "too_long"
    DISPLAY_NAME = "display_name"
    NO_COUNTRY = "no_country"
    NOT_POSSIBLE = "not_possible"
    NOT_VALID = "not_valid"
    EXTENSION = "extension"
    EXCEL_MANGLED = "excel_mangled"
    ZEROED = "zeroed"
    ALREADY_HASHED = "already_hashed"
    WRONG_HASH = "wrong_hash"
    HASH_OF_PLACEHOLDER = "hash_of_placeholder"
    NOT_INTEGER = "not_integer"
    INVISIBLE_CHARACTER = "invisible_character"
    NOT_TEXT = "not_text"
    RAGGED = "ragged"
    ENCODING = "encoding"
    TOO_LARGE = "too_large"
    UNKNOWN_OPERATION = "unknown_operation"
    NO_IDENTIFIER = "no_identifier"
    LOOKS_PERSONAL = "looks_personal"
    SHARED = "shared"
    REFUSED_BY_SERVICE = "refused_by_service"


# --- The options for cases in which a service's documentation contradicts itself, or the user knows better ---


@dataclass(frozen=True, slots=True, kw_only=True)
class Rules:
    """The rules of one run for values. The defaults are the best-supported reading of the documentation.

    `default_country` is that of national phone numbers whose row names none, in any form that `find_country` knows.
    `phone_validity`: `valid` asks for an assigned range, `possible` only for a plausible length. `phone_form`: `e164`
    hashes the plus sign, too, `digits` drops it (reference: api-facts 1.7). `device_id_case`: `lower` as on the
    audience pages, `as_given` as on an older page. Raises UsageError for an unknown default country.
    """

    default_country: str | None = None
    phone_validity: Literal["valid", "possible"] = "valid"
    phone_form: Literal["e164", "digits"] = "e164"
    device_id_case: Literal["lower", "as_given"] = "lower"

    def __post_init__(self) -> None:
        if self.default_country and find_country(self.default_country) is None:
            raise UsageError("the default country is not one", hint="give a code such as DE, or an English name")


DEFAULT_RULES: Final = Rules()


# --- The six kinds of identifier (specification part 2, section 4.4), and the type of a value of each ---


class Kind(StrEnum):
    """One field of a user entry, named as the specification names it."""

    EMAIL = "email"
    PHONE_NUMBER = "phone_number"
    DEVICE_ID = "device_id"
    HANDLE = "handle"
    PLATFORM_ID = "platform_id"
    PARTNER_USER_ID = "partner_user_id"

    @property
    def is_hashed(self) -> bool:
        """Whether values leave as SHA-256; `partner_user_id` is the only one that does not (part 2, section 4.4)."""
        return self is not Kind.PARTNER_USER_ID


# Files that outlive their process hold these without names, in this order: never changed, and never longer. A kind that
# comes to `Kind` is named in them where records have it, so that files without it stay as they were.
FIRST_KINDS: Final[tuple[Kind, ...]] = (
    *(Kind.EMAIL, Kind.PHONE_NUMBER, Kind.DEVICE_ID, Kind.HANDLE, Kind.PLATFORM_ID),
    Kind.PARTNER_USER_ID,
)

# Types that say which rule a text has passed. Only the normalisers of this folder make them.
NormalizedEmail = NewType("NormalizedEmail", str)
NormalizedPhoneNumber = NewType("NormalizedPhoneNumber", str)
NormalizedDeviceId = NewType("NormalizedDeviceId", str)
NormalizedHandle = NewType("NormalizedHandle", str)
NormalizedPlatformId = NewType("NormalizedPlatformId", str)
NormalizedPartnerUserId = NewType("NormalizedPartnerUserId", str)

# A partner user id leaves as it is (specification part 2, section 4.4), so it is not among these.
Hashable: TypeAlias = (
    NormalizedEmail | NormalizedPhoneNumber | NormalizedDeviceId | NormalizedHandle | NormalizedPlatformId
)
Normalized: TypeAlias = Hashable | NormalizedPartnerUserId
