"""A run under an id that its caller chose: begun, gone on with, or found to be complete.

A caller that is started again after a failure (a task of a scheduler, a job of a queue) gives the same id again and
need not know how far it came. An id is good for one input: another one begins the next run in its line, ID--2.
"""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import dataclass, replace
from typing import Final

from audiencekit.delivery.limiter import RateLimiter
from audiencekit.destinations.destination import Session
from audiencekit.errors import ResumeRefused
from audiencekit.reporting.progress import Progress
from audiencekit.reporting.report import Report
from audiencekit.runs.arguments import RunArguments
from audiencekit.runs.beginning import reopen_run, start_run
from audiencekit.runs.endings import ended
from audiencekit.runs.execution import execute
from audiencekit.runs.firstlook import look_first
from audiencekit.runs.firstpass import is_unchanged
from audiencekit.runs.store import RunStore, check_chosen_run_id
from audiencekit.settings import Settings
from audiencekit.sources.files import FilePath

_ANOTHER_INPUT: Final = "was begun with another input"
# Why a run is left as it is and the next one begins.
_LEFT: Final = {
    **dict.fromkeys(("source", "suppression", "mapping", "options"), _ANOTHER_INPUT),
    **dict.fromkeys(("not_begun", "no_journal"), "ended before it sent anything"),
    "expired": "would send entries that have expired",
}


@dataclass(frozen=True, slots=True)
class NamedRun:
    """An `upload` of files under `run_id`. Raises UsageError for an id that a caller may not give."""

    run_id: str
    sources: tuple[FilePath, ...]
    arguments: RunArguments

    def __post_init__(self) -> None:
        check_chosen_run_id(self.run_id)

    @property
    def _settings(self) -> Settings:
        return self.arguments.options.settings

    async def carry_out(self, session: Session, limiter: RateLimiter, progress: Progress) -> Report:
        """The report of the run that is complete for this input, by any process. Raises what `execute` raises.

        A run of the id that was refused holds nothing up: nothing of it was sent.
        """
        store = RunStore(self._settings.state_dir)
        for run_id in store.line_of(self.run_id):
            why = _ANOTHER_INPUT
            try:
                if (report := await self._go_on(run_id, session, limiter, progress)) is not None:
                    return report
            except ResumeRefused as refusal:
                if refusal.reason == "refused":
                    continue
                if refusal.reason not in _LEFT:
                    raise
                why = _LEFT[refusal.reason]
            progress.tell(f"run {run_id} {why}: it is left as it is, and the next one begins")
            break
        await look_first(session, progress)
        with ExitStack() as stack:
            options = replace(self.arguments.options, run_id=store.next_in_line(self.run_id))
            run = start_run(replace(self.arguments, options=options), stack)
            return await execute(run, session, limiter=limiter, progress=progress)

    async def _go_on(self, run_id: str, session: Session, limiter: RateLimiter, progress: Progress) -> Report | None:
        """The report of `run_id`, which is finished if need be; None when it was begun with another input."""
        with ExitStack() as stack:
            run = reopen_run(run_id, self._settings, stack, self.sources)
            report = ended(run)
            if not run.is_as_asked(self.sources, self.arguments.target, self.arguments.keywords, self._settings):
                return None
            if report is None:
                progress.tell(f"run {run_id} goes on: {run.earlier.confirmed:,} requests are confirmed")
                return await execute(run, session, limiter=limiter, progress=progress)
            if not await is_unchanged(run, progress):
                return None
            progress.tell(f"run {run_id} is complete, and its source is the same: nothing is left to send")
            return report
