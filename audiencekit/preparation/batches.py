"""The batches between sources and preparation: schemas and the mapping of columns to kinds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import pyarrow as pa

from audiencekit.identifiers.kinds import Kind
from audiencekit.personal import RawColumns

ROW: Final = "row"
COUNTRY: Final = "country"
OPERATION: Final = "operation"
CONSENT: Final = "consent"
IS_DELETE: Final = "is_delete"

# A rejection: never a value. `column` is a name that may be shown, null when the whole row is meant.
REJECTION_SCHEMA: Final = pa.schema(
    [
        pa.field("row", pa.int64(), nullable=False),
        pa.field("column", pa.string()),
        pa.field("reason", pa.string(), nullable=False),
    ]
)


@dataclass(frozen=True, slots=True, kw_only=True)
class MappedColumn:
    """One column of the source that carries identifiers of one kind.

    `position` counts from 0 in the source. `name` is what people are shown: the header's words, or `column4` (counted
    from 1) when there is no header or when the header cell could itself be personal. `is_guess` says that nothing but
    its name speaks for the kind, since all sampled cells are blank: values of another kind are then no reason to
    refuse the source. A column of a kind that leaves unhashed, or that the user mapped, is no guess. `separator`
    divides the values of a cell, where the sampled cells show that they hold several.
    """

    kind: Kind
    position: int
    name: str
    hashed: bool = False
    is_guess: bool = False
    separator: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ColumnMapping:
    """Which columns carry what. `country`, `operation` and `consent` are positions, None when no column says it."""

    columns: tuple[MappedColumn, ...]
    country: int | None = None
    country_name: str | None = None
    operation: int | None = None
    operation_name: str | None = None
    consent: int | None = None
    consent_name: str | None = None

    @property
    def single(self) -> dict[str, tuple[int, str | None]]:
        """The fields of a TextBatch with one text a row that are no identifier: position and shown name of each."""
        fields = {
            COUNTRY: (self.country, self.country_name),
            OPERATION: (self.operation, self.operation_name),
            CONSENT: (self.consent, self.consent_name),
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
    null means a missing cell. Rows that could not be read stand in `faults` (REJECTION_SCHEMA) and nowhere else.
    """

    columns: RawColumns
    faults: pa.RecordBatch
