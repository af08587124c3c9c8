"""The doors for callers without an event loop."""

from __future__ import annotations

import asyncio
import contextlib
import gc
import inspect
import subprocess
import sys
import traceback
import weakref
from collections.abc import Callable, Coroutine
from contextvars import ContextVar
from typing import Any

import pytest

import audiencekit
from audiencekit.errors import NotFinished
from audiencekit.limits import CANCELLATION_SECONDS
from audiencekit.process.cancellation import cancellable, interruptible
from audiencekit.process.event_loop import blocking, closed_to_its_end, to_its_end
from tests.cases import each_case
from tests.moments import PATIENCE_SECONDS
from tests.virtualtime import run_virtually

DOORS = sorted(name for name in audiencekit.__all__ if f"{name}_async" in audiencekit.__all__)


async def double_async(number: int, *, plus: int = 0) -> int:
    """Twice the number."""
    if number < 0:
        raise ValueError
    return 2 * number + plus


double = blocking(double_async)


def test_the_result_of_an_awaited_function_comes_back() -> None:
    """With the parameters, and under the name, of what is awaited."""
    assert double(3, plus=1) == 7
    assert inspect.signature(double) == inspect.signature(double_async)
    assert (double.__name__, inspect.iscoroutinefunction(double)) == ("double", False)
    assert inspect.getdoc(double) is not None
    assert "Twice the number." in str(inspect.getdoc(double))
    assert "`double_async`" in str(inspect.getdoc(double))


async def test_inside_an_event_loop_it_works_as_well() -> None:
    """As in a notebook, with the result and the exception of what is awaited."""
    assert double(3) == 6
    with pytest.raises(ValueError):  # noqa: PT011
        double(-1)


async def test_inside_an_event_loop_the_thread_has_the_variables_of_the_context() -> None:
    """A display of a notebook finds its cell by them."""
    cell.set("third")
    assert blocking(_cell_async)() == "third"


cell = ContextVar("cell", default="none")


async def _cell_async() -> str:
    return cell.get()


@pytest.mark.parametrize(("work", "expected"), [("stubborn", "ended by itself"), ("obedient", "KeyboardInterrupt")])
def test_an_interrupt_cancels_what_runs_beside_a_loop(work: str, expected: str) -> None:
    """And waits for its end, which may say more than the interrupt does. In a process of its own."""
    done = subprocess.run(
        [sys.executable, "-c", INTERRUPTED, work], capture_output=True, text=True, timeout=PATIENCE_SECONDS
    )
    assert (done.stdout.strip(), done.returncode) == (expected, 0), done.stderr


INTERRUPTED = """
import asyncio, os, signal, sys, threading
from audiencekit.process.event_loop import blocking

async def stubborn_async():
    interrupter.start()
    try:
        await asyncio.sleep(600)
    except asyncio.CancelledError:
        raise ValueError("ended by itself") from None

async def obedient_async():
    interrupter.start()
    await asyncio.sleep(600)

async def cell(work):
    try:
        blocking(work)()
    except (ValueError, KeyboardInterrupt) as error:
        print(str(error) or type(error).__name__)

signal.signal(signal.SIGINT, signal.default_int_handler)  # the tests may run where it is ignored
interrupter = threading.Thread(target=os.kill, args=(os.getpid(), signal.SIGINT))
loop = asyncio.new_event_loop()  # as a kernel has one: it leaves signals alone
loop.run_until_complete(cell({"stubborn": stubborn_async, "obedient": obedient_async}[sys.argv[1]]))
"""


def test_no_traceback_of_the_door_shows_what_was_given() -> None:
    """A data frame prints its cells."""
    with pytest.raises(ValueError) as caught:  # noqa: PT011
        double(-1)
    frames = [frame for frame, _ in traceback.walk_tb(caught.value.__traceback__) if frame.f_code.co_name == "call"]
    assert frames
    assert not any({"given", "keywords"} & set(frame.f_locals) for frame in frames)


@each_case("name", DOORS)
def test_every_door_has_the_parameters_of_what_it_awaits(name: str) -> None:
    """So that help and completion say all that there is."""
    door, awaited = getattr(audiencekit, name), getattr(audiencekit, f"{name}_async")
    assert inspect.signature(door) == inspect.signature(awaited)
    assert door.__name__ == name


class Door:
    """Closes in three steps, and notes that it did."""

    is_closed = False

    async def __aenter__(self) -> Door:
        return self

    async def __aexit__(self, *_: object) -> None:
        for _step in range(3):
            await asyncio.sleep(0)
        self.is_closed = True


async def _interrupted(work: Coroutine[object, object, object], *, after: int) -> tuple[object, int]:
    """Cancel `work` twice; return its result, and how many of these cancellations are left."""

    async def run() -> tuple[object, int]:
        task = asyncio.current_task()
        assert task is not None
        return await work, task.cancelling()

    running = asyncio.create_task(run())
    for _ in range(after):
        await asyncio.sleep(0)
    running.cancel()
    await asyncio.sleep(0)
    running.cancel()
    return await running


async def test_work_that_goes_to_its_end_is_not_cut_short() -> None:
    """Two cancellations are taken back."""
    door = Door()
    assert await _interrupted(to_its_end(door.__aexit__()), after=2) == (None, 0)
    assert door.is_closed


async def _failing() -> float:
    return 1 / 0


async def test_work_that_goes_to_its_end_may_fail() -> None:
    """With its own exception."""
    with pytest.raises(ZeroDivisionError):
        await to_its_end(_failing())


async def test_a_door_is_closed_to_its_end() -> None:
    """However it is left."""
    door = Door()

    async def pass_through() -> str:
        async with closed_to_its_end(door) as opened:
            assert opened is door
            return "through"

    assert await _interrupted(pass_through(), after=2) == ("through", 0)
    assert door.is_closed


async def test_work_cancelled_before_it_closes_is_cancelled() -> None:
    """Only the closing is beyond cancellation."""
    door = Door()

    async def wait() -> None:
        async with closed_to_its_end(door):
            await asyncio.Event().wait()

    with pytest.raises(asyncio.CancelledError):
        await _interrupted(wait(), after=2)
    assert door.is_closed


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


@each_case("name", AWAITED)
def test_every_awaited_function_is_cancellable(name: str) -> None:
    """So that a new one cannot be forgotten; and programs that ask see that it is to be awaited."""
    function = getattr(audiencekit, name)
    assert function.__code__ is exchange_async.__code__
    assert inspect.iscoroutinefunction(function)


@each_case(
    "drain, interruptions, moments, ended_at",
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
