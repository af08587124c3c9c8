"""The rest of a run that ended early: what `resume` would send."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import asdict, dataclass
from typing import Any

from audiencekit.reporting.position import measured
from audiencekit.reporting.progress import Progress
from audiencekit.runs.beginning import refuse_other_settings, reopen_run
from audiencekit.runs.endings import ended, untouched
from audiencekit.runs.failures import cannot_resume
from audiencekit.runs.firstpass import plan_again
from audiencekit.runs.store import RunStore
from audiencekit.settings import Settings


@dataclass(frozen=True, slots=True, kw_only=True)
class Remaining:
    """Requests that are not confirmed, of those `planned`, with their records and bytes."""

    run_id: str
    requests: int
    planned: int
    records: int
    bytes: int

    def to_json(self) -> dict[str, Any]:
        """All of it."""
        return asdict(self)

    def to_text(self) -> str:
        """The same for people."""
        if not self.requests:
            return f"run {self.run_id}: nothing is left to send"
        size = f"{self.records:,} records, {measured(self.bytes, 'bytes')}"
        return f"run {self.run_id}: would send {self.requests:,} of {self.planned:,} requests: {size}"


async def find_remaining_async(
    run: str, *, settings: Settings, progress: Progress, new_address: bool = False
) -> Remaining:
    """The rest that `resume_async` would send. The source is read again and compared; nothing is sent.

    Raises what refuses to resume the run.
    """
    with ExitStack() as stack:
        reopened = reopen_run(RunStore(settings.state_dir).find(run), settings, stack)
        if (report := ended(reopened)) is not None:
            return Remaining(run_id=report.run_id, requests=0, planned=report.requests_planned, records=0, bytes=0)
        stack.enter_context(untouched(reopened))
        refuse_other_settings(reopened, settings, new_address=new_address)
        read = await plan_again(reopened, progress, stack)
        requests = read.planned.requests
        if read.planned.refusals:
            raise read.planned.refusals[0]
        if reopened.plan is not None and (difference := reopened.plan.difference(read.facts)) is not None:
            raise cannot_resume(*difference)
        confirmed = reopened.journal.confirmed_numbers()
        left = [request for request in requests if request.number not in confirmed]
        return Remaining(
            run_id=reopened.facts.run_id,
            requests=len(left),
            planned=len(requests),
            records=sum(request.records for request in left),
            bytes=sum(request.body_bytes for request in left),
        )
