"""Evidence in the sampled cells of a column about its kind."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Final, TypeVar

from audiencekit.identifiers.definition import normalize_identifier
from audiencekit.identifiers.kind_table import looks_hashed
from audiencekit.identifiers.kinds import Kind, Reason
from audiencekit.records.records import likely_kinds
from audiencekit.sources.sampling import Sample, is_filled

T = TypeVar("T")

MIN_KIND_SHARE: Final = 0.8  # of the filled cells are of one kind: content alone maps the column
JUDGED_CELLS: Final = 20_000  # of all columns together are asked for their kind
MIN_JUDGED_CELLS: Final = 10  # of each column
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

    @property
    def looks_hashed(self) -> bool:
        """Whether the column holds SHA-256 in hex."""
        return self.hashed_share >= MIN_HASH_SHARE


def look_at(sample: Sample, position: int, countries: list[str | None]) -> Evidence:
    """The evidence in one column; `countries` are those of the sampled rows."""
    filled = sample.filled(position)
    if not filled:
        return Evidence(0, 0.0, None)
    pairs = zip(sample.columns[position], countries, strict=True)
    asked = _spread([pair for pair in pairs if is_filled(pair[0])], JUDGED_CELLS // len(sample.columns))
    kinds = likely_kinds(asked)
    best = max(Kind, key=kinds.count)
    enough = kinds.count(best) >= MIN_KIND_SHARE * len(kinds)
    digits_share = _share(lambda cell: cell.strip().isdecimal(), filled)
    return Evidence(len(filled), _share(looks_hashed, filled), best if enough else None, digits_share)


def _spread(cells: list[T], number: int) -> list[T]:
    """About `number` of `cells`, at least MIN_JUDGED_CELLS, at even distances."""
    return cells[:: max(1, len(cells) // max(number, MIN_JUDGED_CELLS))]


def plausible_share(kind: Kind, filled: list[str]) -> float:
    """The share of cells that could be of `kind`, valid or not: a hash could be anything."""
    could_be = _COULD_BE.get(kind, partial(_is_in_form, kind))
    return _share(lambda cell: looks_hashed(cell) or could_be(cell), filled)


def _share(test: Callable[[str], bool], cells: list[str]) -> float:
    return sum(map(test, cells)) / len(cells) if cells else 0.0


def _is_in_form(kind: Kind, cell: str) -> bool:
    return normalize_identifier(kind, cell) not in _WRONG


def _could_be_phone(cell: str) -> bool:
    digits, letters = sum(map(str.isdecimal, cell)), sum(map(str.isalpha, cell))
    return digits >= MIN_PHONE_DIGITS and letters <= MAX_PHONE_LETTERS and "@" not in cell


_WRONG: Final = frozenset({Reason.INVALID_SYNTAX, Reason.NOT_INTEGER, Reason.TOO_LONG, Reason.LOOKS_PERSONAL})
_COULD_BE: Final[Mapping[Kind, Callable[[str], bool]]] = {
    Kind.EMAIL: lambda cell: "@" in cell,
    Kind.PHONE_NUMBER: _could_be_phone,
    Kind.PARTNER_USER_ID: lambda _: True,
}
