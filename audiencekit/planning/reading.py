"""Pass one over a source: each batch is prepared, counted, and stored until the plan is made."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from dataclasses import asdict, dataclass, field, replace
from itertools import count
from pathlib import Path
from typing import Any, Protocol, Self, TypeAlias

import numpy as np
import orjson
import pyarrow as pa

from audiencekit.destinations.destination import RequestForm
from audiencekit.destinations.requests.request_plan import PlannedRequest, Sizes, sizes_from_bytes, sizes_to_bytes
from audiencekit.errors import Bug, ResumeRefused
from audiencekit.identifiers.kinds import Kind
from audiencekit.personal import HashedRecords, guarded
from audiencekit.planning.options import Options
from audiencekit.planning.suppression import SuppressedPeople
from audiencekit.process.workers import Memo, cores, in_order
from audiencekit.records.batches import REJECTION_SCHEMA, ColumnMapping, ColumnUse, MappedColumn, TextBatch
from audiencekit.records.chunks import RecordChunk, from_chunk, to_chunk
from audiencekit.records.losses import Loss
from audiencekit.records.option_trials import examine
from audiencekit.records.record_bits import Bits, Bools, Indices
from audiencekit.records.records import prepare_batch
from audiencekit.records.rejected_rows import RejectedRows, rejected_rows
from audiencekit.records.tally import BareNumbers, ColumnTally, PaymentNumbers, PersonalShapes, Tally
from audiencekit.reporting.rejections import RejectionsFile
from audiencekit.reporting.sealed_rejections import SealedRejections, Sealing
from audiencekit.selection import tags as taggedrows
from audiencekit.selection.key_sets import KeySets, TaggedBatch
from audiencekit.selection.row_tags import RejectedListener, RowTags, tag_rejected
from audiencekit.selection.selection import NEIGHBOURS, Selection, SelectionLayout
from audiencekit.selection.shared_values import Candidates, Pairs, candidates_at, candidates_in_records
from audiencekit.selection.tag_arrays import Places, Slots
from audiencekit.selection.tags import TaggedRows, Tagger
from audiencekit.selection.without_shared_values import without_values
from audiencekit.sources.source import Source
from audiencekit.sources.table import Description, SourcePart
from audiencekit.state.spool import KeptSpool, SealedFile, Spool

# --- The first half of pass one: every batch prepared, measured, tagged and sealed, side by side, in order ---

# Hears of the records of a batch, and of each of them whether it refuses, as in `ReadBatch`.
OnRecords: TypeAlias = Callable[[RecordChunk, Bools | None], None]


@dataclass(frozen=True, slots=True)
class ReadBatch:
    """One batch of the source: all that the plan needs of it.

    `user_bytes` are the bytes of each user without its comma. `chunk` has its records if a listener wants them; they
    are in the spool, too. `refusing` says of each record whether it is put in without consent; None where no column
    holds consent. `sealed` are the rows that have a rejection, if they are to be sealed,
    and `rejected` are these rows with the tags of their records, if a listener wants them.
    """

    chunk: RecordChunk | None
    rejections: pa.RecordBatch
    tally: Tally
    user_bytes: Sizes = field(repr=False)
    tagged: TaggedBatch
    refusing: Bools | None = field(default=None, repr=False)
    sealed: RejectedRows | None = None
    rejected: RowTags | None = None


def read_batches(
    source: Source,
    options: Options,
    form: RequestForm,
    keysets: KeySets,
    spool: BatchSpool,
    *,
    with_chunks: bool = False,
    sealing: Sealing | None = None,
    rejected: RejectedListener | None = None,
    workers: int | None = None,
) -> Iterator[ReadBatch]:
    """Return all batches, in the order of the source, prepared by `workers` threads (by default one a core).

    The n-th batch is chunk n of `spool`. It has its records only `with_chunks`, its rejected rows only for `sealing`,
    and their tags only where `rejected` is told of them.
    """
    numbers = count()

    def work(item: tuple[int, TextBatch]) -> ReadBatch:
        number, batch = item
        del item
        prepared = prepare_batch(
            batch, source.mapping, rules=options.rules, operation_type=options.operation_type, consent=options.consent,
            examine=examine if options.examines else None,
        )  # fmt: skip
        has_rejected = prepared.rejections.num_rows > 0
        sealed = tags = None
        if sealing is not None and has_rejected:
            sealed = rejected_rows(batch, source.mapping, prepared.rejections, sealing.prove)
        if rejected is not None and has_rejected:
            tags = tag_rejected(prepared.records, prepared.rejections, rejected.tagger)
        del batch  # every thread has a batch: what it is not needed for any more would be there as often
        sizes = form.measure(prepared.records)
        tagged = keysets.tag(prepared.records, prepared.refusing)
        chunk = to_chunk(prepared.records) if spool.keeps_records or with_chunks else None
        rows, tagged = tagged.rows, replace(tagged, rows=None)
        read = ReadBatch(
            chunk if with_chunks else None,
            prepared.rejections,
            prepared.tally,
            sizes,
            tagged,
            prepared.refusing,
            sealed,
            tags,
        )
        del prepared
        spool.seal(number, chunk, rows)
        return read

    def numbered(batch: TextBatch) -> tuple[int, TextBatch]:  # `enumerate` would hold one that was given away
        return next(numbers), batch

    return in_order(work, map(numbered, source.batches()), workers=workers or cores())


# --- The results of pass one for every batch: counts, bits and sizes for the plan, lines for the rejections ---


class Listeners:
    """The listeners of every batch, in order: the file of rejections, the sealed one, the listener for rejected rows,
    and the caller's function for the records."""

    def __init__(
        self,
        rejections: str | os.PathLike[str] | None,
        on_records: OnRecords | None,
        sealing: Sealing | None = None,
        rejected: RejectedListener | None = None,
    ) -> None:
        self._rejected = rejected
        self._file = RejectionsFile(Path(rejections)) if rejections else None
        self.sealed = SealedRejections(sealing) if sealing else None
        self._on_records = on_records

    def __enter__(self) -> Self:
        with ExitStack() as stack:
            if self._file:
                stack.enter_context(self._file)
            if self.sealed:
                stack.enter_context(self.sealed)
            self._stack = stack.pop_all()
        return self

    def __exit__(self, *exception: Any) -> None:
        self._stack.__exit__(*exception)

    def on_batch(self, batch: ReadBatch) -> None:
        """Pass the next batch on."""
        self.on_rejections(batch.rejections)
        if self.sealed and batch.sealed is not None:
            self.sealed.add(batch.sealed)
        if self._rejected and batch.rejected is not None:
            self._rejected.add(batch.rejected)
        if self._on_records and batch.chunk is not None:
            self._on_records(batch.chunk, batch.refusing)

    def on_rejections(self, rejections: pa.RecordBatch) -> None:
        """Write more rejections (REJECTION_SCHEMA) to the file."""
        if self._file:
            self._file.add(rejections)


class BatchResults:
    """The results of pass one, batch by batch. Records are in `spool`, bits and counts in memory.

    Tags and sizes are in `scratch`, sealed.
    """

    def __init__(
        self,
        spool: SealedFile,
        scratch: Spool,
        keysets: KeySets,
        form: RequestForm,
        people: SuppressedPeople | None = None,
        *,
        keeps_records: bool = True,
    ) -> None:
        self.keysets, self.tally, self.scratch, self.people = keysets, Tally(), scratch, people
        self.spool = BatchSpool(spool, scratch, keeps_records=keeps_records)
        self.batch_records: list[int] = []
        self._form = form
        self._sizes: list[int] = []  # chunks of `scratch`, one a batch
        self._refusing = Bits()  # of every record, where a column says consent

    def plan(self, selection: Selection) -> tuple[SelectionLayout, list[PlannedRequest]]:
        """Return where the chosen records are, and the requests that hold them.

        Raises Bug for a form that leaves out a chosen record, or plans one twice: the run would be called complete.
        """
        layout = SelectionLayout(selection, self.batch_records)

        def sizes_of(wave: int, deletes: bool) -> Iterator[Sizes]:
            for number, chosen in layout.of_wave((wave, deletes)):
                yield self.sizes(number)[chosen]

        requests = self._form.plan(selection.waves(), sizes_of)
        chosen = selection.chosen.count()
        if (planned := sum(request.records for request in requests)) != chosen:
            raise Bug(f"the requests of the plan hold {planned:,} records, and {chosen:,} are chosen")
        return layout, requests

    def append(self, records: HashedRecords) -> None:
        """Add records that are not from the source, as the next batch."""
        self.spool.seal(len(self.batch_records), to_chunk(records))
        sizes = self._form.measure(records)
        self.batch_records.append(len(sizes))
        self._sizes.append(self.scratch.append(sizes_to_bytes(sizes)))

    def add(self, batch: ReadBatch) -> None:
        """Add the next batch."""
        self.tally.add(batch.tally)
        self.keysets.add(batch.tagged)
        self.batch_records.append(len(batch.user_bytes))
        self._sizes.append(self.scratch.append(sizes_to_bytes(batch.user_bytes)))
        if batch.refusing is not None:
            self._refusing.append(batch.refusing)

    def refusing_of(self, batch: int) -> Bools | None:
        """Return which records of `batch` are put in without consent; None where no column holds consent."""
        if not len(self._refusing):
            return None
        start = sum(self.batch_records[:batch])
        return self._refusing.slice(start, start + self.batch_records[batch])

    def change(self, batch: int, places: Indices, sizes: Sizes) -> None:
        """Leave the values at `places` out of a batch (see `without_values`); its users then have these `sizes`."""
        self.spool.leave_out(batch, places)
        self._sizes[batch] = self.scratch.append(sizes_to_bytes(sizes))

    def sizes(self, batch: int) -> Sizes:
        """Return the bytes of each user of `batch`, without its comma."""
        return sizes_from_bytes(self.scratch.read(self._sizes[batch]))


# --- The batches of pass one in the spool: their records, or only their tags where these suffice ---


class BatchSpool:
    """Batches by number in `file`, one chunk each. Any thread may read or write.

    Without `keeps_records` a chunk holds the tags of a batch, if shared values are searched, and is missing otherwise.
    The places of values that are left out are in `scratch`.
    """

    def __init__(self, file: SealedFile, scratch: Spool, *, keeps_records: bool = True) -> None:
        self._file, self._scratch, self.keeps_records = file, scratch, keeps_records
        self._left_out: dict[int, int] = {}  # of batches without some of their values, chunks of `scratch`

    @guarded
    def seal(self, number: int, chunk: RecordChunk | None, rows: TaggedRows | None = None) -> None:
        """Write a batch into the file: its records, `chunk`, or its tags, `rows`."""
        if self.keeps_records and chunk is not None:
            self._file.append(chunk.unwrap(), number)
        elif rows is not None:
            self._file.append(taggedrows.to_chunk(rows), number)

    def unseal(self, number: int) -> HashedRecords:
        """Return the records of a batch, RECORD_SCHEMA. Raises Bug if they were not stored."""
        if not self.keeps_records:
            raise Bug(f"the records of batch {number} were not kept: the plan was made to be looked at")
        records = from_chunk(RecordChunk(self._file.read(number)))
        if number not in self._left_out:
            return records
        places = np.frombuffer(self._scratch.read(self._left_out[number]), dtype="<u4").astype(np.int64)
        return without_values(records, places)

    def leave_out(self, number: int, places: Indices) -> None:
        """From now on return a batch without the values at `places` (see `without_values`)."""
        self._left_out[number] = self._scratch.append(places.astype("<u4").tobytes())

    def look(self, number: int, slots: Slots, places: Places, tagger: Tagger) -> tuple[Candidates, Pairs]:
        """Return the values at some places of a batch with these `slots`, as `candidates_at` does."""
        if self.keeps_records:
            return candidates_in_records(self.unseal(number), tagger, places)
        return candidates_at(places, taggedrows.from_chunk(self._file.read(number), slots))


class WholeBatches:
    """BatchesOfRecords: the first `count` batches of `spool`. Each is unsealed once for the requests that share it."""

    def __init__(self, spool: BatchSpool, count: int) -> None:
        self._unseal = Memo(spool.unseal, most=NEIGHBOURS, end=count)

    def find(self, batch: int, places: Indices) -> tuple[HashedRecords, Indices]:
        """Return all records of `batch`, and the same places."""
        return self._unseal(batch), places


# --- The facts of a source that was read to its end: names of columns, formats of files. Never a value ---


class Origin(Protocol):
    """The origin of the records of a plan: a source, or a spool that was kept of one."""

    @property
    def description(self) -> Description:
        """The format and size, for people."""

    @property
    def notes(self) -> tuple[str, ...]:
        """Notes on the source, for people."""

    @property
    def parts(self) -> tuple[SourcePart, ...]:
        """The files."""

    @property
    def mapping(self) -> ColumnMapping:
        """The mapping from columns to kinds."""

    @property
    def warnings(self) -> tuple[Loss, ...]:
        """Warnings of its mapping."""

    @property
    def uses(self) -> tuple[ColumnUse, ...]:
        """The use of each of its columns."""

    @property
    def repeatable(self) -> bool:
        """Whether the source can be read again."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadSource:
    """The facts of a Source, which are the same when its rows come from a kept spool."""

    mapping: ColumnMapping
    description: Description
    parts: tuple[SourcePart, ...]
    notes: tuple[str, ...]
    operation_hint: str | None
    repeatable: bool
    warnings: tuple[Loss, ...] = ()
    uses: tuple[ColumnUse, ...] = ()

    @classmethod
    def of(cls, source: Source) -> Self:
        """Return the facts of `source`, all of whose batches were read."""
        return cls(
            mapping=source.mapping,
            description=source.description,
            parts=source.parts,
            notes=source.notes,
            operation_hint=source.operation_hint,
            repeatable=source.repeatable,
            warnings=source.warnings,
            uses=source.uses,
        )

    def to_json(self) -> dict[str, Any]:
        """Return the facts as JSON."""
        return asdict(self)

    @classmethod
    def from_json(cls, document: Mapping[str, Any]) -> Self:
        """Return the facts that `to_json` wrote."""
        facts = dict(document)
        mapping = dict(facts.pop("mapping"))
        columns = tuple(MappedColumn(**{**column, "kind": Kind(column["kind"])}) for column in mapping.pop("columns"))
        parts, notes = tuple(SourcePart(**part) for part in facts.pop("parts")), tuple(facts.pop("notes"))
        warnings = tuple(Loss(**each) for each in facts.pop("warnings"))
        uses = tuple(ColumnUse(**each) for each in facts.pop("uses", ()))  # a spool that was kept before has none
        filled_down = tuple(mapping.pop("filled_down"))
        mapped = ColumnMapping(columns=columns, filled_down=filled_down, **mapping)
        return cls(mapping=mapped, parts=parts, notes=notes, warnings=warnings, uses=uses, **facts)


# --- A source that was read once: its records in a kept spool, then what else the plan needs ---
#
# With n batches, chunks 0 to n - 1 of the spool are their records, chunks n to 2n - 1 their counts and rejections, and
# the last is what the source was found to be.


class SpoolWriter:
    """Complete a kept spool. The records are written to it directly; the rest waits in `scratch` and follows them."""

    def __init__(self, spool: KeptSpool, scratch: Spool) -> None:
        self._spool, self._scratch = spool, scratch
        self._waiting: list[int] = []

    def add(self, batch: ReadBatch) -> None:
        """Add the counts and rejections of the next batch."""
        refusing = None if batch.refusing is None else np.flatnonzero(batch.refusing).tolist()
        document = {"tally": batch.tally, "rejections": batch.rejections.to_pydict(), "refusing": refusing}
        self._waiting.append(self._scratch.append(orjson.dumps(document, option=orjson.OPT_NON_STR_KEYS)))

    def finish(self, source: ReadSource) -> None:
        """Write everything into the spool, which can be opened from then on. Raises InputOutputFailed."""
        for number in self._waiting:
            self._spool.append(self._scratch.read(number))
        self._spool.append(orjson.dumps(source.to_json()))
        self._spool.finish()


class SpoolReader:
    """Read a finished spool as the source was read. Raises ResumeRefused for a spool of another version."""

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
        """Return the batches that `read_batches` returned when the source was read."""

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
    """Return one bit for each of `size` records, set at `places`."""
    if places is None:
        return None
    bits = np.zeros(size, dtype=bool)
    bits[places] = True
    return bits


def _tally(document: dict[str, Any]) -> Tally:
    columns = {key: _column_tally(column) for key, column in document.pop("columns").items()}
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
