"""Read this first: the stages of a run, in order, wired together.

    source -> text -> records -> plan     pass one (`planning`): everything is read and judged, nothing is sent
    spool -> bodies -> service            pass two (here): what the plan says, and nothing else
    outcomes -> report                    the sums close, or it is an error (`runs`)

`check` stops after the plan, `prepare` writes what `upload` would send, `upload` sends it.
"""

from __future__ import annotations

import asyncio
import os
import random
import secrets
from contextlib import ExitStack
from datetime import UTC, datetime
from pathlib import Path
from typing import Unpack

from audiencekit.api.client import AdsClient
from audiencekit.api.exchange import Body
from audiencekit.api.opening import open_client
from audiencekit.api.paths import check_identifier
from audiencekit.api.wire import Counts
from audiencekit.delivery.clock import SystemClock
from audiencekit.delivery.limiter import PacedLimiter, RateLimiter
from audiencekit.delivery.results import Delivered, RequestResult
from audiencekit.delivery.retry import RetryPolicy
from audiencekit.delivery.uploader import deliver
from audiencekit.errors import AudiencekitError, ExchangeError, NotFinished, UsageError
from audiencekit.options import Keywords, Options, read_keywords
from audiencekit.planning import PlannedRun, plan_run
from audiencekit.preparation.packing import PackedRequest, pack_requests
from audiencekit.prepared import write_prepared
from audiencekit.reporting.plan import Plan
from audiencekit.reporting.progress import NoProgress, Progress, Stoppable
from audiencekit.reporting.report import Report, State
from audiencekit.runs import Run, failure_of, touched
from audiencekit.settings import Settings, load_settings

FilePath = str | os.PathLike[str]


def check(
    source: FilePath,
    *,
    settings: Settings | None = None,
    rejections: FilePath | None = None,
    progress: Progress | None = None,
    **keywords: Unpack[Keywords],
) -> Plan:
    """The plan that `upload` would carry out; `verdict` says whether it would. Sends nothing, needs no credentials.

    Raises SourceRefused when the source cannot be read to its end, UsageError for keywords that cannot be.
    """
    settings = settings or load_settings()
    options = read_keywords(keywords, settings.profile)
    with ExitStack() as stack:
        planned = plan_run(
            source,
            options,
            profile=settings.profile,
            now=datetime.now(UTC),
            progress=progress or NoProgress(),
            stack=stack,
            rejections=rejections,
        )
        return planned.to_plan()


def prepare(
    source: FilePath,
    *,
    out: str | os.PathLike[str],
    requests: bool = False,
    settings: Settings | None = None,
    progress: Progress | None = None,
    **keywords: Unpack[Keywords],
) -> Plan:
    """Write what `upload` would send to the directory `out`, and give back its plan (see `prepared` for the files).

    When `upload` would refuse the source, only `rejections.csv` is written and the plan says why.
    """
    settings = settings or load_settings()
    return write_prepared(
        source,
        read_keywords(keywords, settings.profile),
        Path(out),
        requests=requests,
        profile=settings.profile,
        now=datetime.now(UTC),
        progress=progress or NoProgress(),
    )


def upload(
    source: FilePath,
    *,
    audience_id: str,
    settings: Settings | None = None,
    rejections: FilePath | None = None,
    progress: Progress | None = None,
    **keywords: Unpack[Keywords],
) -> Report:
    """`upload_async`, for callers without an event loop. Raises UsageError where one is running."""
    if _is_loop_running():
        raise UsageError("an event loop is running here", hint="await audiencekit.upload_async(…) instead")
    return asyncio.run(
        upload_async(
            source,
            audience_id=audience_id,
            settings=settings,
            rejections=rejections,
            progress=progress,
            **keywords,
        )
    )


def _is_loop_running() -> bool:
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True


async def upload_async(
    source: FilePath,
    *,
    audience_id: str,
    settings: Settings | None = None,
    rejections: FilePath | None = None,
    progress: Progress | None = None,
    limiter: RateLimiter | None = None,
    **keywords: Unpack[Keywords],
) -> Report:
    """Check the source, then send it to the audience; the report of a complete run.

    Whatever is less than complete is raised, with the report's JSON as `document`: Refused (nothing was sent),
    CredentialsRefused, ServiceUnavailable, NotFinished (part of it was sent). `limiter` is for services of one's own.
    """
    settings = settings or load_settings()
    options = read_keywords(keywords, settings.profile)
    # What could never work is said before the source is read.
    client = open_client(settings)
    check_identifier("audience", audience_id)
    run = Run.start(audience_id, options, settings)
    progress = progress or NoProgress()
    with ExitStack() as stack:
        planned = await _read_and_plan(source, options, run, settings, progress, stack, rejections)
        if isinstance(planned, PlannedRun) and not planned.refusals:
            return await _send_planned(planned, run, client, settings, limiter, progress)
    # Raised outside the handlers of what went wrong, whose frames hold records.
    raise run.refuse(planned.refusals[0], planned) if isinstance(planned, PlannedRun) else run.refuse(planned)


async def _read_and_plan(
    source: FilePath,
    options: Options,
    run: Run,
    settings: Settings,
    progress: Progress,
    stack: ExitStack,
    rejections: FilePath | None,
) -> PlannedRun | AudiencekitError:
    """Pass one, in a thread of its own; the error that ended it, which is NotFinished for a cancellation."""
    stoppable = Stoppable(progress)
    reading = asyncio.ensure_future(
        asyncio.to_thread(
            plan_run,
            source,
            options,
            profile=settings.profile,
            now=run.started_at,
            progress=stoppable,
            stack=stack,
            spool_dir=run.directory,
            rejections=rejections or run.directory / "rejections.csv",
        )
    )
    try:
        return await asyncio.shield(reading)
    except AudiencekitError as error:
        return error
    except asyncio.CancelledError:
        stoppable.stop()
        await asyncio.wait([reading])
        reading.exception()
        return NotFinished("interrupted while the source was read: nothing was sent")


async def _send_planned(
    planned: PlannedRun,
    run: Run,
    client: AdsClient,
    settings: Settings,
    limiter: RateLimiter | None,
    progress: Progress,
) -> Report:
    run.write(run.report(planned, "incomplete", None))
    async with client:
        delivered = await _deliver(planned, client, run.audience_id, settings, limiter, progress)
    if delivered.is_complete:
        return run.write(run.report(planned, "complete", delivered))
    failure = failure_of(delivered)
    state: State = "incomplete" if touched(delivered) or isinstance(failure, NotFinished) else "refused"
    raise run.fail(failure, run.report(planned, state, delivered))


async def _deliver(
    planned: PlannedRun,
    client: AdsClient,
    audience_id: str,
    settings: Settings,
    limiter: RateLimiter | None,
    progress: Progress,
) -> Delivered:
    """Pass two: pack what was planned and send it."""
    clock = SystemClock()
    confirmed = 0

    async def send(request: PackedRequest) -> Counts:
        try:
            return await client.send_users(audience_id, Body((request.body.unwrap(),)), records=request.records)
        except ExchangeError as error:
            progress.tell(f"request {request.number}: {error}")
            raise

    def tell(result: RequestResult) -> None:
        nonlocal confirmed
        confirmed += result.is_confirmed
        progress.step("sending", confirmed, len(planned.requests), unit="requests")

    return await deliver(
        pack_requests(planned.requests, planned.users_of, planned.times),
        send=send,
        limiter=limiter or PacedLimiter(settings.requests_per_minute, clock=clock),
        policy=RetryPolicy(clock=clock, randomness=random.Random(secrets.randbits(64))),
        clock=clock,
        concurrency=settings.concurrency,
        on_progress=tell,
    )
