"""What pass one makes of every batch that was read: counts, bits and sizes for the plan, lines for the rejections."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, Self

from audiencekit.delivery.spool import Spool
from audiencekit.planning.reading import ReadBatch
from audiencekit.preparation.keysets import KeySets
from audiencekit.preparation.plan import Sizes
from audiencekit.preparation.sizes import sizes_from_bytes, sizes_to_bytes
from audiencekit.preparation.tally import Tally
from audiencekit.reporting.rejections import RejectionsFile


class Listeners:
    """Who hears of every batch, in order: the file of rejections, and whoever else."""

    def __init__(self, rejections: str | os.PathLike[str] | None, on_batch: Callable[[ReadBatch], None] | None) -> None:
        self._file = RejectionsFile(Path(rejections)) if rejections else None
        self._on_batch = on_batch

    def __enter__(self) -> Self:
        if self._file:
            self._file.__enter__()
        return self

    def __exit__(self, *exception: Any) -> None:
        if self._file:
            self._file.__exit__(*exception)

    def hear(self, batch: ReadBatch) -> None:
        """Tell them of the next batch."""
        if self._file:
            self._file.add(batch.rejections)
        if self._on_batch:
            self._on_batch(batch)


class Gathered:
    """What pass one keeps of the records: bits and counts in memory, tags and sizes put aside, sealed."""

    def __init__(self, aside: Spool, keysets: KeySets) -> None:
        self.keysets, self.tally = keysets, Tally()
        self.batch_records: list[int] = []
        self._aside = aside
        self._sizes: list[int] = []  # chunks of `aside`, one a batch

    def add(self, batch: ReadBatch) -> None:
        """Take in the next batch."""
        self.tally.add(batch.tally)
        self.keysets.add(batch.tagged)
        self.batch_records.append(len(batch.user_bytes))
        self._sizes.append(self._aside.append(sizes_to_bytes(batch.user_bytes)))

    def sizes(self, batch: int) -> Sizes:
        """Bytes of each user of `batch`, without its comma."""
        return sizes_from_bytes(self._aside.read(self._sizes[batch]))
