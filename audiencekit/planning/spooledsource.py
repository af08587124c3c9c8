"""A source that was read once and for all: its records in a kept spool, and behind them what else the plan needs.

With n batches, chunks 0 to n - 1 of the spool are their records, chunks n to 2n - 1 their counts and rejections, and
the last is what the source was found to be.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

import numpy as np
import orjson
import pyarrow as pa

from audiencekit.destinations.destination import RequestForm
from audiencekit.errors import ResumeRefused
from audiencekit.identifiers.kinds import Kind
from audiencekit.machine.keptspool import KeptSpool
from audiencekit.machine.spool import Spool
from audiencekit.machine.workers import cores, in_order
from audiencekit.planning.reading import ReadBatch
from audiencekit.planning.sourcefacts import ReadSource
from audiencekit.preparation.batches import REJECTION_SCHEMA
from audiencekit.preparation.chunks import RecordChunk, from_chunk
from audiencekit.preparation.recordbits import Bools
from audiencekit.preparation.tally import BareNumbers, ColumnTally, PaymentNumbers, PersonalShapes, Tally
from audiencekit.selection.keysets import KeySets


class Keeping:
    """Completes a kept spool that takes the records by itself; what comes behind them waits in `aside`."""

    def __init__(self, spool: KeptSpool, aside: Spool) -> None:
        self._spool, self._aside = spool, aside
        self._waiting: list[int] = []

    def add(self, batch: ReadBatch) -> None:
        """Take the counts and rejections of the next batch."""
        refusing = None if batch.refusing is None else np.flatnonzero(batch.refusing).tolist()
        document = {"tally": batch.tally, "rejections": batch.rejections.to_pydict(), "refusing": refusing}
        self._waiting.append(self._aside.append(orjson.dumps(document, option=orjson.OPT_NON_STR_KEYS)))

    def finish(self, source: ReadSource) -> None:
        """Put everything into the spool, which can be opened from now on. Raises InputOutputFailed."""
        for number in self._waiting:
            self._spool.append(self._aside.read(number))
        self._spool.append(orjson.dumps(source.to_json()))
        self._spool.finish()


class KeptReading:
    """The reading that a finished spool holds. Raises ResumeRefused for one that this version did not write."""

    def __init__(self, spool: KeptSpool) -> None:
        self._spool = spool
        self.batch_count = (len(spool) - 1) // 2
        try:
            self.source = ReadSource.from_json(orjson.loads(spool.read(len(spool) - 1)))
        except (ValueError, TypeError, KeyError):
            raise ResumeRefused(
                "the spool was kept by another version of audiencekit: nothing more was sent",
                reason="spool",
                hint="resume with the version of audiencekit that began the run",
            ) from None

    def batches(self, form: RequestForm, keysets: KeySets, *, with_chunks: bool = False) -> Iterator[ReadBatch]:
        """The batches that `read_batches` gave when the source was read."""

        def work(number: int) -> ReadBatch:
            chunk = RecordChunk(self._spool.read(number))
            records = from_chunk(chunk)
            document = orjson.loads(self._spool.read(self.batch_count + number))
            refusing = _bits(document["refusing"], records.unwrap().num_rows)
            return ReadBatch(
                chunk if with_chunks else None,
                pa.RecordBatch.from_pydict(document["rejections"], schema=REJECTION_SCHEMA),
                _tally(document["tally"]),
                form.measure(records),
                keysets.tag(records, refusing),
                refusing,
            )

        return in_order(work, range(self.batch_count), workers=cores())


def _bits(places: list[int] | None, size: int) -> Bools | None:
    """Which of `size` records stand at `places`."""
    if places is None:
        return None
    bits = np.zeros(size, dtype=bool)
    bits[places] = True
    return bits


def _tally(document: dict[str, Any]) -> Tally:
    columns = {int(position): _column_tally(column) for position, column in document.pop("columns").items()}
    combinations = Counter({int(bits): count for bits, count in document.pop("combinations").items()})
    reasons = Counter(document.pop("reasons"))
    return Tally(**document, reasons=reasons, combinations=combinations, columns=columns)


def _column_tally(document: dict[str, Any]) -> ColumnTally:
    likely = Counter({Kind(kind): count for kind, count in document.pop("likely").items()})
    bare = _bare_numbers(document.pop("bare_numbers"))
    shapes = _personal_shapes(document.pop("personal_shapes"))
    accounts = PaymentNumbers(**document.pop("payment_numbers"))
    reasons = Counter(document.pop("reasons"))
    return ColumnTally(
        **document,
        reasons=reasons,
        likely=likely,
        bare_numbers=bare,
        payment_numbers=accounts,
        personal_shapes=shapes,
    )


def _bare_numbers(document: dict[str, Any]) -> BareNumbers:
    document |= {name: Counter(document[name]) for name in ("by_country", "forms")}
    document["reach"] = {size: tuple(ends) for size, ends in document["reach"].items()}
    return BareNumbers(**document)


def _personal_shapes(document: dict[str, Any]) -> PersonalShapes:
    return PersonalShapes(**document | {name: Counter(document[name]) for name in ("shapes", "readings")})
