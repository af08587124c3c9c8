"""The resources of an erasure, and its preview."""

from __future__ import annotations

import functools
from collections.abc import Awaitable, Callable
from contextlib import AbstractContextManager
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from typing import Any

from audiencekit.audiences.erasure.receipt import Receipt, counted
from audiencekit.audiences.erasure.verification import remove_from_snapshot
from audiencekit.delivery.limiter import RateLimiter
from audiencekit.delivery.retry import RetryPolicy
from audiencekit.destinations.target import Target
from audiencekit.limits import DRAIN_SECONDS
from audiencekit.runs.first_pass import Doubts, PendingRequests, in_thread
from audiencekit.runs.run import RunClock
from audiencekit.runs.store import TargetLock
from audiencekit.selection.erased_people import Forgotten
from audiencekit.settings import Settings
from audiencekit.state.keys import StateKey
from audiencekit.text import shown

# --- The resources of an erasure, from its settings and its state directory: locks, earlier runs, snapshots ---


@dataclass(frozen=True, slots=True, kw_only=True)
class ErasureResources:
    """The local resources of an erasure. `lock` raises AudienceBusy.

    `leave` takes the people out of the stored members of an audience on this machine.
    """

    limiter: RateLimiter
    policy: RetryPolicy
    lock: Callable[[Target], AbstractContextManager[object]]
    doubts: Doubts
    leave: Callable[[Target], Awaitable[None]]
    concurrency: int
    drain_seconds: float = DRAIN_SECONDS


def erasure_resources(
    receipt: Receipt,
    settings: Settings,
    key: StateKey,
    forgotten: Forgotten | None,
    *,
    limiter: RateLimiter,
    time: RunClock,
) -> ErasureResources:
    """Return the resources of the erasure with this receipt; `forgotten` are all people to be left out from now on."""
    state_dir, account_id = settings.state_dir, receipt.account_id

    def lock(target: Target) -> TargetLock:
        return TargetLock(state_dir, account_id, target, receipt.erasure_id)

    async def leave(target: Target) -> None:
        if forgotten is not None:
            await in_thread(
                functools.partial(
                    remove_from_snapshot, state_dir, account_id, target.id,
                    key=key, forgotten=forgotten, now=datetime.now(UTC),
                )
            )  # fmt: skip

    return ErasureResources(
        limiter=limiter,
        policy=time.retry_policy(settings),
        lock=lock,
        doubts=PendingRequests(state_dir, account_id, now=time.clock.now, moment=time.moment).seconds_left,
        leave=leave,
        concurrency=settings.concurrency,
        drain_seconds=settings.drain_seconds,
    )


# --- The preview of an erasure: the people who are named, and the audiences ---


@dataclass(frozen=True, slots=True, kw_only=True)
class Preview:
    """An erasure that was not begun: lines or rows that name a person, identifiers and forms by kind, and audiences.

    `audiences` and `skipped` are pairs of id and name.
    """

    asked: int
    identifiers: dict[str, int]
    forms: dict[str, int]
    audiences: list[tuple[str, str]]
    skipped: list[tuple[str, str]]

    def to_json(self) -> dict[str, Any]:
        """Return all of it."""
        return asdict(self)

    def to_text(self) -> str:
        """Return the same for people."""
        named = [f"  {shown(one)}  {name!r}" for one, name in self.audiences]
        left_out = [f"  {shown(one)}  {name!r}: takes no Deletes" for one, name in self.skipped]
        forms = f"{counted(sum(self.forms.values()), 'hashed form')}"
        asked = f"{counted(sum(self.identifiers.values()), 'identifier')} ({forms})"
        head = f"would delete {asked} from {counted(len(self.audiences), 'audience')}"
        return "\n".join([head, *named, *left_out])
