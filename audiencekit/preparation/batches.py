"""What passes between sources and preparation: schemas and the mapping of columns to kinds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import pyarrow as pa

from audiencekit.identifiers.kinds import Kind
from audiencekit.personal import RawColumns

ROW: Final = "row"
COUNTRY: Final = "country"
OPERATION: Final = "operation"
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
    from 1) when there is no header or when the header cell could itself be personal.
    """

    kind: Kind
    position: int
    name: str
    hashed: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ColumnMapping:
    """Which columns carry what. `country` and `operation` are positions, None when no column says it."""

    columns: tuple[MappedColumn, ...]
    country: int | None = None
    country_name: str | None = None
    operation: int | None = None
    operation_name: str | None = None

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
    counted); `country` and `operation` string, present when mapped; then one field `c<position>` per mapped column,
    string or list<string> (cells split by a declared separator, native lists). Cells are exactly as they stood; null
    means a missing cell. Rows that could not be read stand in `faults` (REJECTION_SCHEMA) and nowhere else.
    """

    columns: RawColumns
    faults: pa.RecordBatch
