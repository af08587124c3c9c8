"""The kinds that many cells say they are: what `identifiers/kind_table.py` says of each, decided in bulk."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from itertools import compress
from typing import Final

import numpy as np
import pyarrow as pa

from audiencekit.identifiers.countries import find_countries
from audiencekit.identifiers.kind_table import Rulings, has_email_form, likely_kind, numbers_to_ask
from audiencekit.identifiers.kinds import Kind
from audiencekit.identifiers.texts import trim
from audiencekit.preparation.columnar.decisions import REASONS, VALID
from audiencekit.preparation.normalisation import codes_of

_BROKEN: Final = re.compile("[\ud800-\udfff]")


def likely_kinds(cells: Sequence[tuple[str, str | None]]) -> list[Kind | None]:
    """`likely_kind` of each of `cells`, a text and the country of its row.

    Holds raw values: to be called from a guarded function only.
    """
    trimmed = [(trim(text), country) for text, country in cells]
    whole = {cell for cell in trimmed if _is_whole(cell[0])}
    emails = _are_emails({text for text, _ in whole if "@" in text})
    numbers = _are_numbers(cell for cell in whole if not emails.get(cell[0]))
    in_bulk = Rulings(emails.__getitem__, lambda text, country: numbers[text, country])
    kinds = {
        cell: likely_kind(cell[0], country=cell[1], rulings=in_bulk if cell in whole else None) for cell in set(trimmed)
    }
    return [kinds[cell] for cell in trimmed]


def _is_whole(text: str) -> bool:
    """Whether `text` has no bytes in it that are none of its encoding: only such text is decided in bulk."""
    return text.isascii() or _BROKEN.search(text) is None


def _are_emails(texts: Iterable[str]) -> dict[str, bool]:
    asked = list(texts)
    codes = codes_of(pa.array(asked, pa.string()), Kind.EMAIL)
    have_form = np.array([has_email_form(reason) for reason in REASONS])
    return dict(zip(asked, have_form.take(codes).tolist(), strict=True))


def _are_numbers(cells: Iterable[tuple[str, str | None]]) -> dict[tuple[str, str | None], bool]:
    asked = {cell: numbers_to_ask(*cell) for cell in cells}
    numbers = list({number for several in asked.values() for number in several})
    found = find_countries(country for _, country in numbers if country)
    countries = pa.array([found.get(country or "") for _, country in numbers], pa.string())
    codes = codes_of(pa.array([text for text, _ in numbers], pa.string()), Kind.PHONE_NUMBER, countries)
    valid = set(compress(numbers, codes == VALID))
    return {cell: any(number in valid for number in several) for cell, several in asked.items()}
