"""Work of a task is ended like a command by its first signal: once, and awaited."""

from __future__ import annotations

import asyncio
import signal
import threading
from collections.abc import Iterator
from types import FrameType

import pytest

from audiencekit.integrations.airflow.drainage import Drainage


class TaskEnded(BaseException):
    """Raised by the signal handler of an older Airflow."""


@pytest.fixture
def ended_by_signal() -> Iterator[None]:
    """SIGUSR1 raises TaskEnded in the main thread."""

    def end(number: int, frame: FrameType | None) -> None:
        raise TaskEnded

    before = signal.signal(signal.SIGUSR1, end)
    yield
    signal.signal(signal.SIGUSR1, before)


def test_the_result_of_the_work_comes_back() -> None:
    """From another thread than the task's."""

    async def work() -> threading.Thread:
        return threading.current_thread()

    assert Drainage().run(work()) is not threading.current_thread()


def test_an_exception_of_the_work_is_raised() -> None:
    """As it is."""

    async def work() -> None:
        raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        Drainage().run(work())


def test_a_drain_cancels_once() -> None:
    """A second call is no second interruption: that would stop at once what is under way."""
    drainage, seen = Drainage(), []

    async def work() -> str:
        drainage.drain()
        drainage.drain()
        for _ in range(3):
            try:
                await asyncio.sleep(0)
            except asyncio.CancelledError:
                seen.append("cancelled")
                drainage.drain()
        return "drained"

    assert drainage.run(work()) == "drained"
    assert seen == ["cancelled"]


def test_a_drain_before_the_work_begins_ends_it() -> None:
    """Nothing of it is done."""
    drainage = Drainage()
    drainage.drain()

    async def work() -> None:
        await asyncio.sleep(0)
        raise AssertionError("it went on")

    with pytest.raises(asyncio.CancelledError):
        drainage.run(work())


def test_a_drain_after_the_end_is_none() -> None:
    """The loop is closed by then."""
    drainage = Drainage()

    async def work() -> int:
        return 1

    assert drainage.run(work()) == 1
    drainage.drain()


def test_an_exception_of_a_signal_handler_waits_for_the_end(ended_by_signal: None) -> None:
    """It breaks into the wait, not into the work: what is under way is finished before it is raised."""
    steps: list[str] = []

    async def work() -> None:
        signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGUSR1)
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            await asyncio.sleep(0)
            steps.append("finished")

    with pytest.raises(TaskEnded):
        Drainage().run(work())
    assert steps == ["finished"]
