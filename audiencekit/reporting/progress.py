"""Progress of long work: a bar with rate and time left on a terminal, a line now and then elsewhere."""

from __future__ import annotations

import re
import sys
import threading
import time
from collections import deque
from collections.abc import Callable
from types import TracebackType
from typing import TYPE_CHECKING, Protocol, Self, TextIO

from audiencekit.errors import NotFinished
from audiencekit.shown import shown_lines

if TYPE_CHECKING:
    from rich.progress import TaskID

LINE_EVERY_SECONDS = 5.0
MESSAGES_AT_ONCE = 3  # of a sort, in that time
_NUMBER = re.compile(r"\d[\d,.]*")


class Progress(Protocol):
    """A listener to the progress of the pipeline. `total` is 0 when it is not known."""

    def step(self, stage: str, done: int, total: int, *, unit: str) -> None:
        """`done` of `total` units of `stage` are behind us."""

    def tell(self, message: str) -> None:
        """Something happened that explains a wait."""


class NoProgress:
    """Says nothing."""

    def tell(self, message: str) -> None:
        """Nothing."""

    def step(self, stage: str, done: int, total: int, *, unit: str) -> None:
        """Nothing."""


def heard_by(progress: Progress | None) -> Progress:
    """`progress`, which may be a list that is still empty; for None a silent one."""
    return NoProgress() if progress is None else progress


class Stoppable:
    """Passes on what it is told until it is stopped; then the work that tells is ended, from any thread."""

    def __init__(self, progress: Progress) -> None:
        self._progress, self._stopped = progress, threading.Event()

    def stop(self) -> None:
        """The next step is the last."""
        self._stopped.set()

    def go_on(self) -> None:
        """Raises NotFinished once it was stopped."""
        if self._stopped.is_set():
            raise NotFinished("interrupted")

    def tell(self, message: str) -> None:
        """Pass the message on."""
        self._progress.tell(message)

    def step(self, stage: str, done: int, total: int, *, unit: str) -> None:
        """Pass the step on. Raises NotFinished once it was stopped."""
        self.go_on()
        self._progress.step(stage, done, total, unit=unit)


class LineProgress:
    """One plain line when a stage starts, every few seconds, and when it ends."""

    def __init__(
        self,
        stream: TextIO,
        monotonic: Callable[[], float] = time.monotonic,
        *,
        every_seconds: float = LINE_EVERY_SECONDS,
    ) -> None:
        self._stream, self._monotonic, self._every_seconds = stream, monotonic, every_seconds
        self._stage, self._started, self._spoken = "", 0.0, 0.0
        self._told: dict[str, deque[float]] = {}  # when, by what the message is without its numbers

    def tell(self, message: str) -> None:
        """Write the message, unless several that differ only in their numbers were written just now.

        A storm of one sort fills no log, and silences no other: a wait of minutes is told once.
        """
        now = self._monotonic()
        self._told = {sort: told for sort, told in self._told.items() if now - told[-1] < self._every_seconds}
        told = self._told.setdefault(_NUMBER.sub("", message), deque(maxlen=MESSAGES_AT_ONCE))
        if len(told) < MESSAGES_AT_ONCE or now - told[0] >= self._every_seconds:
            told.append(now)
            self._stream.write(f"{shown_lines(message)}\n")
            self._stream.flush()

    def step(self, stage: str, done: int, total: int, *, unit: str) -> None:
        """Write the line if it is time for one."""
        now = self._monotonic()
        if stage != self._stage:
            self._stage, self._started, self._spoken = stage, now, now
        elif now - self._spoken < self._every_seconds and done != total:
            return
        self._spoken = now
        rate = done / (now - self._started) if now > self._started else 0.0
        left = f", {(total - done) / rate:.0f} s left" if rate and total > done else ""
        share = f"{done:,} of {total:,}" if total else f"{done:,}"
        pace = f" ({_pace(rate)} {unit}/s{left})" if rate else ""
        self._stream.write(f"{stage}: {share} {unit}{pace}\n")
        self._stream.flush()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None) -> None:
        return None


class BarProgress:
    """A bar a stage, with rate and time left, on a terminal."""

    def __init__(self) -> None:
        from rich.console import Console
        from rich.progress import (
            BarColumn,
            MofNCompleteColumn,
            Progress as RichProgress,
            TextColumn,
            TimeRemainingColumn,
        )

        rate = TextColumn("{task.fields[rate]}")
        self._bars = RichProgress(
            TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TextColumn("{task.fields[unit]}"),
            rate, TimeRemainingColumn(), console=Console(stderr=True), transient=False,
        )  # fmt: skip
        self._tasks: dict[str, tuple[TaskID, float]] = {}

    def tell(self, message: str) -> None:
        """Print the message above the bars."""
        self._bars.console.print(shown_lines(message), markup=False, highlight=False)

    def step(self, stage: str, done: int, total: int, *, unit: str) -> None:
        """Move the stage's bar."""
        if stage not in self._tasks:
            task = self._bars.add_task(stage, total=total or None, unit=unit, rate="")
            self._tasks[stage] = (task, time.monotonic())
        task, started = self._tasks[stage]
        elapsed = time.monotonic() - started
        rate = f"{_pace(done / elapsed)} {unit}/s" if elapsed > 0.2 else ""
        self._bars.update(task, completed=done, total=total or None, rate=rate)

    def __enter__(self) -> Self:
        self._bars.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None) -> None:
        self._bars.stop()


def _pace(rate: float) -> str:
    return f"{rate:,.0f}" if rate >= 10 else f"{rate:.1f}"


def progress_for(stream: TextIO | None = None, *, every_seconds: float | None = None) -> BarProgress | LineProgress:
    """A bar on a terminal, lines otherwise, at most one of a sort in `every_seconds`; LINE_EVERY_SECONDS by default.

    `stream` is stderr unless another is given.
    """
    stream = sys.stderr if stream is None else stream
    if stream.isatty():
        return BarProgress()
    return LineProgress(stream, every_seconds=LINE_EVERY_SECONDS if every_seconds is None else every_seconds)
