"""One text column of a batch -> hashes or reasons: in bulk where that is certain, else value by value."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from audiencekit.identifiers.definition import normalize_identifier
from audiencekit.identifiers.excel import ROUNDED_ID
from audiencekit.identifiers.hashing import accept_hashed
from audiencekit.identifiers.kinds import Kind
from audiencekit.identifiers.reasons import Reason
from audiencekit.identifiers.recognition import likely_kind
from audiencekit.identifiers.rules import DEFAULT_RULES, Rules
from audiencekit.limits import DEFAULT_MAX_REJECTED_COLUMN_SHARE
from audiencekit.preparation.batches import MappedColumn
from audiencekit.preparation.columnar.bare_numbers import count_bare_numbers
from audiencekit.preparation.columnar.buffers import arrow_array, hash_matrix
from audiencekit.preparation.columnar.certainvalues import decide_plain, valid_hashes
from audiencekit.preparation.columnar.decisions import (
    PENDING,
    REASONS,
    UNDECIDED,
    VALID,
    Codes,
    Decisions,
    code_of,
    put,
)
from audiencekit.preparation.columnar.device_ids import decide_device_ids
from audiencekit.preparation.columnar.emails import decide_emails
from audiencekit.preparation.columnar.handles import decide_handles
from audiencekit.preparation.columnar.hashed import decide_hashed
from audiencekit.preparation.columnar.hashing import sha256_of
from audiencekit.preparation.columnar.hexadecimal import from_hex
from audiencekit.preparation.columnar.odd_addresses import decide_one
from audiencekit.preparation.columnar.partner_user_ids import decide_partner_user_ids
from audiencekit.preparation.columnar.payment_numbers import count_payment_numbers
from audiencekit.preparation.columnar.phones.numbers import decide_phone_numbers
from audiencekit.preparation.columnar.platform_ids import decide_platform_ids
from audiencekit.preparation.tally import ColumnTally
from audiencekit.preparation.triedvalues import TriedValues

# Rejected values per column and batch that are asked which kind they look like, where so many were rejected that the
# column may be another's: when a whole source has too many, one of its batches has.
LOOKED_AT: Final = 50
_LOOKED_THROUGH: Final = 4_096  # bytes of a value; a longer one is a text, whatever stands in it

OTHER_HASH: Final = re.compile("(?:[0-9a-fA-F]{32}|[0-9a-fA-F]{40}|[0-9a-fA-F]{128})")  # MD5, SHA-1, SHA-512

_EMPTY: Final = code_of(Reason.EMPTY)

# So many values of a batch are decided one by one: an address within microseconds, a number in a hundred times that.
_FEW_LEFT: Final = {Kind.EMAIL: 2_000, Kind.PHONE_NUMBER: 10}


# Looks at the values of a column, their codes and the countries of their rows, decided by some rules.
Examine: TypeAlias = Callable[[Any, Codes, Any | None, MappedColumn, Rules], TriedValues]


@dataclass(frozen=True, slots=True)
class ColumnResult:
    """The results of one column, by index of the row in the batch, ascending.

    `values` are the hashes that qualified (HASH_TYPE; plain texts for partner user ids), of `value_rows`;
    `rejected_codes` are places in REASONS, of `rejected_rows`. `tried` is there where the values were examined.
    """

    value_rows: npt.NDArray[np.int64]
    values: Any
    rejected_rows: npt.NDArray[np.int64]
    rejected_codes: Codes
    tally: ColumnTally
    tried: TriedValues | None = None
    rows: npt.NDArray[np.int64] | None = None

    def count_people(self, is_lost: npt.NDArray[np.bool_]) -> None:
        """Count the rows without any valid value among the values that were examined."""
        if self.tried is not None:
            self.tried.count_people(is_lost, (self.rejected_rows, self.rejected_codes), self.rows)


def normalize_column(
    texts: Any, column: MappedColumn, *, countries: Any | None, rules: Rules, examine: Examine | None = None
) -> ColumnResult:
    """Every value of `texts` (string or list<string>) decided; blank cells are not present.

    `countries` (see `resolve_countries`, or None) are those of the rows. `examine` looks at what was decided. Holds raw
    values: to be called from a guarded function only.
    """
    texts, rows = _flatten(texts)
    of_values = countries if countries is None or rows is None else countries.take(arrow_array(rows))
    decided = _decide(texts, column, of_values, rules)
    codes = decided.codes
    valid, rejected = np.flatnonzero(codes == VALID), np.flatnonzero((codes > VALID) & (codes != _EMPTY))
    reasons = codes[rejected]
    tally = _tally(len(valid), reasons, decided)
    if not column.kind.is_hashed:
        of_valid = None if of_values is None else of_values.take(arrow_array(valid))
        tally.bare_numbers = count_bare_numbers(decided.values, of_valid, rules.default_country)
        tally.payment_numbers = count_payment_numbers(decided.values)
    if tally.present - tally.valid > tally.present * DEFAULT_MAX_REJECTED_COLUMN_SHARE:
        _look(tally, texts, of_values, rejected[:LOOKED_AT])
    tried = None
    if examine is not None:
        tried = examine(texts, np.where(codes == _EMPTY, UNDECIDED, codes), of_values, column, rules)
        tally.trials = tried.trials
    if rows is not None:
        valid, rejected = rows[valid], rows[rejected]
    return ColumnResult(valid, decided.values, rejected, reasons, tally, tried, rows)


def codes_of(texts: Any, kind: Kind, countries: Any | None = None, rules: Rules = DEFAULT_RULES) -> Codes:
    """The decision on each of `texts` (pa.StringArray, none of them hashed before): VALID, or a place in REASONS.

    Holds raw values: to be called from a guarded function only.
    """
    return _decide(texts, MappedColumn(kind=kind, position=0, name=kind), countries, rules).codes


@dataclass(frozen=True, slots=True, repr=False)
class _Decided:
    """Codes of all values of a column, and the valid ones as they are kept. `rounded` counts ids that look so."""

    codes: Codes
    values: Any
    by_definition: int
    rounded: int = 0


def _decide(texts: Any, column: MappedColumn, countries: Any | None, rules: Rules) -> _Decided:
    """Decide plain values by the kernels, where there are any, and the rest by the columnar rules."""
    plain = None if column.hashed else decide_plain(texts, column.kind, countries, rules)
    if plain is None:
        return _decide_by_rules(texts, column, countries, rules)
    codes, hashes = plain
    left = np.flatnonzero(codes == PENDING)
    by_definition = 0
    if len(left):
        places = arrow_array(left)
        where = countries.take(places) if countries is not None else None
        rest = _decide_left(texts.take(places), column, where, rules)
        codes[left] = rest.codes
        hashes[left[rest.codes == VALID]] = hash_matrix(rest.values)
        by_definition = rest.by_definition
    return _Decided(codes, valid_hashes(codes, hashes), by_definition)


def _decide_left(texts: Any, column: MappedColumn, countries: Any | None, rules: Rules) -> _Decided:
    """Decide the rest: few one by one, since the columnar rules take as long for few as for many."""
    if len(texts) > _FEW_LEFT.get(column.kind, 0):
        return _decide_by_rules(texts, column, countries, rules)
    where = [None] * len(texts) if countries is None else countries.to_pylist()
    cells = list(zip(texts.to_pylist(), where, strict=True))
    certain = {text: decide_one(text) for text, _ in cells if not text.isascii()} if column.kind is Kind.EMAIL else {}
    answers = {cell: certain.get(cell[0]) or _by_definition(cell[0], column, cell[1], rules) for cell in set(cells)}
    decided = [answers[cell] for cell in cells]
    texts_of_valid = pa.array([answer for answer in decided if not isinstance(answer, Reason)], pa.string())
    by_definition = sum(certain.get(text) is None for text, _ in cells)
    return _Decided(_codes_of(decided), sha256_of(texts_of_valid), by_definition)


def _codes_of(decided: Sequence[str | Reason]) -> Codes:
    codes = (code_of(answer) if isinstance(answer, Reason) else VALID for answer in decided)
    return np.fromiter(codes, np.int8, len(decided))


def _decide_by_rules(texts: Any, column: MappedColumn, countries: Any | None, rules: Rules) -> _Decided:
    """In bulk where that is certain, else value by value."""
    decisions = _decide_in_bulk(texts, column, countries, rules)
    normalized, codes = _complete(decisions, texts, column, countries, rules)
    valid = codes == VALID
    plain = normalized if valid.all() else normalized.filter(arrow_array(valid))
    values = _hashes(plain, column) if column.kind.is_hashed else plain
    rounded = 0
    if column.kind is Kind.PLATFORM_ID and not column.hashed:
        rounded = pc.sum(pc.match_substring_regex(plain, ROUNDED_ID)).as_py() or 0
    return _Decided(codes, values, len(decisions.undecided), rounded)


def _hashes(plain: Any, column: MappedColumn) -> Any:
    return from_hex(plain) if column.hashed else sha256_of(plain)


def _look(tally: ColumnTally, texts: Any, countries: Any | None, rows: npt.NDArray[np.int64]) -> None:
    """Counts into `tally` what the rejected values of `rows` look like; each distinct one is judged once."""
    are_short = pc.less_equal(pc.binary_length(texts.take(arrow_array(rows))), _LOOKED_THROUGH)
    places = arrow_array(rows).filter(are_short)
    where = countries.take(places).to_pylist() if countries is not None else [None] * len(places)
    for (text, country), count in Counter(zip(texts.take(places).to_pylist(), where, strict=True)).items():
        tally.other_hashes += count * (OTHER_HASH.fullmatch(text.strip()) is not None)
        if (kind := likely_kind(text, country=country)) is not None:
            tally.likely[kind] += count


def _flatten(texts: Any) -> tuple[Any, npt.NDArray[np.int64] | None]:
    """All values, and the row of each; None when every row has one value or none."""
    if not (pa.types.is_list(texts.type) or pa.types.is_large_list(texts.type)):
        return texts, None
    return texts.flatten(), texts.value_parent_indices().to_numpy(zero_copy_only=False).astype(np.int64)


def _decide_in_bulk(texts: Any, column: MappedColumn, countries: Any | None, rules: Rules) -> Decisions:
    """The decisions that are certain in bulk."""
    if column.hashed:
        return decide_hashed(texts)
    decide = _IN_BULK.get(column.kind, _leave)
    return decide(texts, countries, rules)


def _leave(texts: Any, countries: Any | None, rules: Rules) -> Decisions:
    """Leave every value to the definition: a kind without a rule for whole columns."""
    return Decisions(pa.nulls(len(texts), pa.string()), arrow_array(np.full(len(texts), UNDECIDED, dtype=np.int8)))


_IN_BULK: Final[Mapping[Kind, Callable[[Any, Any | None, Rules], Decisions]]] = {
    Kind.EMAIL: lambda texts, countries, rules: decide_emails(texts),
    Kind.PHONE_NUMBER: decide_phone_numbers,
    Kind.DEVICE_ID: lambda texts, countries, rules: decide_device_ids(texts, rules),
    Kind.HANDLE: lambda texts, countries, rules: decide_handles(texts),
    Kind.PLATFORM_ID: lambda texts, countries, rules: decide_platform_ids(texts),
    Kind.PARTNER_USER_ID: lambda texts, countries, rules: decide_partner_user_ids(texts),
}


def _complete(
    decisions: Decisions, texts: Any, column: MappedColumn, countries: Any | None, rules: Rules
) -> tuple[Any, Codes]:
    """The decisions, with those of the definition in the places that were left."""
    codes, undecided = decisions.codes, decisions.undecided
    if not len(undecided):
        return decisions.normalized, codes
    places = arrow_array(undecided)
    left = texts.take(places).to_pylist()
    where = countries.take(places).to_pylist() if countries is not None else [None] * len(left)
    # A value left undecided often comes again; nothing is remembered beyond the batch.
    answers = {
        (text, country): _by_definition(text, column, country, rules)
        for text, country in set(zip(left, where, strict=True))
    }
    decided = [answers[one] for one in zip(left, where, strict=True)]
    codes = codes.copy()
    codes[undecided] = _codes_of(decided)
    filled = pa.array([None if isinstance(value, Reason) else value for value in decided], pa.string())
    return put(decisions.normalized, undecided, filled), codes


def _by_definition(text: str, column: MappedColumn, country: str | None, rules: Rules) -> str | Reason:
    if column.hashed:
        return accept_hashed(text)
    return normalize_identifier(column.kind, text, country=country, rules=rules)


def _tally(valid: int, rejected: Codes, decided: _Decided) -> ColumnTally:
    counts = np.bincount(rejected, minlength=len(REASONS))
    reasons = {str(REASONS[code]): int(counts[code]) for code in np.flatnonzero(counts).tolist()}
    return ColumnTally(
        present=valid + len(rejected),
        valid=valid,
        reasons=Counter(reasons),
        by_definition=decided.by_definition,
        rounded=decided.rounded,
    )
