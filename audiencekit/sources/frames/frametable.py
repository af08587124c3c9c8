"""A data frame as a table: the wanted columns only, batch by batch, every type as text."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa

from audiencekit.errors import SourceRefused
from audiencekit.limits import MAX_COLUMNS
from audiencekit.personal import RawColumns, guarded
from audiencekit.records.batches import ColumnMapping, TextBatch
from audiencekit.sources.arrow.batchmerging import gathered
from audiencekit.sources.arrow.textcolumns import column_names, used_positions
from audiencekit.sources.arrow.typedcolumns import TypedColumns, sampled_objects
from audiencekit.sources.arrow.types import sample_texts, whole_columns
from audiencekit.sources.columns.header import Header
from audiencekit.sources.frames.frames import Frame, FrameColumns, attempt, notes_on_index, open_columns
from audiencekit.sources.options import SourceOptions
from audiencekit.sources.sampling import Sample
from audiencekit.sources.table import Description, Look
from audiencekit.sources.unreadablerows import Faults


@guarded
def open_frame(frame: Frame, options: SourceOptions) -> Look:
    """A data frame, looked at. Raises SourceRefused when its first rows cannot be read."""
    columns = open_columns(frame)
    if len(columns.names) > MAX_COLUMNS:
        raise SourceRefused(f"it has more than {MAX_COLUMNS:,} columns")
    head = columns.head()
    cells = tuple(_sampled(column) for column in head)
    longest = max(map(len, cells), default=0)
    objects = sampled_objects(column.chunks for column in head)
    sample = Sample(columns.names, tuple(column if column else ("",) * longest for column in cells), objects)
    header = Header.of(columns.names, len(columns.names), options.wanted_names)
    table = FrameTable(columns, options.split_cells, whole_columns(column.chunks for column in head), frame.mark)
    return Look(table, header, sample, notes=notes_on_index(frame))


def _sampled(column: Any) -> tuple[str, ...]:
    """The cells of a column for a sample; none of a type that Arrow itself cannot show."""
    try:
        return tuple(text for chunk in column.chunks for text in sample_texts(chunk))
    except (pa.ArrowException, ValueError):
        return ()


class FrameTable:
    """The rows of a data frame."""

    bytes_read = 0  # unknown how many there will be

    def __init__(self, columns: FrameColumns, split_cells: str | None, whole: frozenset[int], shown: str) -> None:
        self._columns, self._split_cells, self._whole = columns, split_cells, whole
        self._format = shown
        self.rows_read = 0

    def __repr__(self) -> str:
        return f"<FrameTable of {len(self._columns.names)} columns>"

    @property
    def description(self) -> Description:
        """The sort of the rows, for people."""
        return {"format": self._format, "columns": len(self._columns.names)}

    def check(self, mapping: ColumnMapping) -> None:
        """Raises SourceRefused for mapped columns that are no text."""
        self._typed(mapping).check(mapping)

    def batches(self, mapping: ColumnMapping) -> Iterator[TextBatch]:
        """All rows, from the first. Raises SourceRefused when they cannot be read, or too many are faulty."""
        faults = Faults()
        self.rows_read = 0
        yield from gathered(self._batches(mapping, faults))
        faults.refuse_too_many(self.rows_read)

    def _batches(self, mapping: ColumnMapping, faults: Faults) -> Iterator[TextBatch]:
        typed = self._typed(mapping)
        for count, arrays in self._columns.batches(used_positions(mapping)):
            rows = np.arange(self.rows_read + 1, self.rows_read + 1 + count, dtype=np.int64)
            self.rows_read += count
            text = attempt(partial(typed.to_text, arrays, rows, mapping, faults))
            yield TextBatch(RawColumns(text), faults.take())

    def _typed(self, mapping: ColumnMapping) -> TypedColumns:
        types = self._columns.types(used_positions(mapping))
        for place, kind in enumerate(types):
            if kind is None:
                name = column_names(mapping)[place]
                raise SourceRefused(
                    f"the cells of column {name} are of several types, or of one that is not read",
                    column=name,
                    hint="make it a column of text, or map other columns",
                )
        return TypedColumns(types, self._split_cells, self._whole)
