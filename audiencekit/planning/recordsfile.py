"""records.parquet: each record that would be sent, in row order, its hashes as text."""

from __future__ import annotations

from itertools import takewhile
from pathlib import Path
from threading import Event
from typing import Final

import pyarrow.parquet as pq

from audiencekit.machine.heap import giving_back
from audiencekit.machine.privatefiles import explained, open_new
from audiencekit.machine.workers import one_ahead
from audiencekit.personal import guarded
from audiencekit.planning.plannedrun import PlannedRun
from audiencekit.preparation.batches import OPERATION, ROW
from audiencekit.preparation.textrecords import PREPARED_FORMAT, PREPARED_SCHEMA, to_prepared

_GIVE_BACK_EVERY: Final = 8  # batches; twice as often would take twice as many faults, and save 10 MB


@guarded
def write_records(path: Path, planned: PlannedRun, halted: Event) -> None:
    """Write all batches, or those until `halted` is set. Raises InputOutputFailed."""
    schema = PREPARED_SCHEMA.with_metadata({"format": PREPARED_FORMAT})
    # No two hashes are alike: a dictionary of them, or their least and greatest, would only take room. With their
    # lengths apart (DELTA_LENGTH_BYTE_ARRAY) zstd would take half its time, but fastparquet does not read such files.
    worth = {"use_dictionary": [OPERATION], "write_statistics": [ROW]}
    with (
        explained("the records cannot be written", path, hint=""),
        open_new(path) as file,
        pq.ParquetWriter(file, schema, compression="zstd", **worth) as to,
    ):
        batches = takewhile(lambda _: not halted.is_set(), planned.layout.batches())
        prepared = one_ahead(lambda batch: to_prepared(*planned.chosen_records(batch)), batches)
        for records in giving_back(prepared, every=_GIVE_BACK_EVERY):
            if rows := records.unwrap().num_rows:
                to.write_batch(records.unwrap(), row_group_size=rows)
