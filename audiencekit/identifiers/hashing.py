"""SHA-256 of normalised identifiers, and identifiers that arrive hashed (reference: api-facts 1.7)."""

from __future__ import annotations

import hashlib
import re
from typing import Final, NewType

from audiencekit.identifiers.invisible import trim
from audiencekit.identifiers.kinds import Hashable
from audiencekit.identifiers.placeholders import is_placeholder, spellings
from audiencekit.identifiers.reasons import Reason
from audiencekit.limits import SHA256_HEX_LENGTH

Sha256Hex = NewType("Sha256Hex", str)

_SHA256_HEX: Final = re.compile(rf"[0-9a-fA-F]{{{SHA256_HEX_LENGTH}}}")


def hash_normalized(normalized: Hashable) -> Sha256Hex:
    """Lower-case hex SHA-256 of the UTF-8 bytes, no salt."""
    return _sha256_hex(normalized)


def looks_hashed(text: str) -> bool:
    """Whether `text` has the form of a SHA-256 in hex, in any case, apart from white space around it."""
    return len(text) >= SHA256_HEX_LENGTH and _SHA256_HEX.fullmatch(trim(text)) is not None


def accept_hashed(text: str) -> Sha256Hex | Reason:
    """The lower-case hex of a value from a column that is declared hashed, or why it is none.

    Whether the value had been normalised before cannot be seen. Refused are other lengths and encodings, and
    the hashes of nothing: of the empty text, of placeholders in their usual spellings, of zeroed device ids.
    """
    trimmed = trim(text)
    if not trimmed:
        return Reason.EMPTY
    if is_placeholder(trimmed):
        return Reason.PLACEHOLDER
    if not _SHA256_HEX.fullmatch(trimmed):
        return Reason.WRONG_HASH
    lowered = trimmed.lower()
    if not lowered.strip("0"):
        return Reason.ZEROED
    return Reason.HASH_OF_PLACEHOLDER if lowered in PLACEHOLDER_HASHES else Sha256Hex(lowered)


def _sha256_hex(text: str) -> Sha256Hex:
    return Sha256Hex(hashlib.sha256(text.encode()).hexdigest())


PLACEHOLDER_HASHES: Final[frozenset[str]] = frozenset(map(_sha256_hex, spellings()))
