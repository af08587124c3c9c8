"""The likely kind of one cell: for recognising columns, and header rows that are none."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from audiencekit.identifiers.device_id import is_advertising_id
from audiencekit.identifiers.email import normalize_email
from audiencekit.identifiers.handle import is_marked_handle
from audiencekit.identifiers.hashing import looks_hashed
from audiencekit.identifiers.invisible import trim
from audiencekit.identifiers.kinds import Kind
from audiencekit.identifiers.phone_number import is_international, normalize_phone_number
from audiencekit.identifiers.reasons import Reason

__all__ = ["is_identifier", "likely_kind", "looks_hashed"]


@dataclass(frozen=True, slots=True)
class Rulings:
    """Two rulings on a trimmed text: whether one with an at sign is an e-mail address; and whether any other is, with
    the country of its row, a phone number."""

    is_email: Callable[[str], bool]
    is_phone_number: Callable[[str, str | None], bool]


_LONGEST: Final = 1_024  # characters; a longer cell is a text, whatever stands in it

# Reasons that only something in the form of an address gets.
_EMAIL_IN_FORM: Final = frozenset({Reason.SPECIAL_USE_DOMAIN, Reason.DISPLAY_NAME})

# National numbers as they are written: a trunk zero, an area code in brackets (behind a trunk digit in some countries),
# or three groups and more. One point makes a decimal, and two separators of one sort in a date's places make a date.
_PHONE_SHAPE: Final = re.compile(
    r"0\d{8,12}"
    r"|\(?0\d{1,5}\)? ?[ /.\-] ?\d[\d .\-]{4,11}"
    r"|(?:\d[ \-]?)?\(\d{2,5}\) ?\d[\d .\-]{4,11}"
    r"|\d{2,4}(?:[ .\-]\d{2,4}){2,4}"
)
_NO_PHONE: Final = re.compile(r"\d{1,4}([ .\-/])\d{1,2}\1\d{1,4}|\d+\.\d+|\d{1,3}(?:\.\d{1,3}){3}")


def likely_kind(text: str, *, country: str | None = None, rulings: Rulings | None = None) -> Kind | None:
    """The kind that `text` says it is; None for hashes, placeholders, bare digits, long texts, and without evidence.

    `country` (as a row writes it) admits national phone numbers that are written as such and valid there. `rulings` are
    those of the definition unless others are given, which must say the same.
    """
    trimmed, rulings = trim(text), rulings or _BY_DEFINITION
    if not trimmed or len(trimmed) > _LONGEST or looks_hashed(trimmed):
        return None
    if "@" in trimmed and rulings.is_email(trimmed):
        return Kind.EMAIL
    if is_advertising_id(trimmed):
        return Kind.DEVICE_ID
    if is_marked_handle(trimmed):
        return Kind.HANDLE
    return Kind.PHONE_NUMBER if rulings.is_phone_number(trimmed, country) else None


def has_email_form(ruling: str | Reason | None) -> bool:
    """Whether the definition says so of an address, or refuses it for what only something in that form can be.

    None stands for an address that is accepted.
    """
    return not isinstance(ruling, Reason) or ruling in _EMAIL_IN_FORM


def numbers_to_ask(trimmed: str, country: str | None) -> list[tuple[str, str | None]]:
    """As what `trimmed` may be called a phone number: as one of any country, or of `country`."""
    asked: list[tuple[str, str | None]] = [(trimmed, None)] if is_international(trimmed) else []
    return [*asked, (trimmed, country)] if country and is_phone_shaped(trimmed) else asked


def is_phone_shaped(text: str) -> bool:
    """Whether `text` is written as national phone numbers are; without a country it cannot be said to be one."""
    trimmed = trim(text)
    return bool(_PHONE_SHAPE.fullmatch(trimmed)) and not _NO_PHONE.fullmatch(trimmed)


def is_identifier(text: str) -> bool:
    """Whether `text` is personal beyond doubt, so that it cannot be a header.

    True for a valid e-mail address or international phone number, the form of an advertising id, a SHA-256
    in hex.
    """
    trimmed = trim(text)
    if looks_hashed(trimmed) or is_advertising_id(trimmed):
        return True
    if not isinstance(normalize_email(trimmed), Reason):
        return True
    return is_international(trimmed) and not isinstance(normalize_phone_number(trimmed), Reason)


def _is_phone_number(trimmed: str, country: str | None) -> bool:
    asked = numbers_to_ask(trimmed, country)
    return any(not isinstance(normalize_phone_number(text, country=of), Reason) for text, of in asked)


_BY_DEFINITION: Final = Rulings(lambda trimmed: has_email_form(normalize_email(trimmed)), _is_phone_number)
