"""One run from its source to its report: read, plan, have the plan journalled, send what is not yet confirmed."""

from __future__ import annotations

import asyncio
import functools
import logging
import random
import secrets
from collections.abc import Awaitable, Callable, Iterator
from contextlib import ExitStack, suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Final, TypeVar

from audiencekit.delivery.clock import Clock, SystemClock
from audiencekit.delivery.limiter import RateLimiter
from audiencekit.delivery.results import Counts, Delivered, PackedRequest, RequestResult
from audiencekit.delivery.retry import RetryPolicy
from audiencekit.delivery.route import Earlier, Listener, Route
from audiencekit.delivery.uploader import deliver
from audiencekit.destinations.destination import Session
from audiencekit.errors import AudiencekitError, ExchangeError, InputOutputFailed, NotFinished, NotFound, ResumeRefused
from audiencekit.machine.crashpoints import pass_point
from audiencekit.machine.eventloop import closed_to_its_end
from audiencekit.machine.heap import give_back
from audiencekit.personal import guarded, short_of_memory
from audiencekit.planning.planinputs import Means, Terms
from audiencekit.planning.plannedrun import PlannedRun
from audiencekit.planning.planner import plan_kept, plan_run
from audiencekit.planning.reading import OnRecords
from audiencekit.preparation.chunks import RecordChunk
from audiencekit.preparation.packing import pack_requests
from audiencekit.reporting.plan import how_resumable
from audiencekit.reporting.progress import Progress, Stoppable
from audiencekit.reporting.report import Report
from audiencekit.runs.doubts import EarlierRuns
from audiencekit.runs.failures import failure_of, refuse_expired, unreconciled, where_to_look
from audiencekit.runs.journal.digests import SUPPRESSION, RecordsFingerprint
from audiencekit.runs.journal.facts import PlanFacts, Sums
from audiencekit.runs.journal.moments import Moment, seconds_in_the_past, this_moment
from audiencekit.runs.journal.writer import RunJournal, body_digest, other_bytes
from audiencekit.runs.planfacts import facts_for_journal
from audiencekit.runs.resumption import has_kept_spool, kept_spool, new_spool, whole_spool
from audiencekit.runs.run import Run
from audiencekit.settings import Settings
from audiencekit.shown import shown
from audiencekit.sources.bytes.standardinput import WAIT_ON
from audiencekit.sources.files import Item

_LOG: Final = logging.getLogger(__name__)
T = TypeVar("T")


# Makes the plan of a run, as `plan_run` does; and what comes between the plan and its first request.
Planner = Callable[[tuple[Item, ...], Terms, Means], PlannedRun]
Accept = Callable[[PlannedRun], Awaitable[None]]


async def execute(
    run: Run,
    session: Session,
    settings: Settings,
    *,
    limiter: RateLimiter,
    progress: Progress,
    planner: Planner = plan_run,
    accept: Accept | None = None,
    clock: Clock | None = None,
    moment: Callable[[], Moment] = this_moment,
) -> Report:
    """The report of the complete run. What is less than complete is raised, as `pipeline.upload_async` says.

    `accept` comes before the first request; by itself the session of the target begins then. `clock` and `moment`
    tell the time: of waits, and of departures in journals; those of this machine by themselves.
    """
    time = _Time(clock or SystemClock(), moment)
    accept = accept or functools.partial(_begin, run, session, time, progress)
    if run.note:
        progress.tell(run.note)
    with ExitStack() as stack:
        fingerprints = _Fingerprints(run)
        planned = await _read_and_plan(run, planner, settings, fingerprints, progress, stack)
        give_back()
        if isinstance(planned, PlannedRun) and not planned.refusals:
            refusal = await _settle_plan(run, planned, fingerprints, settings, accept, time, progress)
            if refusal is None:
                facts, is_repeatable = run.facts, planned.source.repeatable
                progress.tell(how_resumable(is_repeatable, keeps_spool=facts.keep_spool, again=facts.again))
                return await _send_planned(planned, run, session, settings, limiter, time, progress)
            raise refusal
    # Raised outside the handlers of what went wrong, whose frames hold records.
    raise run.refuse(planned.refusals[0], planned) if isinstance(planned, PlannedRun) else run.refuse(planned)


@dataclass(frozen=True, slots=True)
class _Time:
    """The clock of waits, and the one of departures, which outlives a process."""

    clock: Clock
    moment: Callable[[], Moment]

    def retry_policy(self) -> RetryPolicy:
        """One for what waits by this clock."""
        return RetryPolicy(clock=self.clock, randomness=random.Random(secrets.randbits(64)))


class _Fingerprints:
    """Digests of all records that were read: those of the source, and those of suppression sources.

    Of none when the run is begun again and not resumed: then nothing is compared with them.
    """

    def __init__(self, run: Run) -> None:
        self._records, self._suppressed = RecordsFingerprint(run.key), RecordsFingerprint(run.key, SUPPRESSION)
        self._is_compared = not run.facts.again

    @property
    def on_records(self) -> OnRecords | None:
        """Takes in the next batch of the source; None when nothing is to be compared with it."""
        return self._records.add if self._is_compared else None

    def add_suppressed(self, chunk: RecordChunk) -> None:
        """Take in the next batch of a suppression source."""
        if self._is_compared:
            self._suppressed.add(chunk)

    def finish(self) -> tuple[str, str]:
        """Both, in hex."""
        return self._records.finish(), self._suppressed.finish()


async def _read_and_plan(
    run: Run,
    planner: Planner,
    settings: Settings,
    fingerprints: _Fingerprints,
    progress: Progress,
    stack: ExitStack,
) -> PlannedRun | AudiencekitError:
    """Pass one; the error that ended it, which is NotFinished for a cancellation."""
    try:
        with short_of_memory():
            return await _plan(run, planner, settings, fingerprints, progress, stack, rejections=run.rejections)
    except AudiencekitError as error:
        return error
    except asyncio.CancelledError:
        return NotFinished("interrupted while the source was read: nothing was sent")


async def _plan(
    run: Run,
    planner: Planner,
    settings: Settings,
    fingerprints: _Fingerprints,
    progress: Progress,
    stack: ExitStack,
    *,
    rejections: Path | None,
) -> PlannedRun:
    """Plan the source on the terms that the run was begun with, in a thread of its own."""
    stoppable = Stoppable(progress)
    terms = Terms.of(run.keywords, settings, now=run.started_at, destination=run.facts.target.destination)
    means = Means(
        stack=stack,
        progress=stoppable,
        spool_dir=run.directory,
        rejections=rejections,
        on_records=fingerprints.on_records,
        on_suppressed=fingerprints.add_suppressed,
    )
    work = functools.partial(_plan_from_spool_or_source, run, planner, terms, means)
    return await in_thread(work, stoppable)


def _plan_from_spool_or_source(run: Run, planner: Planner, terms: Terms, means: Means) -> PlannedRun:
    """The plan, from the spool that the run kept of its sources, or from the sources."""
    if has_kept_spool(run.facts, run.directory, is_planned=run.plan is not None):
        spool = means.stack.enter_context(kept_spool(run.directory, run.spool_key))
        with whole_spool():
            return plan_kept(spool, terms, means)
    if run.facts.keep_spool and run.journal.ending() is None:
        means = replace(means, keep=means.stack.enter_context(new_spool(run.directory, run.spool_key)))
    return planner(run.items, terms, means)


async def is_unchanged(run: Run, settings: Settings, progress: Progress) -> bool:
    """Whether the source still gives the plan that the run was begun with. All of it is read, nothing is sent.

    Raises SourceRefused when it cannot be read to its end any more, and NotFinished for a cancellation.
    """
    with ExitStack() as stack:
        planned, facts = await plan_again(run, settings, progress, stack)
        return not planned.refusals and run.plan is not None and run.plan.difference(facts) is None


async def plan_again(
    run: Run, settings: Settings, progress: Progress, stack: ExitStack
) -> tuple[PlannedRun, PlanFacts]:
    """The plan of the source as it is now, and its facts for a comparison. Raises NotFinished for a cancellation."""
    fingerprints = _Fingerprints(run)
    planned: PlannedRun | None = None
    with suppress(asyncio.CancelledError):
        planned = await _plan(run, plan_run, settings, fingerprints, progress, stack, rejections=None)
    if planned is None:
        raise NotFinished("interrupted while the source was read: nothing was sent")
    return planned, facts_for_journal(planned, fingerprints.finish(), settings.profile)


async def in_thread(work: Callable[[], T], stoppable: Stoppable | None = None) -> T:
    """Return the result of `work`, from a thread of its own.

    A cancellation stops `stoppable`, at which `work` ends at its next step or while it waits for standard input, and
    comes when it has ended.
    """

    def work_until_stopped() -> T:
        if stoppable is not None:
            WAIT_ON.set(stoppable.go_on)  # in the context of this thread, which is a copy
        return work()

    working = asyncio.ensure_future(asyncio.to_thread(work_until_stopped))
    try:
        return await asyncio.shield(working)
    except asyncio.CancelledError:
        if stoppable is not None:
            stoppable.stop()
        while not working.done():
            with suppress(asyncio.CancelledError):
                await asyncio.wait([working])
        working.exception()
        raise


async def _begin(run: Run, session: Session, time: _Time, progress: Progress, planned: PlannedRun) -> None:
    if run.earlier.confirmed < len(planned.requests):
        removes = any(request.deletes for request in planned.requests)
        await session.begin(removes=removes, policy=time.retry_policy(), tell=progress.tell)


async def _settle_plan(
    run: Run,
    planned: PlannedRun,
    fingerprints: _Fingerprints,
    settings: Settings,
    accept: Accept,
    time: _Time,
    progress: Progress,
) -> AudiencekitError | None:
    """Why the plan cannot be sent: the disk cannot keep it, it is not the one that the run was begun with, or it is not
    accepted."""
    try:
        with short_of_memory():
            now = datetime.fromtimestamp(time.clock.now(), UTC)
            refuse_expired(planned, run.journal.confirmed_numbers(), now)
            run.keep_plan(planned, fingerprints.finish(), settings.profile)
            await in_thread(functools.partial(_check_bodies, run, planned))
            run.write(run.report(planned))
            await _earlier_runs(run, settings, time).wait(
                run.facts.target, run.journal.plan(), time.clock.sleep, progress.tell
            )
            await accept(planned)
    except ResumeRefused as refusal:
        return run.keep_out(refusal)
    except AudiencekitError as failure:
        return run.fail(failure, run.report(planned), run.earlier)
    except asyncio.CancelledError:
        return run.fail(NotFinished("interrupted before anything was sent"), run.report(planned), run.earlier)
    return None


def _earlier_runs(run: Run, settings: Settings, time: _Time) -> EarlierRuns:
    return EarlierRuns(
        settings.state_dir, run.facts.account_id, now=time.clock.now, moment=time.moment, except_run=run.facts.run_id
    )


@guarded
def _check_bodies(run: Run, planned: PlannedRun) -> None:
    """Makes the bodies that may have left before once more; raises ResumeRefused when one is other bytes."""
    known = run.journal.digests()
    last = max(known, default=0)
    for request in pack_requests(planned.requests[:last], planned.users_of, planned.form):
        if request.number in known and body_digest(request, run.key) != known[request.number]:
            raise other_bytes(request.number)


async def _send_planned(
    planned: PlannedRun,
    run: Run,
    session: Session,
    settings: Settings,
    limiter: RateLimiter,
    time: _Time,
    progress: Progress,
) -> Report:
    notes: tuple[str, ...] = ()
    told = [f"note: {shown(note)}" for note in planned.plan_notes]
    told += [f"warning: {shown(warning.message)}" for warning in planned.warnings]
    if told:
        progress.tell("\n".join(told))
    try:
        with short_of_memory():
            async with closed_to_its_end(session):
                delivered = await _deliver(planned, run, session, settings, limiter, time, progress)
                if delivered.is_complete:
                    await session.finish()
        sums, notes = _sums_after(run, delivered), delivered.notes
        if isinstance(delivered.error, NotFound):
            delivered.error.hint = where_to_look(run.facts)
        failure = unreconciled(sums) if delivered.is_complete else failure_of(delivered, sums)
    except ExchangeError as error:
        sums, failure = (
            run.journal.sums(),
            NotFinished(f"all is sent, and the end of the run is not confirmed: {error}"),
        )
    except InputOutputFailed as error:
        sums, failure = run.journal.sums(), error
    except asyncio.CancelledError:
        # The second interruption: what was under way is in doubt, as the journal says.
        sums, failure = run.journal.sums(), NotFinished("the upload was stopped at once")
    try:
        run.list_refused(sums, planned.tally.rows_read)
    except InputOutputFailed as error:
        failure = failure or error
    if failure is None:
        return run.complete(run.report(planned, "complete", sums, notes=notes))
    raise run.fail(failure, run.report(planned, "incomplete", sums, notes=notes), sums)


def _sums_after(run: Run, delivered: Delivered) -> Sums:
    """The sums of the journal; where it cannot be read any more, those from before plus those of this delivery."""
    try:
        return run.journal.sums()
    except (InputOutputFailed, ResumeRefused):
        return run.earlier.plus(delivered)


async def _deliver(
    planned: PlannedRun,
    run: Run,
    session: Session,
    settings: Settings,
    limiter: RateLimiter,
    time: _Time,
    progress: Progress,
) -> Delivered:
    """Pass two: pack what was planned and send it."""
    sending = _Sending(progress, planned, run.journal.confirmed_numbers())

    async def send(request: PackedRequest) -> Counts:
        # A part of a request has the number of the whole.
        pass_point("before send")
        try:
            counts = await session.send(request)
        except ExchangeError as error:
            progress.tell(f"request {request.number}: {error}")
            raise
        pass_point("after send")
        return counts

    async with RunJournal(run.journal, run.key, moment=time.moment) as journal:
        return await deliver(
            _unconfirmed(planned, run.journal.confirmed_numbers()),
            Route(send, planned.form.open_body, limiter, time.retry_policy(), settings.concurrency),
            journal=journal,
            listener=Listener(on_progress=sending.add, tell=progress.tell),
            earlier=None if run.plan is None else _earlier(run, time),
        )


class _Sending:
    """The progress of pass two: requests, with their bytes and records. It begins with the `confirmed` ones."""

    def __init__(self, progress: Progress, planned: PlannedRun, confirmed: frozenset[int]) -> None:
        requests = planned.requests
        before = [request for request in requests if request.number in confirmed]
        self._progress, self._total, self._confirmed = progress, len(requests), len(before)
        self._bytes = sum(request.body_bytes for request in before)
        self._records = sum(request.records for request in before)
        self._step()

    def add(self, result: RequestResult) -> None:
        """One request has ended."""
        facts = {"request": result.number, "outcome": str(result.outcome or "not sent"), "attempts": result.attempts}
        facts |= {"records": result.records, "bytes": result.body_bytes}
        _LOG.debug(
            "request %s: %s, %s records", result.number, facts["outcome"], result.records, extra={"facts": facts}
        )
        if result.is_confirmed:
            self._confirmed += 1
            self._bytes, self._records = self._bytes + result.body_bytes, self._records + result.records
        self._step()

    def _step(self) -> None:
        also = {"bytes": self._bytes, "records": self._records}
        self._progress.step("sending", self._confirmed, self._total, unit="requests", also=also)


def _earlier(run: Run, time: _Time) -> Earlier:
    left_seconds_ago = seconds_in_the_past(run.journal.departures().values(), time.moment())
    return Earlier(run.earlier.confirmed, left_seconds_ago)


def _unconfirmed(planned: PlannedRun, confirmed: frozenset[int]) -> Iterator[PackedRequest]:
    """The requests that are not confirmed yet, in order."""
    for request in pack_requests(planned.requests, planned.users_of, planned.form):
        if request.number not in confirmed:
            yield request
