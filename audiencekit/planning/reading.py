"""The first half of pass one: every batch of a source prepared, measured, tagged and sealed, side by side, in order."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from itertools import count
from typing import TypeAlias

import pyarrow as pa

from audiencekit.destinations.destination import RequestForm
from audiencekit.destinations.requests.requestplan import Sizes
from audiencekit.machine.workers import cores, in_order
from audiencekit.planning.batchspool import BatchSpool
from audiencekit.planning.options import Options
from audiencekit.preparation.batches import TextBatch
from audiencekit.preparation.chunks import RecordChunk, to_chunk
from audiencekit.preparation.optiontrials import examine
from audiencekit.preparation.recordbits import Bools
from audiencekit.preparation.records import prepare_batch
from audiencekit.preparation.tally import Tally
from audiencekit.selection.keysets import KeySets, TaggedBatch
from audiencekit.sources.source import Source

# Hears of the records of a batch, and of each of them whether it refuses, as in `ReadBatch`.
OnRecords: TypeAlias = Callable[[RecordChunk, Bools | None], None]


@dataclass(frozen=True, slots=True)
class ReadBatch:
    """One batch of the source, all that the plan needs of it. `user_bytes` are those of each user without its comma.

    `chunk` are its records, where a listener wants them; they are in the spool, too. `refusing` says of each
    record whether it would be put in without consent; None where no column says it.
    """

    chunk: RecordChunk | None
    rejections: pa.RecordBatch
    tally: Tally
    user_bytes: Sizes = field(repr=False)
    tagged: TaggedBatch
    refusing: Bools | None = field(default=None, repr=False)


def read_batches(
    source: Source,
    options: Options,
    form: RequestForm,
    keysets: KeySets,
    spool: BatchSpool,
    *,
    with_chunks: bool = False,
    workers: int | None = None,
) -> Iterator[ReadBatch]:
    """All batches, in the order of the source, prepared by `workers` threads (one a core by default).

    The n-th batch is chunk n of `spool`, and its records go with it only `with_chunks`.
    """
    numbers = count()

    def work(item: tuple[int, TextBatch]) -> ReadBatch:
        number, batch = item
        del item
        prepared = prepare_batch(
            batch, source.mapping, rules=options.rules, operation_type=options.operation_type, consent=options.consent,
            examine=examine if options.examines else None,
        )  # fmt: skip
        del batch  # every thread has a batch: what it is not needed for any more would be there as often
        sizes = form.measure(prepared.records)
        tagged = keysets.tag(prepared.records, prepared.refusing)
        chunk = to_chunk(prepared.records) if spool.keeps_records or with_chunks else None
        rows, tagged = tagged.rows, replace(tagged, rows=None)
        read = ReadBatch(
            chunk if with_chunks else None, prepared.rejections, prepared.tally, sizes, tagged, prepared.refusing
        )
        del prepared
        spool.seal(number, chunk, rows)
        return read

    def numbered(batch: TextBatch) -> tuple[int, TextBatch]:  # `enumerate` would hold one that was given away
        return next(numbers), batch

    return in_order(work, map(numbered, source.batches()), workers=workers or cores())
