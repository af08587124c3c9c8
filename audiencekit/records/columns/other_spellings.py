"""Values that bulk rules and kernels refuse and the definition may read: with other text around or inside them."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import pyarrow.compute as pc

from audiencekit.identifiers import email, phone_number
from audiencekit.identifiers.kinds import Reason
from audiencekit.records.columns.arrays import Bools, Codes, Places, arrow_array, code_of
from audiencekit.records.columns.checks import ENCODED, ZEROS, foreign_digits, matches

_DIGIT: Final = f"[0-9{foreign_digits()}]"
_OTHERS: Final = f"[^0-9{foreign_digits()}]*"


def _digits(text: str) -> str:
    """A pattern of these digits in any script, whatever is between them."""
    scripts = ("".join(chr(zero + int(digit)) for zero in ZEROS) for digit in text)
    return _OTHERS.join(f"[{digit}{same}]" for digit, same in zip(text, scripts, strict=True))


_REFUSED: Final = [
    code_of(reason)
    for reason in (
        *(Reason.INVALID_SYNTAX, Reason.DISPLAY_NAME, Reason.EXCEL_MANGLED, Reason.EXTENSION, Reason.TOO_LONG),
    )
]
# A number with a calling code of RENUMBERED_REGIONS, and one of these countries as it is written there.
_AT_HOME: Final = f"(?:{_OTHERS}{_DIGIT}){{8}}"
_CODES: Final = "|".join(_digits(str(code)) for code in (phone_number.BRAZIL, phone_number.BENIN))
_ABROAD: Final = rf"\A{_OTHERS}(?:{_digits('00')}{_OTHERS})?(?:{_CODES}){_AT_HOME}"
_OLD: Final = [code_of(reason) for reason in phone_number.RENUMBERED_FROM]
_HASHES: Final = ENCODED.pattern.removeprefix(r"\A").removesuffix(r"\z")
_EMAILS: Final = f"{email.DRESSED}|{_HASHES}"
_NUMBERS: Final = f"{phone_number.DRESSED}|{_HASHES}"


def leave_emails(texts: Any, codes: Codes, left: int) -> None:
    """Puts `left` for refused addresses of `texts` (pa.StringArray) that the definition may read.

    Holds raw values: to be called from a guarded function only, as `leave_numbers`.
    """
    _leave(texts, codes, np.isin(codes, _REFUSED), _EMAILS, left)


def leave_numbers(texts: Any, codes: Codes, names: list[str | None], regions: Places, left: int) -> None:
    """The same of phone numbers, of which each has the place of its country in `names`."""
    _leave(texts, codes, np.isin(codes, _REFUSED), _NUMBERS, left)
    old = np.isin(codes, _OLD)
    if old.any():
        are_old = np.array([name in phone_number.RENUMBERED_REGIONS for name in names], dtype=bool)
        _leave(texts, codes, old & are_old[regions], _AT_HOME, left)
        _leave(texts, codes, old, _ABROAD, left)


def _leave(texts: Any, codes: Codes, asked: Bools, pattern: str, left: int) -> None:
    places = np.flatnonzero(asked)
    if len(places):
        encoded = pc.fill_null(texts.take(arrow_array(places)), "").dictionary_encode()  # often the same
        found = matches(encoded.dictionary, pattern)
        codes[places[found.take(encoded.indices.to_numpy())]] = left
