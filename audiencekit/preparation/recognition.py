"""The kinds that many cells say they are: what `identifiers/recognition.py` says of each, decided in bulk."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Final

import pyarrow as pa

from audiencekit.identifiers.countries import find_country
from audiencekit.identifiers.invisible import trim
from audiencekit.identifiers.kinds import Kind
from audiencekit.identifiers.reasons import Reason
from audiencekit.identifiers.recognition import BY_DEFINITION, Rulings, likely_kind, numbers_to_ask
from audiencekit.preparation.columnar.decisions import REASONS
from audiencekit.preparation.normalisation import codes_of

_BROKEN: Final = re.compile("[\ud800-\udfff]")


def likely_kinds(cells: Sequence[tuple[str, str | None]]) -> list[Kind | None]:
    """`likely_kind` of each of `cells`, a text and the country of its row.

    Holds raw values: to be called from a guarded function only.
    """
    trimmed = [(trim(text), country) for text, country in cells]
    whole = [cell for cell in trimmed if _is_whole(cell[0])]
    emails = _reasons_of_emails({text for text, _ in whole if "@" in text})
    numbers = _reasons_of_numbers({number for cell in whole for number in numbers_to_ask(*cell)})
    in_bulk = Rulings(emails.__getitem__, lambda text, country: numbers[text, country])
    return [
        likely_kind(text, country=country, rulings=in_bulk if _is_whole(text) else BY_DEFINITION)
        for text, country in trimmed
    ]


def _is_whole(text: str) -> bool:
    """Whether `text` has no bytes in it that are none of its encoding: only such text is decided in bulk."""
    return text.isascii() or _BROKEN.search(text) is None


def _reasons_of_emails(texts: Iterable[str]) -> dict[str, Reason | None]:
    asked = list(texts)
    codes = codes_of(pa.array(asked, pa.string()), Kind.EMAIL)
    return {text: REASONS[code] for text, code in zip(asked, codes.tolist(), strict=True)}


def _reasons_of_numbers(numbers: Iterable[tuple[str, str | None]]) -> dict[tuple[str, str | None], Reason | None]:
    asked = list(numbers)
    countries = pa.array([find_country(country or "") for _, country in asked], pa.string())
    codes = codes_of(pa.array([text for text, _ in asked], pa.string()), Kind.PHONE_NUMBER, countries)
    return dict(zip(asked, (REASONS[code] for code in codes.tolist()), strict=True))
