"""A run that compares with the snapshot, from the snapshot it opens to the one that it leaves."""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable
from contextlib import ExitStack
from datetime import UTC, datetime
from typing import Final

from audiencekit.api.client import AdsClient
from audiencekit.audiences.synchronisation.changes import ChangesFacts, write_changes
from audiencekit.audiences.synchronisation.members import day_of
from audiencekit.audiences.synchronisation.partsfile import PARTS
from audiencekit.audiences.synchronisation.plannedsync import PlannedSync
from audiencekit.audiences.synchronisation.settling import settle_left, settle_run
from audiencekit.audiences.synchronisation.snapshot import Snapshot
from audiencekit.audiences.synchronisation.snapshotstore import SnapshotStore
from audiencekit.delivery.clock import Clock
from audiencekit.delivery.journal.moments import Moment, this_moment
from audiencekit.delivery.limiter import RateLimiter
from audiencekit.delivery.runs import RunStore
from audiencekit.errors import AudiencekitError, SnapshotRefused
from audiencekit.machine.eventloop import to_its_end
from audiencekit.machine.keys import find_state_key
from audiencekit.planning.plannedrun import PlannedRun
from audiencekit.preparation.tags import Tagger
from audiencekit.reporting.progress import Progress
from audiencekit.reporting.report import Report
from audiencekit.runs.execution import Planner, execute, in_thread
from audiencekit.runs.run import Run
from audiencekit.settings import Settings

_STAYS: Final = "stays until the entry lapses"
_LOST: Final = f"the snapshot is lost: everybody is sent again; who was in it and is not in the source, {_STAYS}"
_NEW: Final = f"the audience comes under sync: who was put in by other means is not known and {_STAYS}"


class Session:
    """The snapshot of one audience, under the lock of a run. Close it with `stack`.

    `clock` waits and tells the time, `moment` the time of journals. What an earlier run has left is brought into the
    snapshot first. With `rebuild` a snapshot that cannot be trusted is as good as none; it makes way for an empty one
    before anything is sent.
    """

    def __init__(
        self,
        settings: Settings,
        audience_id: str,
        stack: ExitStack,
        *,
        clock: Clock,
        progress: Progress,
        rebuild: bool = False,
        moment: Callable[[], Moment] = this_moment,
    ) -> None:
        self._key = find_state_key(settings.state_dir, settings.key)
        self._runs = RunStore(settings.state_dir)
        self._store = SnapshotStore(settings.state_dir, settings.require_account(), audience_id, self._key)
        self._stack, self._clock, self._progress = stack, clock, progress
        self._rebuild, self._moment = rebuild, moment
        self._snapshot: Snapshot | None = None
        self._is_lost = False

    @property
    def tagger(self) -> Tagger:
        """Makes the tags that order the members."""
        return self._store.tagger()

    def open(self) -> tuple[Snapshot, tuple[str, ...]]:
        """The snapshot, and what people should know of it. Raises SnapshotRefused for one that cannot be trusted."""
        notes: tuple[str, ...] = ()
        try:
            if settle_left(self._store, self._runs, self._key, self._now()):
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
        return snapshot, notes + self._words_for(snapshot)

    def _words_for(self, snapshot: Snapshot) -> tuple[str, ...]:
        if self._is_lost:
            return (_LOST,)
        if self._rebuild:
            return ("the snapshot is built anew: everybody is sent again",)
        return () if snapshot.facts.serial else (_NEW,)

    async def carry_out(
        self, run: Run, planner: Planner, client: AdsClient, settings: Settings, limiter: RateLimiter
    ) -> Report:
        """The report of the complete run, whose changes are in the snapshot. Raises what `upload_async` does.

        However it ends, only what was confirmed is taken for sent, and what is in doubt for that.
        """
        failure: AudiencekitError
        try:
            report = await execute(
                run, client, settings, limiter=limiter, progress=self._progress, planner=planner,
                accept=functools.partial(self._accept, run), clock=self._clock, moment=self._moment,
            )  # fmt: skip
        except AudiencekitError as error:
            failure = error
            with contextlib.suppress(AudiencekitError):  # what is noted is settled by the next run
                await self._settled(run)
        else:
            await self._settled(run)
            return report
        raise failure

    async def _accept(self, run: Run, planned: PlannedRun) -> None:
        """Notes what `planned` changes, so that nothing is lost when it is killed."""
        assert isinstance(planned, PlannedSync)  # noqa: S101
        if planned.requests:
            await in_thread(functools.partial(self._note, run, planned))

    def _note(self, run: Run, planned: PlannedSync) -> None:
        serial = self._store.forget() if self._is_lost else self._opened.facts.serial
        write_changes(
            self._store.changes_path,
            self._store.spool_key(),
            ChangesFacts(run_id=run.facts.run_id, serial=serial, day=day_of(planned.times.expires_at)),
            layout=planned.layout,
            waves=planned.selection.waves(),
            requests=planned.requests,
            records_of=planned.whole_records,
        )

    async def _settled(self, run: Run) -> None:
        """Returns when what became of `run` is in the snapshot: how it ended, no interruption can change any more."""
        await to_its_end(in_thread(functools.partial(self._settle, run)))

    def _settle(self, run: Run) -> None:
        settle_run(self._store, run.journal, run.facts.run_id, self._now())

    @property
    def _opened(self) -> Snapshot:
        assert self._snapshot is not None  # noqa: S101
        return self._snapshot

    def _now(self) -> datetime:
        return datetime.fromtimestamp(self._clock.now(), UTC)
