"""The changes of a run: stored beside the snapshot before its first byte is sent, and later merged into it."""

from __future__ import annotations

import contextlib
import functools
import os
import secrets
import struct
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, field
from datetime import timedelta
from itertools import pairwise
from pathlib import Path
from typing import Final, TypeAlias

import numpy as np
import orjson
import pyarrow as pa

from audiencekit.destinations.requests.request_plan import PlannedRequest
from audiencekit.errors import InputOutputFailed
from audiencekit.limits import MAX_SNAPSHOT_IDENTIFIER_BYTES, SHA256_BYTES, SNAPSHOT_FRAME_BYTES, SNAPSHOT_WHOLE_DAYS
from audiencekit.personal import HashedRecords, guarded
from audiencekit.process.crash_points import pass_point
from audiencekit.process.workers import cores, in_order
from audiencekit.records.batches import ROW
from audiencekit.records.chunks import RecordChunk, from_chunk, to_chunk
from audiencekit.records.record_bits import Bools, Indices
from audiencekit.records.records import RECORD_SCHEMA
from audiencekit.selection.partitions import part_of
from audiencekit.selection.selection import SelectionLayout, Wave
from audiencekit.selection.tags import Tagger, tags_of_sets
from audiencekit.snapshots.facts import SnapshotFacts
from audiencekit.snapshots.files import NO_PART, PARTS, Index, NewParts, PartIndex, Snapshot
from audiencekit.snapshots.marks import NO_MARKS, Marks
from audiencekit.snapshots.members import (
    DOUBTFUL,
    DROPPED,
    NO_MEMBERS,
    UNSURE,
    Days,
    MemberChunk,
    as_members,
    chosen,
    count_members,
    days_of,
    from_bytes,
    identifiers_of,
    joined_members,
    to_bytes,
    with_days,
)
from audiencekit.snapshots.store import SnapshotStore
from audiencekit.state.files import explained, sync_directory
from audiencekit.state.keys import SubKey
from audiencekit.state.spool import KeptSpool, Spool

# --- The changes of a run: noted beside the snapshot before its first byte leaves, so that none is lost ---
#
# A sealed file (`state/spool.py`). Chunk 0 says of which run the changes are and on which snapshot they build; every
# other holds records of one wave and verb, after the number of the request that each is in:
#
#     uint32              records
#     uint32 each         number of the request
#     and the records as a chunk of the spool; the rows of those that are taken out lie beyond the source

# The records of one batch of a layout at these places, ascending, with all their keys; called from any thread.
RecordsOf: TypeAlias = Callable[[int, Indices], HashedRecords]

_HEAD: Final = struct.Struct("<I")
_ASIDE: Final = ".new-"
_TOGETHER: Final = 8_192  # records in one chunk, unless one batch has more


@dataclass(frozen=True, slots=True)
class Outcomes:
    """The known outcomes of the requests of a run, by number; `refused` are rows that the service did not take."""

    confirmed: frozenset[int]
    touched: frozenset[int]  # may have been applied
    refused: frozenset[int] = frozenset()

    @property
    def reached(self) -> frozenset[int]:
        """The requests that were applied, or may have been."""
        return self.confirmed | self.touched


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangesFacts:
    """The facts of the changes of a run.

    `serial` is that of the snapshot that they change; new entries expire on `day`. `waves` has the wave and the verb
    (whether it is a Delete) of each chunk, `requests` those of each request.
    """

    run_id: str
    serial: int
    day: int
    waves: list[Wave] = field(default_factory=list)
    requests: dict[str, Wave] = field(default_factory=dict)

    def verbs_of(self, requests: Iterable[int]) -> set[bool]:
        """Return whether any of `requests` have Deletes, and whether any have Updates."""
        return {self.requests[str(number)][1] for number in requests}


class Changes:
    """An opened file of changes. Close it. Raises InputOutputFailed for a damaged file."""

    def __init__(self, spool: KeptSpool) -> None:
        self._spool = spool
        try:
            content = orjson.loads(spool.read(0))
            self.facts = ChangesFacts(**content)
        except (ValueError, TypeError, KeyError):
            raise InputOutputFailed("the changes of a run cannot be read") from None

    @classmethod
    def open(cls, path: Path, key: SubKey) -> Changes | None:
        """Open the changes at `path`; None when there are none."""
        return cls(KeptSpool.open(path, key)) if os.path.lexists(path) else None

    def close(self) -> None:
        """Close the file."""
        self._spool.close()

    def chunks(self) -> Iterator[tuple[Wave, Indices, HashedRecords]]:
        """Yield for each chunk its wave and verb, the number of each record's request, and the records."""
        for number, wave in enumerate(self.facts.waves, start=1):
            yield (wave[0], wave[1]), *_split(self._spool, number)

    def effects(self, outcomes: Outcomes) -> Iterator[HashedRecords]:
        """Yield the changes of the run, MEMBER_SCHEMA: the day of added members, DROPPED for removed ones.

        Changes in doubt are DOUBTFUL or UNSURE; changes that were never sent are left out.
        """
        is_struck = True in self.facts.verbs_of(outcomes.reached)
        for wave, requests, records in self.chunks():
            days, counted = _days(wave, requests, outcomes, self.facts.day, is_struck=is_struck)
            if outcomes.refused:
                taken = ~np.isin(_rows(records), list(outcomes.refused))
                counted &= taken | (wave[0] > 0 and not wave[1])
                days = np.where(taken, days, np.int16(DOUBTFUL))
            if counted.any():
                yield chosen(as_members(records, days), np.flatnonzero(counted))


def _days(wave: Wave, requests: Indices, outcomes: Outcomes, day: int, *, is_struck: bool) -> tuple[Days, Bools]:
    """Return the day of each change, and whether there is any.

    An Update of a later wave puts back members that a Delete may have removed. If it is unconfirmed, they are in doubt.
    """
    number, deletes = wave
    confirmed, touched = (np.isin(requests, list(those)) for those in (outcomes.confirmed, outcomes.touched))
    if deletes:
        return np.where(confirmed, DROPPED, DOUBTFUL).astype(np.int16), confirmed | touched
    if number and is_struck:
        return np.where(confirmed, day, DOUBTFUL).astype(np.int16), np.ones(len(requests), dtype=bool)
    return np.where(confirmed, day, UNSURE).astype(np.int16), confirmed | touched


def write_changes(
    path: Path,
    key: SubKey,
    facts: ChangesFacts,
    *,
    layout: SelectionLayout,
    waves: Iterable[int],
    requests: list[PlannedRequest],
    records_of: RecordsOf,
) -> None:
    """Write all that the planned `requests` change, before any of them is sent; durable when it returns.

    Raises InputOutputFailed when the disk fails.
    """
    temporary = path.with_name(f"{_ASIDE}{secrets.token_hex(8)}")
    pass_point("before changes")
    spool = KeptSpool.create(temporary, key)
    try:
        groups = _grouped(_record_ranges(layout, waves, requests))
        work = functools.partial(_append, spool, records_of)
        written = list(in_order(work, enumerate(groups, start=1), workers=cores()))
        verbs = {str(request.number): (request.wave, bool(request.deletes)) for request in requests}
        spool.append(orjson.dumps(asdict(facts) | {"waves": written, "requests": verbs}), 0)
        spool.finish()
    except BaseException:
        with contextlib.suppress(OSError):
            temporary.unlink()
        raise
    finally:
        spool.close()
    with explained("what is about to change cannot be noted", path):
        os.replace(temporary, path)
        sync_directory(path.parent)
    pass_point("after changes")


@dataclass(frozen=True, slots=True)
class _RecordRange:
    """Records of one wave in one batch: their places, and the number of the request of each."""

    wave: Wave
    batch: int
    places: Indices = field(repr=False)
    requests: Indices = field(repr=False)


def _record_ranges(
    layout: SelectionLayout, waves: Iterable[int], requests: list[PlannedRequest]
) -> Iterator[_RecordRange]:
    """Yield all that is sent, wave by wave, the Updates before the Deletes."""
    for number in waves:
        for deletes in (False, True):
            yield from _ranges_of_wave((number, deletes), layout, requests)


def _grouped(stretches: Iterable[_RecordRange]) -> Iterator[list[_RecordRange]]:
    """Group neighbouring ranges of one wave, since of most batches few records are sent."""
    group: list[_RecordRange] = []
    count = 0
    for stretch in stretches:
        if group and (stretch.wave != group[0].wave or count + len(stretch.places) > _TOGETHER):
            yield group
            group, count = [], 0
        group.append(stretch)
        count += len(stretch.places)
    if group:
        yield group


def _ranges_of_wave(wave: Wave, layout: SelectionLayout, requests: list[PlannedRequest]) -> Iterator[_RecordRange]:
    of_wave = [request for request in requests if request.wave == wave[0]]
    ends = np.cumsum([request.deletes if wave[1] else request.updates for request in of_wave])
    numbers = np.array([request.number for request in of_wave], dtype=np.int64)
    first = 0
    for batch, taken in layout.of_wave(wave):
        places = np.flatnonzero(taken)
        own = numbers[np.searchsorted(ends, np.arange(first, first + len(places)), side="right")]
        first += len(places)
        yield _RecordRange(wave, batch, places, own)


@guarded
def _append(spool: KeptSpool, records_of: RecordsOf, numbered: tuple[int, list[_RecordRange]]) -> Wave:
    number, group = numbered
    taken = [records_of(stretch.batch, stretch.places).unwrap() for stretch in group]
    columns = [pa.concat_arrays([batch.column(name) for batch in taken]) for name in RECORD_SCHEMA.names]
    batch = HashedRecords(pa.record_batch(columns, schema=RECORD_SCHEMA))
    requests = np.concatenate([stretch.requests for stretch in group])
    head = _HEAD.pack(len(requests)) + requests.astype("<u4").tobytes()
    spool.append(b"".join([head, to_chunk(batch).unwrap()]), number)
    return group[0].wave


@guarded
def _split(spool: KeptSpool, number: int) -> tuple[Indices, HashedRecords]:
    content = memoryview(spool.read(number))
    (count,) = _HEAD.unpack(content[: _HEAD.size])
    start = _HEAD.size + 4 * count
    requests = np.frombuffer(content[_HEAD.size : start], dtype="<u4").astype(np.int64)
    return requests, from_chunk(RecordChunk(bytes(content[start:])))


def _rows(records: HashedRecords) -> Indices:
    rows: Indices = records.unwrap().column(ROW).to_numpy()
    return rows


# --- The changes of a run by member, in the order of the parts ---

_GATHERED: Final = 32_768  # changes that are put in order at a time
_PUT_ASIDE: Final = 1_024  # of one part


@dataclass(frozen=True, slots=True)
class PartEffects:
    """The effects on one part, or on several, in any order: MEMBER_SCHEMA, and the mark of each."""

    members: HashedRecords = NO_MEMBERS
    marks: Marks = NO_MARKS

    def __len__(self) -> int:
        return len(self.marks)

    @classmethod
    def joined(cls, effects: Sequence[PartEffects]) -> PartEffects:
        """Return all of them, in order."""
        if not effects:
            return cls()
        return cls(joined_members([each.members for each in effects]), Marks.joined([each.marks for each in effects]))


class Effects:
    """Members by part, in the order in which they are added.

    More than a fixed amount of memory goes to the scratch spool. `members` and `identifiers` count them. Call `close`
    when all were added.
    """

    def __init__(self, scratch: Spool, tagger: Tagger) -> None:
        self._scratch, self._tagger = scratch, tagger
        self._gathered: list[HashedRecords] = []
        self._waiting: list[list[PartEffects]] = [[] for _ in range(PARTS)]
        self._chunks: list[list[tuple[int, int]]] = [[] for _ in range(PARTS)]
        self.members = self.identifiers = 0

    def add(self, members: HashedRecords) -> None:
        """Add some members."""
        self._gathered.append(members)
        self.members += count_members(members)
        self.identifiers += int(identifiers_of(members).sum())
        if sum(count_members(each) for each in self._gathered) >= _GATHERED:
            self.close()

    def close(self) -> None:
        """Note that all members were added."""
        if not self._gathered:
            return
        members, self._gathered = joined_members(self._gathered), []
        for part, own in _split_members(members, self._tagger):
            waiting = self._waiting[part]
            waiting.append(own)
            if sum(map(len, waiting)) >= _PUT_ASIDE:
                self._chunks[part].append(_spill(self._scratch, PartEffects.joined(waiting)))
                self._waiting[part] = []

    def of_parts(self, parts: range) -> PartEffects:
        """Return the effects on some parts, one part after the other. For any thread."""
        return PartEffects.joined([effects for part in parts for effects in self._pieces(part)])

    def _pieces(self, part: int) -> list[PartEffects]:
        return [*(self._read(part, *numbers) for numbers in self._chunks[part]), *self._waiting[part]]

    def _read(self, part: int, members: int, marks: int) -> PartEffects:
        read = self._scratch.read
        return PartEffects(from_bytes(MemberChunk(read(members))), Marks.from_bytes(read(marks), part))


@guarded
def _split_members(members: HashedRecords, tagger: Tagger) -> list[tuple[int, PartEffects]]:
    batch, tags = members.unwrap(), tags_of_sets(members, tagger)
    parts = part_of(tags)
    order = np.argsort(parts, kind="stable")
    ends = np.cumsum(np.bincount(parts, minlength=PARTS)).tolist()
    batch, marks = batch.take(order), Marks.of(tags).take(order)
    found = [(part, slice(start, end)) for part, (start, end) in enumerate(pairwise([0, *ends])) if end > start]
    return [
        (part, PartEffects(HashedRecords(batch.slice(own.start, own.stop - own.start)), marks.take(own)))
        for part, own in found
    ]


@guarded
def _spill(scratch: Spool, effects: PartEffects) -> tuple[int, int]:
    """Write them to the scratch spool; return the numbers of the chunks with the members and with their marks."""
    return scratch.append(to_bytes(effects.members).unwrap()), scratch.append(effects.marks.to_bytes())


# --- The next snapshot, part by part: the changes since all members were written, or all members ---
#
# All members are written again when the two files would take more than their bound, so that what is read stays small,
# and after some days, so that no one who has gone stays in them for longer.

_FEW = 4_096  # changes of one part
_TOGETHER_BYTES = 2_000_000  # of neighbouring parts that are made in one go
_MEMBER_BYTES = 16  # of a member in a file besides the identifiers, or somewhat less


@dataclass(frozen=True, slots=True)
class NextSnapshot:
    """The snapshot after `snapshot`, changed by `effects`, of which there is at most one for each key set.

    Members that expired before the day `lapsed_before` are left out when all members are written.
    """

    snapshot: Snapshot
    effects: Effects
    lapsed_before: int

    def write(self, store: SnapshotStore, facts: SnapshotFacts, at: float) -> None:
        """Replace the snapshot. The counts in `facts` are computed here. `at` is now, in epoch seconds."""
        if (whole := self.snapshot.whole) is None or self.is_due(at):
            store.write_whole(self._whole, facts, at)
        else:
            # Of small parts the threads would mostly hand the lock of the interpreter to each other.
            workers = 1 if self.effects.members < PARTS * _FEW else None
            store.write_recent(self._recent, facts, whole.facts, together=self._together(), workers=workers)

    def is_due(self, at: float) -> bool:
        """Whether all members must be written again."""
        facts = self.snapshot.facts
        room = facts.identifiers * MAX_SNAPSHOT_IDENTIFIER_BYTES + SNAPSHOT_FRAME_BYTES
        return is_old(facts, at) or self.snapshot.stored_bytes + self._coming_bytes() > room

    def _coming_bytes(self) -> int:
        """The bytes that the effects take in a file."""
        return self.effects.identifiers * SHA256_BYTES + self.effects.members * _MEMBER_BYTES

    def _together(self) -> int:
        """Return how many parts of the changes are made at once: most have few members, and each call has a cost."""
        file = self.snapshot.recent
        part_bytes = (self._coming_bytes() + (0 if file is None else file.stored_bytes)) // PARTS
        return min(max(_TOGETHER_BYTES // max(part_bytes, 1), 1), PARTS)

    def _recent(self, parts: range) -> NewParts:
        file, effects = self.snapshot.recent, self.effects.of_parts(parts)
        recent = NO_PART if file is None else PartIndex.joined([file.index(part) for part in parts])
        if not len(effects) and not len(recent.marks):
            return NewParts()
        by_mark = effects.marks.order()
        in_whole, before = self._find_in_whole(effects.marks, by_mark, parts)
        _, in_recent, since = _find(effects.marks, recent)
        changed = _Changed.of(effects, np.where(in_recent, since, before))
        written = np.flatnonzero(in_whole | (changed.days != DROPPED))
        _, is_overruled = recent.marks.find_in(changed.marks.take(by_mark))
        kept = np.flatnonzero(~is_overruled)
        marks = Marks.joined([recent.marks.take(kept), changed.marks.take(written)])
        order = marks.order()
        earlier = [] if file is None else [file.identifiers(part) for part in parts]
        rows = np.concatenate([kept, len(recent.days) + written])[order]
        is_bare = np.concatenate([np.zeros(len(kept), dtype=bool), in_whole[written]])[order]
        members = chosen(joined_members([*earlier, changed.members]), rows, bare=is_bare)
        members = with_days(members, np.concatenate([recent.days[kept], changed.days[written]])[order])
        days, identifiers = changed.difference()
        return NewParts(marks=marks.take(order), members=members, days=days, identifiers=identifiers)

    def _find_in_whole(self, marks: Marks, by_mark: Indices, parts: range) -> tuple[Bools, Days]:
        """Return which of `marks` (ascending in the order `by_mark`) the file of all members has, and their days."""
        known, days = np.zeros(len(marks), dtype=bool), np.full(len(marks), DROPPED, dtype=np.int16)
        if (whole := self.snapshot.whole) is not None:
            ordered = marks.take(by_mark)
            ends = ordered.ends(parts)
            for part, begin, end in zip(parts, [0, *ends], ends, strict=False):
                places = by_mark[begin:end]
                _, known[places], days[places] = _find(ordered.take(slice(begin, end)), whole.index(part))
        return known, days

    def _whole(self, part: int) -> NewParts:
        index, effects = self.snapshot.index(part), self.effects.of_parts(range(part, part + 1))
        if not len(effects) and not len(index):
            return NewParts()
        places, known, before = _find(effects.marks, index)
        changed = _Changed.of(effects, before)
        days = index.days.copy()
        days[places[known]] = changed.days[known]
        fresh = np.flatnonzero(~known)
        fresh = fresh[changed.marks.take(fresh).order()]
        order = np.insert(np.arange(len(index)), places[fresh], len(index) + fresh)
        days = np.concatenate([days, changed.days])[order]
        stays = (days == DOUBTFUL) | (days >= max(self.lapsed_before, 1))
        order, days = order[stays], days[stays]
        members = chosen(joined_members([self.snapshot.chosen(part, index), changed.members]), order)
        return whole_part(Marks.joined([index.marks, changed.marks]).take(order), with_days(members, days))


def is_old(facts: SnapshotFacts, at: float) -> bool:
    """Whether all members must be written again: the last time is long before `at`, or after it, or not known."""
    if facts.whole_at is None:
        return True
    return not 0 <= at - facts.whole_at < timedelta(days=SNAPSHOT_WHOLE_DAYS).total_seconds()


def whole_part(marks: Marks, members: HashedRecords) -> NewParts:
    """Return `members`, in the order of their `marks`, as a part of a file that holds all members."""
    counts = Counter(
        dict(zip(*(each.tolist() for each in np.unique(days_of(members), return_counts=True)), strict=True))
    )
    return NewParts(marks=marks, members=members, days=counts, identifiers=int(identifiers_of(members).sum()))


@dataclass(frozen=True, slots=True)
class _Changed:
    """The changes of one part: for each changed member the day after the change and before it, DROPPED for none."""

    members: HashedRecords
    marks: Marks
    days: Days = field(repr=False)
    before: Days = field(repr=False)

    @classmethod
    def of(cls, effects: PartEffects, before: Days) -> _Changed:
        """Return the changes by `effects`, in any order, on members with the days `before`."""
        unsure = np.where(before == DROPPED, np.int16(DOUBTFUL), before)
        days = days_of(effects.members)
        return cls(effects.members, effects.marks, np.where(days == UNSURE, unsure, days), before)

    def difference(self) -> tuple[Counter[int], int]:
        """Return the change in the members of each day, and in the identifiers."""
        was, is_in = self.before != DROPPED, self.days != DROPPED
        counts = Counter(self.days[is_in].tolist())
        counts.subtract(Counter(self.before[was].tolist()))
        each = identifiers_of(self.members)
        return counts, int(each[is_in & ~was].sum() - each[was & ~is_in].sum())


def _find(marks: Marks, index: PartIndex | Index) -> tuple[Indices, Bools, Days]:
    """Return the place of each of `marks` in `index`, whether it is there, and its day, DROPPED for a missing one."""
    places, known = marks.find_in(index.marks)
    days = np.full(len(marks), DROPPED, dtype=np.int16)
    days[known] = index.days[places[known]]
    return places, known, days
