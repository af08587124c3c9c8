"""Phone numbers of real shape: the example numbers of each country's plan, their last digits drawn anew.

Seven of them where the plan has given out every such number, else six: a long list hardly repeats one.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import numpy.typing as npt
import phonenumbers
import pyarrow as pa
from phonenumbers import PhoneNumber, PhoneNumberFormat, PhoneNumberType

from benchmarks.draws import Draws

COUNTRIES: Final = ("US", "GB", "DE", "FR", "IT", "ES", "NL", "SE", "PL", "BR", "IN", "JP", "AU", "CA", "MX", "ZA")
FORMS: Final = (PhoneNumberFormat.E164, PhoneNumberFormat.INTERNATIONAL, PhoneNumberFormat.NATIONAL)
PLACEHOLDERS: Final = ("0000000000", "unknown", "n/a", "1234567890", "9999999999", "-", "")

_TYPES: Final = (PhoneNumberType.MOBILE, PhoneNumberType.FIXED_LINE)
_MOST_DRAWN: Final = 7


class PhoneNumbers:
    """Makes columns of numbers with their countries. The tables are built once."""

    def __init__(self) -> None:
        self._countries = pa.array(COUNTRIES)
        examples = [phonenumbers.example_number_for_type(country, kind) for country in COUNTRIES for kind in _TYPES]
        written = [
            (phonenumbers.format_number(one, form).encode(), _drawn_digits(one))
            for one in examples
            if one is not None
            for form in FORMS
        ]
        self._width = max(len(text) for text, _ in written)
        self._letters = (
            np.array([text for text, _ in written], dtype=f"S{self._width}").view(np.uint8).reshape(-1, self._width)
        )
        self._places = np.array([_last_digits(text, count) for text, count in written])

    def clean(self, draws: Draws) -> tuple[Any, Any]:
        """(numbers, countries): mobile and fixed lines; E.164, international and national form equally often."""
        country = draws.below(len(COUNTRIES))
        kind, form = draws.below(len(_TYPES)), draws.below(len(FORMS))
        chosen = (country * len(_TYPES) + kind) * len(FORMS) + form
        letters = self._letters[chosen]
        digits = draws.below(10**_MOST_DRAWN)[:, None] // 10 ** np.arange(_MOST_DRAWN) % 10
        letters[np.arange(draws.rows)[:, None], self._places[chosen]] = digits + ord("0")
        return self._to_text(letters), self._countries.take(pa.array(country))

    def _to_text(self, letters: npt.NDArray[np.uint8]) -> Any:
        return pa.array(letters.view(f"S{self._width}").ravel()).cast(pa.string())


def _drawn_digits(example: PhoneNumber) -> int:
    """How many digits at the end of `example` may be any."""
    number = PhoneNumber()
    number.merge_from(example)
    place = 10 ** (_MOST_DRAWN - 1)
    rest = example.national_number - example.national_number // place % 10 * place
    for digit in range(10):
        number.national_number = rest + digit * place
        if not phonenumbers.is_valid_number(number):
            return _MOST_DRAWN - 1
    return _MOST_DRAWN


def _last_digits(text: bytes, count: int) -> list[int]:
    """Where the last `count` digits stand, the last one first; the first of these again where they are too few."""
    places = [place for place in range(len(text)) if text[place : place + 1].isdigit()][: -count - 1 : -1]
    return [*places, *places[-1:] * (_MOST_DRAWN - count)]
