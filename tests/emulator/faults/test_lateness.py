"""Requests that are applied later than they came."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from audiencekit.emulator.clock import Clock
from audiencekit.emulator.faults.lateness import LateApplies
from tests.moments import PATIENCE_SECONDS
from tests.virtualtime import run_virtually


async def test_moments_come_in_their_order_and_not_before() -> None:
    """By the clock; what has the same moment comes in the order in which it was added."""
    clock, done = Clock(lambda: 100.0), []
    late = LateApplies(clock)
    for name, seconds in (("b", 20), ("a", 10), ("c", 20)):
        late.add(seconds, lambda name=name: done.append(name))  # type: ignore[misc]
    late.run_due()
    assert done == []
    clock.advance(10)
    late.run_due()
    assert done == ["a"]
    clock.advance(100)
    late.run_due()
    assert done == ["a", "b", "c"]


def test_time_alone_brings_the_moment() -> None:
    """A timer asks the clock, and asks again while it stands still."""

    async def main() -> None:
        now, done = [100.0], asyncio.Event()
        late = LateApplies(Clock(lambda: now[0]))
        late.add(0.01, done.set)
        await asyncio.sleep(60)
        assert not done.is_set()
        now[0] = 200.0
        await asyncio.wait_for(done.wait(), PATIENCE_SECONDS)

    run_virtually(main())


async def test_nothing_is_applied_after_the_end() -> None:
    """Requests that still wait are dropped."""
    late = LateApplies(Clock(lambda: 100.0))
    late.add(0, lambda: pytest.fail("applied after the end"))
    late.close()
    late.run_due()


@pytest.mark.parametrize("meanwhile", ["reset", "status"])
async def test_a_zombie_is_applied_after_the_retry(bench: Any, meanwhile: str) -> None:
    """The client hears of a failure, tries again, is confirmed; then the first request takes effect."""
    await bench.order(3, delay_seconds=900, meanwhile=meanwhile)
    if meanwhile == "reset":
        with pytest.raises(ConnectionResetError):
            await bench.exchange(bench.request())
    else:
        assert (await bench.upload()).status == 504
    assert await bench.fired() == [(3, "late_apply", 1, False)]
    retried = [{"operation_type": "Delete", "params": {"users": [{"email": ["a1" * 32]}]}}]
    assert (await bench.upload(retried)).status == 200
    await bench.caller.move_clock(advance=899)
    assert len(await bench.log()) == 1
    await bench.caller.move_clock(advance=2)
    log = await bench.log()
    assert [(line["seq"], line["operation_type"], line.get("fault")) for line in log] == [
        (1, "Delete", None),
        (2, "Update", 3),
        (3, "Update", 3),
    ]
    assert log[1]["time"] == log[0]["time"] + 901
    assert {"email": ["a1" * 32]} in [member["keys"] for member in await bench.caller.members()]
    assert await bench.fired() == [(3, "late_apply", 1, True)]


async def test_a_held_client_hears_the_late_answer(bench: Any) -> None:
    """If it waits that long."""
    await bench.order(3, delay_seconds=60)
    waiting = asyncio.ensure_future(bench.upload())
    while not await bench.fired():
        await asyncio.sleep(0)
    assert await bench.log() == []
    await bench.caller.move_clock(advance=61)
    assert (await waiting).body["data"]["success_count"] == 3
    assert len(await bench.log()) == 2


async def test_a_held_client_that_left_was_applied_all_the_same(bench: Any) -> None:
    """The connection is gone; the request is not."""
    await bench.order(3, delay_seconds=60)
    _, writer = await bench.connect()
    writer.write(bench.request())
    while not await bench.fired():
        await asyncio.sleep(0)
    writer.close()
    await bench.caller.move_clock(advance=61)
    assert len(await bench.log()) == 2


async def test_a_late_request_can_be_refused(bench: Any) -> None:
    """The audience was deleted in the meantime: nothing is applied."""
    await bench.order(3, delay_seconds=60, meanwhile="status")
    await bench.upload()
    caller = bench.caller
    assert (await caller.call("DELETE", f"{caller.audiences}/{bench.emulator.audience_id}")).status == 200
    await caller.move_clock(advance=61)
    assert await bench.log() == []
    assert (await bench.fired())[0][3] is False
