"""Values that are not sent: which losses of columns and rows are large, and what would save them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any, Final

from audiencekit.identifiers.kinds import Reason
from audiencekit.limits import WARNED_SHARE, WARNED_VALUES
from audiencekit.records.batches import ColumnMapping, MappedColumn
from audiencekit.records.refusal_bounds import LOOK, REMEDIES
from audiencekit.records.tally import ColumnTally, Tally
from audiencekit.text import option

# No identifier was there to be lost.
_NOTHING_LOST: Final = frozenset({Reason.EMPTY, Reason.PLACEHOLDER, Reason.ZEROED, Reason.HASH_OF_PLACEHOLDER})
_OF_ROWS: Final = (
    *(Reason.RAGGED, Reason.ENCODING, Reason.TOO_LARGE, Reason.NOT_TEXT),
    *(Reason.UNKNOWN_OPERATION, Reason.NO_IDENTIFIER),
)
# However few: whole people, and cells that the owner of the list does not know of.
_UNREAD: Final = frozenset({Reason.RAGGED, Reason.ENCODING, Reason.TOO_LARGE, Reason.NOT_TEXT})
_WORDS: Final = {
    Reason.NO_COUNTRY: "no country",
    Reason.EXTENSION: "an extension",
    Reason.SHARED: "shared by more people than one household",
    Reason.NOT_VALID: "not an assigned number of its country",
    Reason.NOT_POSSIBLE: "too many or too few digits for the country",
    Reason.INVALID_SYNTAX: "not in the form of the kind",
    Reason.RAGGED: "more or fewer cells than the header, or no object",
    Reason.NOT_TEXT: "a date, true or a formula that was never computed, and no text",
    Reason.ENCODING: "bytes that are not text in this encoding",
    Reason.TOO_LARGE: "a cell is too large",
    Reason.UNKNOWN_OPERATION: "no operation",
    Reason.NO_IDENTIFIER: "no identifier",
}

# Beside those that an option or another export saves; they refuse nothing.
_MORE_REMEDIES: Final = {
    Reason.PLACEHOLDER: "leave such cells blank in the source: there is no value to be saved",
    Reason.SPECIAL_USE_DOMAIN: "get the person's real address: this one receives no mail",
    Reason.TOO_LONG: "look for two values without a separator",
    Reason.ZEROED: "nothing: the owner of the device opted out, or there is no id",
    Reason.HASH_OF_PLACEHOLDER: "hash again, without blanks and placeholders",
    Reason.NOT_INTEGER: "map the right column with `columns={'KIND': 'COLUMN'}`",
    Reason.INVISIBLE_CHARACTER: "type the value again: it has a character that is not seen",
    Reason.TOO_LARGE: "check the mapping of the columns, and the quotes",
    Reason.LOOKS_PERSONAL: "map the column to its right kind, or send an id of your own",
    Reason.REFUSED_BY_SERVICE: "look up the service's code in the notes, correct the row, and upload it again",
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
        count = tally.of_rows(reason)
        is_unread = reason in _UNREAD and count > WARNED_SHARE * tally.rows_read
        if is_unread or _is_large(count, tally.rows_read):
            found.append(_loss(reason, None, count, tally.rows_read))
    return tuple(sorted(found, key=lambda loss: -loss.count))


def _of_column(column: MappedColumn, tally: Tally) -> Iterator[Loss]:
    """The large losses of a column; of one without a valid value its largest, however small."""
    seen = tally.columns.get(column.key, ColumnTally())
    lost = [(Reason(reason), count) for reason, count in seen.reasons.most_common() if reason not in _NOTHING_LOST]
    for place, (reason, count) in enumerate(lost):
        is_unread = reason in _UNREAD and count > WARNED_SHARE * seen.present
        if is_unread or _is_large(count, seen.present) or (place == 0 and not seen.valid):
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
    if reason is Reason.NO_COUNTRY and column is not None and column.country_remedy is not None:
        return column.country_remedy
    if reason is Reason.INVALID_SYNTAX and column is not None and column.is_divided:
        return f"{LOOK}, or leave `split_cells=` out if other separators divide the cells: they are looked for then"
    if reason is Reason.INVALID_SYNTAX and column is not None and column.separator is not None:
        return LOOK
    return REMEDIES.get(reason)


def remedy_of_code(code: str) -> str | None:
    """An act that would save values lost for the reason `code` in any column, in words; None where nothing is known."""
    known = {**_MORE_REMEDIES, **REMEDIES}
    return next((remedy for reason, remedy in known.items() if reason == code), None)
