"""Rows that cannot be read: each is a rejection, too many of them refuse the source."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

import pyarrow as pa

from audiencekit.errors import SourceRefused
from audiencekit.identifiers.kinds import Reason
from audiencekit.limits import tolerated_fault_rows
from audiencekit.records.batches import REJECTION_SCHEMA


@dataclass(frozen=True, slots=True)
class FaultWords:
    """The words for many rows with one fault, and the remedy."""

    what: str
    hint: str


DELIMITED_WORDS: Final[Mapping[Reason, FaultWords]] = {
    Reason.RAGGED: FaultWords(
        "have another number of cells than the header, or most rows, have",
        "say `delimiter=` if the columns were divided wrongly, `header_row=N` if lines stand above the header, or"
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


class Faults:
    """The faulty rows of one pass, handed out batch by batch."""

    def __init__(self, words: Mapping[Reason, FaultWords] = DELIMITED_WORDS) -> None:
        self._words = words
        self._rows: list[int] = []
        self._columns: list[str | None] = []
        self._reasons: list[str] = []
        self._counts: Counter[Reason] = Counter()
        self._first: dict[Reason, int] = {}

    @property
    def count(self) -> int:
        """Faulty rows of the whole pass so far."""
        return self._counts.total()

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

    def refuse_too_many(self, rows: int) -> None:
        """Raises SourceRefused when more of `rows` rows are faulty than limits.tolerated_fault_rows allows."""
        if self.count <= tolerated_fault_rows(rows):
            return
        reason, times = self._counts.most_common(1)[0]
        raise SourceRefused(
            f"{times:,} of {rows:,} rows {self._words[reason].what}, the first is row {self._first[reason]}",
            row=self._first[reason],
            rows_read=rows,
            hint=self._words[reason].hint,
        )
