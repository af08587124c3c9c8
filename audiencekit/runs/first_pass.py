"""Pass one of a run: it is checked, requests of earlier runs in doubt are found, the plan is made and accepted."""

from __future__ import annotations

import asyncio
import functools
import math
import os
from collections.abc import Awaitable, Callable, Iterable
from contextlib import ExitStack, suppress
from dataclasses import asdict, dataclass, replace
from datetime import timedelta
from pathlib import Path
from typing import Any, Final, TypeVar

import numpy as np
import numpy.typing as npt

from audiencekit.delivery.options import DOUBT
from audiencekit.destinations.target import Target
from audiencekit.errors import AudiencekitError, InputOutputFailed, NotFinished, ResumeRefused
from audiencekit.identifiers.kinds import FIRST_KINDS, Kind
from audiencekit.limits import EXCHANGE_TIMEOUT_SECONDS, SETTLE_SECONDS
from audiencekit.personal import guarded, short_of_memory
from audiencekit.planning.plan import PlannedRun, known_members
from audiencekit.planning.plan_inputs import PlanResources, PlanTerms
from audiencekit.planning.planner import Planner, plan_kept, plan_run
from audiencekit.planning.reading import OnRecords
from audiencekit.profile import Profile
from audiencekit.records.batches import MappedColumn
from audiencekit.records.chunks import RecordChunk
from audiencekit.records.plan_times import parse_time
from audiencekit.reporting.progress import Progress, Stoppable
from audiencekit.reporting.sealed_rejections import Sealing
from audiencekit.runs.endings import fail, leave_untouched
from audiencekit.runs.failures import cannot_resume, refuse_expired
from audiencekit.runs.journal.digests import RECORDS, SUPPRESSION, RecordsFingerprint
from audiencekit.runs.journal.facts import DELETES, UPDATES, Moment, PlanFacts, PlannedBody, seconds_in_the_past
from audiencekit.runs.journal.file import JOURNAL, NOTHING_SENT
from audiencekit.runs.journal.writer import body_digest, other_bytes
from audiencekit.runs.only_rejected import RejectedRun, plan_repaired
from audiencekit.runs.rejected_rows import listed_rejected, write_rejected
from audiencekit.runs.reports import opened_journal, report_of, store_report
from audiencekit.runs.run import Run, RunClock
from audiencekit.runs.start import has_kept_spool, kept_spool, new_spool, whole_spool
from audiencekit.runs.store import RUN_ID, RUNS
from audiencekit.sources.bytes.files import WAIT_ON

# --- Pass one of a run: its sources are read and planned, with the terms of its beginning ---


@dataclass(frozen=True, slots=True)
class ReadPlan:
    """The result of pass one: the plan, and its facts, which are compared when the run is resumed."""

    planned: PlannedRun
    facts: PlanFacts


async def read_and_plan(
    run: Run, planner: Planner, progress: Progress, stack: ExitStack
) -> ReadPlan | AudiencekitError:
    """Return the result of pass one, or the error that ended it, which is NotFinished for a cancellation."""
    try:
        with short_of_memory():
            return await _plan(
                run, planner, progress, stack, rejections=run.rejections, sealing=run.sealing, is_kept=run.plan is None
            )
    except AudiencekitError as error:
        return error
    except asyncio.CancelledError:
        return NotFinished("interrupted while the source was read: nothing was sent")


async def _plan(
    run: Run,
    planner: Planner,
    progress: Progress,
    stack: ExitStack,
    *,
    rejections: Path | None,
    sealing: Sealing | None = None,
    is_kept: bool = False,  # the rows that are rejected, or repaired, are written beside the journal
) -> ReadPlan:
    """Plan the source with the terms of the run's beginning, in a thread."""
    stoppable, fingerprints = Stoppable(progress), Fingerprints(run)
    terms = PlanTerms.of(run.keywords, run.settings, now=run.started_at, destination=run.facts.target.destination)
    if run.plan is None:  # a plan that was made is not judged by what has become known since
        terms = replace(terms, members=known_members(run.facts.target, run.settings))
    resources = PlanResources(
        stack=stack,
        progress=stoppable,
        spool_dir=run.directory,
        rejections=rejections,
        sealing=sealing,
        on_records=fingerprints.on_records,
        on_suppressed=fingerprints.add_suppressed,
    )
    work = functools.partial(_plan_from_spool_or_source, run, planner, terms, resources, is_kept=is_kept)
    planned = await in_thread(work, stoppable)
    return ReadPlan(planned, facts_for_journal(planned, fingerprints.finish()))


def _plan_from_spool_or_source(
    run: Run, planner: Planner, terms: PlanTerms, resources: PlanResources, *, is_kept: bool
) -> PlannedRun:
    """Return the plan, from the spool that the run kept of its sources, or from the sources."""
    if run.facts.only_rejected is not None:
        rejected = RejectedRun.of(run.facts, run.settings)
        planned, repaired = plan_repaired(rejected, run.items, terms, resources)
        if is_kept:
            write_rejected(run.directory, run.key, repaired)
        return planned
    if has_kept_spool(run.facts, run.directory, is_planned=run.plan is not None):
        spool = resources.stack.enter_context(kept_spool(run.directory, run.spool_key))
        with whole_spool():
            return plan_kept(spool, terms, resources)
    if run.facts.keep_spool and run.journal.ending() is None:
        resources = replace(
            resources, kept_spool=resources.stack.enter_context(new_spool(run.directory, run.spool_key))
        )
    with ExitStack() as stack:
        if is_kept and not run.facts.repeat_command:
            resources = replace(resources, rejected=stack.enter_context(listed_rejected(run.directory, run.key)))
        return planner(run.items, terms, resources)


async def is_unchanged(run: Run, progress: Progress) -> bool:
    """Whether the source still gives the same plan as at the beginning of the run. All of it is read, nothing is sent.

    Raises SourceRefused when it cannot be read to its end any more, and NotFinished for a cancellation.
    """
    with ExitStack() as stack:
        read = await plan_again(run, progress, stack)
        return not read.planned.refusals and run.plan is not None and run.plan.difference(read.facts) is None


async def plan_again(run: Run, progress: Progress, stack: ExitStack) -> ReadPlan:
    """Return the plan of the present source. Raises NotFinished for a cancellation."""
    with suppress(asyncio.CancelledError):
        return await _plan(run, plan_run, progress, stack, rejections=None)
    raise NotFinished("interrupted while the source was read: nothing was sent")


# --- Between the passes: a plan is stored in the journal, compared with the one before, and accepted or refused ---

# The last step before the first request of a plan.
Accept = Callable[[PlannedRun], Awaitable[None]]


async def accept_plan(
    run: Run, read: ReadPlan, accept: Accept, time: RunClock, progress: Progress
) -> AudiencekitError | None:
    """Store the plan in the journal, wait for earlier runs, and `accept` it; return the error that ended the run.

    There is an error when the disk cannot store the plan, when it is not the plan of the run's beginning, and when it
    is not accepted.
    """
    planned = read.planned
    try:
        with short_of_memory():
            refuse_expired(planned, run.journal.confirmed_numbers(), time.now())
            _journal(run, read.facts)
            await in_thread(functools.partial(_check_bodies, run, planned))
            report = store_report(run, report_of(run, planned))
            if run.events.is_on:
                run.events.planned(report.to_json())

            policy = time.retry_policy(run.settings)
            policy.begin_waiting()

            async def sleep(seconds: float) -> None:
                if (refusal := policy.refuse_wait(seconds)) is not None:
                    raise refusal
                run.events.wait(None, seconds, DOUBT)
                await time.clock.sleep(seconds)

            await _earlier_runs(run, time).wait(run.facts.target, run.journal.plan(), sleep, progress.tell)
            if run.audit is not None:
                await in_thread(functools.partial(run.audit.begin, planned))
            await accept(planned)
    except ResumeRefused as refusal:
        return leave_untouched(run, refusal)
    except AudiencekitError as failure:
        return fail(run, failure, report_of(run, planned), run.earlier)
    except asyncio.CancelledError:
        interrupted = NotFinished("interrupted before anything was sent")
        return fail(run, interrupted, report_of(run, planned), run.earlier)
    return None


def _journal(run: Run, facts: PlanFacts) -> None:
    """Store the plan in the journal. If there is one already, it must be the same, or ResumeRefused is raised."""
    if run.plan is None:
        run.journal.store_plan(facts, run.key)
    elif difference := run.plan.difference(facts):
        raise cannot_resume(*difference)


@guarded
def _check_bodies(run: Run, planned: PlannedRun) -> None:
    """Make the bodies that may have been sent before once more; raise ResumeRefused when one has other bytes."""
    known = run.journal.digests()
    for request in planned.packed(known.__contains__):
        if body_digest(request, run.key) != known[request.number]:
            raise other_bytes(request.number)


def _earlier_runs(run: Run, time: RunClock) -> PendingRequests:
    return PendingRequests(
        run.store.state_dir, run.facts.account_id, now=time.clock.now, moment=time.moment, except_run=run.facts.run_id
    )


# --- The facts of a plan for the journal: counts, names of columns, times. Never a value ---


def _fields_of(column: MappedColumn) -> dict[str, Any]:
    """Return the fields of `column` that decide what is read."""
    return {"kind": column.kind.value, "position": column.position, "name": column.name, "hashed": column.hashed}


def _wire_names(columns: Iterable[MappedColumn], profile: Profile) -> dict[str, str]:
    """Return the names of the kinds on the wire; a kind that is not in FIRST_KINDS only if it is sent."""
    sent = {column.kind for column in columns}
    return {kind.value: profile.wire_name(kind.value) for kind in Kind if kind in FIRST_KINDS or kind in sent}


def facts_for_journal(planned: PlannedRun, fingerprints: tuple[str, str]) -> PlanFacts:
    """Return everything that must be the same on resumption.

    `fingerprints` are those of the records and the suppressed.
    """
    mapping = planned.mapping
    fingerprint, suppression = fingerprints
    return PlanFacts(
        mapping={
            "columns": [_fields_of(column) for column in mapping.columns],
            "country": mapping.country,
            "operation": mapping.operation,
            "consent": mapping.consent,
        },
        rules={
            **asdict(planned.options.rules),
            **planned.times.to_json(),
            "operation": planned.options.operation,
            "consent": planned.options.consent,
            "names": _wire_names(mapping.columns, planned.profile),
        },
        found=dict(planned.source.description),
        rows_read=planned.tally.rows_read,
        rows_rejected=planned.tally.rows_rejected,
        records=planned.records,
        fingerprint=fingerprint,
        suppression=suppression,
        requests=tuple(
            PlannedBody(request.number, request.wave, request.records, request.body_bytes)
            for request in planned.requests
        ),
        verbs=tuple(UPDATES * bool(request.updates) + DELETES * bool(request.deletes) for request in planned.requests),
    )


# --- Requests of earlier runs that may still be applied to a target, because their answers were lost ---

_WHY_WAIT: Final = "a request of an earlier run may still be applied, and would undo what is sent now"
# A journal that was not written for so long is not opened. Steps of the wall clock are far smaller.
_LONG_AGO: Final = timedelta(days=7).total_seconds()
# An entry that expires this much earlier than it should makes no difference.
_SAME_END: Final = timedelta(days=1)

# Seconds until nothing that was sent to a target before can be applied any more.
Doubts = Callable[[Target], float]


class PendingRequests:
    """Requests of other runs of one account that may still be applied, by the journals under a state directory.

    `except_run` is the run that asks. Use it under the lock of the target, when no other run can be at work on it.
    `now` is in epoch seconds.
    """

    def __init__(
        self,
        state_dir: Path,
        account_id: str,
        *,
        now: Callable[[], float],
        moment: Callable[[], Moment],
        except_run: str | None = None,
    ) -> None:
        self._runs, self._account_id, self._except = state_dir / RUNS, account_id, except_run
        self._now, self._moment = now, moment

    def seconds_left(self, target: Target, plan: PlanFacts | None = None) -> float:
        """Return the seconds until no request of another run can still undo what `plan` sends to `target`.

        Without a `plan`, until none can be applied at all. A journal that cannot be read may hide any request.
        """
        return max((self._left(path, target, plan) for path in self._journals()), default=0.0)

    async def wait(
        self,
        target: Target,
        plan: PlanFacts | None,
        sleep: Callable[[float], Awaitable[None]],
        notify: Callable[[str], None],
    ) -> None:
        """Wait until no request of another run can undo what `plan` sends to `target`; notify about the wait."""
        if plan is not None and plan.requests and (seconds := self.seconds_left(target, plan)) > 0:
            notify(f"waiting {math.ceil(seconds)} s: {_WHY_WAIT}")
            await sleep(seconds)

    def _journals(self) -> list[Path]:
        try:
            entries = list(os.scandir(self._runs))
        except FileNotFoundError:
            return []
        runs = (entry for entry in entries if entry.name != self._except and RUN_ID.fullmatch(entry.name))
        return [Path(entry.path) / JOURNAL for entry in runs]

    def _left(self, path: Path, target: Target, plan: PlanFacts | None) -> float:
        try:
            # If the clock was ahead then, or is behind now, the file counts as written just now.
            age = max(0.0, self._now() - (path if path.exists() else path.parent).stat().st_mtime)
        except OSError:
            return 0.0
        if age > _LONG_AGO:
            return 0.0
        try:
            with opened_journal(path.parent) as journal:
                facts, earlier, departures = journal.facts(), journal.plan(), journal.departures()
        except ResumeRefused as refusal:
            return 0.0 if refusal.reason in NOTHING_SENT else max(0.0, SETTLE_SECONDS - age)
        except InputOutputFailed:
            return max(0.0, SETTLE_SECONDS - age)
        # A destination that is not known here may be another name of the same place.
        is_known = facts.target.is_known
        if facts.account_id != self._account_id or earlier is None or (is_known and facts.target != target):
            return 0.0
        plan = plan if is_known else None
        left = [moment for number, moment in departures.items() if plan is None or _undoes(earlier, number, plan)]
        if not left:
            return 0.0
        # A departure before another start of the machine says nothing; but it is in the journal before bytes are sent,
        # so that none were sent later than the file was written.
        elapsed = seconds_in_the_past(left, self._moment()) or age - EXCHANGE_TIMEOUT_SECONDS
        return max(0.0, SETTLE_SECONDS - max(0.0, elapsed))


def _undoes(earlier: PlanFacts, number: int, plan: PlanFacts) -> bool:
    """Whether request `number` of `earlier` would undo something of `plan` if it were applied after it.

    A repeated Update or Delete changes nothing; but an Update with an earlier end lets people expire too soon.
    """
    verbs = earlier.verbs_of(number)
    if (UPDATES in verbs and plan.sends(DELETES)) or (DELETES in verbs and plan.sends(UPDATES)):
        return True
    return UPDATES in verbs and plan.sends(UPDATES) and _lapses_sooner(earlier, plan)


def _lapses_sooner(earlier: PlanFacts, plan: PlanFacts) -> bool:
    ends = [each.rules["expires_at"] for each in (earlier, plan)]
    if None in ends:
        return ends[0] is not None
    until, until_now = (parse_time(end, "the end of an entry") for end in ends)
    return until < until_now - _SAME_END


# --- Digests of the records of a run: a resumed run checks with them that its sources are the same ---


class Fingerprints:
    """Digests of all records that were read: those of the source, and those of suppression sources.

    They are empty for a run that is begun again instead of resumed: then nothing is compared with them.
    """

    def __init__(self, run: Run) -> None:
        self._is_compared = not run.facts.repeat_command
        self._records = RecordsFingerprint({RECORDS: run.key})
        self._suppressed = RecordsFingerprint({SUPPRESSION: run.key})
        self._logged = self._records if self._is_compared else RecordsFingerprint({})
        self._audit = run.audit if run.audit is not None and run.audit.wants_records else None

    @property
    def on_records(self) -> OnRecords | None:
        """The function for the next batch of the source; None when nothing is compared with it, nor logged of it."""
        if self._audit is not None:
            return self._add_logged
        return self._records.add if self._is_compared else None

    def _add_logged(self, chunk: RecordChunk, refusing: npt.NDArray[np.bool_] | None = None) -> None:
        """Add the next batch, of which a digest is logged: for both digests it is made into bytes once."""
        if self._audit is not None and not self._logged.is_begun:
            self._audit.know_by(self._logged)
        self._logged.add(chunk, refusing)

    def add_suppressed(self, chunk: RecordChunk) -> None:
        """Add the next batch of a suppression source."""
        if self._is_compared:
            self._suppressed.add(chunk)

    def finish(self) -> tuple[str, str]:
        """Return both, in hex."""
        return self._records.finish(RECORDS), self._suppressed.finish(SUPPRESSION)


# --- Work in a thread that can be awaited: a cancellation stops it, and is raised when it has ended ---

T = TypeVar("T")


async def in_thread(work: Callable[[], T], stoppable: Stoppable | None = None) -> T:
    """Return the result of `work`, from a thread.

    A cancellation stops `stoppable`: `work` ends at its next step, or while it waits for standard input. The
    cancellation is raised when it has ended.
    """

    def work_until_stopped() -> T:
        if stoppable is not None:
            WAIT_ON.set(stoppable.raise_if_stopped)  # in the context of this thread, which is a copy
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
