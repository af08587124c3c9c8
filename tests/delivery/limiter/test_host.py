"""Processes of one host share one pace and one pause: here, limiters on one virtual clock with one real file."""

from __future__ import annotations

import asyncio
import contextlib
import sqlite3
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from audiencekit.delivery.clock import Clock
from audiencekit.delivery.limiter import HostLimiter, Pausable, host
from audiencekit.delivery.limiter.waitingline import WaitingLine
from audiencekit.delivery.limiter.waitinglinefile import WaitingLineFile
from audiencekit.errors import InputOutputFailed

Process = Callable[..., HostLimiter]


@pytest.fixture
def process(tmp_path: Path, clock: Clock) -> Process:
    """Opens the limiter of one more process, with one request a second unless told otherwise."""

    def opened(per_minute: float = 60, quota: str = "quota", boot: str = "boot") -> HostLimiter:
        return HostLimiter(
            per_minute, quota=quota, state_dir=tmp_path, clock=clock, now=lambda: clock.monotonic(), boot=boot
        )

    return opened


async def leave(limiter: HostLimiter, clock: Clock, times: int) -> list[float]:
    """The moments at which one process left."""
    moments = []
    for _ in range(times):
        await limiter.acquire()
        moments.append(clock.monotonic())
    return moments


def test_processes_share_one_pace_in_equal_parts(
    virtually: Any, worst_window: Any, clock: Clock, process: Process
) -> None:
    """Four processes that all want to send leave one interval apart, in turn."""

    async def main() -> list[list[float]]:
        with contextlib.ExitStack() as stack:
            limiters = [stack.enter_context(process(1470)) for _ in range(4)]
            return list(await asyncio.gather(*(leave(limiter, clock, 400) for limiter in limiters)))

    moments = virtually(main())
    together = [moment for share in moments for moment in share]
    assert worst_window(together, 60.0) <= 1_471
    assert 1599 / max(together) >= 0.95 * 25
    assert [share[-1] for share in moments] == pytest.approx([max(together)] * 4, abs=0.5)


def test_callers_of_one_process_are_served_in_order(virtually: Any, clock: Clock, process: Process) -> None:
    """First come, first served, one interval apart; the first at once."""

    async def main() -> list[float]:
        with process() as limiter:
            return [moment for (moment,) in await asyncio.gather(*(leave(limiter, clock, 1) for _ in range(4)))]

    assert virtually(main()) == pytest.approx([0.0, 1.0, 2.0, 3.0])


def test_quotas_do_not_share(virtually: Any, clock: Clock, process: Process) -> None:
    """Another account or token has a pace of its own."""

    async def main() -> list[list[float]]:
        with process() as one, process(quota="another") as other:
            return list(await asyncio.gather(leave(one, clock, 3), leave(other, clock, 3)))

    assert virtually(main()) == [pytest.approx([0.0, 1.0, 2.0])] * 2


def test_a_restart_does_not_begin_anew(virtually: Any, clock: Clock, process: Process) -> None:
    """A process that starts right after another one's end waits for its place."""

    async def main() -> list[float]:
        moments = []
        for _ in range(5):
            with process() as limiter:
                moments += await leave(limiter, clock, 1)
        return moments

    assert virtually(main()) == pytest.approx([0.0, 1.0, 2.0, 3.0, 4.0])


def test_a_cancelled_caller_uses_up_nothing(virtually: Any, clock: Clock, process: Process) -> None:
    """Neither for its own process nor for the others."""

    async def main() -> list[float]:
        with process() as one, process() as other:
            await one.acquire()
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(one.acquire(), 0.5)
            return await leave(other, clock, 2)

    assert virtually(main()) == pytest.approx([1.0, 2.0], abs=0.3)


def test_a_429_to_one_holds_back_all(virtually: Any, clock: Clock, process: Process) -> None:
    """Those that wait already, too. Afterwards the pace is half of what it was, and each process knows why."""

    async def main() -> tuple[list[float], list[bool]]:
        with process() as one, process() as other:
            assert isinstance(one, Pausable)
            await one.acquire()
            waiting = asyncio.create_task(leave(other, clock, 3))
            await clock.sleep(0.9)
            before = one.is_quota_shared
            await one.pause(30.0)
            await other.pause(20.0)
            moments = await waiting
            return moments, [before, one.is_quota_shared, other.is_quota_shared]

    moments, shared = virtually(main())
    assert moments == pytest.approx([30.9, 32.9, 34.9], abs=0.1)
    assert shared == [False, True, True]


def test_a_longer_pause_holds_back_who_waits_already(virtually: Any, clock: Clock, process: Process) -> None:
    """No process has a place in a pause; each asks again at its end."""

    async def main() -> list[float]:
        with process() as one, process() as other:
            await one.pause(10.0)
            waiting = asyncio.create_task(leave(other, clock, 1))
            await clock.sleep(5.0)
            await one.pause(30.0)
            return await waiting

    assert virtually(main()) == pytest.approx([35.0], abs=0.01)


def test_the_full_pace_comes_back(virtually: Any, clock: Clock, process: Process) -> None:
    """A quarter of an hour after a 429 the requests are as near as before."""

    async def main() -> list[float]:
        with process() as limiter:
            await limiter.pause(60.0)
            await clock.sleep(900.0)
            return await leave(limiter, clock, 3)

    first, *rest = virtually(main())
    assert [moment - first for moment in rest] == pytest.approx([1.0, 2.0], abs=0.6)


def test_another_start_of_the_machine_is_another_line(virtually: Any, clock: Clock, process: Process) -> None:
    """Times that were written before it count from another moment."""

    async def main() -> list[float]:
        with process() as before:
            await before.pause(100.0)
        with process(boot="another") as after:
            return await leave(after, clock, 1)

    assert virtually(main()) == [0.0]


def test_a_line_of_a_far_future_is_forgotten(virtually: Any, clock: Clock, process: Process, tmp_path: Path) -> None:
    """Where the system does not tell its starts apart: then the first request waits one interval."""
    file = WaitingLineFile(tmp_path, "boot")
    file.change("quota", lambda line: (WaitingLine(free_at=1e6, paused_until=1e6), None))
    file.close()

    async def main() -> list[float]:
        with process() as limiter:
            return await leave(limiter, clock, 2)

    assert virtually(main()) == pytest.approx([1.0, 2.0])


def hold(tmp_path: Path) -> sqlite3.Connection:
    """The work of a process that was stopped in the middle of a change."""
    holder = sqlite3.connect(tmp_path / "limiter/boot.sqlite", isolation_level=None)
    holder.execute("BEGIN IMMEDIATE")
    return holder


def test_a_held_file_is_waited_for(virtually: Any, clock: Clock, process: Process, tmp_path: Path) -> None:
    """Without stopping the event loop."""

    async def main() -> list[float]:
        with process() as limiter, contextlib.closing(hold(tmp_path)) as holder:
            leaving = asyncio.create_task(leave(limiter, clock, 1))
            await clock.sleep(0.3)
            holder.execute("ROLLBACK")
            return await leaving

    assert virtually(main()) == pytest.approx([0.3], abs=0.02)


def test_a_file_that_is_held_for_ever_ends_the_run(
    virtually: Any, clock: Clock, process: Process, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No request leaves without it."""
    monkeypatch.setattr(host, "LIMITER_BUSY_SECONDS", 0.2)

    async def main() -> None:
        with process() as limiter, contextlib.closing(hold(tmp_path)):
            await limiter.acquire()

    with pytest.raises(InputOutputFailed, match="held the limiter's file") as caught:
        virtually(main())
    assert "continue or end it" in caught.value.hint
    assert caught.value.exit_code == 75


def test_a_file_that_fails_ends_the_run(virtually: Any, clock: Clock, process: Process, tmp_path: Path) -> None:
    """Fail closed: without the file it is not known which requests left."""

    async def main() -> None:
        with process() as limiter:
            await limiter.acquire()
            (tmp_path / "limiter/boot.sqlite").write_bytes(b"overwritten by another" * 1000)
            await limiter.acquire()

    with pytest.raises(InputOutputFailed, match=r"boot\.sqlite"):
        virtually(main())


def test_owners_are_not_confused(virtually: Any, clock: Clock, process: Process) -> None:
    """Two limiters of one process count as two."""

    async def main() -> Counter[int]:
        left: Counter[int] = Counter()

        async def worker(number: int, limiter: HostLimiter) -> None:
            while clock.monotonic() < 20.0:
                await limiter.acquire()
                left[number] += 1

        with process() as one, process() as other:
            await asyncio.gather(worker(1, one), worker(2, other))
        return left

    left = virtually(main())
    assert abs(left[1] - left[2]) <= 2
