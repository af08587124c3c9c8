"""What one cell says about itself: for recognising columns, and header rows that are none."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from .device_id import is_advertising_id
from .email import normalize_email
from .handle import is_marked_handle
from .hashing import looks_hashed
from .invisible import trim
from .kinds import Kind
from .phone_number import is_international, normalize_phone_number
from .reasons import Reason

__all__ = ["is_identifier", "likely_kind", "looks_hashed"]


@dataclass(frozen=True, slots=True)
class Rulings:
    """Who says of a trimmed text whether it is an e-mail address, and of one with its country whether it is a phone
    number: a Reason, or anything else where it is one."""

    email: Callable[[str], object]
    phone_number: Callable[[str, str | None], object]


BY_DEFINITION: Final = Rulings(
    normalize_email, lambda trimmed, country: normalize_phone_number(trimmed, country=country)
)

# Reasons that only something in the form of an address gets.
_EMAIL_IN_FORM: Final = frozenset({Reason.SPECIAL_USE_DOMAIN, Reason.DISPLAY_NAME})

# National numbers as they are written: a trunk zero, an area code in brackets, or three groups and more. One
# point makes a decimal, and two separators of one sort in a date's places make a date.
_PHONE_SHAPE: Final = re.compile(
    r"0\d{8,12}"
    r"|\(?0\d{1,5}\)? ?[ /.\-] ?\d[\d .\-]{4,11}"
    r"|\(\d{2,5}\) ?\d[\d .\-]{4,11}"
    r"|\d{2,4}(?:[ .\-]\d{2,4}){2,4}"
)
_NO_PHONE: Final = re.compile(r"\d{1,4}([ .\-/])\d{1,2}\1\d{1,4}|\d+\.\d+|\d{1,3}(?:\.\d{1,3}){3}")


def likely_kind(text: str, *, country: str | None = None, rulings: Rulings = BY_DEFINITION) -> Kind | None:
    """The kind that `text` says it is; None for hashes, placeholders, bare digits, and without evidence.

    `country` (as a row writes it) admits national phone numbers that are written as such and valid there. `rulings` are
    asked of texts with an at sign, and of those that `numbers_to_ask` gives.
    """
    trimmed = trim(text)
    if not trimmed or looks_hashed(trimmed):
        return None
    if _is_email(trimmed, rulings):
        return Kind.EMAIL
    if is_advertising_id(trimmed):
        return Kind.DEVICE_ID
    if is_marked_handle(trimmed):
        return Kind.HANDLE
    asked = numbers_to_ask(trimmed, country)
    is_phone = any(not isinstance(rulings.phone_number(*number), Reason) for number in asked)
    return Kind.PHONE_NUMBER if is_phone else None


def numbers_to_ask(trimmed: str, country: str | None) -> list[tuple[str, str | None]]:
    """As what `trimmed` may be called a phone number: as one of any country, or of `country`."""
    asked: list[tuple[str, str | None]] = [(trimmed, None)] if is_international(trimmed) else []
    return [*asked, (trimmed, country)] if country and is_phone_shaped(trimmed) else asked


def is_bare_number(digits: str, country: str | None = None) -> bool:
    """Whether bare `digits` are an assigned phone number: with the plus sign that they lost, or national ones."""
    texts = [f"+{digits.removeprefix('00')}"] + ([digits] if country else [])
    return any(not isinstance(normalize_phone_number(text, country=country), Reason) for text in texts)


def is_phone_shaped(text: str) -> bool:
    """Whether `text` is written as national phone numbers are; without a country it cannot be said to be one."""
    trimmed = trim(text)
    return bool(_PHONE_SHAPE.fullmatch(trimmed)) and not _NO_PHONE.fullmatch(trimmed)


def is_identifier(text: str) -> bool:
    """Whether `text` is somebody's beyond doubt, so that it cannot be a header.

    True for a valid e-mail address or international phone number, the form of an advertising id, a SHA-256
    in hex.
    """
    trimmed = trim(text)
    if looks_hashed(trimmed) or is_advertising_id(trimmed):
        return True
    if not isinstance(normalize_email(trimmed), Reason):
        return True
    return is_international(trimmed) and not isinstance(normalize_phone_number(trimmed), Reason)


def _is_email(trimmed: str, rulings: Rulings) -> bool:
    if "@" not in trimmed:
        return False
    normalized = rulings.email(trimmed)
    return not isinstance(normalized, Reason) or normalized in _EMAIL_IN_FORM
