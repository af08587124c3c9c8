"""Values decided by the definition, one by one: what bulk rules and kernels leave."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from audiencekit.identifiers.definition import normalize_identifier
from audiencekit.identifiers.kinds import Kind, Reason, Rules, accept_hashed
from audiencekit.identifiers.texts import ROUNDED_ID
from audiencekit.records.batches import MappedColumn
from audiencekit.records.columns.arrays import VALID, Codes, Decisions, arrow_array, code_of, put
from audiencekit.records.columns.hashes import decide_hashed, from_hex, sha256_of
from audiencekit.records.columns.odd_addresses import decide_one
from audiencekit.records.columns.small_kinds import decide_in_bulk


@dataclass(frozen=True, slots=True, repr=False)
class Decided:
    """Codes of all values of a column, and the valid ones as they are kept. `rounded` counts ids that look so."""

    codes: Codes
    values: Any
    by_definition: int
    rounded: int = 0


def decide_one_by_one(texts: Any, column: MappedColumn, countries: Any | None, rules: Rules) -> Decided:
    """Decide each of `texts` by the definition.

    Holds raw values: to be called from a guarded function only, as the others.
    """
    where = [None] * len(texts) if countries is None else countries.to_pylist()
    cells = list(zip(texts.to_pylist(), where, strict=True))
    answers = {cell: _decide_alone(cell[0], column, cell[1], rules) for cell in set(cells)}
    decided = [answers[cell] for cell in cells]
    texts_of_valid = pa.array([answer for answer in decided if not isinstance(answer, Reason)], pa.string())
    return Decided(_codes_of(decided), sha256_of(texts_of_valid), len(cells))


def _codes_of(decided: Sequence[str | Reason]) -> Codes:
    codes = (code_of(answer) if isinstance(answer, Reason) else VALID for answer in decided)
    return np.fromiter(codes, np.int8, len(decided))


def decide_by_rules(texts: Any, column: MappedColumn, countries: Any | None, rules: Rules) -> Decided:
    """Decide hashes, or values of a kind that has no kernel: in bulk where that is certain, else one by one."""
    decisions = decide_hashed(texts) if column.hashed else decide_in_bulk(texts, column.kind, rules)
    return complete(decisions, texts, column, countries, rules)


def complete(decisions: Decisions, texts: Any, column: MappedColumn, countries: Any | None, rules: Rules) -> Decided:
    """Complete `decisions`: the values that they leave open are decided one by one."""
    normalized, codes = _complete(decisions, texts, column, countries, rules)
    valid = codes == VALID
    plain = normalized if valid.all() else normalized.filter(arrow_array(valid))
    values = _hashes(plain, column) if column.kind.is_hashed else plain
    rounded = 0
    if column.kind is Kind.PLATFORM_ID and not column.hashed:
        rounded = pc.sum(pc.match_substring_regex(plain, ROUNDED_ID)).as_py() or 0
    return Decided(codes, values, len(decisions.undecided), rounded)


def _hashes(plain: Any, column: MappedColumn) -> Any:
    return from_hex(plain) if column.hashed else sha256_of(plain)


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
        (text, country): _decide_alone(text, column, country, rules)
        for text, country in set(zip(left, where, strict=True))
    }
    decided = [answers[one] for one in zip(left, where, strict=True)]
    codes = codes.copy()
    codes[undecided] = _codes_of(decided)
    filled = pa.array([None if isinstance(value, Reason) else value for value in decided], pa.string())
    return put(decisions.normalized, undecided, filled), codes


def _decide_alone(text: str, column: MappedColumn, country: str | None, rules: Rules) -> str | Reason:
    """Decide by the definition. Where the steps of an address are certain, take these: a sixth of the time."""
    if column.hashed:
        return accept_hashed(text)
    if column.kind is Kind.EMAIL and not text.isascii() and (answer := decide_one(text)) is not None:
        return answer
    return normalize_identifier(column.kind, text, country=country, rules=rules)
