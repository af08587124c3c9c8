"""One text column of a batch -> hashes or reasons: by the kernels, and what these leave by `leftvalues`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from audiencekit.identifiers.kinds import DEFAULT_RULES, Kind, Reason, Rules
from audiencekit.limits import DEFAULT_MAX_REJECTED_COLUMN_SHARE
from audiencekit.preparation.batches import MappedColumn
from audiencekit.preparation.columnar.bare_numbers import count_bare_numbers
from audiencekit.preparation.columnar.buffers import arrow_array, hash_matrix
from audiencekit.preparation.columnar.certainvalues import decide_plain, valid_hashes
from audiencekit.preparation.columnar.decisions import PENDING, REASONS, UNDECIDED, VALID, Codes, code_of
from audiencekit.preparation.columnar.payment_numbers import count_payment_numbers
from audiencekit.preparation.columnar.personal_shapes import count_personal_shapes
from audiencekit.preparation.leftvalues import Decided, decide_by_rules, decide_left
from audiencekit.preparation.lookalikes import count_lookalikes
from audiencekit.preparation.tally import ColumnTally
from audiencekit.preparation.triedvalues import TriedValues

_EMPTY: Final = code_of(Reason.EMPTY)

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
        tally.personal_shapes = count_personal_shapes(decided.values, of_valid, rules.default_country)
    if tally.present - tally.valid > tally.present * DEFAULT_MAX_REJECTED_COLUMN_SHARE:
        count_lookalikes(tally, texts, of_values, rejected)
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


def _decide(texts: Any, column: MappedColumn, countries: Any | None, rules: Rules) -> Decided:
    """Decide plain values by the kernels, where there are any, and the rest by the columnar rules."""
    plain = None if column.hashed else decide_plain(texts, column.kind, countries, rules)
    if plain is None:
        return decide_by_rules(texts, column, countries, rules)
    codes, hashes = plain
    left = np.flatnonzero(codes == PENDING)
    by_definition = 0
    if len(left):
        places = arrow_array(left)
        where = countries.take(places) if countries is not None else None
        rest = decide_left(texts.take(places), column, where, rules)
        codes[left] = rest.codes
        hashes[left[rest.codes == VALID]] = hash_matrix(rest.values)
        by_definition = rest.by_definition
    return Decided(codes, valid_hashes(codes, hashes), by_definition)


def _flatten(texts: Any) -> tuple[Any, npt.NDArray[np.int64] | None]:
    """All values, and the row of each; None when every row has one value or none."""
    if not (pa.types.is_list(texts.type) or pa.types.is_large_list(texts.type)):
        return texts, None
    return texts.flatten(), texts.value_parent_indices().to_numpy(zero_copy_only=False).astype(np.int64)


def _tally(valid: int, rejected: Codes, decided: Decided) -> ColumnTally:
    counts = np.bincount(rejected, minlength=len(REASONS))
    reasons = {str(REASONS[code]): int(counts[code]) for code in np.flatnonzero(counts).tolist()}
    return ColumnTally(
        present=valid + len(rejected),
        valid=valid,
        reasons=Counter(reasons),
        by_definition=decided.by_definition,
        rounded=decided.rounded,
    )
