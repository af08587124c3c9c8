"""A run that compares with the snapshot: from the look at the audience to the snapshot that the run leaves."""

from __future__ import annotations

import asyncio
import contextlib
from dataclasses import dataclass, replace

from audiencekit.audiences.synchronisation.heldsnapshot import HeldSnapshot
from audiencekit.audiences.synchronisation.stamp.stamping import Stamping
from audiencekit.delivery.limiter import RateLimiter
from audiencekit.delivery.options import take_back_cancellation
from audiencekit.destinations.destination import Session
from audiencekit.errors import AudiencekitError, NotFinished
from audiencekit.planning.plan import PlannedRun
from audiencekit.planning.planner import Planner
from audiencekit.reporting.progress import Progress
from audiencekit.reporting.report import Report
from audiencekit.runs.endings import refuse
from audiencekit.runs.execution import execute
from audiencekit.runs.reports import store_report
from audiencekit.runs.run import Run
from audiencekit.runs.runclock import RunClock


@dataclass(frozen=True, slots=True)
class SnapshotRun:
    """One run, the snapshot that it compares with, the stamp of its audience, and the session that sends."""

    run: Run
    snapshot: HeldSnapshot
    stamping: Stamping
    session: Session
    time: RunClock
    progress: Progress

    async def carry_out(self, planner: Planner, limiter: RateLimiter) -> Report:
        """The report of the complete run, whose changes are in the snapshot. Raises what `upload_async` does.

        However it ends, only what was confirmed is taken for sent, and what is in doubt for that.
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
        """Change nothing of the audience before it bears the stamp of this run, and the changes are noted."""
        if planned.requests:
            await self.stamping.begin(self.snapshot.serial)
            await self.snapshot.note(self.run, planned)

    async def _conclude(self, report: Report) -> Report:
        """The report of the run, which is complete whatever interrupts this: the next run does what is left of it."""
        try:
            await self.stamping.end(await self.snapshot.settle(self.run))
        except asyncio.CancelledError:
            take_back_cancellation()
        notes = self.stamping.notes
        return store_report(self.run, replace(report, notes=report.notes + notes)) if notes else report
