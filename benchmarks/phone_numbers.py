"""Phone numbers of real shape: the example numbers of each country's plan, their last six digits drawn anew."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import numpy.typing as npt
import phonenumbers
import pyarrow as pa
from phonenumbers import PhoneNumberFormat, PhoneNumberType

from benchmarks.draws import Draws

COUNTRIES: Final = ("US", "GB", "DE", "FR", "IT", "ES", "NL", "SE", "PL", "BR", "IN", "JP", "AU", "CA", "MX", "ZA")
FORMS: Final = (PhoneNumberFormat.E164, PhoneNumberFormat.INTERNATIONAL, PhoneNumberFormat.NATIONAL)
PLACEHOLDERS: Final = ("0000000000", "unknown", "n/a", "1234567890", "9999999999", "-", "")

_TYPES: Final = (PhoneNumberType.MOBILE, PhoneNumberType.FIXED_LINE)
_DRAWN_DIGITS: Final = 6


class PhoneNumbers:
    """Makes columns of numbers with their countries. The tables are built once."""

    def __init__(self) -> None:
        self._countries = pa.array(COUNTRIES)
        written = [
            phonenumbers.format_number(example, form).encode()
            for country in COUNTRIES
            for kind in _TYPES
            if (example := phonenumbers.example_number_for_type(country, kind)) is not None
            for form in FORMS
        ]
        self._width = max(map(len, written))
        self._letters = np.array(written, dtype=f"S{self._width}").view(np.uint8).reshape(-1, self._width)
        self._places = np.array([_last_digits(text) for text in written])

    def clean(self, draws: Draws) -> tuple[Any, Any]:
        """(numbers, countries): mobile and fixed lines; E.164, international and national form equally often."""
        country = draws.below(len(COUNTRIES))
        kind, form = draws.below(len(_TYPES)), draws.below(len(FORMS))
        chosen = (country * len(_TYPES) + kind) * len(FORMS) + form
        letters = self._letters[chosen]
        digits = draws.below(10**_DRAWN_DIGITS)[:, None] // 10 ** np.arange(_DRAWN_DIGITS) % 10
        letters[np.arange(draws.rows)[:, None], self._places[chosen]] = digits + ord("0")
        return self._to_text(letters), self._countries.take(pa.array(country))

    def _to_text(self, letters: npt.NDArray[np.uint8]) -> Any:
        return pa.array(letters.view(f"S{self._width}").ravel()).cast(pa.string())


def _last_digits(text: bytes) -> list[int]:
    """Where the digits stand that are drawn, the last one first."""
    return [place for place in range(len(text)) if text[place : place + 1].isdigit()][: -_DRAWN_DIGITS - 1 : -1]
