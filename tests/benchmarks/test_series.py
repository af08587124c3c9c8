"""Trials in turn, and figures that are compared in pairs."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from benchmarks.series import Run, Series, Spread, run_series
from benchmarks.trials import Contestant, Figures

A, B = Contestant(name="a", module="none"), Contestant(name="b", module="none")


def _told(figures: dict[str, list[float]]) -> Callable[[Contestant], Figures]:
    waiting = {name: iter(values) for name, values in figures.items()}
    return lambda contestant: {"speed": next(waiting[contestant.name])}


def test_contestants_take_turns() -> None:
    """A B B A A B, so that none always comes after the same one; each trial is announced before it runs."""
    heard: list[str] = []
    series = run_series([A, B], 3, trial=_told({"a": [1, 2, 3], "b": [4, 5, 6]}), tell=heard.append)
    assert [(run.round, run.contestant) for run in series.runs] == [
        (1, "a"), (1, "b"), (2, "b"), (2, "a"), (3, "a"), (3, "b"),
    ]  # fmt: skip
    assert heard[0] == "round 1 of 3: a"
    assert len(heard) == 6


def test_a_ratio_is_of_neighbours() -> None:
    """Round by round: here both slow down together, and the ratio of medians would be another."""
    series = run_series([A, B], 3, trial=_told({"a": [10, 4, 100], "b": [5, 1, 100]}))
    assert series.ratio("a", "b", "speed") == Spread(2, 1, 4)


def test_medians_are_told_for_every_measure() -> None:
    """Whatever a contestant told; the mean of the middle two for an even number."""
    series = Series((Run(1, "a", {"speed": 1, "size": 9}), Run(2, "a", {"speed": 4, "size": 7})))
    assert series.medians() == {"a": {"speed": 2.5, "size": 8}}


def test_a_share_is_of_a_fixed_number() -> None:
    """Each figure over it."""
    series = run_series([A], 3, trial=_told({"a": [25, 50, 125]}))
    assert series.share("a", "speed", 125).to_json() == {"median": 0.4, "min": 0.2, "max": 1.0}


def test_json_can_be_read_again() -> None:
    """The same series, and what it tells."""
    series = run_series([A, B], 2, trial=_told({"a": [1, 2], "b": [3, 4]}))
    assert Series.from_json(series.to_json()) == series
    assert Spread.from_json(series.spread("a", "speed").to_json()) == Spread(1.5, 1, 2)
    assert series.contestants == {"a", "b"}
    assert (series.tells("a", "speed"), series.tells("a", "size"), series.tells("c", "speed")) == (True, False, False)


def test_pairs_must_be_complete() -> None:
    """A contestant that missed a round cannot be compared."""
    series = Series((Run(1, "a", {"speed": 1}), Run(1, "b", {"speed": 1}), Run(2, "a", {"speed": 1})))
    with pytest.raises(ValueError, match="shorter"):
        series.ratio("a", "b", "speed")
