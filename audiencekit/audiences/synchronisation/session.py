"""A run that compares with the snapshot, from the snapshot it opens to the one that it leaves."""

from __future__ import annotations

import contextlib
import functools
import math
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final

from audiencekit.api.client import AdsClient
from audiencekit.audiences.synchronisation.changes import ChangesFacts, write_changes
from audiencekit.audiences.synchronisation.members import day_of
from audiencekit.audiences.synchronisation.plannedsync import PlannedSync
from audiencekit.audiences.synchronisation.settling import settle_left, settle_run
from audiencekit.audiences.synchronisation.snapshot import Snapshot, SnapshotFacts, SnapshotStore
from audiencekit.delivery.clock import Clock
from audiencekit.delivery.limiter import RateLimiter
from audiencekit.delivery.runs import RunStore
from audiencekit.errors import AudiencekitError, InputOutputFailed, SnapshotRefused
from audiencekit.limits import SETTLE_SECONDS
from audiencekit.machine.keys import find_state_key
from audiencekit.planning.plannedrun import PlannedRun
from audiencekit.reporting.progress import Progress
from audiencekit.reporting.report import Report
from audiencekit.runs.execution import Planner, execute, in_thread
from audiencekit.runs.run import Run
from audiencekit.settings import Settings

_WHY_WAIT: Final = "a request of an earlier run may still be applied, and would undo what is sent now"


@dataclass(frozen=True, slots=True)
class Opened:
    """The snapshot of an audience, with what an earlier run had left in it by now, and what opening it has shown."""

    store: SnapshotStore
    snapshot: Snapshot
    is_settled: bool
    is_lost: bool = False


def open_snapshot(
    settings: Settings, audience_id: str, now: datetime, stack: ExitStack, *, rebuild: bool = False
) -> Opened:
    """The snapshot of the audience, which whoever calls holds the lock of; it is closed with `stack`.

    What a killed run has changed is brought into it first. Raises SnapshotRefused for one that cannot be trusted;
    with `rebuild` an empty one takes its place in memory, and on the disk before anything is sent.
    """
    key = find_state_key(settings.state_dir, settings.key)
    store = SnapshotStore(settings.state_dir, settings.require_account(), audience_id, key)
    try:
        is_settled = settle_left(store, RunStore(settings.state_dir), key, now)
        snapshot = store.open()
    except SnapshotRefused:
        if not rebuild:
            raise
        return Opened(store, Snapshot(store.unknown(), None), is_settled=False, is_lost=True)
    stack.callback(snapshot.close)
    return Opened(store, snapshot, is_settled)


@dataclass(frozen=True, slots=True, kw_only=True)
class Session:
    """One run over one opened snapshot. `clock` waits."""

    run: Run
    opened: Opened
    clock: Clock
    progress: Progress
    settle_seconds: float = SETTLE_SECONDS

    async def carry_out(
        self, planner: Planner, client: AdsClient, settings: Settings, *, limiter: RateLimiter
    ) -> Report:
        """The report of the complete run, whose changes are in the snapshot. Raises what `upload_async` does.

        However it ends, only what was confirmed is taken for sent, and what is in doubt for that.
        """
        failure: AudiencekitError
        try:
            report = await execute(
                self.run, client, settings, limiter=limiter, progress=self.progress, planner=planner, accept=self.accept
            )
            await in_thread(self._settle)
            return report
        except InputOutputFailed as error:
            failure = error
        except AudiencekitError as error:
            failure = error
            with contextlib.suppress(AudiencekitError):  # what is noted is settled by the next run
                await in_thread(self._settle)
        raise failure

    async def accept(self, planned: PlannedRun) -> None:
        """Notes what `planned` changes, so that nothing is lost when it is killed; before it, waits out old doubts."""
        assert isinstance(planned, PlannedSync)  # noqa: S101
        if planned.requests:
            await self._wait(planned)
            await in_thread(functools.partial(self._note, planned))

    async def _wait(self, planned: PlannedSync) -> None:
        facts = self.opened.snapshot.facts
        now = datetime.now(UTC).timestamp()
        removals = any(request.deletes for request in planned.requests)
        additions = any(request.updates for request in planned.requests)
        doubts = [facts.updates_doubted_at if removals else None, facts.deletes_doubted_at if additions else None]
        seconds = max((at + self.settle_seconds - now for at in doubts if at is not None), default=0.0)
        if seconds > 0:
            seconds = min(seconds, self.settle_seconds)
            self.progress.tell(f"waiting {math.ceil(seconds)} s: {_WHY_WAIT}")
            await self.clock.sleep(seconds)

    def _note(self, planned: PlannedSync) -> None:
        store, serial = self.opened.store, self.opened.snapshot.facts.serial
        if self.opened.is_lost:
            serial = store.forget()
        write_changes(
            store.changes_path,
            store.spool_key(),
            ChangesFacts(run_id=self.run.facts.run_id, serial=serial, day=day_of(planned.times.expires_at)),
            layout=planned.layout,
            waves=planned.selection.waves(),
            requests=planned.requests,
            records_of=planned.whole_records,
        )

    def _settle(self) -> None:
        settle_run(self.opened.store, self.run.journal, datetime.now(UTC))
