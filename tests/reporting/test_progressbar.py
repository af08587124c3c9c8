"""Progress bars on a terminal."""

from __future__ import annotations

import io

import pytest
from rich.console import Console

from audiencekit.reporting import progressbar
from audiencekit.reporting.progressbar import BarProgress


class Clock:
    """A clock that stands until it is set."""

    now = 0.0

    def monotonic(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr(progressbar, "time", clock)
    return clock


def _shown(bars: BarProgress) -> float:
    """Where the only bar stands."""
    list(bars._bars.get_renderables())
    return bars._bars.tasks[0].completed


def test_a_bar_moves_between_steps_and_not_beyond_the_next(clock: Clock) -> None:
    """By the pace so far, as far as the last step went; never to the end before it is there."""
    bars = BarProgress(Console(file=io.StringIO()))
    bars.step("reading", 0, 100, unit="rows")
    assert _shown(bars) == 0
    clock.now = 10.0
    bars.step("reading", 30, 100, unit="rows")
    for seconds, place in ((0, 30), (5, 45), (10, 60), (60, 60)):
        clock.now = 10.0 + seconds
        assert _shown(bars) == place
    clock.now = 20.0
    bars.step("reading", 95, 100, unit="rows")
    clock.now = 30.0
    assert _shown(bars) == pytest.approx(99)
    bars.step("reading", 100, 100, unit="rows")
    assert _shown(bars) == 100


def test_a_bar_shows_amount_rates_and_the_time_left(clock: Clock) -> None:
    bars = BarProgress(Console(file=io.StringIO()))
    bars.step("reading", 0, 90_000_000, unit="bytes", also={"rows": 0})
    clock.now = 10.0
    bars.step("reading", 45_000_000, 90_000_000, unit="bytes", also={"rows": 500_000})
    told = "45.0 of 90.0 MB, 500,000 rows  4.5 MB/s  50,000 rows/s  10 s left"
    assert bars._bars.tasks[0].fields["told"] == told
