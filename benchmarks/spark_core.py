"""The time of the core on rows as Spark gives them, without Spark: in one process alone, and in several at once.

Reading the rows is not counted, nor is what is done once in the life of a process: the first time over is for that.
"""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path
from typing import Any, Final
from unittest.mock import patch

import pyarrow.parquet as pq

from audiencekit.integrations.outcomes import PartitionWork
from audiencekit.integrations.tallies import read_tally
from audiencekit.planning.options import Options, read_keywords
from audiencekit.profile import find_profile
from audiencekit.records.records import prepare_batch
from audiencekit.sources.arrow import TypedColumns, used_positions
from audiencekit.sources.source import open_source
from benchmarks.stopwatch import Stopwatch

KEYWORDS: Final[dict[str, Any]] = {"columns": {"email": "email", "phone_number": "phone"}, "country_column": "country"}
_SPARK_BATCH_ROWS: Final = 10_000  # spark.sql.execution.arrow.maxRecordsPerBatch, its default


@contextmanager
def timed_core() -> Iterator[Stopwatch]:
    """The stopwatch that is held to the core wherever outcomes are made."""
    watch = Stopwatch()
    with patch("audiencekit.integrations.outcomes.prepare_batch", watch.timed(prepare_batch)):
        yield watch


def seconds_alone(parquet: Path) -> float:
    """Processor time of the core in this process, in batches as they are read on one machine."""
    options = _options()
    source = open_source(parquet, options.source)
    watch = Stopwatch()
    prepare = watch.timed(prepare_batch)
    for batch in source.batches():
        prepare(batch, source.mapping, rules=options.rules, operation_type="Update")
    return watch.seconds


@dataclass(frozen=True, slots=True)
class CoreProcesses:
    """As many processes as there are executors; each has a share of the rows, and makes of it what an executor makes.

    They live from one time to the next, as the workers of Spark do.
    """

    parquet: Path
    pools: tuple[ProcessPoolExecutor, ...]

    def seconds(self) -> float:
        """Processor time of the core in all of them, which work at the same time.

        Raises RuntimeError when their shares together are not all rows.
        """
        shares = [pool.submit(_share, self.parquet, one, len(self.pools)) for one, pool in enumerate(self.pools)]
        found = [share.result() for share in shares]
        if sum(rows for _, rows in found) != pq.read_metadata(self.parquet).num_rows:
            raise RuntimeError("the processes together did not prepare each row once")
        return sum(seconds for seconds, _ in found)


@contextmanager
def core_processes(parquet: Path, count: int) -> Iterator[CoreProcesses]:
    """`count` of them; they end with the block."""
    with ExitStack() as stack:
        spawn = get_context("spawn")
        pools = (stack.enter_context(ProcessPoolExecutor(1, mp_context=spawn)) for _ in range(count))
        yield CoreProcesses(parquet, tuple(pools))


def _share(parquet: Path, share: int, shares: int) -> tuple[float, int]:
    """Processor time of the core for one share of the row groups, in batches as on an executor, and how many rows."""
    options = _options()
    source = open_source(parquet, options.source)
    file = pq.ParquetFile(parquet)
    work = PartitionWork(
        mapping=source.mapping,
        typed=TypedColumns(tuple(file.schema_arrow.types), None),
        rules=options.rules,
        operation_type=options.operation_type,
        names_rows=False,
    )
    columns = [file.schema_arrow.names[place] for place in used_positions(source.mapping)]
    groups = range(file.num_row_groups * share // shares, file.num_row_groups * (share + 1) // shares)
    batches = file.iter_batches(_SPARK_BATCH_ROWS, groups, columns, use_threads=False)
    with file, timed_core() as watch:
        *_, counts = work.outcomes(batches, before=0)
    return watch.seconds, read_tally(counts["tally"][0].as_py()).rows_read


def _options() -> Options:
    return read_keywords(KEYWORDS, find_profile("spec"))  # type: ignore[arg-type]
