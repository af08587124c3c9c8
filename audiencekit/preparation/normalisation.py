"""One text column of a batch -> hashes or reasons: in bulk where that is certain, else value by value."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from audiencekit.identifiers.countries import find_country
from audiencekit.identifiers.definition import normalize_identifier
from audiencekit.identifiers.excel import ROUNDED_ID
from audiencekit.identifiers.hashing import accept_hashed
from audiencekit.identifiers.kinds import Kind
from audiencekit.identifiers.reasons import Reason
from audiencekit.identifiers.recognition import likely_kind
from audiencekit.identifiers.rules import Rules
from audiencekit.limits import WRONG_KIND_SHARE
from audiencekit.preparation.batches import MappedColumn
from audiencekit.preparation.columnar.checks import PENDING
from audiencekit.preparation.columnar.decisions import REASONS, VALID, Codes, Decisions, code_of, put
from audiencekit.preparation.columnar.device_ids import decide_device_ids
from audiencekit.preparation.columnar.emails import decide_emails
from audiencekit.preparation.columnar.handles import decide_handles
from audiencekit.preparation.columnar.hashed import decide_hashed
from audiencekit.preparation.columnar.hashing import sha256_of
from audiencekit.preparation.columnar.hexadecimal import from_hex, hash_array, hash_matrix
from audiencekit.preparation.columnar.kernels import kernels
from audiencekit.preparation.columnar.partner_user_ids import decide_partner_user_ids
from audiencekit.preparation.columnar.phone_numbers import decide_phone_numbers
from audiencekit.preparation.columnar.plain import decide_plain
from audiencekit.preparation.columnar.platform_ids import decide_platform_ids
from audiencekit.preparation.tally import ColumnTally

# Rejected values per column and batch that are asked which kind they look like, where so many were rejected that the
# column may be another's: when a whole source has too many, one of its batches has.
LOOKED_AT: Final = 50

OTHER_HASH: Final = re.compile("(?:[0-9a-fA-F]{32}|[0-9a-fA-F]{40}|[0-9a-fA-F]{128})")  # MD5, SHA-1, SHA-512

_EMPTY: Final = code_of(Reason.EMPTY)


@dataclass(frozen=True, slots=True)
class ColumnResult:
    """What became of one column, by index of the row in the batch, ascending.

    `values` are the hashes that qualified (HASH_TYPE; plain texts for partner user ids), of `value_rows`;
    `rejected_codes` are places in REASONS, of `rejected_rows`. `by_definition` counts the values that were not decided
    in bulk.
    """

    value_rows: npt.NDArray[np.int64]
    values: Any
    rejected_rows: npt.NDArray[np.int64]
    rejected_codes: Codes
    tally: ColumnTally


def normalize_column(texts: Any, column: MappedColumn, *, countries: Any | None, rules: Rules) -> ColumnResult:
    """Every value of `texts` (string or list<string>) decided; blank cells are not present.

    `countries` (see `resolve_countries`, or None) are those of the rows. Holds raw values: to be called from a guarded
    function only.
    """
    texts, rows = _flatten(texts)
    of_values = countries if countries is None or rows is None else countries.take(pa.array(rows))
    decided = _decide(texts, column, of_values, rules)
    codes = decided.codes
    rows = np.arange(len(texts)) if rows is None else rows
    valid, rejected = codes == VALID, (codes != VALID) & (codes != _EMPTY)
    tally = _tally(codes, valid, rejected, decided.by_definition)
    tally.rounded = decided.rounded
    if tally.present - tally.valid > tally.present * WRONG_KIND_SHARE:
        _look(tally, texts, of_values, np.flatnonzero(rejected)[:LOOKED_AT])
    return ColumnResult(rows[valid], decided.values, rows[rejected], codes[rejected], tally)


@dataclass(frozen=True, slots=True, repr=False)
class _Decided:
    """Codes of all values of a column, and the valid ones as they are kept. `rounded` counts ids that look so."""

    codes: Codes
    values: Any
    by_definition: int
    rounded: int


def _decide(texts: Any, column: MappedColumn, countries: Any | None, rules: Rules) -> _Decided:
    """What is plain by the kernels, where there are any, and the rest by the columnar rules."""
    compiled = kernels()
    plain = decide_plain(texts, column.kind, countries, rules, compiled) if compiled and not column.hashed else None
    if plain is None:
        return _decide_by_rules(texts, column, countries, rules)
    codes, hashes = plain
    left = np.flatnonzero(codes == PENDING)
    places = pa.array(left)
    where = countries.take(places) if countries is not None else None
    rest = _decide_by_rules(texts.take(places), column, where, rules)
    codes[left] = rest.codes
    hashes[left[rest.codes == VALID]] = hash_matrix(rest.values)
    values = hash_array(hashes[codes == VALID])
    return _Decided(codes, values, rest.by_definition, rest.rounded)


def _decide_by_rules(texts: Any, column: MappedColumn, countries: Any | None, rules: Rules) -> _Decided:
    """In bulk where that is certain, else value by value."""
    decisions = _decide_in_bulk(texts, column, countries, rules)
    normalized, codes = _complete(decisions, texts, column, countries, rules)
    valid = codes == VALID
    plain = normalized if valid.all() else normalized.filter(pa.array(valid))
    values = _hashes(plain, column) if column.kind.is_hashed else plain
    rounded = 0
    if column.kind is Kind.PLATFORM_ID and not column.hashed:
        rounded = pc.sum(pc.match_substring_regex(plain, ROUNDED_ID)).as_py() or 0
    return _Decided(codes, values, len(decisions.undecided), rounded)


def _hashes(plain: Any, column: MappedColumn) -> Any:
    return from_hex(plain) if column.hashed else sha256_of(plain)


def _look(tally: ColumnTally, texts: Any, countries: Any | None, rows: npt.NDArray[np.int64]) -> None:
    """Counts into `tally` what the rejected values of `rows` look like; each distinct one is judged once."""
    places = pa.array(rows)
    where = countries.take(places).to_pylist() if countries is not None else [None] * len(rows)
    for (text, country), count in Counter(zip(texts.take(places).to_pylist(), where, strict=True)).items():
        tally.other_hashes += count * (OTHER_HASH.fullmatch(text.strip()) is not None)
        if (kind := likely_kind(text, country=country)) is not None:
            tally.likely[kind] += count


def resolve_countries(texts: Any) -> Any:
    """The country code of every cell of a country column, null where it names none: a pa.DictionaryArray of texts."""
    encoded = texts.dictionary_encode()
    codes = [_resolve_country(text) if text else None for text in encoded.dictionary.to_pylist()]
    return pa.DictionaryArray.from_arrays(encoded.indices, pa.array(codes, pa.string()))


@lru_cache(maxsize=4096)
def _resolve_country(text: str) -> str | None:
    return find_country(text)


def _flatten(texts: Any) -> tuple[Any, npt.NDArray[np.int64] | None]:
    """All values, and the row of each; None when every row has one value or none."""
    if not (pa.types.is_list(texts.type) or pa.types.is_large_list(texts.type)):
        return texts, None
    return texts.flatten(), texts.value_parent_indices().to_numpy(zero_copy_only=False).astype(np.int64)


def _decide_in_bulk(texts: Any, column: MappedColumn, countries: Any | None, rules: Rules) -> Decisions:
    """What is certain in bulk."""
    if column.hashed:
        return decide_hashed(texts)
    match column.kind:
        case Kind.EMAIL:
            return decide_emails(texts)
        case Kind.PHONE_NUMBER:
            return decide_phone_numbers(texts, countries, rules)
        case Kind.DEVICE_ID:
            return decide_device_ids(texts, rules)
        case Kind.HANDLE:
            return decide_handles(texts)
        case Kind.PLATFORM_ID:
            return decide_platform_ids(texts)
        case Kind.PARTNER_USER_ID:
            return decide_partner_user_ids(texts)


def _complete(
    decisions: Decisions, texts: Any, column: MappedColumn, countries: Any | None, rules: Rules
) -> tuple[Any, Codes]:
    """The decisions, with those of the definition in the places that were left."""
    codes, undecided = decisions.codes, decisions.undecided
    if not len(undecided):
        return decisions.normalized, codes
    places = pa.array(undecided)
    left = texts.take(places).to_pylist()
    where = countries.take(places).to_pylist() if countries is not None else [None] * len(left)
    # What is left is often left again; nothing is remembered beyond the batch.
    answers = {
        (text, country): _by_definition(text, column, country, rules)
        for text, country in set(zip(left, where, strict=True))
    }
    decided = [answers[one] for one in zip(left, where, strict=True)]
    codes = codes.copy()
    codes[undecided] = [code_of(value) if isinstance(value, Reason) else VALID for value in decided]
    filled = pa.array([None if isinstance(value, Reason) else value for value in decided], pa.string())
    return put(decisions.normalized, undecided, filled), codes


def _by_definition(text: str, column: MappedColumn, country: str | None, rules: Rules) -> str | Reason:
    if column.hashed:
        return accept_hashed(text)
    return normalize_identifier(column.kind, text, country=country, rules=rules)


def _tally(
    codes: Codes, valid: npt.NDArray[np.bool_], rejected: npt.NDArray[np.bool_], by_definition: int
) -> ColumnTally:
    counts = np.bincount(codes[rejected], minlength=len(REASONS))
    reasons = {str(REASONS[code]): int(counts[code]) for code in np.flatnonzero(counts).tolist()}
    qualified = int(valid.sum())
    return ColumnTally(
        present=qualified + int(counts.sum()), valid=qualified, reasons=Counter(reasons), by_definition=by_definition
    )
