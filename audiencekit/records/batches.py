"""The batches between sources and preparation: schemas and the mapping of columns to kinds."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from audiencekit.identifiers.countries import country_of_row
from audiencekit.identifiers.kinds import Kind, Reason
from audiencekit.personal import RawColumns
from audiencekit.records.columns.arrays import REASONS, Codes, arrow_array, code_of
from audiencekit.records.columns.hashes import TEXT_LOOPS

ROW: Final = "row"
COUNTRY: Final = "country"
OPERATION: Final = "operation"
CONSENT: Final = "consent"
GROUP: Final = "group"
REJECTIONS: Final = "rejections"
PROOF: Final = "proof"
OPENED: Final = (ROW, PROOF, REJECTIONS)  # the columns by which opened rejections of a run are known
IS_DELETE: Final = "is_delete"

# A rejection: never a value. `column` is a name that may be shown, null when the whole row is meant.
REJECTION_SCHEMA: Final = pa.schema(
    [
        pa.field("row", pa.int64(), nullable=False),
        pa.field("column", pa.string()),
        pa.field("reason", pa.string(), nullable=False),
    ]
)


# A cell that could not be read, of the mapped column at `position`; the row may have others that could.
CELL_FAULT_SCHEMA: Final = pa.schema(
    [
        pa.field("row", pa.int64(), nullable=False),
        pa.field("position", pa.int64(), nullable=False),
        pa.field("reason", pa.string(), nullable=False),
    ]
)
NO_CELL_FAULTS: Final = pa.RecordBatch.from_pylist([], schema=CELL_FAULT_SCHEMA)


@dataclass(frozen=True, slots=True, kw_only=True)
class MappedColumn:
    """One column of the source that carries identifiers of one kind.

    `position` counts from 0 in the source. `name` is what people are shown: the header's words, or `column4` (counted
    from 1) when there is no header or when the header cell could itself be personal. `is_guess` says that nothing but
    its name speaks for the kind, since all sampled cells are blank: values of another kind are then no reason to
    refuse the source. A column of a kind that leaves unhashed, or that the user mapped, is no guess. `separator`
    divides the values of a cell, where the sampled cells show that they hold several; `is_divided` says that the user
    has named a separator instead. `area` is the position of the
    column with the area codes of its numbers, called `area_name`. `country_remedy` is what would say the country of
    numbers that name none, where another column may say it. `is_shared` says that two columns have this position, one
    of emails and one of phone numbers: each takes its own cells, which an at sign tells.
    """

    kind: Kind
    position: int
    name: str
    hashed: bool = False
    is_guess: bool = False
    separator: str | None = None
    is_divided: bool = False
    area: int | None = None
    area_name: str = ""
    country_remedy: str | None = None
    is_shared: bool = False

    @property
    def key(self) -> str:
        """Position and kind, which no other column of a mapping has both."""
        return f"{self.position} {self.kind}"

    @property
    def use(self) -> str:
        """The kind, for people: `email`, or `email, hashed`."""
        return f"{self.kind}, hashed" if self.hashed else str(self.kind)


NOT_USED: Final = "not used"
LEFT_OUT: Final = "left out"


@dataclass(frozen=True, slots=True)
class ColumnUse:
    """The use of a column of a list, and why, in words.

    `use` is a kind (`email, hashed` for hashes), `country`, `operation` or `consent`; `left out` for a column that may
    hold identifiers and is not sent; or `not used`. `column` is its name, or its place where the name may be a value.
    """

    column: str
    use: str
    why: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ColumnMapping:
    """Which columns carry what. `country`, `operation` and `consent` are positions, None when no column says it.

    `are_calling_codes` says that the cells of the country column are calling codes, with a plus or without. Blank cells
    of the fields `filled_down` are as those above them, up to a row with a cell in the column `group`. `proof` is that
    of the proofs in opened rejections of a run.
    """

    columns: tuple[MappedColumn, ...]
    country: int | None = None
    country_name: str | None = None
    operation: int | None = None
    operation_name: str | None = None
    consent: int | None = None
    consent_name: str | None = None
    are_calling_codes: bool = False
    filled_down: tuple[str, ...] = ()
    group: int | None = None
    proof: int | None = None

    @property
    def words(self) -> dict[int, str | None]:
        """The columns that hold no identifier, and one text a row: positions and shown names."""
        areas = {column.area: column.area_name for column in self.columns if column.area is not None}
        return areas | dict(self.single.values())

    @property
    def single(self) -> dict[str, tuple[int, str | None]]:
        """The fields of a TextBatch with one text a row that are no identifier: position and shown name of each."""
        fields = {
            COUNTRY: (self.country, self.country_name),
            OPERATION: (self.operation, self.operation_name),
            CONSENT: (self.consent, self.consent_name),
            GROUP: (self.group, None if self.group is None else f"column{self.group + 1}"),
            PROOF: (self.proof, PROOF),
        }
        return {field: (position, name) for field, (position, name) in fields.items() if position is not None}

    def field_name(self, column: MappedColumn) -> str:
        """The field of a TextBatch that holds `column`."""
        return f"c{column.position}"

    def names_by_kind(self) -> dict[str, list[str]]:
        """Shown column names per kind, in source order."""
        found: dict[str, list[str]] = {}
        for column in self.columns:
            found.setdefault(column.kind.value, []).append(column.name)
        return found


@dataclass(frozen=True, slots=True)
class TextBatch:
    """Rows of a source, as text.

    `columns` wraps a RecordBatch: `row` int64 (1 = first data row, ascending over all batches, blank records not
    counted); `country`, `operation` and `consent` string, present when mapped; then one field `c<position>` per mapped
    column, string or list<string> (cells divided by a separator, native lists). Cells are exactly as they stood;
    null means a missing cell, or one of `cell_faults` (CELL_FAULT_SCHEMA), which could not be read. Rows that could not
    be read stand in `faults` (REJECTION_SCHEMA) and nowhere else.
    """

    columns: RawColumns
    faults: pa.RecordBatch
    cell_faults: pa.RecordBatch = field(default_factory=lambda: NO_CELL_FAULTS)


def resolve_countries(texts: Any) -> Any:
    """The country of each cell of a column by `country_of_row`, null where it says nothing: a DictionaryArray."""
    numbers, distinct = TEXT_LOOPS.encode(texts)
    codes = [_resolve_country(text) if text else None for text in distinct.to_pylist()]
    return pa.DictionaryArray.from_arrays(numbers, pa.array(codes, pa.string()))


@lru_cache(maxsize=4096)
def _resolve_country(text: str) -> str | None:
    return country_of_row(text)


_WORDS: Final = sorted(Reason)
_RANKS: Final = np.array([_WORDS.index(reason) if reason else -1 for reason in REASONS])  # by code, in `_WORDS`
_ARROW_WORDS: Final = pa.array(_WORDS, pa.string())


class Rejections:
    """Starts with the faults of the source, REJECTION_SCHEMA."""

    def __init__(self, faults: pa.RecordBatch) -> None:
        self._names: list[str | None] = faults.column(1).to_pylist()  # None for whole rows
        self._counts: list[int] = [1] * faults.num_rows  # of the rows of each name
        self._rows: list[npt.NDArray[np.int64]] = [faults.column(0).to_numpy()]
        codes = [code_of(Reason(word)) for word in faults.column(2).to_pylist()]
        self._ranks: list[npt.NDArray[np.int64]] = [_RANKS[codes] if codes else np.zeros(0, dtype=np.int64)]

    def add(self, rows: Any, indices: npt.NDArray[np.int64], column: str | None, codes: Codes | Reason) -> None:
        """Add the rows at `indices` of `rows`, each with the code of its reason, or all with one reason."""
        if len(indices):
            self._names.append(column)
            self._counts.append(len(indices))
            self._rows.append(rows.to_numpy()[indices])
            ranks = _RANKS[code_of(codes) if isinstance(codes, Reason) else codes]
            self._ranks.append(np.broadcast_to(ranks, len(indices)))

    def counts(self) -> Counter[str]:
        """How many there are of each reason."""
        counts = np.bincount(np.concatenate(self._ranks), minlength=len(_WORDS)).tolist()
        return Counter({word.value: count for word, count in zip(_WORDS, counts, strict=True) if count})

    def to_batch(self) -> pa.RecordBatch:
        """Return all rejections, ordered by row, column and reason. Those of a complete row come first."""
        rows, reasons = np.concatenate(self._rows), np.concatenate(self._ranks)
        shown = [None, *sorted({name for name in self._names if name is not None})]
        names = np.repeat(np.array(list(map(shown.index, self._names)), dtype=np.int64), self._counts)
        # Each part ascends, as a rule: a stable sort merges them.
        order = np.argsort((rows * len(shown) + names) * len(_WORDS) + reasons, kind="stable")
        columns = pa.array(shown, pa.string()).take(arrow_array(names[order]))
        words = _ARROW_WORDS.take(arrow_array(reasons[order]))
        return pa.record_batch([arrow_array(rows[order]), columns, words], schema=REJECTION_SCHEMA)
