"""The clock that can be moved."""

from __future__ import annotations

from audiencekit.emulator.clock import Clock


def test_the_clock_goes_with_its_source() -> None:
    """An unmoved clock says what its source says."""
    moments = iter([10.0, 11.5])
    clock = Clock(lambda: next(moments))
    assert (clock.now(), clock.now()) == (10.0, 11.5)


def test_the_clock_goes_on_from_where_it_was_set() -> None:
    """After `set` the clock runs at the speed of its source."""
    moments = iter([10.0, 10.0, 12.5])
    clock = Clock(lambda: next(moments))
    clock.set(1_000.0)
    assert (clock.now(), clock.now()) == (1_000.0, 1_002.5)


def test_advances_add_up() -> None:
    """The clock can be advanced more than once, and back."""
    clock = Clock(lambda: 100.0)
    for seconds in (60.0, 5.5, -0.5):
        clock.advance(seconds)
    assert clock.now() == 165.0
