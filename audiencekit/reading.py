"""The first half of pass one: every batch of a source prepared, encoded and tagged, side by side, in order."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from audiencekit.options import Options
from audiencekit.personal import HashedRecords, guarded
from audiencekit.preparation.batches import TextBatch
from audiencekit.preparation.keysets import KeySets, TaggedBatch
from audiencekit.preparation.records import prepare_batch
from audiencekit.preparation.tally import Tally
from audiencekit.preparation.users import encode_users
from audiencekit.profile import Profile
from audiencekit.sources.source import Source

T = TypeVar("T")
U = TypeVar("U")


@dataclass(frozen=True, slots=True)
class ReadBatch:
    """One batch of the source, all that the plan needs of it. `user_bytes` are those of each user without its comma."""

    records: HashedRecords
    users: HashedRecords
    rejections: pa.RecordBatch
    tally: Tally
    user_bytes: npt.NDArray[np.int64]
    tagged: TaggedBatch


def read_batches(
    source: Source, options: Options, profile: Profile, keysets: KeySets, *, workers: int | None = None
) -> Iterator[ReadBatch]:
    """All batches, in the order of the source, prepared by `workers` threads (one a core by default)."""

    def work(batch: TextBatch) -> ReadBatch:
        prepared = prepare_batch(batch, source.mapping, rules=options.rules, operation_type=options.operation_type)
        users = encode_users(prepared.records, profile)
        sizes, deletes = _measure(users)
        tagged = keysets.tag(prepared.records, deletes)
        return ReadBatch(prepared.records, users, prepared.rejections, prepared.tally, sizes, tagged)

    return in_order(work, source.batches(), workers=workers or _cores())


def in_order(work: Callable[[T], U], items: Iterable[T], *, workers: int) -> Iterator[U]:
    """`work` of every item, in order, `workers` at a time; at most twice as many items are alive.

    What `work` or `items` raise is raised, and nothing new is begun after it.
    """
    waiting: deque[Future[U]] = deque()
    with ThreadPoolExecutor(workers, "audiencekit-reading") as pool:
        try:
            for item in items:
                waiting.append(pool.submit(work, item))
                if len(waiting) >= 2 * workers:
                    yield waiting.popleft().result()
            while waiting:
                yield waiting.popleft().result()
        finally:
            for future in waiting:
                future.cancel()


def _cores() -> int:
    """Processors that this process may use."""
    allowed = getattr(os, "sched_getaffinity", None)
    return len(allowed(0)) if allowed else os.cpu_count() or 1


@guarded
def _measure(users: HashedRecords) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.bool_]]:
    """Bytes of each user without its comma, and whether it is taken out."""
    batch = users.unwrap()
    sizes = pc.binary_length(batch.column("user")).to_numpy(zero_copy_only=False).astype(np.int64) - 1
    return sizes, batch.column("is_delete").to_numpy(zero_copy_only=False)
