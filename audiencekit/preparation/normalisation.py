"""One text column of a batch -> hashes or reasons, value by value.

This is the path that hands every value to the definition in `identifiers`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final, cast

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from audiencekit.identifiers.countries import find_country
from audiencekit.identifiers.definition import normalize_identifier
from audiencekit.identifiers.hashing import accept_hashed, hash_normalized
from audiencekit.identifiers.kinds import Kind
from audiencekit.identifiers.normalized import Hashable
from audiencekit.identifiers.reasons import Reason
from audiencekit.identifiers.recognition import likely_kind
from audiencekit.identifiers.rules import Rules
from audiencekit.preparation.batches import MappedColumn
from audiencekit.preparation.tally import ColumnTally

# Rejected values per column and batch that are asked which kind they look like.
LOOKED_AT: Final = 50

Decide = Callable[[str, str | None], str | Reason]


@dataclass(frozen=True, slots=True)
class ColumnResult:
    """What became of one column: the values that qualified and those that did not, by index of the row in the batch."""

    hash_rows: npt.NDArray[np.int64]
    hashes: list[str]
    rejected_rows: list[int]
    rejected_reasons: list[str]
    tally: ColumnTally


def normalize_column(
    texts: Any, column: MappedColumn, *, countries: list[str | None] | None, rules: Rules
) -> ColumnResult:
    """Every value of `texts` (string or list<string>) decided by the definition; blank cells are not present.

    Holds raw values: to be called from a guarded function only.
    """
    decide = _decision(column, rules)
    hash_rows: list[int] = []
    hashes: list[str] = []
    rejected_rows: list[int] = []
    reasons: list[str] = []
    tally = ColumnTally()
    for index, text in _cells(texts):
        country = countries[index] if countries is not None else None
        decided = decide(text, country)
        if not isinstance(decided, Reason):
            hash_rows.append(index)
            hashes.append(decided)
        elif decided is not Reason.EMPTY:
            rejected_rows.append(index)
            reasons.append(decided.value)
            if len(reasons) <= LOOKED_AT and (kind := likely_kind(text, country=country)) is not None:
                tally.likely[kind] += 1
    tally.valid = len(hashes)
    tally.present = len(hashes) + len(reasons)
    tally.reasons.update(reasons)
    return ColumnResult(np.array(hash_rows, dtype=np.int64), hashes, rejected_rows, reasons, tally)


def resolve_countries(texts: Any) -> list[str | None]:
    """The country code of every cell of a country column, None where it names none."""
    return [_resolve_country(text) if text else None for text in texts.to_pylist()]


@lru_cache(maxsize=4096)
def _resolve_country(text: str) -> str | None:
    return find_country(text)


def _cells(texts: Any) -> Iterable[tuple[int, str]]:
    if pa.types.is_list(texts.type) or pa.types.is_large_list(texts.type):
        parents = texts.value_parent_indices().to_pylist()
        return ((index, text) for index, text in zip(parents, texts.flatten().to_pylist(), strict=True) if text)
    return ((index, text) for index, text in enumerate(texts.to_pylist()) if text)


def _decision(column: MappedColumn, rules: Rules) -> Decide:
    kind = column.kind
    if column.hashed:
        return lambda text, _country: accept_hashed(text)
    if not kind.is_hashed:
        return lambda text, _country: normalize_identifier(kind, text, rules=rules)

    return lambda text, country: hash_one(kind, text, country=country, rules=rules)


def hash_one(kind: Kind, text: str, *, country: str | None, rules: Rules) -> str | Reason:
    """Lower-case hex SHA-256 of one raw value of a kind that leaves hashed, or why it does not qualify."""
    normalized = normalize_identifier(kind, text, country=country, rules=rules)
    return normalized if isinstance(normalized, Reason) else hash_normalized(cast("Hashable", normalized))
