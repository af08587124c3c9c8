"""Values that more people than a household share: they are left out of all records before the plan is made."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from typing import Final, Self

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from audiencekit.destinations.requests.request_plan import Sizes
from audiencekit.errors import PlanRefused, Refused
from audiencekit.identifiers.kinds import Kind, Reason
from audiencekit.limits import SHA256_BYTES
from audiencekit.personal import HashedRecords
from audiencekit.planning.options import Options
from audiencekit.planning.plan_inputs import PlanTerms
from audiencekit.planning.reading import BatchResults, Listeners
from audiencekit.process.workers import one_ahead
from audiencekit.records.batches import REJECTION_SCHEMA, ColumnMapping, MappedColumn
from audiencekit.records.columns.arrays import arrow_array, hash_array, list_array
from audiencekit.records.record_bits import Bools, Indices
from audiencekit.records.records import RECORD_SCHEMA, VALUE_TYPES
from audiencekit.records.tally import ColumnTally, Tally, Trials
from audiencekit.reporting.progress import Progress
from audiencekit.selection.shared_values import CANDIDATE, NO_CHUNK, Candidates, SharedValues
from audiencekit.selection.tag_arrays import TAG, Tags
from audiencekit.selection.without_shared_values import count_remembered, without_values

# --- Between the last row and the plan: values of more people than a household are left out of all records ---
#
# A record that has nothing else is rejected. Where that would leave people in who are to be taken out, or put people in
# who may be suppressed, the plan is refused, and says the option that decides it.

_KINDS: Final = tuple(Kind)
SHARED: Final = Reason.SHARED.value
_SHOWN_FROM_BATCHES: Final = 8  # of fewer it takes no time that a user would notice


def leave_out_shared_values(
    gathered: BatchResults, mapping: ColumnMapping, terms: PlanTerms, listeners: Listeners, progress: Progress
) -> SharedOutcome | None:
    """Find the shared values among all records, and leave them out of what was gathered; None without any."""
    if (search := gathered.keysets.search) is None:
        return None
    batches = len(gathered.batch_records)
    if batches >= _SHOWN_FROM_BATCHES:
        progress.step("looking for shared values", 0, batches, unit="batches")
    shared, candidates = search.find(partial(gathered.spool.look, tagger=gathered.keysets.tagger))
    if terms.options.shared_suppression == "all":
        shared = shared.without(gathered.keysets.find_suppressing(shared.tags))
    if not len(shared):
        return None
    stripping = _SharedValueRemoval(gathered, mapping, terms, shared)
    for number, rejections in stripping.run(candidates):
        listeners.on_rejections(rejections)
        if batches >= _SHOWN_FROM_BATCHES:
            progress.step("leaving shared values out", number + 1, batches, unit="batches")
    if terms.options.shared_suppression == "stop" and stripping.puts_in and gathered.people is not None:
        stripping.outcome.unidentified = gathered.people.unidentified(shared, gathered.keysets)
    return stripping.outcome


@dataclass(frozen=True, slots=True, repr=False)
class _LeftOut:
    """The shared values of a batch, `found`, in the order of their records, and their ascending `places`.

    `records` are the records with a shared value, and `owners` says for each value which of these records has it. The
    other fields are about each of these records: its key set without the values, its shapes before and after, and
    whether it has nothing else.
    """

    found: Candidates
    places: Indices
    owners: Indices
    records: npt.NDArray[np.uint32]
    key_sets: Tags
    before: Shapes
    after: Shapes
    is_gone: Bools

    @classmethod
    def of(cls, found: Candidates) -> Self:
        """Return the values of a batch that are `found`, in the order of their places."""
        places = found["place"].astype(np.int64)
        found = found.take(np.argsort(found["record"], kind="stable"))
        owners, at = np.cumsum(begins := _begins(found["record"])) - 1, np.flatnonzero(begins)
        of_records = found.take(at)
        key_sets = np.empty(len(at), dtype=TAG)
        for half in ("high", "low"):
            key_sets[half] = of_records[f"set_{half}"] - np.add.reduceat(found[half], at)
        before = of_records["values"].astype(np.int64)
        left_out = np.bincount(owners * len(Kind) + found["kind"], minlength=before.size).reshape(before.shape)
        after = Shapes.of(before - left_out)
        is_gone: Bools = (after.distinct.max(axis=1) == 0)[after.which]
        return cls(found, places, owners, of_records["record"], key_sets, Shapes.of(before), after, is_gone)


class _SharedValueRemoval:
    """Remove shared values from key sets, sizes and counts, and from records when they are read."""

    def __init__(self, gathered: BatchResults, mapping: ColumnMapping, terms: PlanTerms, shared: SharedValues) -> None:
        self._gathered, self._terms, self._shared = gathered, terms, shared
        self._columns = {kind: [column for column in mapping.columns if column.kind is kind] for kind in Kind}
        self._main = {kind: self._main_column(kind) for kind in Kind if self._columns[kind]}
        self._lengths = LengthsOfShapes(terms.form.measure)
        self.outcome = SharedOutcome(len(shared), shared.people)
        self.puts_in = False  # whether a record to be put in had a shared value

    def run(self, candidates: list[int]) -> Iterator[tuple[int, pa.RecordBatch]]:
        """Change all batches; each of these chunks has the candidates of one. Yield the rejections of each changed one,
        with its number."""
        self._gathered.keysets.drop_keys(self._shared.tags)
        first = 0
        of_batches = zip(one_ahead(self._find, candidates), self._gathered.batch_records, strict=True)
        for number, (found, records) in enumerate(of_batches):
            if found is not None:
                yield number, self._change(number, first, found)
            first += records

    def _find(self, chunk: int) -> _LeftOut | None:
        """Return the shared values among the candidates in `chunk`; None without any."""
        if chunk == NO_CHUNK:
            return None
        found = self._shared.among(np.frombuffer(self._gathered.scratch.read(chunk), dtype=CANDIDATE))
        return _LeftOut.of(found) if len(found) else None

    def _change(self, number: int, first: int, left_out: _LeftOut) -> pa.RecordBatch:
        """Leave values out of one batch. Its records are counted from `first`."""
        records, is_gone, places = left_out.records, left_out.is_gone, left_out.places
        shapes = left_out.before, left_out.after
        self._recombine(*shapes)
        self._gathered.keysets.change(records + np.int64(first), left_out.key_sets, is_gone)
        self._count(number, first, records[is_gone].astype(np.int64))
        self._ask(number, first, left_out.found)
        if any(not _KINDS[place].is_hashed for place in np.flatnonzero(np.bincount(left_out.found["kind"])).tolist()):
            sizes = self._terms.form.measure(without_values(self._gathered.spool.unseal(number), places))
        else:
            sizes = self._gathered.sizes(number).copy()
            sizes[records] -= np.subtract(*map(self._lengths.of, shapes)).astype(sizes.dtype)
        self._gathered.change(number, places, sizes)
        return self._reject(left_out.found, is_gone[left_out.owners])

    def _recombine(self, before: Shapes, after: Shapes) -> None:
        """Count records by the kinds that they have now instead of those before."""
        for shapes, sign in ((before, -1), (after, 1)):
            for kinds, records in zip(shapes.kinds(), shapes.records.tolist(), strict=True):
                if kinds:
                    self._gathered.tally.combinations[kinds] += sign * records

    @property
    def _asks(self) -> bool:
        """Whether the user must decide about shared values that suppress."""
        return self._terms.options.shared_suppression == "stop"

    def _count(self, number: int, first: int, gone: Indices) -> None:
        refusing, deletes = self._gathered.refusing_of(number), self._gathered.keysets.deletes_of(gone + first)
        self.outcome.kept_in += int(np.count_nonzero(deletes if self._terms.destination.suppresses else ~deletes))
        if self._asks and refusing is not None:
            self.outcome.refusing += int(np.count_nonzero(refusing[gone]))

    def _ask(self, number: int, first: int, found: Candidates) -> None:
        """Count values of erased people among those left out of Updates; in other records they do not matter."""
        owners = found["record"].astype(np.int64) + first
        places = found["place"][~self._gathered.keysets.deletes_of(owners)].astype(np.int64)
        self.puts_in = self.puts_in or bool(len(places))
        if self._asks and self._terms.memories and len(places):
            records = self._gathered.spool.unseal(number)
            self.outcome.remembered += count_remembered(records, places, self._terms.memories)

    def _main_column(self, kind: Kind) -> MappedColumn:
        """Return the column of `kind` with most values: a record does not say from which column each value came."""
        counts = self._gathered.tally.columns
        return max(self._columns[kind], key=lambda column: counts.get(column.key, ColumnTally()).valid)

    def _reject(self, found: Candidates, is_gone: Bools) -> pa.RecordBatch:
        """Count the values left out, and return row and column of each, or the columns that it may have come from.

        `is_gone` says of each whether its record has nothing else.
        """
        rows, kinds, names = found["row"], found["kind"], [""] * len(Kind)
        gone = int(np.count_nonzero(_begins(found["record"][is_gone])))
        tally = Tally(rows_rejected=gone, records=-gone, reasons=Counter({SHARED: len(found)}))
        for place in np.flatnonzero(np.bincount(kinds)).tolist():
            kind, is_own = _KINDS[place], kinds == place
            count = int(np.count_nonzero(is_own))
            self.outcome.left_out[kind] += count
            seen = ColumnTally(valid=-count, reasons=Counter({SHARED: count}))
            if self._terms.options.examines:
                seen.trials = Trials(people=Counter({SHARED: len(np.unique(rows[is_gone & is_own]))}))
            tally.columns[self._main[kind].key] = seen
            names[place] = " or ".join(column.name for column in self._columns[kind])
        self._gathered.tally.add(tally)
        ranks = np.array(list(map(sorted(names).index, names)))  # equal where names are
        order = np.lexsort((ranks[kinds], rows))
        columns = [arrow_array(rows[order]), pa.array(names).take(arrow_array(kinds[order]))]
        return pa.record_batch([*columns, pa.repeat(SHARED, len(rows))], schema=REJECTION_SCHEMA)


def _begins(records: npt.NDArray[np.uint32]) -> Bools:
    """Return for each of the ascending `records` whether it differs from the one before."""
    begins = np.ones(len(records), dtype=bool)
    begins[1:] = records[1:] != records[:-1]
    return begins


# --- The shapes of records: how many values of each kind they have, from which the length of a user follows ---

Counts = npt.NDArray[np.int64]

_KIND_BITS: Final = 63 // len(Kind)  # of a number that stands for a shape


@dataclass(frozen=True, slots=True)
class Shapes:
    """The `distinct` rows of a table of counts by kind, `which` of them each row is, and how often each occurs."""

    distinct: Counts = field(repr=False)
    which: Indices = field(repr=False)
    records: Indices = field(repr=False)

    @classmethod
    def of(cls, counts: Counts) -> Self:
        """Return the shapes of `counts`. Most records have the same shape: sorting one number for each is cheapest."""
        if counts.max(initial=0) >= 2**_KIND_BITS:
            distinct, which, records = np.unique(counts, axis=0, return_inverse=True, return_counts=True)
            return cls(distinct, which.reshape(-1), records)
        shifts = _KIND_BITS * np.arange(len(Kind))
        numbers, records = np.unique(found := counts @ (1 << shifts), return_counts=True)
        return cls(numbers[:, None] >> shifts & 2**_KIND_BITS - 1, np.searchsorted(numbers, found), records)

    def kinds(self) -> list[int]:
        """Return the kinds of each distinct shape, a bit for each kind in their order, as in `Tally.combinations`."""
        found: list[int] = ((self.distinct > 0) @ (1 << np.arange(len(Kind)))).tolist()
        return found


class LengthsOfShapes:
    """The bytes of users by their shapes: all hashes have one length. Each shape is measured once."""

    def __init__(self, measure: Callable[[HashedRecords], Sizes]) -> None:
        self._measure = measure
        self._known: dict[bytes, int] = {}

    def of(self, shapes: Shapes) -> Indices:
        """Return the bytes of each record of `shapes`, whose values are hashes."""
        keys = [shape.tobytes() for shape in shapes.distinct]
        unknown = [place for place, key in enumerate(keys) if key not in self._known]
        if unknown:
            measured = self._measure(_records_of(shapes.distinct[unknown]))
            self._known.update(zip((keys[place] for place in unknown), measured.tolist(), strict=True))
        return np.array([self._known[key] for key in keys], dtype=np.int64)[shapes.which]


def _records_of(shapes: Counts) -> HashedRecords:
    """Return a batch of records with so many values of each kind. Which values does not matter."""
    lists = []
    for counts, (kind, value_type) in zip(shapes.T, VALUE_TYPES.items(), strict=True):
        size = int(counts.sum())
        values = hash_array(np.zeros((size, SHA256_BYTES), dtype=np.uint8)) if kind.is_hashed else pa.repeat("x", size)
        lists.append(list_array(counts, values) if size else pa.nulls(len(shapes), pa.list_(value_type)))
    rows, deletes = np.arange(1, len(shapes) + 1), np.zeros(len(shapes), dtype=bool)
    return HashedRecords(pa.record_batch([arrow_array(rows), arrow_array(deletes), *lists], schema=RECORD_SCHEMA))


# --- The effects of shared values that were left out of records, in words: notes, and refusals to send ---

_ALL_OR_NONE: Final = (
    "say `shared_suppression='all'` to keep all of them out, or"
    " `shared_suppression='none'` if such a value is to keep no one out; the answer holds for every run"
    " that is given it"
)


@dataclass(slots=True)
class SharedOutcome:
    """The effects of values that too many people share.

    `left_out` counts them by kind, in records. `kept_in` counts rows of people to be taken out, or kept out, that had
    no other value. `unidentified` and `refusing` count rows of suppression sources, and `remembered` counts values of
    erased people, that identify no single person.
    """

    values: int
    people: int
    left_out: Counter[Kind] = field(default_factory=Counter)
    kept_in: int = 0
    unidentified: int = 0
    refusing: int = 0
    remembered: int = 0

    @property
    def notes(self) -> tuple[str, ...]:
        """The effects in words."""
        values = "1 value belongs" if self.values == 1 else f"{self.values:,} values belong"
        counts = " and ".join(f"{count:,} of {kind}" for kind, count in self.left_out.items())
        what = f"{values} to more people than a household has (up to {self.people:,}), and were left out"
        return (f"{what} ({counts}); `shared_values='keep'` sends them",)

    def refusals(self, options: Options) -> list[Refused]:
        """Return refusals: cases in which leaving the values out is not enough."""
        found: list[Refused] = []
        shared = f"values that more than {options.shared_people} people of the source share"
        if self.kept_in:
            what = f"{_rows(self.kept_in)} to take people out, with nothing but {shared}"
            hint = "say `shared_values='keep'` to take out all who have such a value; or give these rows another"
            hint += " identifier"
            found.append(PlanRefused(f"{what}: each would take out all of them", hint=hint))
        if self.unidentified or self.refusing:
            what = f"{_rows(self.unidentified + self.refusing)} of people to keep out match the source only by {shared}"
            found.append(PlanRefused(f"{what}: they may be any of them", hint=_ALL_OR_NONE))
        if self.remembered:
            what = f"people who were erased by `forget` had {shared}"
            found.append(PlanRefused(f"{what}: they may be any of them", hint=_ALL_OR_NONE))
        return found


def _rows(count: int) -> str:
    return f"{count:,} row" if count == 1 else f"{count:,} rows"
