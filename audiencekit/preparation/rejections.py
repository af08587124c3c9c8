"""The rejections of one batch as they gather: rows and reasons in whole columns, never a value."""

from __future__ import annotations

from collections import Counter
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from audiencekit.identifiers.kinds import Reason
from audiencekit.preparation.batches import REJECTION_SCHEMA
from audiencekit.preparation.columnar.buffers import arrow_array
from audiencekit.preparation.columnar.decisions import REASONS, Codes, code_of

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
        """All of them, ordered by row, column and reason; whole rows come first."""
        rows, reasons = np.concatenate(self._rows), np.concatenate(self._ranks)
        shown = [None, *sorted({name for name in self._names if name is not None})]
        names = np.repeat(np.array(list(map(shown.index, self._names)), dtype=np.int64), self._counts)
        # Each part ascends, as a rule: a stable sort merges them.
        order = np.argsort((rows * len(shown) + names) * len(_WORDS) + reasons, kind="stable")
        columns = pa.array(shown, pa.string()).take(arrow_array(names[order]))
        words = _ARROW_WORDS.take(arrow_array(reasons[order]))
        return pa.record_batch([arrow_array(rows[order]), columns, words], schema=REJECTION_SCHEMA)
