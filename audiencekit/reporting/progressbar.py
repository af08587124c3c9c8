"""Progress on a terminal: a bar a stage, with amounts, rates and the time left."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from types import TracebackType
from typing import TYPE_CHECKING, Final, Self

from audiencekit.reporting.position import Position
from audiencekit.reporting.progress import LINE_EVERY_SECONDS, LineProgress
from audiencekit.shown import shown_lines

if TYPE_CHECKING:
    from rich.console import Console, RenderableType
    from rich.progress import TaskID

_RATES_FROM_SECONDS: Final = 0.2  # earlier ones say nothing


@dataclass(slots=True)
class _Glide:
    """The way of a bar from one step to the next, which is as long as the last one was."""

    task: TaskID
    started: float
    first: Position
    last: Position
    stepped: float

    def step(self, position: Position, now: float) -> None:
        """The work is there now."""
        if position.done > self.last.done:
            self.stepped = now
        self.last = position

    def done(self, now: float) -> float:
        """Where the bar stands: by the pace so far, never beyond the step that is under way nor at the end."""
        if self.stepped <= self.started or self.last.done >= self.last.total:
            return self.last.done
        pace = (self.last.done - self.first.done) / (self.stepped - self.started)
        ahead = pace * min(now - self.stepped, self.stepped - self.started)
        return min(self.last.done + ahead, max(self.last.total * 0.99, self.last.done))


class BarProgress:
    """A bar a stage on a terminal. Between two steps it moves on at the pace so far."""

    def __init__(self, console: Console | None = None) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TextColumn

        glide = self._glide

        class Bars(Progress):
            def get_renderables(self) -> Iterable[RenderableType]:
                glide()
                return super().get_renderables()

        columns = (TextColumn("{task.description}"), BarColumn(), TextColumn("{task.fields[told]}"))
        self._tasks: dict[str, _Glide] = {}
        self._bars = Bars(*columns, console=console or Console(stderr=True), transient=False)

    def tell(self, message: str) -> None:
        """Print the message above the bars."""
        self._bars.console.print(shown_lines(message), markup=False, highlight=False)

    def step(self, stage: str, done: int, total: int, *, unit: str, also: Mapping[str, int] | None = None) -> None:
        """Move the bar of the stage. Until something is done it only shows that work is under way."""
        now, position = time.monotonic(), Position(done, total, unit, dict(also or {}))
        if (glide := self._tasks.get(stage)) is None:
            task = self._bars.add_task(stage, total=None, told="")
            glide = self._tasks[stage] = _Glide(task, now, position, position, now)
        glide.step(position, now)
        seconds = now - glide.started
        pace = [*position.rates(glide.first, seconds), position.left(glide.first, seconds)]
        told = [position.amount(), *(pace if seconds > _RATES_FROM_SECONDS else ())]
        self._bars.update(
            glide.task, completed=done, total=total if done and total else None, told="  ".join(filter(None, told))
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
    """A bar on a terminal, lines otherwise, at most one of a sort in `every_seconds`; LINE_EVERY_SECONDS by default.

    They go to stderr. A bar is coloured unless the environment has NO_COLOR.
    """
    if sys.stderr.isatty():
        from rich.console import Console

        return BarProgress(Console(stderr=True, no_color=None if is_coloured else True))
    return LineProgress(sys.stderr, every_seconds=LINE_EVERY_SECONDS if every_seconds is None else every_seconds)
