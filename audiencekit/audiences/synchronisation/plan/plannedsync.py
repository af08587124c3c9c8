"""The plan of a sync: the source read as for an upload, then only what differs from the snapshot is chosen."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field, fields
from datetime import datetime
from typing import Any

from audiencekit.audiences.synchronisation.plan.difference import Horizon
from audiencekit.audiences.synchronisation.plan.guards import judge_size, warn_of_few, warn_of_pace
from audiencekit.audiences.synchronisation.plan.revision import Revision
from audiencekit.errors import Refused
from audiencekit.limits import RENEW_BEFORE_DAYS, RENEW_BEFORE_SHARE
from audiencekit.machine.spool import Spool
from audiencekit.planning.batchresults import Gathered
from audiencekit.planning.planinputs import Means, Terms
from audiencekit.planning.plannedrun import PlannedRun
from audiencekit.planning.planner import plan_run
from audiencekit.preparation.times import PlanTimes
from audiencekit.reporting.counts import RowCounts, rows_among
from audiencekit.selection.selection import Selection
from audiencekit.selection.tags import Tagger
from audiencekit.snapshots.members import day_of
from audiencekit.snapshots.notedchanges import RecordsOf
from audiencekit.snapshots.snapshot import Snapshot
from audiencekit.sources.files import AnySource


@dataclass(frozen=True, slots=True, kw_only=True)
class SyncChanges:
    """The changes of a sync, in records. `returned` are taken out together with other people, and put back.

    `members` are those before, `members_after` those after it. `waves` counts the records of each wave: those put in,
    those taken out, those put back, and so on.
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

    Its `batches` have the records of the bodies; `whole_records` gives them with all their keys, to be noted.
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
        """Where every row is; of the records that are done, those that are taken out are no rows."""
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


@dataclass(frozen=True, slots=True, kw_only=True)
class SyncPlanner:
    """Plans a sync with `snapshot`, as `plan_run` plans an upload.

    `all_members` is sent when nothing of the snapshot is to be relied on. `remarks` are what its reading has shown.
    """

    snapshot: Snapshot
    tagger: Tagger
    allowed_shrink: float
    all_members: bool = False
    remarks: tuple[str, ...] = ()

    def __call__(self, source: AnySource, terms: Terms, means: Means) -> PlannedSync:
        """The plan. Raises what `plan_run` does, and SnapshotRefused."""
        revisions: list[Revision] = []
        now = terms.now

        def revise(gathered: Gathered, selection: Selection, times: PlanTimes) -> Selection:
            horizon = _horizon(now, times.end, all_members=self.all_members)
            copies = means.stack.enter_context(Spool(means.spool_dir))
            revisions.append(Revision.of(gathered, selection.kept, self.snapshot, horizon, self.tagger, copies=copies))
            return revisions[0].select(selection)

        planned = plan_run(source, terms, means, tagger=self.tagger, revise=revise)
        (revision,) = revisions
        waves = _records_by_wave(planned)
        difference = revision.difference
        changes = SyncChanges(
            additions=difference.additions,
            renewals=difference.renewals,
            removals=difference.removals,
            returned=revision.returned,
            unchanged=difference.unchanged - revision.returned,
            members=_live(self.snapshot, now),
            members_after=difference.wanted.count(),
            waves=waves,
        )
        planned.people_changed = changes.additions + changes.removals
        planned.refusals = self._refusals(planned, changes, revision.lost)
        remarks = self.remarks + self._remarks(planned, changes, now)
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

    def _remarks(self, planned: PlannedRun, changes: SyncChanges, now: datetime) -> tuple[str, ...]:
        additions, removals = bool(sum(changes.waves[::2])), bool(changes.removals)
        found = warn_of_pace(self.snapshot.facts, now.timestamp(), additions=additions, removals=removals)
        if put_back := sum(changes.waves[2::2]):
            shared = f"{put_back:,} records share a key with people who go by no other"
            found += (f"{shared}: a Delete takes both out, and these are put back right after it",)
        if not planned.requests:
            found += ("the audience is what the source says already: there is nothing to send",)
        return found + warn_of_few(changes.members_after)


def _horizon(now: datetime, expires_at: datetime, *, all_members: bool) -> Horizon:
    today, lifetime = day_of(now), day_of(expires_at) - day_of(now)
    return Horizon(
        lapsed_before=today - 1,  # entries expire in the course of a day, by the clock of the service
        renewed_to=today + min(RENEW_BEFORE_DAYS, int(lifetime * RENEW_BEFORE_SHARE)),
        all_members=all_members,
    )


def _live(snapshot: Snapshot, now: datetime) -> int:
    """Members whose entries have not lapsed."""
    return snapshot.facts.live(day_of(now) - 1)


def _records_by_wave(planned: PlannedRun) -> list[int]:
    counts = [0] * (max((request.wave for request in planned.requests), default=-1) + 1)
    for request in planned.requests:
        counts[request.wave] += request.records
    return counts
