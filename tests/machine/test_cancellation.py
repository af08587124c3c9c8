"""A cancellation of what is awaited: CancelledError comes out in time, and says how far the work came."""

from __future__ import annotations

import asyncio
import contextlib
import gc
import inspect
import traceback
import weakref
from collections.abc import Callable, Coroutine
from typing import Any

import pytest

import audiencekit
from audiencekit.errors import NotFinished
from audiencekit.limits import CANCELLATION_SECONDS
from audiencekit.machine.cancellation import cancellable, interruptible
from tests.virtualtime import run_virtually

AWAITED = sorted(name for name in audiencekit.__all__ if name.endswith("_async"))


@cancellable
async def exchange_async(*, drain: float, interruptions: int = 1) -> str:
    """Work that goes on for `drain` seconds after an interruption, until so many have come."""
    come = 0
    while come < interruptions:
        try:
            await asyncio.sleep(drain if come else 3_600)
            break
        except asyncio.CancelledError:
            come += 1
    raise NotFinished(f"interrupted {come} times")


async def _cancelled(work: Callable[[], Coroutine[Any, Any, Any]], *moments: float) -> tuple[BaseException, float]:
    """The exception of work that is cancelled at `moments`, and when it came."""
    loop = asyncio.get_running_loop()
    task = asyncio.create_task(work())
    for moment in moments:
        loop.call_at(moment, task.cancel, f"at {moment:g}")
    await asyncio.wait([task])
    return (asyncio.CancelledError() if task.cancelled() else task.exception() or AssertionError()), loop.time()


@pytest.mark.parametrize("name", AWAITED)
def test_every_awaited_function_is_cancellable(name: str) -> None:
    """So that a new one cannot be forgotten; and programs that ask see that it is to be awaited."""
    function = getattr(audiencekit, name)
    assert function.__code__ is exchange_async.__code__
    assert inspect.iscoroutinefunction(function)


@pytest.mark.parametrize(
    ("drain", "interruptions", "moments", "ended_at"),
    [
        (3.0, 2, (10,), 13.0),  # what is under way has its time
        (60.0, 2, (10,), 10.0 + CANCELLATION_SECONDS),  # and no more
        (60.0, 2, (10, 11), 11.0),  # a second cancellation stops at once
        (60.0, 4, (10,), 10.0 + CANCELLATION_SECONDS + 2.0),  # who swallowed one is told again
    ],
)
def test_a_cancellation_comes_out_in_time(
    drain: float, interruptions: int, moments: tuple[float, ...], ended_at: float
) -> None:
    """Whatever the work waits for."""
    work = lambda: exchange_async(drain=drain, interruptions=interruptions)  # noqa: E731
    error, moment = run_virtually(_cancelled(work, *moments))
    assert isinstance(error, asyncio.CancelledError)
    assert moment == pytest.approx(ended_at)


def test_it_is_the_cancellation_that_came_and_its_cause_is_the_end_of_the_work() -> None:
    """Scopes know theirs by its message, and count what they have asked for."""

    async def work() -> None:
        task = asyncio.current_task()
        assert task is not None
        asyncio.get_running_loop().call_later(10, task.cancel, "by scope 7")
        with pytest.raises(asyncio.CancelledError, match="by scope 7") as caught:
            await exchange_async(drain=0)
        why = caught.value.__cause__
        assert (type(why), str(why)) == (NotFinished, "interrupted 1 times")
        assert why is not None
        assert why.__traceback__ is None
        assert task.cancelling() == 1
        task.uncancel()

    run_virtually(work())


def test_time_that_is_over_is_a_timeout() -> None:
    """Of asyncio, with what became of the work."""

    async def work() -> None:
        with pytest.raises(TimeoutError) as caught:
            async with asyncio.timeout(10):
                await exchange_async(drain=60, interruptions=2)
        cancelled = caught.value.__cause__
        assert cancelled is not None
        assert str(cancelled.__cause__) == "interrupted 2 times"
        task = asyncio.current_task()
        assert task is not None
        assert task.cancelling() == 0

    run_virtually(work())


def test_a_group_of_tasks_ends_with_the_error_of_the_other() -> None:
    """And with that alone."""

    async def fail() -> None:
        await asyncio.sleep(1)
        raise ZeroDivisionError

    async def work() -> None:
        async def both() -> None:
            async with asyncio.TaskGroup() as group:
                group.create_task(exchange_async(drain=0))
                group.create_task(fail())

        with pytest.raises(ExceptionGroup) as caught:
            await both()
        assert [type(each) for each in caught.value.exceptions] == [ZeroDivisionError]

    run_virtually(work())


def test_work_that_was_done_by_then_says_so() -> None:
    """The cancellation comes out all the same: its caller would wait for ever for what it swallowed."""

    @cancellable
    async def stubborn_async() -> str:
        try:
            await asyncio.sleep(3_600)
        except asyncio.CancelledError:
            return "complete"
        return "late"

    async def work() -> None:
        task = asyncio.ensure_future(stubborn_async())
        await asyncio.sleep(1)
        task.cancel()
        with pytest.raises(asyncio.CancelledError) as caught:
            await task
        assert caught.value.__notes__ == ["all was done when the cancellation came"]
        assert caught.value.__cause__ is None

    run_virtually(work())


def test_a_failure_at_the_end_is_the_cause() -> None:
    """As of a disk that is full: it does not hide the cancellation."""

    @cancellable
    async def failing_async() -> None:
        try:
            await asyncio.sleep(3_600)
        finally:
            raise ValueError("no room")

    async def work() -> None:
        task = asyncio.ensure_future(failing_async())
        await asyncio.sleep(1)
        task.cancel()
        with pytest.raises(asyncio.CancelledError) as caught:
            await task
        assert isinstance(caught.value.__cause__, ValueError)

    run_virtually(work())


def test_inside_interruptible_work_its_own_answer_comes() -> None:
    """The command line has an exit code and a report for it. Beyond that work nothing is changed."""

    async def inside() -> None:
        await exchange_async(drain=0)

    async def work() -> None:
        error, _ = await _cancelled(lambda: interruptible(inside()), 10)
        assert str(error) == "interrupted 1 times"
        error, _ = await _cancelled(lambda: exchange_async(drain=0), 20)
        assert isinstance(error, asyncio.CancelledError)

    run_virtually(work())


@cancellable
async def divide_async(number: int, source: object = None) -> float:
    """Half of it for two."""
    await asyncio.sleep(0)
    return 1 / number


async def test_without_a_cancellation_the_result_comes_back() -> None:
    """And the exception, whose frames show nothing of what was given."""
    assert await divide_async(2) == 0.5
    with pytest.raises(ZeroDivisionError) as caught:
        await divide_async(0)
    frames = [frame for frame, _ in traceback.walk_tb(caught.value.__traceback__)]
    assert not [frame for frame in frames if {"given", "keywords"} & set(frame.f_locals)]


async def test_an_exception_keeps_nothing_of_the_work_when_it_is_handled() -> None:
    """Such as a table, until garbage is collected."""

    class Table:
        """A source."""

    table = Table()
    gone = weakref.ref(table)
    gc.disable()
    try:
        with contextlib.suppress(ZeroDivisionError):
            await divide_async(0, table)
        del table
        await asyncio.sleep(0)
        assert gone() is None
    finally:
        gc.enable()


def test_a_loop_that_closes_interrupts_once() -> None:
    """It has cancelled all tasks itself: the work is given its time."""
    ended = []

    @cancellable
    async def patient_async() -> None:
        try:
            await asyncio.sleep(3_600)
        except asyncio.CancelledError:
            await asyncio.sleep(1)
            ended.append("in good order")

    async def main() -> None:
        kept.append(asyncio.create_task(patient_async()))
        await asyncio.sleep(0.01)

    kept: list[asyncio.Task[None]] = []
    asyncio.run(main())
    assert (ended, kept[0].cancelled()) == (["in good order"], True)
