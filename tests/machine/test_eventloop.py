"""The doors for callers without an event loop."""

from __future__ import annotations

import inspect
import traceback

import pytest

import audiencekit
from audiencekit.errors import UsageError
from audiencekit.machine.eventloop import blocking

DOORS = sorted(name for name in audiencekit.__all__ if f"{name}_async" in audiencekit.__all__)


async def double_async(number: int, *, plus: int = 0) -> int:
    """Twice the number."""
    if number < 0:
        raise ValueError
    return 2 * number + plus


double = blocking(double_async)


def test_what_is_awaited_comes_back() -> None:
    """With the parameters, and under the name, of what is awaited."""
    assert double(3, plus=1) == 7
    assert inspect.signature(double) == inspect.signature(double_async)
    assert (double.__name__, inspect.iscoroutinefunction(double)) == ("double", False)
    assert inspect.getdoc(double) is not None
    assert "Twice the number." in str(inspect.getdoc(double))
    assert "await `double_async`" in str(inspect.getdoc(double))


async def test_inside_an_event_loop_it_says_what_to_await() -> None:
    """And leaves nothing behind that was never awaited."""
    with pytest.raises(UsageError) as caught:
        double(3)
    assert "double_async" in caught.value.hint


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
