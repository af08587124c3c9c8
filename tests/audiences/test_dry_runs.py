"""A dry run looks at its target first, and plans in a thread."""

from __future__ import annotations

import asyncio
import threading
from typing import Any

import pytest

from audiencekit.audiences.dry_runs import look_and_plan
from audiencekit.errors import PlanRefused
from audiencekit.reporting.progress import NoProgress, Progress


class Target:
    """A session that only looks."""

    def __init__(self, refusal: PlanRefused | None = None) -> None:
        self._refusal, self.looks = refusal, 0

    async def look(self, **_: Any) -> None:
        self.looks += 1
        if self._refusal is not None:
            raise self._refusal


async def test_the_plan_is_made_after_the_look() -> None:
    """In another thread, so that the loop goes on."""
    target: Any = Target()

    def plan(progress: Progress) -> Any:
        return target.looks, threading.current_thread() is threading.main_thread()

    assert await look_and_plan(target, NoProgress(), plan) == (1, False)


async def test_a_refused_target_has_no_plan() -> None:
    """The source is not read."""
    target: Any = Target(PlanRefused("the audience is gone"))

    def plan(progress: Progress) -> Any:
        raise AssertionError("it was planned")

    with pytest.raises(PlanRefused, match="gone"):
        await look_and_plan(target, NoProgress(), plan)


async def test_a_cancellation_stops_the_plan() -> None:
    """At its next step, and it comes back when the plan has ended."""
    begun, ended = threading.Event(), threading.Event()

    def plan(progress: Progress) -> Any:
        begun.set()
        try:
            while True:
                progress.step("reading", 1, 2, unit="rows")
        finally:
            ended.set()

    target: Any = Target()
    planning = asyncio.create_task(look_and_plan(target, NoProgress(), plan))
    await asyncio.to_thread(begun.wait)
    planning.cancel()
    with pytest.raises(asyncio.CancelledError):
        await planning
    assert ended.is_set()
