"""Equal states are one, however they were found."""

from __future__ import annotations

from audiencekit.preparation.columnar.phones.states import StateRows


def _chain(states: StateRows, *readings: int) -> int:
    state = states.intern(readings[-1], ())
    for reading in reversed(readings[:-1]):
        state = states.intern(reading, (state,) * 10)
    return state


def test_equal_states_are_one() -> None:
    """The same reading and the same that follows give the same number, others another."""
    states = StateRows()
    assert _chain(states, 1, 2, 3) == _chain(states, 1, 2, 3)
    assert _chain(states, 1, 3) != _chain(states, 1, 2, 3)
    assert len(states) == 4
    rows, readings = states.arrays()
    assert rows[0].tolist() == [0] * 10
    assert readings.tolist() == [3, 2, 1, 1]


def test_states_of_another_process() -> None:
    """They are known again, and others come behind them."""
    earlier = StateRows()
    first = _chain(earlier, 1, 2, 3 << 40)
    later = StateRows.unpacked(earlier.packed(), len(earlier))
    assert len(later) == len(earlier)
    assert _chain(later, 1, 2, 3 << 40) == first
    assert _chain(later, 4, 2, 3 << 40) == len(earlier)
    rows, readings = later.arrays()
    assert rows[:-1].tolist() == earlier.arrays()[0].tolist()
    assert (rows[-1].tolist(), int(readings[-1])) == ([1] * 10, 4)
