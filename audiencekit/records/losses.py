"""Values that no kernel decides: in bulk where that is certain, and the rest one by one, by the definition."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from audiencekit.identifiers.definition import normalize_identifier
from audiencekit.identifiers.kinds import Kind, Reason, Rules, accept_hashed
from audiencekit.identifiers.texts import ROUNDED_ID
from audiencekit.limits import WARNED_SHARE, WARNED_VALUES
from audiencekit.optiontext import option
from audiencekit.records.batches import ColumnMapping, MappedColumn
from audiencekit.records.columns.arrays import VALID, Codes, Decisions, arrow_array, code_of, put
from audiencekit.records.columns.emails import decide_one
from audiencekit.records.columns.hashes import decide_hashed, from_hex, sha256_of
from audiencekit.records.columns.small_kinds import decide_in_bulk
from audiencekit.records.refusal_bounds import LOOK, REMEDIES
from audiencekit.records.tally import ColumnTally, Tally

# So many values of a batch are decided one by one: an address within microseconds, a number in a hundred times that.
_FEW_LEFT: Final = {Kind.EMAIL: 2_000, Kind.PHONE_NUMBER: 10}


@dataclass(frozen=True, slots=True, repr=False)
class Decided:
    """Codes of all values of a column, and the valid ones as they are kept. `rounded` counts ids that look so."""

    codes: Codes
    values: Any
    by_definition: int
    rounded: int = 0


def decide_left(texts: Any, column: MappedColumn, countries: Any | None, rules: Rules) -> Decided:
    """Decide what the kernels left of a column: few one by one, as the columnar rules take as long for few as for many.

    Holds raw values: to be called from a guarded function only, as `decide_by_rules`.
    """
    if len(texts) > _FEW_LEFT.get(column.kind, 0):
        return decide_by_rules(texts, column, countries, rules)
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
    """Decide in bulk where that is certain, else value by value."""
    decisions = decide_hashed(texts) if column.hashed else decide_in_bulk(texts, column.kind, countries, rules)
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
    """By the definition; an address by its steps where these are certain, in a sixth of the time."""
    if column.hashed:
        return accept_hashed(text)
    if column.kind is Kind.EMAIL and not text.isascii() and (answer := decide_one(text)) is not None:
        return answer
    return normalize_identifier(column.kind, text, country=country, rules=rules)


# No identifier was there to be lost.
_NOTHING_LOST: Final = frozenset({Reason.EMPTY, Reason.PLACEHOLDER, Reason.ZEROED, Reason.HASH_OF_PLACEHOLDER})
_OF_ROWS: Final = (
    *(Reason.RAGGED, Reason.ENCODING, Reason.TOO_LARGE),
    *(Reason.UNKNOWN_OPERATION, Reason.NO_IDENTIFIER),
)
_UNREAD: Final = frozenset({Reason.RAGGED, Reason.ENCODING, Reason.TOO_LARGE})  # whole people, however few
_WORDS: Final = {
    Reason.NO_COUNTRY: "no country",
    Reason.EXTENSION: "an extension",
    Reason.SHARED: "shared by more people than one household",
    Reason.NOT_VALID: "not an assigned number of its country",
    Reason.NOT_POSSIBLE: "too many or too few digits for the country",
    Reason.INVALID_SYNTAX: "not in the form of the kind",
    Reason.RAGGED: "more or fewer cells than the header, or a cell that is no text, such as a date",
    Reason.ENCODING: "bytes that are not text in this encoding",
    Reason.TOO_LARGE: "a cell is too large",
    Reason.UNKNOWN_OPERATION: "no operation",
    Reason.NO_IDENTIFIER: "no identifier",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Loss:
    """`count` values of `column`, or rows where it is None, that are not sent, for the reason `code`.

    `share` is that of all values of the column, or of all rows. `remedy` is what would save them; None where nothing is
    known.
    """

    code: str
    column: str | None
    count: int
    share: float
    message: str
    remedy: str | None = None

    def to_json(self) -> dict[str, Any]:
        """Its fields by name."""
        return asdict(self)


def find_losses(tally: Tally, mapping: ColumnMapping) -> tuple[Loss, ...]:
    """The losses of columns and of rows that are large, the most values first."""
    found = [loss for column in mapping.columns for loss in _of_column(column, tally)]
    for reason in _OF_ROWS:
        count = tally.reasons[reason]
        is_unread = reason in _UNREAD and count > WARNED_SHARE * tally.rows_read
        if is_unread or _is_large(count, tally.rows_read):
            found.append(_loss(reason, None, count, tally.rows_read))
    return tuple(sorted(found, key=lambda loss: -loss.count))


def _of_column(column: MappedColumn, tally: Tally) -> Iterator[Loss]:
    """The large losses of a column; of one without a valid value its largest, however small."""
    seen = tally.columns.get(column.position, ColumnTally())
    lost = [(Reason(reason), count) for reason, count in seen.reasons.most_common() if reason not in _NOTHING_LOST]
    for place, (reason, count) in enumerate(lost):
        if _is_large(count, seen.present) or (place == 0 and not seen.valid):
            yield _loss(reason, column, count, seen.present)


def _is_large(count: int, of: int) -> bool:
    return count >= WARNED_VALUES and count > WARNED_SHARE * of


def _loss(reason: Reason, column: MappedColumn | None, count: int, of: int) -> Loss:
    return Loss(
        code=reason.value,
        column=None if column is None else column.name,
        count=count,
        share=count / of,
        message=describe_loss(reason, column, count, of),
        remedy=remedy_of(reason, column),
    )


def describe_loss(reason: Reason, column: MappedColumn | None, count: int, of: int) -> str:
    """Values of `column`, or rows, that are lost for `reason`, in words."""
    what = "rows" if column is None else f"values of column {column.name}"
    verb = "is" if count == 1 else "are"
    return f"{count:,} of {of:,} {what} {verb} not sent: {_WORDS.get(reason, f'rejected as {reason}')}"


def remedy_of(reason: Reason, column: MappedColumn | None) -> str | None:
    """An act that would save values lost for `reason`, in words; None where nothing is known."""
    if reason is Reason.ALREADY_HASHED and column is not None:
        return f"say {option('hashed', [column.kind.value])} if the whole column is SHA-256"
    if reason is Reason.INVALID_SYNTAX and column is not None and column.separator is not None:
        return LOOK
    return REMEDIES.get(reason)
