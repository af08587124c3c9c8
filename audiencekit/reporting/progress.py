"""Progress of long work: its protocol, and a bar for terminals with amounts, rates and the time left."""

from __future__ import annotations

import logging
import re
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from types import TracebackType
from typing import TYPE_CHECKING, Final, Protocol, Self, TextIO

from audiencekit.errors import NotFinished
from audiencekit.reporting.position import Position
from audiencekit.sources.source import Source
from audiencekit.text import shown_lines

if TYPE_CHECKING:
    from rich.console import Console, RenderableType
    from rich.progress import TaskID

# --- The progress of long work: its protocol, and one that writes a plain line now and then ---

LINE_EVERY_SECONDS: Final = 5.0
ALIVE_EVERY_SECONDS: Final = 60.0  # without any other line, as in a long wait
MESSAGES_AT_ONCE: Final = 3  # of a sort, in that time
_LOG: Final = logging.getLogger(__name__)
_NUMBER: Final = re.compile(r"\d[\d,.]*")


class Progress(Protocol):
    """The protocol of a listener to the progress of a run."""

    def step(self, stage: str, done: int, total: int, *, unit: str, also: Mapping[str, int] | None = None) -> None:
        """Show that `done` of `total` units of `stage` are done, and `also` so many of other units, by their names.

        `total` is 0 when it is not known. The first step of a stage says where it begins: units before it were done in
        an earlier run.
        """

    def tell(self, message: str) -> None:
        """Show a message for people, such as the reason of a wait."""


class NoProgress:
    """A progress that shows nothing."""

    def tell(self, message: str) -> None:
        """Do nothing."""

    def step(self, stage: str, done: int, total: int, *, unit: str, also: Mapping[str, int] | None = None) -> None:
        """Do nothing."""


class LoggedProgress(NoProgress):
    """A progress that logs messages, such as the reason of a wait, at the level INFO, and shows no steps."""

    def tell(self, message: str) -> None:
        """Log the message."""
        _LOG.info("%s", message)


def progress_or_default(progress: Progress | None) -> Progress:
    """Return `progress`, also when its bool is false; for None return bars in a notebook, and a log elsewhere."""
    if progress is not None:
        return progress
    if "IPython" not in sys.modules:
        return LoggedProgress()
    from audiencekit.reporting.notebook import NotebookProgress, find_display

    show = find_display()
    return LoggedProgress() if show is None else NotebookProgress(show)


class Stoppable:
    """Pass steps and messages on until it is stopped, from any thread; then end the work that reports them."""

    def __init__(self, progress: Progress) -> None:
        self._progress, self._stopped = progress, threading.Event()

    def stop(self) -> None:
        """End the work at its next step."""
        self._stopped.set()

    def raise_if_stopped(self) -> None:
        """Raise NotFinished once it was stopped."""
        if self._stopped.is_set():
            raise NotFinished("interrupted")

    def tell(self, message: str) -> None:
        """Pass the message on."""
        self._progress.tell(message)

    def step(self, stage: str, done: int, total: int, *, unit: str, also: Mapping[str, int] | None = None) -> None:
        """Pass the step on. Raises NotFinished once it was stopped."""
        self.raise_if_stopped()
        self._progress.step(stage, done, total, unit=unit, also=also)


class ReadingProgress:
    """Report how far a source is read: its bytes and its rows. The stage begins at once.

    Blocks are read ahead of the rows that are prepared: their bytes count when their rows do.
    """

    def __init__(self, progress: Progress, source: Source, stage: str = "reading") -> None:
        self._progress, self._source, self._stage, self._bytes = progress, source, stage, 0
        self.step(0)

    def step(self, rows: int) -> None:
        """Report that so many rows of the source are prepared."""
        source = self._source
        if not source.bytes_total:
            self._progress.step(self._stage, rows, 0, unit="rows")
            return
        share = rows / source.rows_read if rows else 0.0
        self._bytes = max(self._bytes, min(int(source.bytes_read * share), source.bytes_total))
        self._progress.step(self._stage, self._bytes, source.bytes_total, unit="bytes", also={"rows": rows})


class LineProgress:
    """One plain line when a stage starts, every few seconds, and when it ends; never the same twice.

    As a context manager it also writes a line each minute without other output: a silent job looks dead.
    """

    def __init__(
        self,
        stream: TextIO,
        monotonic: Callable[[], float] = time.monotonic,
        *,
        every_seconds: float = LINE_EVERY_SECONDS,
    ) -> None:
        self._stream, self._monotonic, self._every_seconds = stream, monotonic, every_seconds
        self._stage, self._started, self._spoken = "", 0.0, 0.0
        self._first = self._last = Position(0, 0, "", {})
        self._written = 0.0
        self._over = threading.Event()
        self._written_at: dict[str, deque[float]] = {}  # when, by what the message is without its numbers

    def tell(self, message: str) -> None:
        """Write the message, unless several that differ only in their numbers were written just now.

        Many messages of one sort neither fill a log nor hide others: a wait of minutes is reported once.
        """
        now = self._monotonic()
        self._written_at = {
            sort: times for sort, times in self._written_at.items() if now - times[-1] < self._every_seconds
        }
        times = self._written_at.setdefault(_NUMBER.sub("", message), deque(maxlen=MESSAGES_AT_ONCE))
        if len(times) < MESSAGES_AT_ONCE or now - times[0] >= self._every_seconds:
            times.append(now)
            self._write(shown_lines(message), now)

    def step(self, stage: str, done: int, total: int, *, unit: str, also: Mapping[str, int] | None = None) -> None:
        """Write the line if it is time for one, or the stage is done."""
        now, position = self._monotonic(), Position(done, total, unit, dict(also or {}))
        if stage != self._stage:
            self._stage, self._started, self._first = stage, now, position
        elif position == self._last or (now - self._spoken < self._every_seconds and done != total):
            return
        self._spoken, self._last = now, position
        seconds = now - self._started
        pace = [*position.rates(self._first, seconds), position.left(self._first, seconds)]
        pace_text = ", ".join(filter(None, pace))
        self._write(f"{stage}: {position.amount()}" + (f" ({pace_text})" if pace_text else ""), now)

    def say_alive(self) -> None:
        """Write that the work goes on, and how far it is, if nothing was written for ALIVE_EVERY_SECONDS."""
        now = self._monotonic()
        if now - self._written >= ALIVE_EVERY_SECONDS:
            where = f": {self._stage}: {self._last.amount()}" if self._stage else ""
            self._write(f"still at work{where}", now)

    def _write(self, line: str, now: float) -> None:
        self._written = now
        self._stream.write(f"{line}\n")
        self._stream.flush()

    def _stay_alive(self) -> None:
        while not self._over.wait(ALIVE_EVERY_SECONDS / 6):
            self.say_alive()

    def __enter__(self) -> Self:
        self._written = self._monotonic()
        threading.Thread(target=self._stay_alive, name="audiencekit-alive", daemon=True).start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None) -> None:
        self._over.set()


# --- Progress on a terminal: one bar for each stage, with amounts, rates and the time left ---

_RATES_FROM_SECONDS: Final = 0.2  # earlier ones say nothing
_BAR_LENGTH: Final = 14  # with its distance to both sides; characters


@dataclass(slots=True)
class _Glide:
    """The movement of a bar from one step to the next, at the pace of the last one."""

    task: TaskID
    started: float
    first: Position
    last: Position
    stepped: float

    def step(self, position: Position, now: float) -> None:
        """Note the new position of the work."""
        if position.done > self.last.done:
            self.stepped = now
        self.last = position

    def done(self, now: float) -> float:
        """Return the position of the bar, at the pace so far but never beyond the present step or at the end."""
        if self.stepped <= self.started or self.last.done >= self.last.total:
            return self.last.done
        pace = (self.last.done - self.first.done) / (self.stepped - self.started)
        ahead = pace * min(now - self.stepped, self.stepped - self.started)
        return min(self.last.done + ahead, max(self.last.total * 0.99, self.last.done))


class BarProgress:
    """One bar for each stage on a terminal. Between two steps it moves on at the pace so far."""

    def __init__(self, console: Console | None = None) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TextColumn

        glide = self._glide

        class Bars(Progress):
            def get_renderables(self) -> Iterable[RenderableType]:
                glide()
                return super().get_renderables()

        columns = (TextColumn("{task.description}"), BarColumn(), TextColumn("{task.fields[amounts]}"))
        self._tasks: dict[str, _Glide] = {}
        self._bars = Bars(*columns, console=console or Console(stderr=True), transient=False)

    def tell(self, message: str) -> None:
        """Print the message above the bars."""
        self._bars.console.print(shown_lines(message), markup=False, highlight=False)

    def step(self, stage: str, done: int, total: int, *, unit: str, also: Mapping[str, int] | None = None) -> None:
        """Move the bar of the stage. Until something is done it only shows that work is under way."""
        now, position = time.monotonic(), Position(done, total, unit, dict(also or {}))
        if (glide := self._tasks.get(stage)) is None:
            task = self._bars.add_task(stage, total=None, amounts="")
            glide = self._tasks[stage] = _Glide(task, now, position, position, now)
        glide.step(position, now)
        seconds = now - glide.started
        pace = [*position.rates(glide.first, seconds), position.left(glide.first, seconds)]
        amounts = [position.amount(), *(filter(None, pace) if seconds > _RATES_FROM_SECONDS else ())]
        # On a narrow terminal the bar keeps its length, and rates go before the amount and the time left.
        room = self._bars.console.width - len(stage) - _BAR_LENGTH
        while len(amounts) > 1 and len("  ".join(amounts)) > room:
            del amounts[-2 if len(amounts) > 2 else -1]
        self._bars.update(
            glide.task, completed=done, total=total if done and total else None, amounts="  ".join(amounts)
        )

    def _glide(self) -> None:
        now = time.monotonic()
        for glide in list(self._tasks.values()):
            self._bars.tasks[self._bars.task_ids.index(glide.task)].completed = glide.done(now)

    def __enter__(self) -> Self:
        self._bars.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None) -> None:
        self._bars.stop()


def progress_for(*, every_seconds: float | None = None, is_coloured: bool = True) -> BarProgress | LineProgress:
    """Return a bar on a terminal, otherwise lines: of each sort at most one in `every_seconds` (LINE_EVERY_SECONDS).

    They go to stderr. A bar is coloured unless the environment has NO_COLOR.
    """
    if sys.stderr.isatty():
        from rich.console import Console

        return BarProgress(Console(stderr=True, no_color=None if is_coloured else True))
    return LineProgress(sys.stderr, every_seconds=LINE_EVERY_SECONDS if every_seconds is None else every_seconds)
