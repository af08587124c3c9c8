"""The means of an erasure, from its settings and its state directory: locks, earlier runs, kept snapshots."""

from __future__ import annotations

import functools
from collections.abc import Awaitable, Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import UTC, datetime

from audiencekit.audiences.erasure.receipt import Receipt
from audiencekit.audiences.erasure.snapshots import leave_snapshot
from audiencekit.delivery.limiter import RateLimiter
from audiencekit.delivery.retry import RetryPolicy
from audiencekit.destinations.target import Target
from audiencekit.limits import DRAIN_SECONDS
from audiencekit.machine.keys import StateKey
from audiencekit.runs.doubts import Doubts, EarlierRuns
from audiencekit.runs.inthread import in_thread
from audiencekit.runs.locks import TargetLock
from audiencekit.runs.runclock import RunClock
from audiencekit.selection.forgotten.people import Forgotten
from audiencekit.settings import Settings


@dataclass(frozen=True, slots=True, kw_only=True)
class ErasureMeans:
    """The things on this machine that an erasure is carried out with. `lock` raises AudienceBusy.

    `leave` takes the people out of what is kept of an audience on this machine, too.
    """

    limiter: RateLimiter
    policy: RetryPolicy
    lock: Callable[[Target], AbstractContextManager[object]]
    doubts: Doubts
    leave: Callable[[Target], Awaitable[None]]
    concurrency: int
    drain_seconds: float = DRAIN_SECONDS


def means_of(
    receipt: Receipt,
    settings: Settings,
    key: StateKey,
    forgotten: Forgotten | None,
    *,
    limiter: RateLimiter,
    time: RunClock,
) -> ErasureMeans:
    """The means of the erasure with this receipt; `forgotten` are all people to be left out from now on."""
    state_dir, account_id = settings.state_dir, receipt.account_id

    def lock(target: Target) -> TargetLock:
        return TargetLock(state_dir, account_id, target, receipt.erasure_id)

    async def leave(target: Target) -> None:
        if forgotten is not None:
            await in_thread(
                functools.partial(
                    leave_snapshot, state_dir, account_id, target.id,
                    key=key, forgotten=forgotten, now=datetime.now(UTC),
                )
            )  # fmt: skip

    return ErasureMeans(
        limiter=limiter,
        policy=time.retry_policy(),
        lock=lock,
        doubts=EarlierRuns(state_dir, account_id, now=time.clock.now, moment=time.moment).seconds_left,
        leave=leave,
        concurrency=settings.concurrency,
        drain_seconds=settings.drain_seconds,
    )
