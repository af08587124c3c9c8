"""The two parts of every format: a `Look`, with names and sampled cells to map by; and its `Table`, with the rows."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Protocol

from audiencekit.records.batches import ColumnMapping, TextBatch
from audiencekit.sources.columns.header import Header
from audiencekit.sources.sampling import Sample

Description = dict[str, str | int | bool | None]


class Table(Protocol):
    """Rows, ready to be read as often as wanted (those of standard input once)."""

    @property
    def rows_read(self) -> int:
        """Rows of the last pass so far, faulty ones included."""

    @property
    def bytes_read(self) -> int:
        """Bytes of the file on disk, of the last pass."""

    @property
    def description(self) -> Description:
        """The format of the file, for people."""

    def check(self, mapping: ColumnMapping) -> None:
        """Raises SourceRefused or MappingRefused for a mapping that this table cannot serve."""

    def batches(self, mapping: ColumnMapping) -> Iterator[TextBatch]:
        """All rows, from the first."""


@dataclass(frozen=True, slots=True)
class Look:
    """A table and its sample. The sample is personal data, and is dropped once the columns are mapped.

    `mapping` is that of a format which says what its columns are; others have None, and are mapped by names and cells.
    `notes` are what is to be said of the table, and `later_notes` what its last pass found. `sheets` are the names of
    all sheets with cells, where all of a workbook were asked for. `manifest` is the format of the manifest that is
    written after such a file, in its directory; empty for a file that is written alone.
    """

    table: Table
    header: Header
    sample: Sample
    mapping: ColumnMapping | None = None
    notes: tuple[str, ...] = ()
    later_notes: Callable[[], tuple[str, ...]] = tuple
    sheets: tuple[str, ...] = ()
    manifest: str = ""


@dataclass(frozen=True, slots=True)
class SourcePart:
    """One file of a source: its row n is row `first_row` + n - 1 of the source.

    `repeatable` is False for standard input, which cannot be read again.
    """

    name: str
    repeatable: bool
    first_row: int
    rows: int
    description: Description

    def to_json(self) -> dict[str, str | int | bool | None]:
        """Its facts, too: format, encoding and so on."""
        facts = {"first_row": self.first_row, "rows": self.rows, "repeatable": self.repeatable}
        return {"name": self.name, **self.description, **facts}
