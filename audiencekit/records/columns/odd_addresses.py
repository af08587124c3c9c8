"""Addresses with other letters than those of ASCII, one by one: by the definition's steps where these are certain."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence
from typing import Final

from audiencekit.identifiers.email import MAX_ADDRESS_BYTES, MAX_LOCAL_LENGTH, lower, normalize_email
from audiencekit.identifiers.kinds import Reason
from audiencekit.identifiers.texts import has_invisible, is_placeholder_email, trim
from audiencekit.records.columns.domains import accepted, domain_in_ascii

_LONGEST: Final = 1_024  # characters; longer texts are for the definition
# Names and a second at sign are for the definition.
_FORM: Final = re.compile(r"(?!mailto:|\")(?P<local>[^@<]+)@(?P<domain>[^@<]*[^@<,;])", re.DOTALL)
_ODD_ATOM: Final = r'[^\x00- "(),.:;<>@A-Z\[\\\]\x7f]+'  # a class of all other characters takes 6 ms to compile
_ODD_LOCAL: Final = re.compile(rf"{_ODD_ATOM}(?:\.{_ODD_ATOM})*")
_AT_ONCE: Final = 20  # letters: with a q, which no mark joins, and a dot for each they are no longer than a local part
_CERTAIN: Final[dict[str, bool]] = {}  # of the letters that were judged


def decide_one(text: str) -> str | Reason | None:
    """Return the definition's decision on `text`, a cell unchanged; None where nothing is certain, and for ASCII.

    Certain are local parts of letters of which each is, since the library judges letter by letter, once the whole is in
    lower case and in NFC. Holds raw values.
    """
    trimmed = trim(text)
    # A mark of a spreadsheet is one before NFC joins a stroke to it.
    if len(trimmed) > _LONGEST or trimmed.startswith(("'", "=")) or has_invisible(trimmed):
        return None
    address = lower(trimmed)
    form = _FORM.fullmatch(address)
    if form is None or address.isascii() or not _ODD_LOCAL.fullmatch(form["local"]) or is_placeholder_email(address):
        return None
    local, domain = form["local"], form["domain"]
    if len(local) > MAX_LOCAL_LENGTH or len(address.encode()) > MAX_ADDRESS_BYTES:
        return Reason.TOO_LONG
    if unicodedata.category(local[0]).startswith("M"):
        return Reason.INVALID_SYNTAX
    if not all(letter.isascii() or is_certain_letter(letter) for letter in local):
        # The library takes no control, format, private or unassigned character, such as the icon of a web page.
        return Reason.INVALID_SYNTAX if any(map(_is_no_letter, local)) else None
    in_ascii = domain_in_ascii(domain)
    if isinstance(in_ascii, Reason):
        return in_ascii
    normalized = f"{local}@{in_ascii}"
    return Reason.TOO_LONG if len(normalized.encode()) > MAX_ADDRESS_BYTES else normalized


def _is_no_letter(character: str) -> bool:
    return unicodedata.category(character).startswith("C")


def is_certain_letter(letter: str) -> bool:
    """Whether the definition accepts an address with `letter` unchanged, between others and as the last one."""
    if letter not in _CERTAIN:
        judge_letters((letter,))
    return _CERTAIN[letter]


def judge_letters(letters: Iterable[str]) -> None:
    """Compute the answers of `is_certain_letter` for all of `letters`, in a fraction of the time."""
    new = [letter for letter in letters if letter not in _CERTAIN]
    certain = set(accepted(new, _are_taken, at_once=_AT_ONCE))
    _CERTAIN.update({letter: letter in certain for letter in new})


def _are_taken(letters: Sequence[str]) -> bool:
    """Whether addresses with `letters` are accepted unchanged: between others, last and first of a part."""
    parts = (
        f"q{'q'.join(letters)}q",
        ".".join(f"q{letter}" for letter in letters),
        ".".join(("q", *(f"{letter}q" for letter in letters))),
    )
    return all(normalize_email(f"{part}@example.com") == f"{part}@example.com" for part in parts)
