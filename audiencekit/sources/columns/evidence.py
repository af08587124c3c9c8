"""Evidence in the sampled cells of a column about its kind."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Final, TypeVar

from audiencekit.errors import MappingRefused
from audiencekit.identifiers.definition import normalize_identifier
from audiencekit.identifiers.kind_table import is_identifier, looks_hashed
from audiencekit.identifiers.kinds import Kind, Reason
from audiencekit.identifiers.phone_number import undressed
from audiencekit.records.records import likely_kinds
from audiencekit.sources.columns.header import Header, compare_key, named_kind, names_name_part, names_person_data
from audiencekit.sources.columns.vocabulary import MAX_SHOWN_DIGITS, MAX_SHOWN_LENGTH, is_showable, words, words_of
from audiencekit.sources.options import GOOGLE, SEPARATORS, is_one_value
from audiencekit.sources.sampling import Sample, is_filled

T = TypeVar("T")

_FALSE: Final = "false"
MIN_KIND_SHARE: Final = 0.8  # of the filled cells are of one kind: content alone maps the column
JUDGED_CELLS: Final = 20_000  # of all columns together are asked for their kind
MIN_JUDGED_CELLS: Final = 10  # of each column
MIN_SHARED: Final = 0.05  # of the filled cells are of each of two kinds: the column holds both
MIN_HASH_SHARE: Final = 0.5
MIN_PLAUSIBLE_SHARE: Final = 0.5  # of the filled cells could be what the name says
MIN_PHONE_DIGITS: Final = 5
MAX_PHONE_LETTERS: Final = 5  # "ext. 12"


@dataclass(frozen=True, slots=True)
class Evidence:
    """Shares of a column's filled cells; all are 0 for a column without any."""

    filled: int
    hashed_share: float
    kind: Kind | None  # the most frequent one, when it reaches MIN_KIND_SHARE
    digits_share: float = 0.0  # of cells that are nothing but digits
    is_shared: bool = False  # between addresses and phone numbers, which reach MIN_KIND_SHARE together

    @property
    def looks_hashed(self) -> bool:
        """Whether the column holds SHA-256 in hex."""
        return self.hashed_share >= MIN_HASH_SHARE


def look_at(sample: Sample, position: int, countries: list[str | None]) -> Evidence:
    """The evidence in one column; `countries` are those of the sampled rows."""
    filled = _valued(sample.filled(position))
    if not filled:
        return Evidence(0, 0.0, None)
    pairs = zip(sample.columns[position], countries, strict=True)
    asked = _spread(
        [pair for pair in pairs if is_filled(pair[0]) and pair[0] != _FALSE], JUDGED_CELLS // len(sample.columns)
    )
    kinds = likely_kinds(asked)
    best = max(Kind, key=kinds.count)
    enough = kinds.count(best) >= MIN_KIND_SHARE * len(kinds)
    digits_share = _share(lambda cell: cell.strip().isdecimal(), filled)
    counts = [kinds.count(kind) for kind in (Kind.EMAIL, Kind.PHONE_NUMBER)]
    is_shared = sum(counts) >= MIN_KIND_SHARE * len(kinds) and min(counts) >= MIN_SHARED * len(kinds)
    return Evidence(len(filled), _share(looks_hashed, filled), best if enough else None, digits_share, is_shared)


def _valued(filled: list[str]) -> list[str]:
    """The cells but those that are false, as Odoo writes it where a value is missing."""
    return [cell for cell in filled if cell != _FALSE]


def _spread(cells: list[T], number: int) -> list[T]:
    """About `number` of `cells`, at least MIN_JUDGED_CELLS, at even distances."""
    return cells[:: max(1, len(cells) // max(number, MIN_JUDGED_CELLS))]


def plausible_share(kind: Kind, filled: list[str]) -> float:
    """The share of cells that could be of `kind`, valid or not: a hash could be anything."""
    could_be = _COULD_BE.get(kind, partial(_is_in_form, kind))
    return _share(lambda cell: looks_hashed(cell) or could_be(cell), _valued(filled))


def _share(test: Callable[[str], bool], cells: list[str]) -> float:
    return sum(map(test, cells)) / len(cells) if cells else 0.0


def _is_in_form(kind: Kind, cell: str) -> bool:
    return normalize_identifier(kind, cell) not in _WRONG


def _could_be_phone(cell: str) -> bool:
    number = undressed(cell.strip())
    digits, letters = sum(map(str.isdecimal, number)), sum(map(str.isalpha, number))
    return digits >= MIN_PHONE_DIGITS and letters <= MAX_PHONE_LETTERS and "@" not in cell


_WRONG: Final = frozenset({Reason.INVALID_SYNTAX, Reason.NOT_INTEGER, Reason.TOO_LONG, Reason.LOOKS_PERSONAL})
_COULD_BE: Final[Mapping[Kind, Callable[[str], bool]]] = {
    Kind.EMAIL: lambda cell: "@" in cell,
    Kind.PHONE_NUMBER: _could_be_phone,
    Kind.PARTNER_USER_ID: lambda _: True,
}


MIN_DIGIT_CELLS: Final = 3  # fewer plain numbers may be handles


def refuse_contradiction(kind: Kind, name: str, evidence: Evidence, *, shown: str) -> None:
    """Raises MappingRefused for a mapping against the column's own name, unless the cells say that the name is wrong.

    Values alone do not show it where the rules overlap: digits are handles, too, and anything is a partner's id
    (of these, numbers are judged when all were read).
    """
    by_name = named_kind(name)
    if kind in (Kind.PARTNER_USER_ID, Kind.HANDLE) and by_name is None and names_person_data(name):
        raise MappingRefused(f"column {shown} is named like a person's name, and mapped to the kind {kind}")
    if kind is Kind.HANDLE and evidence.digits_share > MIN_PLAUSIBLE_SHARE and evidence.filled >= MIN_DIGIT_CELLS:
        raise MappingRefused(
            f"column {shown} is mapped to the kind handle, and most of its cells are plain numbers",
            hint="map it to platform_id, or map the column with the handles",
        )
    overlap = {by_name, kind} == {Kind.HANDLE, Kind.PLATFORM_ID}
    if by_name not in (None, kind) and evidence.kind is not kind and not overlap:
        raise MappingRefused(
            f"column {shown} is named like the kind {by_name}, and mapped to the kind {kind}",
            hint=f"map it to {by_name}, or rename it if its name is wrong",
        )


MIN_DIVIDED_SHARE: Final = 0.01  # of the filled cells hold it, but for Google's: there one cell is enough
MIN_DIVIDED_CELLS: Final = 3  # and so many, or half of a few: fewer are slips, and are rejected as such
MIN_PLAUSIBLE_CELLS: Final = 0.5  # more of the cells that hold it consist of values that could be of the kind


def find_separator(kind: Kind, filled: list[str]) -> str | None:
    """The separator of the values of a cell; None where cells hold one value each, as far as the sample shows."""
    if kind not in (Kind.EMAIL, Kind.PHONE_NUMBER):
        return None
    return next((separator for separator in SEPARATORS if _divides(separator, kind, filled)), None)


def _divides(separator: str, kind: Kind, filled: list[str]) -> bool:
    holding = [cell for cell in filled if separator in cell and not is_one_value(cell, separator)]
    least = max(MIN_DIVIDED_SHARE * len(filled), min(MIN_DIVIDED_CELLS, len(filled) / 2))
    if not holding or (separator != GOOGLE and len(holding) < least):
        return False
    several = sum(_are_values(kind, cell.split(separator)) for cell in holding)
    return several > MIN_PLAUSIBLE_CELLS * len(holding)


# Proxy addresses of Exchange that are not for mail.
_NOT_FOR_MAIL: Final = re.compile(r"\s*(?:x[45]00|sip|spo|eum|airsync):", re.IGNORECASE)


def _are_values(kind: Kind, parts: list[str]) -> bool:
    kept = [part for part in parts if part.strip() and not _NOT_FOR_MAIL.match(part)]
    return plausible_share(kind, kept) == 1.0


MOST: Final = 0.5  # more of the names than this share consist of known words
TELLING: Final = frozenset({Kind.EMAIL, Kind.PHONE_NUMBER, Kind.DEVICE_ID})  # handles could be any words
_NEGATIONS: Final = words("no old test temp sample demo")  # "no phone" stands where a phone number is missing
_FORMULAS: Final = ("=", "+", "-", "@")  # what a spreadsheet would reckon with


def evident_names(header: Header, sample: Sample) -> frozenset[int]:
    """The positions of the names that may be shown whatever their words; none unless the header is beyond doubt one."""
    names = header.names or ()
    filled = [place for place, name in enumerate(names[: len(sample.columns)]) if name.strip()]
    known = sum(is_showable(names[place]) or header.key(place) in header.given for place in filled)
    if known <= MOST * len(filled):
        return frozenset()
    if not any(_names_its_cells(names[place], sample.filled(place)) for place in filled):
        return frozenset()
    return frozenset(place for place in filled if is_impersonal(names[place], sample.columns[place]))


def _names_its_cells(name: str, filled: list[str]) -> bool:
    if not is_showable(name) or words_of(name)[0] in _NEGATIONS:
        return False
    kind = named_kind(name)
    if kind in TELLING and plausible_share(kind, filled) >= MIN_PLAUSIBLE_SHARE:
        return True
    return names_name_part(name)


def is_impersonal(name: str, cells: tuple[str, ...]) -> bool:
    """Whether a name is no identifier, no number, no cell of its column, and harmless when it is shown."""
    own = name.strip()
    if len(own) > MAX_SHOWN_LENGTH or not any(map(str.isalpha, own)) or own.startswith(_FORMULAS):
        return False
    if "@" in own or sum(map(str.isdecimal, own)) > MAX_SHOWN_DIGITS or is_identifier(own):
        return False
    return compare_key(own) not in set(map(compare_key, set(cells)))
