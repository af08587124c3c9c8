"""An opened source: its columns found, its rows ready to be read, from the first, as often as one likes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from audiencekit.personal import guarded
from audiencekit.records.batches import ColumnMapping, TextBatch
from audiencekit.sources.files import naming
from audiencekit.sources.table import Description, SourcePart, Table


@dataclass(frozen=True, slots=True)
class FoundColumns:
    """The columns of a source, and what was noticed when they were mapped.

    `operation_hint` is a column that says update or delete for each row, and that no option names. `missing` are the
    named columns that a list which is compared does not have.
    """

    mapping: ColumnMapping
    notes: tuple[str, ...] = ()
    operation_hint: str | None = None
    missing: frozenset[str] = frozenset()


class Source:
    """An opened source: one file, or several. `rows_read` is final when `batches()` is exhausted.

    `rows_read` counts sound rows and faulty ones. `repeatable` is False where standard input or a data frame takes
    part.
    """

    def __init__(
        self,
        name: str,
        table: Table,
        columns: FoundColumns,
        *,
        bytes_total: int = 0,
        repeatable: bool = True,
        later_notes: Callable[[], tuple[str, ...]] = tuple,
    ) -> None:
        self.name, self.bytes_total, self.repeatable = name, bytes_total, repeatable
        self.operation_hint, self.missing = columns.operation_hint, columns.missing
        self._table, self._columns, self._later_notes = table, columns, later_notes

    def __repr__(self) -> str:
        return f"<Source {self.name}>"

    @property
    def mapping(self) -> ColumnMapping:
        """Which columns carry what."""
        return self._columns.mapping

    @property
    def rows_read(self) -> int:
        """Rows of the pass so far."""
        return self._table.rows_read

    @property
    def bytes_read(self) -> int:
        """Bytes of the files of the pass so far, of `bytes_total`; that is 0 when unknown."""
        return self._table.bytes_read

    @property
    def description(self) -> Description:
        """The facts of the source, for people: format, encoding, delimiter, header and so on."""
        return self._table.description

    @property
    def notes(self) -> tuple[str, ...]:
        """Which column was taken for what and why, and what the last pass found."""
        return self._columns.notes + self.later_notes

    @property
    def later_notes(self) -> tuple[str, ...]:
        """The notes on what the last pass found."""
        return self._later_notes()

    @property
    def parts(self) -> tuple[SourcePart, ...]:
        """The files of the source, in order, each with its rows of the pass so far."""
        return (SourcePart(self.name, self.repeatable, 1, self.rows_read, self.description),)

    def batches(self) -> Iterator[TextBatch]:
        """All rows, in batches of up to limits.BATCH_ROWS; each call reads again from the beginning.

        Raises SourceRefused, at the latest after the last batch: until then nothing that was read may be sent.
        """
        rows = self._table.batches(self.mapping)
        step = guarded(lambda: self._next(rows))
        while (batch := step()) is not None:
            yield batch

    def _next(self, rows: Iterator[TextBatch]) -> TextBatch | None:
        with naming(self.name, lambda: self.rows_read):
            return next(rows, None)
