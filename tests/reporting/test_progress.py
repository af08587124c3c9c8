"""Progress bars on a terminal."""

from __future__ import annotations

import io
import threading
from collections.abc import Mapping
from typing import cast

import pytest
from rich.console import Console

from audiencekit.reporting import progress as progress_module
from audiencekit.reporting.progress import BarProgress, LineProgress, NoProgress, ReadingProgress, progress_or_default
from audiencekit.sources.source import Source
from tests.moments import PATIENCE_SECONDS

# --- Progress bars on a terminal ---


class Clock:
    """A clock that stands until it is set."""

    now = 0.0

    def monotonic(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr(progress_module, "time", clock)
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
    bars = BarProgress(Console(file=io.StringIO(), width=120))
    bars.step("reading", 0, 90_000_000, unit="bytes", also={"rows": 0})
    clock.now = 10.0
    bars.step("reading", 45_000_000, 90_000_000, unit="bytes", also={"rows": 500_000})
    printed = "45.0 of 90.0 MB, 500,000 rows  4.5 MB/s  50,000 rows/s  10 s left"
    assert bars._bars.tasks[0].fields["amounts"] == printed


@pytest.mark.parametrize(
    ("width", "amounts"),
    [
        (80, "45.0 of 90.0 MB, 500,000 rows  4.5 MB/s  10 s left"),
        (60, "45.0 of 90.0 MB, 500,000 rows"),
        (20, "45.0 of 90.0 MB, 500,000 rows"),
    ],
)
def test_rates_go_first_on_a_narrow_terminal(clock: Clock, width: int, amounts: str) -> None:
    """The bar is to be seen there, too."""
    bars = BarProgress(Console(file=io.StringIO(), width=width))
    bars.step("reading", 0, 90_000_000, unit="bytes", also={"rows": 0})
    clock.now = 10.0
    bars.step("reading", 45_000_000, 90_000_000, unit="bytes", also={"rows": 500_000})
    assert bars._bars.tasks[0].fields["amounts"] == amounts


# --- Progress lines ---


def _lines(*steps: tuple[float, str, int, int]) -> list[str]:
    stream, times = io.StringIO(), [moment for moment, *_ in steps]
    progress = LineProgress(stream, monotonic=lambda: times.pop(0))
    for _, stage, done, total in steps:
        progress.step(stage, done, total, unit="rows")
    return stream.getvalue().splitlines()


def test_a_line_comes_at_the_start_now_and_then_and_at_the_end() -> None:
    """With rate and time left once they are known."""
    assert _lines(
        (0, "reading", 0, 100), (1, "reading", 10, 100), (10, "reading", 50, 100), (20, "reading", 100, 100)
    ) == [
        "reading: 0 of 100 rows",
        "reading: 50 of 100 rows (5.0 rows/s, 10 s left)",
        "reading: 100 of 100 rows (5.0 rows/s)",
    ]


def test_each_stage_starts_anew() -> None:
    """Rates are those of the stage."""
    assert _lines((0, "reading", 4, 4), (100, "sending", 0, 2), (102, "sending", 2, 2)) == [
        "reading: 4 of 4 rows",
        "sending: 0 of 2 rows",
        "sending: 2 of 2 rows (1.0 rows/s)",
    ]


def test_an_unknown_total_is_not_made_up() -> None:
    """Only what is known is said."""
    assert _lines((0, "reading", 5, 0), (10, "reading", 50, 0)) == ["reading: 5 rows", "reading: 50 rows (4.5 rows/s)"]


def test_a_storm_of_messages_does_not_fill_the_log() -> None:
    """Of many alike the first are heard, and then some now and then."""
    stream, times = io.StringIO(), [0.0, 0.0, 0.1, *[0.2] * 50, 5.0, *[5.1] * 50, 9.0]
    progress = LineProgress(stream, monotonic=lambda: times.pop(0))
    for number in range(len(times)):
        progress.tell(f"message {number}")
    assert stream.getvalue().splitlines() == [
        "message 0",
        "message 1",
        "message 2",
        "message 53",
        "message 54",
        "message 55",
    ]


def test_a_message_of_another_sort_is_heard_in_the_storm() -> None:
    """A wait of minutes is told once: what was told before must not silence it."""
    stream = io.StringIO()
    progress = LineProgress(stream, monotonic=lambda: 0.0)
    for number in range(1, 2_001):
        progress.tell(f"request {number:,}: no answer")
        if number == 1_000:
            progress.tell("waiting 900 s before requests that overrule earlier ones")
    assert stream.getvalue().splitlines() == [
        "request 1: no answer",
        "request 2: no answer",
        "request 3: no answer",
        "waiting 900 s before requests that overrule earlier ones",
    ]


def test_a_progress_that_is_still_empty_is_heard() -> None:
    """Only None means no listener."""

    class Steps(list[str]):
        def step(self, stage: str, done: int, total: int, *, unit: str, also: Mapping[str, int] | None = None) -> None:
            self.append(stage)

        def tell(self, message: str) -> None:
            self.append(message)

    steps = Steps()
    assert progress_or_default(steps) is steps


def test_without_a_listener_messages_are_logged(caplog: pytest.LogCaptureFixture) -> None:
    """A script that waits a quarter of an hour finds the reason where it finds its other messages."""
    with caplog.at_level("INFO", logger="audiencekit"):
        progress_or_default(None).tell("waiting 900 s: a reason with 5 % signs %s")
        progress_or_default(NoProgress()).tell("not heard")
    assert caplog.messages == ["waiting 900 s: a reason with 5 % signs %s"]


def _told(*steps: tuple[float, int, int, dict[str, int]], unit: str) -> list[str]:
    stream, times = io.StringIO(), [moment for moment, *_ in steps]
    progress = LineProgress(stream, monotonic=lambda: times.pop(0))
    for _, done, total, also in steps:
        progress.step("stage", done, total, unit=unit, also=also)
    return stream.getvalue().splitlines()


def test_bytes_are_told_as_people_read_them_with_rows_a_second() -> None:
    steps = [(0, 0, 85_916_991, {"rows": 0}), (10, 44_564_480, 85_916_991, {"rows": 512_000})]
    assert _told(*steps, unit="bytes") == [
        "stage: 0.0 of 85.9 MB, 0 rows",
        "stage: 44.6 of 85.9 MB, 512,000 rows (4.5 MB/s, 51,200 rows/s, 9 s left)",
    ]


def test_requests_are_told_with_the_pace_of_their_bytes_and_records() -> None:
    """The work of an earlier run counts in the amount, and not in the pace."""
    steps = [(0, 10, 20, {"bytes": 50_000_000, "records": 600}), (10, 15, 20, {"bytes": 75_000_000, "records": 900})]
    assert _told(*steps, unit="requests")[1] == (
        "stage: 15 of 20 requests, 75.0 MB, 900 records (2.5 MB/s, 30 records/s, 10 s left)"
    )


def test_no_line_is_told_twice() -> None:
    """The last bytes of a list are read before its last rows are done."""
    steps = [(0, 0, 10, {"rows": 0}), (1, 10, 10, {"rows": 5}), *[(1.1, 10, 10, {"rows": 9})] * 3]
    lines = _told(*steps, unit="bytes")
    assert len(lines) == len(set(lines)) == 3


class _Source:
    """Three batches of a file, which is read further than its rows are prepared."""

    bytes_total, bytes_read, rows_read = 900, 0, 0


def test_bytes_that_are_read_ahead_are_not_counted_yet() -> None:
    """Else a small list is at three quarters when its first rows are prepared."""
    steps: list[int] = []

    class Steps(NoProgress):
        def step(self, stage: str, done: int, total: int, *, unit: str, also: Mapping[str, int] | None = None) -> None:
            steps.append(done)

    source = _Source()
    reading = ReadingProgress(Steps(), cast("Source", source))
    source.bytes_read, source.rows_read = 900, 30
    for rows in (10, 20, 30):
        reading.step(rows)
    assert steps == [0, 300, 600, 900]


def test_a_minute_of_silence_says_that_the_work_goes_on() -> None:
    """With how far it is; not where a line was written within the minute, nor twice in one."""
    now, stream = [0.0], io.StringIO()
    progress = LineProgress(stream, lambda: now[0])
    for seconds, act in (
        (0, lambda: progress.step("sending", 1, 9, unit="requests")),
        (30, lambda: progress.tell("request 2: the service asks to wait, until 08:10:00 UTC")),
        (89, progress.say_alive), (90, progress.say_alive), (149, progress.say_alive), (150, progress.say_alive),
    ):  # fmt: skip
        now[0] = seconds
        act()
    alive = "still at work: sending: 1 of 9 requests"
    assert stream.getvalue().splitlines()[2:] == [alive, alive]


def test_the_line_is_written_by_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    """As long as the work goes on; without a stage it says that alone."""
    monkeypatch.setattr("audiencekit.reporting.progress.ALIVE_EVERY_SECONDS", 0.001)
    written = threading.Event()

    class Stream(io.StringIO):
        def flush(self) -> None:
            written.set()

    stream = Stream()
    with LineProgress(stream):
        assert written.wait(PATIENCE_SECONDS)
    assert stream.getvalue().splitlines()[0] == "still at work"
