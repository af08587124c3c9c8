"""The doors for callers without an event loop."""

from __future__ import annotations

import asyncio
import inspect
import subprocess
import sys
import traceback
from collections.abc import Coroutine
from contextvars import ContextVar

import pytest

import audiencekit
from audiencekit.machine.eventloop import blocking, closed_to_its_end, to_its_end
from tests.moments import PATIENCE_SECONDS

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
from audiencekit.machine.eventloop import blocking

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


@pytest.mark.parametrize("name", DOORS)
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
