"""Rows below another that go on with its words: the contacts of a company, whose country is in its first row only."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from audiencekit.personal import Personal, RawColumns
from audiencekit.records.batches import GROUP, ROW, ColumnMapping, TextBatch
from audiencekit.records.columns.arrays import Bools, arrow_array


class FillDown:
    """Fills the blank cells of `mapping.filled_down` with those above them, batch by batch.

    Nothing is filled past a row that begins a group, has a cell of its own, or could not be read.
    """

    def __init__(self, mapping: ColumnMapping) -> None:
        self._fields, self._has_group = mapping.filled_down, mapping.group is not None
        self._last: dict[str, Personal[str | None]] = {}

    def fill(self, batch: TextBatch) -> TextBatch:
        """The same rows, with the cells filled. Holds raw values: to be called from a guarded function only."""
        columns = batch.columns.unwrap()
        faults = np.sort(batch.faults.column(0).to_numpy())
        before = np.searchsorted(faults, columns.column(ROW).to_numpy())
        for field in self._fields:
            cells = columns.column(field)
            begins = ~_are_blank(cells) | (~_are_blank(columns.column(GROUP)) if self._has_group else False)
            filled = self._filled(field, cells, begins, before)
            if len(filled):
                is_cut = int(before[-1]) < len(faults)
                self._last[field] = Personal(None if is_cut else filled[-1].as_py())
            elif len(faults):
                self._last.pop(field, None)
            columns = columns.set_column(columns.schema.get_field_index(field), field, filled)
        return TextBatch(RawColumns(columns), batch.faults, batch.cell_faults)

    def _filled(self, field: str, cells: Any, begins: Bools, before: npt.NDArray[np.int64]) -> Any:
        last = self._last.get(field)
        rows = np.arange(len(cells))
        sources = np.maximum.accumulate(np.where(begins, rows, -1)) if len(cells) else rows
        is_carried = sources < 0
        is_whole = np.where(is_carried, before == 0, before == before[sources] if len(cells) else True)
        own = cells.take(pa.array(sources, mask=is_carried | ~is_whole))
        carried = None if last is None else last.unwrap()
        return pc.if_else(arrow_array(is_carried & is_whole), pa.scalar(carried, pa.string()), own)


def _are_blank(cells: Any) -> Bools:
    blank: Bools = pc.equal(pc.fill_null(pc.utf8_trim_whitespace(cells), ""), "").to_numpy(zero_copy_only=False)
    return blank
