"""One run from its source to its report: read, plan, have the plan journalled, send what is not yet confirmed."""

from __future__ import annotations

import asyncio
import functools
import random
import secrets
from collections.abc import Awaitable, Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import UTC, datetime

from audiencekit.delivery.clock import Clock, SystemClock
from audiencekit.delivery.limiter import RateLimiter
from audiencekit.delivery.results import Delivered
from audiencekit.delivery.retry import RetryPolicy
from audiencekit.delivery.route import Earlier, Listener, Route
from audiencekit.delivery.uploader import deliver
from audiencekit.destinations.destination import Session
from audiencekit.destinations.requests.packing import pack_requests
from audiencekit.errors import AudiencekitError, ExchangeError, InputOutputFailed, NotFinished, NotFound, ResumeRefused
from audiencekit.machine.eventloop import closed_to_its_end
from audiencekit.machine.heap import give_back
from audiencekit.packedrequest import PackedRequest
from audiencekit.personal import guarded, short_of_memory
from audiencekit.planning.plannedrun import PlannedRun
from audiencekit.planning.planner import Planner, plan_run
from audiencekit.reporting.plan import how_resumable
from audiencekit.reporting.progress import Progress
from audiencekit.reporting.report import Report
from audiencekit.runs.doubts import EarlierRuns
from audiencekit.runs.failures import failure_of, refuse_expired, unreconciled, where_to_look
from audiencekit.runs.fingerprints import Fingerprints
from audiencekit.runs.firstpass import read_and_plan
from audiencekit.runs.inthread import in_thread
from audiencekit.runs.journal.facts import Sums
from audiencekit.runs.journal.moments import Moment, seconds_in_the_past, this_moment
from audiencekit.runs.journal.writer import RunJournal, body_digest, other_bytes
from audiencekit.runs.run import Run
from audiencekit.runs.sending import Sending
from audiencekit.settings import Settings
from audiencekit.shown import shown

# What comes between the plan and its first request.
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
    session.identify(run.facts.idempotency_key)
    if run.note:
        progress.tell(run.note)
    with ExitStack() as stack:
        fingerprints = Fingerprints(run)
        planned = await read_and_plan(run, planner, settings, fingerprints, progress, stack)
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


async def _begin(run: Run, session: Session, time: _Time, progress: Progress, planned: PlannedRun) -> None:
    if run.earlier.confirmed < len(planned.requests):
        removes = any(request.deletes for request in planned.requests)
        await session.begin(removes=removes, policy=time.retry_policy(), tell=progress.tell)


async def _settle_plan(
    run: Run,
    planned: PlannedRun,
    fingerprints: Fingerprints,
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
    for request in _packed(planned, known.__contains__):
        if body_digest(request, run.key) != known[request.number]:
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
    sending = Sending(progress, planned, run.journal.confirmed_numbers(), time.clock)
    try:
        with short_of_memory():
            async with closed_to_its_end(session):
                delivered = await _deliver(planned, run, session, settings, limiter, time, sending)
                if delivered.is_complete:
                    await session.finish()
        sums, notes = _sums_after(run, delivered), delivered.notes
        if isinstance(delivered.error, NotFound):
            delivered.error.hint = where_to_look(run.facts)
        failure = unreconciled(sums, run.facts.target) if delivered.is_complete else failure_of(delivered, sums)
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
        return run.complete(run.report(planned, "complete", sums, notes=notes, pace=sending.pace()))
    raise run.fail(failure, run.report(planned, "incomplete", sums, notes=notes, pace=sending.pace()), sums)


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
    sending: Sending,
) -> Delivered:
    """Pass two: pack what was planned and send it."""
    confirmed = run.journal.confirmed_numbers()
    async with RunJournal(run.journal, run.key, moment=time.moment) as journal:
        return await deliver(
            _packed(planned, lambda number: number not in confirmed),
            Route(session.send, planned.form.open_body, limiter, time.retry_policy(), settings.concurrency),
            journal=journal,
            listener=Listener(on_progress=sending.add, on_failure=sending.tell_failure, tell=sending.progress.tell),
            earlier=None if run.plan is None else _earlier(run, time),
        )


def _earlier(run: Run, time: _Time) -> Earlier:
    left_seconds_ago = seconds_in_the_past(run.journal.departures().values(), time.moment())
    return Earlier(run.earlier.confirmed, left_seconds_ago)


def _packed(planned: PlannedRun, is_wanted: Callable[[int], bool]) -> Iterator[PackedRequest]:
    """The requests whose number is wanted, in order."""
    wanted = (request for request in planned.requests if is_wanted(request.number))
    return pack_requests(wanted, planned.users_of, planned.form)
