"""Rows that cannot be read: each is a rejection, too many of them refuse the source."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from audiencekit.errors import SourceRefused
from audiencekit.identifiers.kinds import Reason
from audiencekit.limits import tolerated_fault_rows
from audiencekit.records.batches import CELL_FAULT_SCHEMA, NO_CELL_FAULTS, REJECTION_SCHEMA


@dataclass(frozen=True, slots=True)
class FaultWords:
    """The words for many rows with one fault, and the remedy."""

    what: str
    hint: str


DELIMITED_WORDS: Final[Mapping[Reason, FaultWords]] = {
    Reason.RAGGED: FaultWords(
        "have another number of cells than the header, or most rows, have",
        "say `delimiter=` if the columns were divided wrongly, `header_row=N` if there are lines above the header, or"
        " repair the rows",
    ),
    Reason.ENCODING: FaultWords(
        "hold bytes that are not text in this encoding", "say the right encoding, for example `encoding='cp1252'`"
    ),
    Reason.TOO_LARGE: FaultWords(
        "hold a cell that is too large for an identifier",
        "check the mapping with `columns=`, and the quotes of the file",
    ),
}


TYPED_WORDS: Final[Mapping[Reason, FaultWords]] = {
    Reason.ENCODING: FaultWords("hold bytes that are not UTF-8", "write them as a column of text"),
    Reason.TOO_LARGE: FaultWords(
        "hold a cell that is too large for an identifier", "check the mapping with `columns=`"
    ),
    Reason.NOT_TEXT: FaultWords(
        "hold a date or true where an identifier belongs", "write the column as text, or leave it out with `ignore=`"
    ),
}


class Faults:
    """The faulty rows of one pass, and the faulty cells of others, handed out batch by batch.

    With `counts_cells` a faulty cell counts as a faulty row: see `SourceOptions.counts_cells`.
    """

    def __init__(self, words: Mapping[Reason, FaultWords] = DELIMITED_WORDS, *, counts_cells: bool = False) -> None:
        self._words, self._counts_cells = words, counts_cells
        self._cells: list[tuple[npt.NDArray[np.int64], int, Reason]] = []
        self._rows_with_cells = 0
        self._rows: list[int] = []
        self._columns: list[str | None] = []
        self._reasons: list[str] = []
        self._counts: Counter[Reason] = Counter()
        self._cell_counts: Counter[Reason] = Counter()
        self._first: dict[Reason, int] = {}

    @property
    def count(self) -> int:
        """Faulty rows of the whole pass so far."""
        return self._counts.total() + self._rows_with_cells

    @property
    def waiting(self) -> bool:
        """Whether there are faults since the last `take()`."""
        return bool(self._rows)

    def add(self, row: int, reason: Reason, column: str | None = None) -> None:
        """Notes a row that was not read. `column` is a name that may be shown."""
        self._rows.append(row)
        self._columns.append(column)
        self._reasons.append(reason.value)
        self._counts[reason] += 1
        self._first.setdefault(reason, row)

    def take(self) -> pa.RecordBatch:
        """The faults since the last call, as REJECTION_SCHEMA."""
        batch = pa.RecordBatch.from_pydict(
            {"row": self._rows, "column": self._columns, "reason": self._reasons}, schema=REJECTION_SCHEMA
        )
        self._rows, self._columns, self._reasons = [], [], []
        return batch

    def add_cells(self, rows: npt.NDArray[np.int64], position: int, reason: Reason) -> None:
        """Notes cells of a mapped column that were not read, in rows that are. Not one row has two for one column."""
        if len(rows):
            self._cells.append((rows, position, reason))

    def take_cells(self) -> pa.RecordBatch:
        """The cells since the last call, as CELL_FAULT_SCHEMA."""
        if not self._cells:
            return NO_CELL_FAULTS
        cells, self._cells = self._cells, []
        rows = np.concatenate([numbers for numbers, _, _ in cells])
        sizes = [len(numbers) for numbers, _, _ in cells]
        if self._counts_cells:
            self._rows_with_cells += len(set(rows.tolist()))
            for (numbers, _, reason), size in zip(cells, sizes, strict=True):
                self._cell_counts[reason] += size
                self._first[reason] = min(self._first.get(reason, int(numbers.min())), int(numbers.min()))
        positions = np.repeat([position for _, position, _ in cells], sizes)
        reasons = [reason.value for (_, _, reason), size in zip(cells, sizes, strict=True) for _ in range(size)]
        columns = [pa.array(rows, pa.int64()), pa.array(positions, pa.int64()), pa.array(reasons, pa.string())]
        return pa.RecordBatch.from_arrays(columns, schema=CELL_FAULT_SCHEMA)

    def refuse_too_many(self, rows: int) -> None:
        """Raises SourceRefused when more of `rows` rows are faulty than limits.tolerated_fault_rows allows."""
        if self.count <= tolerated_fault_rows(rows):
            return
        reason, times = (self._counts + self._cell_counts).most_common(1)[0]
        raise SourceRefused(
            f"{times:,} of {rows:,} rows {self._words[reason].what}, the first is row {self._first[reason]}",
            row=self._first[reason],
            rows_read=rows,
            hint=self._words[reason].hint,
        )
