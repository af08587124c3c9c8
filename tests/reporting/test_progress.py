"""Progress lines."""

from __future__ import annotations

import io

from audiencekit.reporting.progress import LineProgress, heard_by


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
    assert _lines((0, "reading", 5, 0), (10, "reading", 50, 0)) == ["reading: 5 rows", "reading: 50 rows (5.0 rows/s)"]


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
            progress.tell("waiting 900 s before what overrules earlier requests")
    assert stream.getvalue().splitlines() == [
        "request 1: no answer",
        "request 2: no answer",
        "request 3: no answer",
        "waiting 900 s before what overrules earlier requests",
    ]


def test_a_progress_that_is_still_empty_is_heard() -> None:
    """Only None is nobody."""

    class Steps(list[str]):
        def step(self, stage: str, done: int, total: int, *, unit: str) -> None:
            self.append(stage)

        def tell(self, message: str) -> None:
            self.append(message)

    steps = Steps()
    assert heard_by(steps) is steps
    heard_by(None).tell("nobody hears this")
