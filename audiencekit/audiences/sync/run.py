"""The run of a sync: it holds the snapshot, stores the changes, sends them, and merges them into the snapshot."""

from __future__ import annotations

import asyncio
import contextlib
import functools
from collections.abc import Callable, Iterable
from contextlib import ExitStack
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from audiencekit.api.client import AdsClient
from audiencekit.api.opening import open_client
from audiencekit.audiences.sync.planner import PlannedSync
from audiencekit.audiences.sync.stamp import AudienceStamp, judge_locally
from audiencekit.delivery.limiter import RateLimiter, open_limiter
from audiencekit.delivery.options import uncancel_task
from audiencekit.destinations.ads_session import AudienceSession
from audiencekit.destinations.destination import Session
from audiencekit.errors import AudiencekitError, InputOutputFailed, NotFinished, ResumeRefused, SnapshotRefused
from audiencekit.personal import HashedRecords
from audiencekit.planning.plan import PlannedRun
from audiencekit.planning.planner import Planner
from audiencekit.reporting.progress import Progress
from audiencekit.reporting.report import Report
from audiencekit.runs.beginning import start_run
from audiencekit.runs.endings import refuse
from audiencekit.runs.execution import execute
from audiencekit.runs.first_pass import in_thread
from audiencekit.runs.journal.file import JOURNAL, JournalFile
from audiencekit.runs.reports import store_report
from audiencekit.runs.run import Run, RunArguments, RunClock
from audiencekit.runs.store import RunStore
from audiencekit.selection.tags import Tagger
from audiencekit.settings import Settings
from audiencekit.snapshots.changes import Changes, ChangesFacts, Effects, NextSnapshot, Outcomes, is_old, write_changes
from audiencekit.snapshots.facts import SnapshotFacts, untrusted
from audiencekit.snapshots.files import PARTS, Snapshot
from audiencekit.snapshots.members import day_of
from audiencekit.snapshots.store import SnapshotStore
from audiencekit.state.keys import StateKey, SubKey, find_state_key
from audiencekit.state.spool import Spool

# --- The snapshot of an audience under the lock of a run: opened, judged, and updated when the run ends ---

_STAY: Final = "stay until their entries expire"
_LOST: Final = f"the snapshot is lost: all members are sent again; past members that are not in the source {_STAY}"
_NEW: Final = f"this is the first sync of the audience: people who were put in by other means are unknown, and {_STAY}"


def _now() -> datetime:
    return datetime.now(UTC)


class HeldSnapshot:
    """The snapshot of one audience, under the lock of a run. `stack` closes it.

    Changes of an earlier run are merged into it when it is opened. With `rebuild` a snapshot that cannot be trusted is
    replaced by an empty one before anything is sent.
    """

    def __init__(
        self,
        settings: Settings,
        audience_id: str,
        stack: ExitStack,
        *,
        rebuild: bool = False,
        now: Callable[[], datetime] = _now,
    ) -> None:
        self._state_dir = settings.state_dir
        self._key = find_state_key(settings.state_dir, settings.key)
        self._store = SnapshotStore(settings.state_dir, settings.require_account(), audience_id, self._key)
        self._stack, self._now = stack, now
        self._is_rebuild = rebuild
        self._snapshot: Snapshot | None = None
        self._judge: Callable[[int], tuple[str, ...]] = self._judge_locally
        self._is_lost = False

    @property
    def tagger(self) -> Tagger:
        """Return the tagger that orders the members."""
        return self._store.tagger()

    @property
    def directory(self) -> Path:
        """The directory of its files."""
        return self._store.directory

    @property
    def key(self) -> SubKey:
        """The key that seals files beside it."""
        return self._store.spool_key()

    def judged_by(self, judge: Callable[[int], tuple[str, ...]]) -> None:
        """Let `judge` decide whether a serial number is that of the last state, after the service was asked."""
        self._judge = judge

    def open(self) -> tuple[Snapshot, tuple[str, ...]]:
        """Return the snapshot, and notes on it for people.

        Raises SnapshotRefused for one that cannot be trusted, or that is not the last state of the audience.
        """
        notes: tuple[str, ...] = ()
        try:
            if settle_previous_run(self._store, self._state_dir, self._key, self._now()):
                notes = ("an earlier run was interrupted: its requests in doubt are sent again",)
            snapshot = self._store.open()
            self._stack.callback(snapshot.close)
            if self._is_rebuild:
                for part in range(PARTS):
                    snapshot.members(part)
        except SnapshotRefused:
            if not self._is_rebuild:
                raise
            snapshot, self._is_lost = self._store.unknown(), True
        self._snapshot = snapshot
        return snapshot, notes + self._words_for(snapshot) + self._judge(snapshot.facts.serial)

    def _judge_locally(self, serial: int) -> tuple[str, ...]:
        """Judge by the stamps that are known here, for a plan, which does not ask the service."""
        if not self._is_rebuild:
            judge_locally(self.directory, self.key, serial)
        return ()

    def _words_for(self, snapshot: Snapshot) -> tuple[str, ...]:
        if self._is_lost:
            return (_LOST,)
        if self._is_rebuild:
            return ("the snapshot is built anew: all members are sent again",)
        return () if snapshot.facts.serial else (_NEW,)

    async def note(self, run: Run, planned: PlannedRun) -> None:
        """Store the changes of `planned`, so that nothing is lost when the run is killed."""
        await in_thread(functools.partial(self._note, run, planned))

    def _note(self, run: Run, planned: PlannedRun) -> None:
        assert isinstance(planned, PlannedSync)  # noqa: S101
        serial = self._store.forget() if self._is_lost else self.serial
        write_changes(
            self._store.changes_path,
            self.key,
            ChangesFacts(run_id=run.facts.run_id, serial=serial, day=day_of(planned.times.end)),
            layout=planned.layout,
            waves=planned.selection.waves(),
            requests=planned.requests,
            records_of=planned.whole_records,
        )

    async def settle(self, run: Run) -> int:
        """Merge the stored changes that the journal of `run` confirms, or leaves in doubt, into the snapshot.

        Return the serial number of the snapshot.
        """
        await in_thread(functools.partial(self._settle, run))
        with contextlib.closing(self._store.open()) as snapshot:
            return snapshot.facts.serial

    def _settle(self, run: Run) -> None:
        settle_run(self._store, run.journal, run.facts.run_id, self._now())

    @property
    def serial(self) -> int:
        """The serial number of the open snapshot."""
        assert self._snapshot is not None  # noqa: S101
        return self._snapshot.facts.serial


# --- The changes of a run -> a new snapshot: right after the run, or in the next run after a kill ---


def settle_previous_run(store: SnapshotStore, state_dir: Path, key: StateKey, now: datetime) -> bool:
    """Merge the changes of an earlier run into the snapshot; return whether there were any.

    Raises SnapshotRefused when the files are damaged or do not belong together.
    """
    store.prepare()
    try:
        changes = Changes.open(store.changes_path, store.spool_key())
    except InputOutputFailed:
        raise untrusted() from None
    if changes is None:
        return False
    with contextlib.closing(changes), contextlib.closing(store.open()) as snapshot:
        if changes.facts.serial > snapshot.facts.serial:
            raise untrusted()
        if changes.facts.serial == snapshot.facts.serial:
            _apply(store, snapshot, changes, _outcomes_of_run(changes, RunStore(state_dir), key), now)
    store.remove_changes()
    return True


def settle_run(store: SnapshotStore, journal: JournalFile, run_id: str, now: datetime) -> None:
    """Do the same for a run whose `journal` is open; if it changed nothing, do other due work."""
    changes = Changes.open(store.changes_path, store.spool_key())
    if changes is None:
        write_whole_if_due(store, now)
        return
    with contextlib.closing(changes), contextlib.closing(store.open()) as snapshot:
        if changes.facts.run_id != run_id:
            return  # left by another, which this run did not come as far as to settle
        _apply(store, snapshot, changes, _outcomes_of(journal), now)
    store.remove_changes()


def _outcomes_of(journal: JournalFile) -> Outcomes:
    states = journal.states()
    return Outcomes(
        confirmed=frozenset(number for number, state in states.items() if state == "confirmed"),
        touched=frozenset(number for number, state in states.items() if state in ("intended", "unknown")),
        refused=frozenset(refused.row for refused in journal.sums().refused),
    )


def _outcomes_of_run(changes: Changes, runs: RunStore, key: StateKey) -> Outcomes:
    """Return the outcomes in the run's journal; without a trusted journal everything may have been applied."""
    run_id = changes.facts.run_id
    try:
        with contextlib.closing(JournalFile.open(runs.directory(run_id) / JOURNAL)) as journal:
            journal.check_by(run_id, key)
            return _outcomes_of(journal)
    except (ResumeRefused, InputOutputFailed):
        return Outcomes(frozenset(), frozenset(map(int, changes.facts.requests)))


def _apply(store: SnapshotStore, snapshot: Snapshot, changes: Changes, outcomes: Outcomes, now: datetime) -> None:
    if outcomes.reached:
        facts = _facts_after(snapshot.facts, changes, outcomes, now.timestamp())
        _succeed(store, snapshot, changes.effects(outcomes), facts, now)


def write_whole_if_due(store: SnapshotStore, now: datetime) -> None:
    """Write all members again when that was last done long ago, although nothing has changed.

    This removes members who have gone since then from the files. Raises SnapshotRefused.
    """
    with contextlib.closing(store.open()) as snapshot:
        if snapshot.recent is not None and is_old(snapshot.facts, now.timestamp()):
            _succeed(store, snapshot, (), snapshot.facts, now)


def _succeed(
    store: SnapshotStore, snapshot: Snapshot, found: Iterable[HashedRecords], facts: SnapshotFacts, now: datetime
) -> None:
    with Spool(store.directory) as scratch:
        effects = Effects(scratch, store.tagger())
        for effect in found:
            effects.add(effect)
        effects.close()
        NextSnapshot(snapshot, effects, lapsed_before=day_of(now) - 1).write(store, facts, now.timestamp())


def _facts_after(facts: SnapshotFacts, changes: Changes, outcomes: Outcomes, now: float) -> SnapshotFacts:
    reached = changes.facts.verbs_of(outcomes.reached)
    return replace(
        facts,
        additions_at=now if False in reached else facts.additions_at,
        removals_at=now if True in reached else facts.removals_at,
    )


# --- A run with the snapshot of its audience: under its lock, at its pace, with the client of its account ---

# Makes the planner of a run, which opens the snapshot.
PlannerOf = Callable[[HeldSnapshot], Planner]


async def run_on_snapshot(arguments: RunArguments, planner_of: PlannerOf, *, rebuild: bool = False) -> Report:
    """Return the report of a new run. Raises the errors of `upload_async`, and SnapshotRefused."""
    options, time = arguments.options, RunClock()
    settings = options.settings
    client, quota = open_client(settings), arguments.target.destination.quota
    async with open_limiter(settings, quota, clock=time.clock, given=options.limiter) as pace:
        with ExitStack() as stack:
            run = start_run(arguments, stack)
            opened = open_snapshot_run(run, client, stack, time=time, progress=options.progress, rebuild=rebuild)
            return await opened.carry_out(planner_of(opened.snapshot), pace)


def open_snapshot_run(
    run: Run, client: AdsClient, stack: ExitStack, *, time: RunClock, progress: Progress, rebuild: bool = False
) -> SnapshotRun:
    """Open the snapshot of the audience of `run`, with its stamp; `stack` closes it.

    With `rebuild` it is built anew.
    """
    audience_id = run.facts.target.id
    snapshot = HeldSnapshot(run.settings, audience_id, stack, rebuild=rebuild, now=time.now)
    stamping = AudienceStamp(
        client, audience_id, snapshot.directory, snapshot.key,
        policy=time.retry_policy(run.settings), is_rebuild=rebuild, notify=progress.tell,
    )  # fmt: skip
    session = AudienceSession(client, run.facts.account_id, audience_id)
    return SnapshotRun(run, snapshot, stamping, session, time, progress)


# --- The steps of such a run: from the check of the audience to the new snapshot ---


@dataclass(frozen=True, slots=True)
class SnapshotRun:
    """One run, the snapshot that it is compared with, the stamp of its audience, and the session that sends."""

    run: Run
    snapshot: HeldSnapshot
    stamping: AudienceStamp
    session: Session
    time: RunClock
    progress: Progress

    async def carry_out(self, planner: Planner, limiter: RateLimiter) -> Report:
        """Return the report of the complete run, whose changes are in the snapshot.

        Raises the errors of `upload_async`. However it ends, only confirmed requests count as sent; those in doubt stay
        in doubt.
        """
        self.snapshot.judged_by(self.stamping.judge)
        failure: AudiencekitError
        try:
            await self._look()
            report = await execute(
                self.run, self.session, limiter=limiter, progress=self.progress, planner=planner, accept=self._accept,
                time=self.time,
            )  # fmt: skip
        except AudiencekitError as error:
            failure = error
            with contextlib.suppress(AudiencekitError, asyncio.CancelledError):  # the next run settles what is noted
                await self.snapshot.settle(self.run)
        else:
            return await self._conclude(report)
        raise failure

    async def _look(self) -> None:
        failure: AudiencekitError
        try:
            return await self.stamping.look()
        except AudiencekitError as error:
            failure = error
        except asyncio.CancelledError:
            failure = NotFinished("interrupted while the audience was looked at: nothing was sent")
        raise refuse(self.run, failure)

    async def _accept(self, planned: PlannedRun) -> None:
        """Change nothing before the audience has the stamp of this run, and the changes are stored."""
        if planned.requests:
            await self.stamping.begin(self.snapshot.serial)
            await self.snapshot.note(self.run, planned)

    async def _conclude(self, report: Report) -> Report:
        """Return the report of the run. It is complete even if this is interrupted: the next run does the rest."""
        try:
            await self.stamping.end(await self.snapshot.settle(self.run))
        except asyncio.CancelledError:
            uncancel_task()
        if not (notes := self.stamping.notes):
            return report
        report = store_report(self.run, replace(report, notes=report.notes + notes))
        self.run.events.ended(report.to_json())
        return report
