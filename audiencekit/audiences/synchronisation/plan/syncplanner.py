"""The planner of a sync: the source read as for an upload, then only what differs from the snapshot is chosen."""

from __future__ import annotations

from dataclasses import dataclass, fields
from datetime import datetime
from typing import Protocol

from audiencekit.audiences.synchronisation.plan.difference import Horizon
from audiencekit.audiences.synchronisation.plan.guards import judge_size, warn_of_few, warn_of_pace
from audiencekit.audiences.synchronisation.plan.plannedsync import PlannedSync, SyncChanges
from audiencekit.audiences.synchronisation.plan.revision import Revision
from audiencekit.errors import Refused, UsageError
from audiencekit.machine.spool import Spool
from audiencekit.planning.plan import PlannedRun
from audiencekit.planning.plan_inputs import Means, Terms
from audiencekit.planning.planner import plan_run
from audiencekit.planning.reading import BatchResults
from audiencekit.preparation.plantimes import PlanTimes
from audiencekit.selection.selection import Selection
from audiencekit.selection.tags import Tagger
from audiencekit.snapshots.files import Snapshot
from audiencekit.sources.files import AnySource


class SnapshotOwner(Protocol):
    """The holder of the snapshot of the audience."""

    @property
    def tagger(self) -> Tagger:
        """The tagger of its members; known once it is open."""

    def open(self) -> tuple[Snapshot, tuple[str, ...]]:
        """The snapshot as it is now, and remarks on what its reading has shown."""


@dataclass(frozen=True, slots=True)
class SyncPlanner:
    """Plans a sync with the snapshot of `owner`, as `plan_run` plans an upload.

    `all_members` is sent when nothing of the snapshot is to be relied on.
    """

    owner: SnapshotOwner
    allowed_shrink: float
    all_members: bool = False

    def __call__(self, source: AnySource, terms: Terms, means: Means) -> PlannedSync:
        """The plan. Raises what `plan_run` does, and SnapshotRefused."""
        snapshot, notes = self.owner.open()
        tagger = self.owner.tagger
        revisions: list[Revision] = []
        now = terms.now

        def revise(gathered: BatchResults, selection: Selection, times: PlanTimes) -> Selection:
            horizon = Horizon.of(now, times.end, all_members=self.all_members)
            copies = means.stack.enter_context(Spool(means.spool_dir))
            revisions.append(Revision.of(gathered, selection.chosen, snapshot, horizon, tagger, copies=copies))
            return revisions[0].select(selection)

        planned = plan_run(source, terms, means, tagger=tagger, revise=revise)
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
        planned.refusals = self._refusals(planned, changes, revision.lost)
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


def _records_by_wave(planned: PlannedRun) -> list[int]:
    counts = [0] * (max((request.wave for request in planned.requests), default=-1) + 1)
    for request in planned.requests:
        counts[request.wave] += request.records
    return counts


def allowed_share(allow_shrink: float, *, replace: bool) -> float:
    """The share that the audience may shrink by. Raises UsageError for one that is none."""
    if not 0 <= allow_shrink <= 1:
        raise UsageError("the share that an audience may shrink by must be from 0 to 1")
    return 1.0 if replace else allow_shrink
