"""All that `audiencekit check` does; or the same without looking for duplicates, which only a benchmark may.

python -m benchmarks.dry_check contacts.csv --without-duplicates
"""

from __future__ import annotations

import tempfile
import time
from pathlib import Path

import numpy as np

import audiencekit
from audiencekit.personal import HashedRecords
from audiencekit.planning import planner
from audiencekit.records.record_bits import Bits, Bools
from audiencekit.selection.key_sets import KeySets, TaggedBatch
from audiencekit.selection.selection import Selection
from audiencekit.selection.tag_arrays import TAG
from audiencekit.settings import load_settings
from benchmarks.trials import Figures, trial_arguments


class UncountedKeySets(KeySets):
    """Key sets of which every one is taken to be new. Nothing is tagged, kept or compared."""

    def tag(self, records: HashedRecords, refusing: Bools | None = None) -> TaggedBatch:
        """No tag for any record."""
        updates = np.zeros(records.unwrap().num_rows, dtype=bool)
        return TaggedBatch(updates, self._key_sets.sort(np.zeros(0, dtype=TAG)))

    def select(self) -> Selection:
        """Every record is sent, in one wave."""
        return Selection(Bits.of(len(self), True), Bits.of(len(self), False))


def run_check(path: Path, *, without_duplicates: bool = False) -> Figures:
    """From the file to the plan."""
    if without_duplicates:
        vars(planner)["KeySets"] = UncountedKeySets  # not an option of users: duplicates must not be sent
    with tempfile.TemporaryDirectory(prefix="audiencekit-benchmark-") as directory:
        settings = load_settings({}, directory=Path(directory), state_dir=Path(directory))
        started = time.perf_counter()
        plan = audiencekit.check(path, settings=settings)
        seconds = time.perf_counter() - started
    return {
        "rows": plan.rows.read,
        "duplicates": plan.rows.duplicate,
        "seconds": seconds,
        "rows_per_second": plan.rows.read / seconds,
    }


if __name__ == "__main__":
    trial_arguments(run_check, without_duplicates="take every record for a new one")
