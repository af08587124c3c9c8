"""`resume` from a program: whatever this machine has begun is finished by one function, be it a run or an erasure."""

from __future__ import annotations

from typing import Any

from audiencekit.audiences.erasure.forgetting import resume_erasure_async
from audiencekit.audiences.erasure.receipt import Receipt
from audiencekit.audiences.history import find_resumable
from audiencekit.delivery.limiter import RateLimiter
from audiencekit.machine.eventloop import blocking, cancellable
from audiencekit.machine.keys import known_state_key
from audiencekit.pipeline import resume_async as resume_run_async
from audiencekit.reporting.progress import Progress
from audiencekit.reporting.report import Report
from audiencekit.settings import Settings, load_settings


@cancellable
async def resume_async(
    run: str,
    *,
    settings: Settings | None = None,
    progress: Progress | None = None,
    limiter: RateLimiter | None = None,
    new_address: bool = False,
) -> Report | Receipt:
    """Finish a run or an erasure that ended early; its report, or its receipt.

    `run` is an id, the unique beginning of one, or `last`, the only one of all runs and erasures that can be resumed.
    One that is complete stays as it is when its id is given. It goes on at the account and the address that it was
    begun at; with `new_address` the service has moved. Raises UsageError when `run` fits none or several, and what
    `audiencekit.pipeline.resume_async` and `resume_erasure_async` raise.
    """
    settings = settings or load_settings()
    run_id, is_erasure = find_resumable(settings.state_dir, run, known_state_key(settings.state_dir, settings.key))
    given: dict[str, Any] = {"settings": settings, "progress": progress, "limiter": limiter, "new_address": new_address}
    if is_erasure:
        return await resume_erasure_async(run_id, **given)
    return await resume_run_async(run_id, **given)


resume = blocking(resume_async)
