"""The look at a target before a run is begun: a wrong target or secret is told before the source is read."""

from __future__ import annotations

import asyncio

from audiencekit.delivery.retry import RetryPolicy, SystemClock
from audiencekit.destinations.destination import Session
from audiencekit.errors import NotFinished
from audiencekit.reporting.progress import Progress


async def look_first(session: Session, progress: Progress) -> None:
    """Return when the target of `session` is there and may be written.

    Raises the error that refuses the run, and NotFinished for a cancellation. No run is kept of it.
    """
    policy = RetryPolicy.seeded(SystemClock())
    try:
        await session.look(policy=policy, tell=progress.tell)
        return
    except asyncio.CancelledError:
        interrupted = NotFinished("interrupted before the source was read: nothing was sent")
    raise interrupted
