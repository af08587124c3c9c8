"""An upload from its arguments to its report; also under an id that its caller chose."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import asdict, dataclass, replace
from typing import Any, Final, Unpack

from audiencekit.delivery.limiter import RateLimiter, open_limiter
from audiencekit.delivery.retry import SystemClock
from audiencekit.destinations.destination import Session
from audiencekit.destinations.target import Target
from audiencekit.errors import ResumeRefused, UsageError
from audiencekit.planning.options import Keywords, plain_keywords, read_keywords
from audiencekit.reporting.position import measured
from audiencekit.reporting.progress import Progress
from audiencekit.reporting.report import Report
from audiencekit.reporting.sealed_rejections import recipient_of
from audiencekit.runs.beginning import refuse_other_settings, reopen_run, start_run
from audiencekit.runs.endings import ended, untouched
from audiencekit.runs.execution import execute
from audiencekit.runs.failures import cannot_resume
from audiencekit.runs.first_pass import is_unchanged, plan_again
from audiencekit.runs.keywords import RunOptions, UploadKeywords
from audiencekit.runs.only_rejected import find_rejected_run
from audiencekit.runs.reports import find_resumable_run, list_runs
from audiencekit.runs.run import RunArguments, RunClock
from audiencekit.runs.start import audience_id_of, check_settings, look_at_target
from audiencekit.runs.store import LAST, RunStore, check_chosen_run_id
from audiencekit.settings import Settings
from audiencekit.sources.files import AnySource, FilePath, items_of, paths_of
from audiencekit.state.keys import known_state_key

# --- Uploads to any target, from their arguments to their report: begun, continued under an id, or resumed ---


async def upload_to_audience(audience: str, source: AnySource, **keywords: Unpack[UploadKeywords]) -> Report:
    """Do the same as `pipeline.upload_async`."""
    source = items_of(source)
    options, about_source = RunOptions.split(keywords)
    audience_id = await audience_id_of(audience, options.settings)
    return await upload_with(options, Target.audience(audience_id), source, about_source)


async def upload_to(target: Target, source: AnySource, **keywords: Unpack[UploadKeywords]) -> Report:
    """Do the same as `pipeline.upload_async`, for any target."""
    source = items_of(source)  # which show no cell in the frames of a traceback, as a table does
    options, about_source = RunOptions.split(keywords)
    return await upload_with(options, target, source, about_source)


def _paths_to_repeat(source: AnySource) -> tuple[FilePath, ...]:
    """The paths of a run with an id of the caller. Raises UsageError for rows that may be others the next time."""
    try:
        return paths_of(source)
    except UsageError:
        failure = UsageError(
            "`run_id=` is for a source that can be read again, and a query or a data frame may have other rows then",
            hint="leave `run_id=` out, and give `keep_spool=True`, so that the run can be resumed; or write the rows to"
            " a Parquet file, and give its path",
        )
    raise failure


async def upload_with(options: RunOptions, target: Target, source: AnySource, keywords: Keywords) -> Report:
    """Do the same as `upload_to`, with checked options."""
    settings, progress = options.settings, options.progress
    options, keywords = check_upload(options, source, keywords)
    arguments = RunArguments(source=source, target=target, keywords=keywords, options=options)
    named = None if options.run_id is None else NamedRun(options.run_id, _paths_to_repeat(source), arguments)
    session = target.connect(settings)
    async with open_limiter(settings, target.destination.quota, clock=SystemClock(), given=options.limiter) as pace:
        if named is not None:
            return await named.carry_out(session, pace, progress)
        await look_at_target(session, progress, RunClock().retry_policy(settings))
        with ExitStack() as stack:
            run = start_run(arguments, stack)
            return await execute(run, session, limiter=pace, progress=progress)


def check_upload(options: RunOptions, source: AnySource, keywords: Keywords) -> tuple[RunOptions, Keywords]:
    """Return the options and keywords of an upload in full. What could never work is refused.

    The source is not read, the service is not asked, and nothing is changed.
    """
    settings = options.settings
    keywords = plain_keywords(keywords, few_people=settings.few_people)
    read_keywords(keywords, settings.profile)
    if options.seal_rejections is not None:
        recipient_of(options.seal_rejections, settings)
    check_settings(settings, options.run_id)
    if options.run_id is not None:
        _paths_to_repeat(source)
    return _with_rejected_run(options), keywords


def _with_rejected_run(options: RunOptions) -> RunOptions:
    """Return `options` with the whole id of the run whose rejected rows are sent, if any. Raises UsageError."""
    if options.only_rejected is None:
        return options
    if options.keep_spool:
        hint = "a run that sends rejected rows reads its source again when it is resumed"
        raise UsageError("`keep_spool=` and `only_rejected=` exclude each other", hint=hint)
    store = RunStore(options.settings.state_dir)
    return replace(options, only_rejected=find_rejected_run(store, options.only_rejected))


async def resume_run(run: str, options: RunOptions, *, new_address: bool = False) -> Report:
    """Do the same as `pipeline.resume_async`."""
    settings, progress = options.settings, options.progress
    if run == LAST:
        key = known_state_key(settings.state_dir, settings.key)
        run_id = find_resumable_run(list_runs(settings.state_dir, key))
    else:
        run_id = RunStore(settings.state_dir).find(run)
    with ExitStack() as stack:
        reopened = reopen_run(run_id, settings, stack)
        if (report := ended(reopened)) is not None:
            progress.tell(f"run {run_id} is complete: nothing is left to send")
            return report
        stack.enter_context(untouched(reopened))
        refuse_other_settings(reopened, settings, new_address=new_address)
        target, settings = reopened.facts.target, reopened.settings
        session = target.connect(settings)
        async with open_limiter(settings, target.destination.quota, clock=SystemClock(), given=options.limiter) as pace:
            return await execute(reopened, session, limiter=pace, progress=progress)


# --- A run under an id that its caller chose: begun, continued, or already complete ---
#
# A caller that is started again after a failure (a task of a scheduler, a job of a queue) gives the same id again and
# need not know how far it came. An id is good for one input: another one begins the next run in its line, ID--2.

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
        """Return the report of the run that is complete for this input, by any process. Raises as `execute`.

        A refused run with this id is no obstacle: nothing of it was sent.
        """
        store = RunStore(self._settings.state_dir)
        for run_id in store.successors(self.run_id):
            why = _ANOTHER_INPUT
            try:
                if (report := await self._continue_run(run_id, session, limiter, progress)) is not None:
                    return report
            except ResumeRefused as refusal:
                if refusal.reason == "refused":
                    continue
                if refusal.reason not in _LEFT:
                    raise
                why = _LEFT[refusal.reason]
            progress.tell(f"run {run_id} {why}: it is left as it is, and the next one begins")
            break
        await look_at_target(session, progress, RunClock().retry_policy(self._settings))
        with ExitStack() as stack:
            options = replace(self.arguments.options, run_id=store.next_successor_id(self.run_id))
            run = start_run(replace(self.arguments, options=options), stack)
            return await execute(run, session, limiter=limiter, progress=progress)

    async def _continue_run(
        self, run_id: str, session: Session, limiter: RateLimiter, progress: Progress
    ) -> Report | None:
        """Return the report of `run_id`, finished now if necessary; None when it was begun with another input."""
        with ExitStack() as stack:
            run = reopen_run(run_id, self._settings, stack, self.sources)
            report = ended(run)
            asked, options = self.arguments, self.arguments.options
            if not run.is_as_asked(self.sources, asked.target, asked.keywords, self._settings, options.only_rejected):
                return None
            if report is None:
                progress.tell(f"run {run_id} goes on: {run.earlier.confirmed:,} requests are confirmed")
                return await execute(run, session, limiter=limiter, progress=progress)
            if not await is_unchanged(run, progress):
                return None
            progress.tell(f"run {run_id} is complete, and its source is the same: nothing is left to send")
            return report


# --- The rest of a run that ended early: the requests that `resume` would send ---


@dataclass(frozen=True, slots=True, kw_only=True)
class Remaining:
    """The requests that are not confirmed, of all `planned`, with their records and bytes."""

    run_id: str
    requests: int
    planned: int
    records: int
    bytes: int

    def to_json(self) -> dict[str, Any]:
        """Return all of it."""
        return asdict(self)

    def to_text(self) -> str:
        """Return the same for people."""
        if not self.requests:
            return f"run {self.run_id}: nothing is left to send"
        size = f"{self.records:,} records, {measured(self.bytes, 'bytes')}"
        return f"run {self.run_id}: would send {self.requests:,} of {self.planned:,} requests: {size}"


async def find_remaining_async(
    run: str, *, settings: Settings, progress: Progress, new_address: bool = False
) -> Remaining:
    """Return the rest that `resume_async` would send. The source is read again and compared; nothing is sent.

    Raises the errors that refuse to resume the run.
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
