"""A run that compares with the snapshot, from the snapshot it opens to the one that it leaves."""

from __future__ import annotations

import asyncio
import contextlib
import functools
from contextlib import ExitStack
from dataclasses import replace
from typing import Final

from audiencekit.api.client import AdsClient
from audiencekit.audiences.synchronisation.plan.plannedsync import PlannedSync
from audiencekit.audiences.synchronisation.settling import settle_left, settle_run
from audiencekit.audiences.synchronisation.stamp.stampfile import KnownStamps
from audiencekit.audiences.synchronisation.stamp.stamping import Stamping, refuse_what_is_behind
from audiencekit.delivery.limiter import RateLimiter
from audiencekit.delivery.stop import take_back_cancellation
from audiencekit.destinations.adssession import AudienceSession
from audiencekit.errors import AudiencekitError, NotFinished, SnapshotRefused
from audiencekit.machine.keys import find_state_key
from audiencekit.planning.plannedrun import PlannedRun
from audiencekit.planning.planner import Planner
from audiencekit.reporting.progress import Progress
from audiencekit.reporting.report import Report
from audiencekit.runs.endings import refuse
from audiencekit.runs.execution import execute
from audiencekit.runs.inthread import in_thread
from audiencekit.runs.reports import store_report
from audiencekit.runs.run import Run
from audiencekit.runs.runclock import RunClock
from audiencekit.runs.store import RunStore
from audiencekit.selection.tags import Tagger
from audiencekit.settings import Settings
from audiencekit.snapshots.members import day_of
from audiencekit.snapshots.notedchanges import ChangesFacts, write_changes
from audiencekit.snapshots.partsfile import PARTS
from audiencekit.snapshots.snapshot import Snapshot
from audiencekit.snapshots.store import SnapshotStore

_STAY: Final = "stay until their entries expire"
_LOST: Final = f"the snapshot is lost: all members are sent again; past members that are not in the source {_STAY}"
_NEW: Final = f"this is the first sync of the audience: people who were put in by other means are unknown, and {_STAY}"


class Session:
    """The snapshot of one audience, under the lock of a run. Close it with `stack`.

    What an earlier run has left is brought into the
    snapshot first. With `rebuild` a snapshot that cannot be trusted is as good as none; it makes way for an empty one
    before anything is sent.
    """

    def __init__(
        self,
        settings: Settings,
        audience_id: str,
        stack: ExitStack,
        *,
        progress: Progress,
        rebuild: bool = False,
        time: RunClock | None = None,
    ) -> None:
        self._key = find_state_key(settings.state_dir, settings.key)
        self._runs = RunStore(settings.state_dir)
        self._store = SnapshotStore(settings.state_dir, settings.require_account(), audience_id, self._key)
        self._stack, self._progress, self._time = stack, progress, time or RunClock()
        self._rebuild, self._audience_id = rebuild, audience_id
        self._snapshot: Snapshot | None = None
        self._stamping: Stamping | None = None
        self._is_lost = False

    @property
    def tagger(self) -> Tagger:
        """Makes the tags that order the members."""
        return self._store.tagger()

    def open(self) -> tuple[Snapshot, tuple[str, ...]]:
        """The snapshot, and what people should know of it.

        Raises SnapshotRefused for one that cannot be trusted, or that is not the last state of the audience.
        """
        notes: tuple[str, ...] = ()
        try:
            if settle_left(self._store, self._runs, self._key, self._time.now()):
                notes = ("an earlier run was cut short: what it left in doubt is sent again",)
            snapshot = self._store.open()
            self._stack.callback(snapshot.close)
            if self._rebuild:
                for part in range(PARTS):
                    snapshot.members(part)
        except SnapshotRefused:
            if not self._rebuild:
                raise
            snapshot, self._is_lost = self._store.unknown(), True
        self._snapshot = snapshot
        return snapshot, notes + self._words_for(snapshot) + self._judged(snapshot.facts.serial)

    def _judged(self, serial: int) -> tuple[str, ...]:
        """Notes from the stamp of the audience; of a plan, for which the service is not asked, from here."""
        if self._stamping is not None:
            return self._stamping.judge(serial)
        known = None if self._rebuild else KnownStamps.read(self._store.directory, self._store.spool_key())
        if known is not None:
            refuse_what_is_behind(known, serial)
        return ()

    def _words_for(self, snapshot: Snapshot) -> tuple[str, ...]:
        if self._is_lost:
            return (_LOST,)
        if self._rebuild:
            return ("the snapshot is built anew: all members are sent again",)
        return () if snapshot.facts.serial else (_NEW,)

    async def carry_out(self, run: Run, planner: Planner, client: AdsClient, limiter: RateLimiter) -> Report:
        """The report of the complete run, whose changes are in the snapshot. Raises what `upload_async` does.

        However it ends, only what was confirmed is taken for sent, and what is in doubt for that.
        """
        stamping = self._stamping = self._stamping_of(client)
        failure: AudiencekitError
        try:
            await self._look(run, stamping)
            report = await execute(
                run, AudienceSession(client, run.facts.account_id, self._audience_id),
                limiter=limiter, progress=self._progress, planner=planner,
                accept=functools.partial(self._accept, run, stamping), time=self._time,
            )  # fmt: skip
        except AudiencekitError as error:
            failure = error
            with contextlib.suppress(AudiencekitError, asyncio.CancelledError):  # the next run settles what is noted
                await in_thread(functools.partial(self._settle, run))
        else:
            return await self._conclude(run, stamping, report)
        raise failure

    def _stamping_of(self, client: AdsClient) -> Stamping:
        return Stamping(
            client, self._audience_id, self._store.directory, self._store.spool_key(),
            policy=self._time.retry_policy(),
            is_rebuild=self._rebuild, tell=self._progress.tell,
        )  # fmt: skip

    async def _look(self, run: Run, stamping: Stamping) -> None:
        failure: AudiencekitError
        try:
            return await stamping.look()
        except AudiencekitError as error:
            failure = error
        except asyncio.CancelledError:
            failure = NotFinished("interrupted while the audience was looked at: nothing was sent")
        raise refuse(run, failure)

    async def _accept(self, run: Run, stamping: Stamping, planned: PlannedRun) -> None:
        """Notes what `planned` changes, so that nothing is lost when it is killed."""
        assert isinstance(planned, PlannedSync)  # noqa: S101
        if planned.requests:
            await stamping.begin(self._opened.facts.serial)
            await in_thread(functools.partial(self._note, run, planned))

    async def _conclude(self, run: Run, stamping: Stamping, report: Report) -> Report:
        """The report of the run, which is complete whatever interrupts this: the next run does what is left of it."""
        try:
            await in_thread(functools.partial(self._settle, run))
            with contextlib.closing(self._store.open()) as snapshot:
                serial = snapshot.facts.serial
            await stamping.end(serial)
        except asyncio.CancelledError:
            take_back_cancellation()
        return store_report(run, replace(report, notes=report.notes + stamping.notes)) if stamping.notes else report

    def _note(self, run: Run, planned: PlannedSync) -> None:
        serial = self._store.forget() if self._is_lost else self._opened.facts.serial
        write_changes(
            self._store.changes_path,
            self._store.spool_key(),
            ChangesFacts(run_id=run.facts.run_id, serial=serial, day=day_of(planned.times.end)),
            layout=planned.layout,
            waves=planned.selection.waves(),
            requests=planned.requests,
            records_of=planned.whole_records,
        )

    def _settle(self, run: Run) -> None:
        settle_run(self._store, run.journal, run.facts.run_id, self._time.now())

    @property
    def _opened(self) -> Snapshot:
        assert self._snapshot is not None  # noqa: S101
        return self._snapshot
