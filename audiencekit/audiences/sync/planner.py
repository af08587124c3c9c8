"""The plan of a sync or of a renewal, and the guards that may refuse it."""

from __future__ import annotations

import functools
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from datetime import datetime, timedelta
from typing import Any, Final, Protocol, Self

import numpy as np

from audiencekit.audiences.sync.difference import (
    Difference,
    Horizon,
    Members,
    SentRecords,
    find_difference,
    gather_expiring,
    records_at,
)
from audiencekit.audiences.sync.removals import (
    Reduced,
    RemainingRecords,
    RemovalKeys,
    Rounds,
    as_records,
    count_holders,
    plan_rounds,
    reduce_members,
)
from audiencekit.errors import PlanRefused, Refused, UsageError
from audiencekit.identifiers.kinds import Kind
from audiencekit.limits import (
    MAX_LOST_KIND_SHARE,
    MAX_LOST_SHARE,
    MIN_TARGETABLE_PEOPLE,
    PROCESSING_HOURS,
    TOLERATED_LOST_MEMBERS,
)
from audiencekit.personal import HashedRecords
from audiencekit.planning.plan import PlannedRun, refuse_losses
from audiencekit.planning.plan_inputs import PlanResources, PlanTerms
from audiencekit.planning.planner import plan_run
from audiencekit.planning.reading import BatchResults
from audiencekit.process.workers import cores, in_order
from audiencekit.records.losses import Loss
from audiencekit.records.plan_times import PlanTimes
from audiencekit.records.record_bits import Bits, Indices
from audiencekit.reporting.report import RowCounts, rows_among
from audiencekit.selection.selection import Selection
from audiencekit.selection.tags import Tagger
from audiencekit.snapshots.changes import RecordsOf
from audiencekit.snapshots.facts import SnapshotFacts
from audiencekit.snapshots.files import Snapshot
from audiencekit.snapshots.members import MemberChunk, count_kinds, day_of, from_bytes
from audiencekit.sources.files import AnySource, Item
from audiencekit.state.spool import Spool

# --- The planner of a sync: the source is read as for an upload, then only the differences are chosen ---


class SnapshotOwner(Protocol):
    """The holder of the snapshot of the audience."""

    @property
    def tagger(self) -> Tagger:
        """Return the tagger of its members, once the snapshot is open."""

    def open(self) -> tuple[Snapshot, tuple[str, ...]]:
        """Return the present snapshot, and remarks on it."""


@dataclass(frozen=True, slots=True)
class SyncPlanner:
    """Plan a sync with the snapshot of `owner`, as `plan_run` plans an upload.

    With `all_members` everything is sent, because the snapshot cannot be relied on.
    """

    owner: SnapshotOwner
    allowed_shrink: float
    all_members: bool = False

    def __call__(self, source: AnySource, terms: PlanTerms, resources: PlanResources) -> PlannedSync:
        """Return the plan. Raises what `plan_run` raises, and SnapshotRefused."""
        snapshot, notes = self.owner.open()
        tagger = self.owner.tagger
        revisions: list[Revision] = []
        now = terms.now

        def revise(gathered: BatchResults, selection: Selection, times: PlanTimes) -> Selection:
            horizon = Horizon.of(now, times.end, all_members=self.all_members)
            copies = resources.stack.enter_context(Spool(resources.spool_dir))
            revisions.append(Revision.of(gathered, selection.chosen, snapshot, horizon, tagger, copies=copies))
            return revisions[0].select(selection)

        planned = plan_run(source, terms, resources, tagger=tagger, revise=revise)
        (revision,) = revisions
        waves = _records_by_wave(planned)
        difference = revision.difference
        changes = SyncChanges(
            additions=difference.additions,
            renewals=difference.renewals,
            removals=difference.removals,
            returned=revision.returned,
            unchanged=difference.unchanged - revision.returned,
            members=snapshot.live(now),
            members_after=difference.wanted.count(),
            waves=waves,
        )
        planned.people_changed = changes.additions + changes.removals
        planned.lost_kinds = find_lost_kinds(planned, revision, changes.members)
        planned.refusals = self._refusals(planned, changes, revision.lost)
        planned.refusals += refuse_losses(planned.lost_kinds) if terms.options.fails_on_warnings else []
        remarks = notes + _remarks(planned, changes, snapshot, now)
        known = {each.name: getattr(planned, each.name) for each in fields(planned)} | {"batches": revision.sent}
        return PlannedSync(
            **known,
            sync=changes,
            remarks=remarks,
            whole_records=revision.whole_records,
        )

    def _refusals(self, planned: PlannedRun, changes: SyncChanges, lost: int) -> list[Refused]:
        is_left = planned.tally.rows_read and (changes.members_after or not planned.selection.suppressed)
        found = planned.refusals + planned.few_refusals if is_left else []
        after, before = changes.members_after, changes.members
        return found or judge_size(after, before, lost=lost, allowed_shrink=self.allowed_shrink)


def _remarks(planned: PlannedRun, changes: SyncChanges, snapshot: Snapshot, now: datetime) -> tuple[str, ...]:
    additions, removals = bool(sum(changes.waves[::2])), bool(changes.removals)
    found = warn_of_pace(snapshot.facts, now.timestamp(), additions=additions, removals=removals)
    if put_back := sum(changes.waves[2::2]):
        shared = f"{put_back:,} records share a key with people who go by no other"
        found += (f"{shared}: a Delete takes both out, and these are put back right after it",)
    if not planned.requests:
        found += ("the audience is what the source says already: there is nothing to send",)
    return found + warn_of_few(changes.members_after)


def find_lost_kinds(planned: PlannedRun, revision: Revision, members: int) -> tuple[Loss, ...]:
    """Return a loss for each kind that no row has, while many members leave who were put in by it.

    A query that lost a column gives such a list: the people are the same, found by another kind, and fewer match.
    """
    tallies = ((column.kind, planned.tally.columns.get(column.key)) for column in planned.mapping.columns)
    present = {kind for kind, tally in tallies if tally is not None and tally.valid}
    return tuple(
        Loss(
            code="lost_kind",
            column=None,
            count=count,
            share=min(count / max(members, 1), 1.0),
            message=f"{count:,} of {members:,} members lose their {kind}, and no row of the list has one",
            remedy="look whether the export or the query has lost a column",
        )
        for kind, count in revision.count_leaving().items()
        if kind not in present and count > max(TOLERATED_LOST_MEMBERS, members * MAX_LOST_KIND_SHARE)
    )


def _records_by_wave(planned: PlannedRun) -> list[int]:
    counts = [0] * (max((request.wave for request in planned.requests), default=-1) + 1)
    for request in planned.requests:
        counts[request.wave] += request.records
    return counts


def allowed_share(allow_shrink: float, *, replace: bool) -> float:
    """Return the share by which the audience may shrink. Raises UsageError for an invalid one."""
    if not 0 <= allow_shrink <= 1:
        raise UsageError("the share that an audience may shrink by must be from 0 to 1")
    return 1.0 if replace else allow_shrink


# --- The planner of a renewal: members of the snapshot whose entries expire soon are sent again ---


def plan_renewal(
    owner: SnapshotOwner,
    before_days: int,
    source: Sequence[Item],
    terms: PlanTerms,
    resources: PlanResources,
) -> PlannedSync:
    """Return the plan of a renewal, which has no source. Raises SnapshotRefused."""
    now, times = terms.now, terms.times
    snapshot, notes = owner.open()
    # No entry is to expire earlier than before.
    last = min(day_of(now) + before_days, day_of(times.end) - 1)
    gathered, suppressed = gather_expiring(snapshot, range(day_of(now) - 1, last + 1), terms, resources)
    records = gathered.tally.records
    sent = SentRecords(gathered.spool.unseal, resources.stack.enter_context(Spool(resources.spool_dir)))
    selection = Selection(Bits.of(records, True), Bits.of(records, False), suppressed=suppressed)
    layout, requests = gathered.plan(selection)
    members = gathered.tally.rows_read
    changes = SyncChanges(
        renewals=records,
        unchanged=members - suppressed - records,
        members=members,
        members_after=members - suppressed,
        waves=[records],
    )
    refusals = _refusals(snapshot)
    # Of an audience that is not under sync the refusal says all there is to say: it does not come under sync by this.
    remarks = warn_of_pace(snapshot.facts, now.timestamp(), additions=True, removals=False)
    if not records:
        remarks = (f"no entry expires within {before_days} days and earlier than a new one would: nothing is sent",)
    return PlannedSync(
        source=Members({"snapshot": snapshot.facts.serial}),
        options=terms.options,
        times=times,
        tally=gathered.tally,
        selection=selection,
        layout=layout,
        requests=requests,
        refusals=refusals,
        batches=sent,
        profile=terms.profile,
        destination=terms.destination,
        form=terms.form,
        suppression_notes=tuple(memory.note for memory in terms.memories if memory.note),
        sync=changes,
        remarks=() if refusals else notes + remarks,
        whole_records=sent.at,
    )


def _refusals(snapshot: Snapshot) -> list[Refused]:
    if snapshot.facts.serial:
        return []
    hint = "only `audiencekit sync` keeps what can be renewed; after an upload, upload the source again"
    return [PlanRefused("the audience is not under sync", hint=hint)]


# --- The plan of a sync: the differences from the snapshot, and their counts ---


@dataclass(frozen=True, slots=True, kw_only=True)
class SyncChanges:
    """The changes of a sync, in records. `returned` are removed together with other people, and put back.

    `members` are those before the sync, `members_after` those after it. `waves` counts the records of each wave: put
    in, taken out, put back, and so on.
    """

    additions: int = 0
    renewals: int = 0
    removals: int = 0
    returned: int = 0
    unchanged: int = 0
    members: int = 0
    members_after: int = 0
    waves: list[int] = field(default_factory=list)


@dataclass(slots=True, kw_only=True)
class PlannedSync(PlannedRun):
    """The plan of a sync.

    Its `batches` have the records of the bodies; `whole_records` returns them with all their keys, for the notes of a
    run.
    """

    sync: SyncChanges
    remarks: tuple[str, ...]
    whole_records: RecordsOf

    @property
    def changes(self) -> dict[str, Any]:
        """The differences from the snapshot."""
        return asdict(self.sync)

    @property
    def plan_notes(self) -> tuple[str, ...]:
        """Notes to read before anything is sent."""
        return self.suppression_notes + self.small_losses + self.few_notes + self.remarks

    def row_counts(self, *, sent: int = 0, refused: int = 0) -> RowCounts:
        """Return where every row is; removed members among the done records are not rows."""
        put_in = sum(self.sync.waves[::2])
        done = rows_among(self.sync.waves, sent + refused)
        return RowCounts(
            read=self.tally.rows_read,
            sent=done - refused,
            rejected=self.tally.rows_rejected + refused,
            duplicate=self.selection.duplicates,
            superseded=self.selection.superseded,
            suppressed=self.selection.suppressed,
            unchanged=self.sync.members_after - put_in,
            pending=put_in - done,
        )


# --- Reasons to stop a sync before it sends, and warnings ---

_PROCESSING_SECONDS: Final = timedelta(hours=PROCESSING_HOURS).total_seconds()
_EMPTY_HINT: Final = (
    "check that the source is complete; to empty an audience, delete it: `audiencekit audiences delete`"
)


def judge_size(wanted: int, members: int, *, lost: int, allowed_shrink: float) -> list[Refused]:
    """Return why a source of `wanted` records must not replace `members`; empty when it may.

    `lost` are the members without any key in the source. In a continued list most members are not lost. If most are,
    the source is of other people, and its size says nothing. This does not hold for small lists: in a list of three,
    two who change their addresses are most.
    """
    if not wanted:
        return [PlanRefused("no one in the source can be sent: the audience would be left empty", hint=_EMPTY_HINT)]
    if wanted < members * (1 - allowed_shrink):
        return [
            PlanRefused(
                f"the audience would shrink from {members:,} members to {wanted:,}, more than the share of"
                f" {allowed_shrink:g} allows",
                hint="check that the source is complete; if it is, allow a larger share with `allow_shrink=`, or give"
                " `replace=True`",
            )
        ]
    if lost > max(TOLERATED_LOST_MEMBERS, members * max(MAX_LOST_SHARE, allowed_shrink)):
        return [
            PlanRefused(
                f"{lost:,} of {members:,} members are not in the source at all: it looks like another list",
                hint="check that it is the source of this audience; if the audience is to hold others,"
                " say `replace=True`",
            )
        ]
    return []


def warn_of_pace(facts: SnapshotFacts, now: float, *, additions: bool, removals: bool) -> tuple[str, ...]:
    """Return a sentence for each kind of run that comes too soon after the last one. `now` is in epoch seconds.

    Runs start in whole seconds, so a run in the same second is not later.
    """
    found = []
    for what, at, wanted in (
        ("put in", facts.additions_at, additions),
        ("taken out", facts.removals_at, removals),
    ):
        if wanted and at is not None and 0 <= (ago := int(now) - int(at)) < _PROCESSING_SECONDS:
            found.append(
                f"people were {what} {_ago(ago)} ago: the service asks for one run of each in"
                f" {PROCESSING_HOURS:g} hours, and works on them only as often"
            )
    return tuple(found)


def warn_of_few(members: int) -> tuple[str, ...]:
    """Return a sentence when an audience of this size cannot be targeted."""
    if members >= MIN_TARGETABLE_PEOPLE:
        return ()
    needed = f"the service must know {MIN_TARGETABLE_PEOPLE} people of an audience before it can be targeted"
    return (f"the audience will have {members:,} members: {needed}",)


def _ago(seconds: int) -> str:
    minutes = seconds // 60
    return f"{minutes // 60} h {minutes % 60} min" if minutes >= 60 else f"{minutes} min"


# --- The records that a sync sends: additions and renewals, removals, then people put back ---


@dataclass(slots=True)
class Revision:
    """The changes of a sync. The batches from `first` on hold the members to remove; those before are the source.

    Members are removed by keys that only they have. `lost` counts the removed members none of whose keys is held by a
    member who stays.
    """

    difference: Difference
    gathered: BatchResults
    first: int
    sent: SentRecords
    later: dict[int, Indices] = field(default_factory=dict, repr=False)
    returned: int = 0
    lost: int = 0

    @classmethod
    def of(
        cls,
        gathered: BatchResults,
        wanted: Bits,
        snapshot: Snapshot,
        horizon: Horizon,
        tagger: Tagger,
        *,
        copies: Spool,
    ) -> Self:
        """Return the changes that make the audience equal to the `wanted` records.

        The members to remove are added to `gathered`. Raises SnapshotRefused.
        """
        difference = find_difference(gathered.keysets, wanted, snapshot, horizon, scratch=gathered.scratch)
        sent = SentRecords(gathered.spool.unseal, copies)
        revision = cls(difference, gathered, len(gathered.batch_records), sent)
        if difference.removed:
            revision._take_out(tagger)
        return revision

    def count_leaving(self) -> Counter[Kind]:
        """Return how many of the members that are removed have each kind."""
        counts = Counter[Kind]()
        for part in range(len(self.difference.removed)):
            counts.update(count_kinds(self._leaving(part)))
        return counts

    def select(self, selection: Selection) -> Selection:
        """Return which records are sent, in which wave."""
        gone = np.ones(self.difference.removals, dtype=bool)
        chosen, deletes = self.difference.sent, selection.deletes.copy()
        chosen.append(gone)
        deletes.append(gone)
        return replace(selection, chosen=chosen, deletes=deletes, later=self.later)

    def whole_records(self, batch: int, places: Indices) -> HashedRecords:
        """Return the records of one batch at `places`, ascending, with all their keys, RECORD_SCHEMA."""
        part = batch - self.first
        if part < 0:
            return self.sent.at(batch, places)
        records = as_records(self._leaving(part), first_row=self._first_row + self._before(part), deletes=True)
        return records_at(records, places)

    @property
    def _first_row(self) -> int:
        """Return the first row number after the source: removed members are in no row."""
        return self.gathered.tally.rows_read + 1

    def _before(self, part: int) -> int:
        """Return the number of removed members before those of `part`."""
        return sum(count for _, count in self.difference.removed[:part])

    def _leaving(self, part: int) -> HashedRecords:
        number, _ = self.difference.removed[part]
        return from_bytes(MemberChunk(self.gathered.scratch.read(number)))

    def _take_out(self, tagger: Tagger) -> None:
        firsts = np.cumsum([0, *self.gathered.batch_records])[:-1].tolist()
        on_batch = functools.partial(self._copy_records, firsts)
        staying = RemainingRecords(self.difference.wanted, firsts, self.gathered.spool.unseal, tagger, on_batch)
        parts = range(len(self.difference.removed))
        keys = count_holders((self._leaving(part) for part in parts), staying)
        places, struck = [], []
        reduce = functools.partial(self._reduce, keys, tagger)
        for part, reduced in enumerate(in_order(reduce, parts, workers=cores())):
            self.gathered.append(reduced.records)
            self.lost += reduced.lost
            places.append(reduced.places + self._before(part))
            struck.append(reduced.keys)
        numbers = np.concatenate(struck)
        rounds = plan_rounds(numbers, keys, staying.wanted.count())
        of_removal = np.zeros(self.difference.removals, dtype=np.int64)
        of_removal[np.concatenate(places)] = rounds.of_key[numbers]
        self._put_in_waves(of_removal, rounds)

    def _reduce(self, keys: RemovalKeys, tagger: Tagger, part: int) -> Reduced:
        first_row = self._first_row + self._before(part)
        return reduce_members(self._leaving(part), keys, tagger, first_row=first_row)

    def _copy_records(self, firsts: list[int], batch: int, records: HashedRecords, holders: Indices) -> None:
        """Copy the records that are sent, and those that may have to be put back."""
        first = firsts[batch]
        sent = self.difference.sent.slice(first, first + self.gathered.batch_records[batch])
        sent[holders] = True
        self.sent.store(batch, records, np.flatnonzero(sent))

    def _put_in_waves(self, of_removal: Indices, rounds: Rounds) -> None:
        sent = self.difference.sent
        for number, returned in enumerate(rounds.returned):
            self.returned += int((~sent.at(returned)).sum())
            sent.set(returned, True)
            gone = np.flatnonzero(of_removal == number) + len(self.difference.wanted)
            for wave, records in ((1 + 2 * number, gone), (2 + 2 * number, returned)):
                if len(records):
                    self.later[wave] = records
