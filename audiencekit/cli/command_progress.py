"""The progress of a command: silent, as lines, or as bars, by its output options; and in its log."""

from __future__ import annotations

import sys
import time
from collections.abc import Mapping
from contextlib import AbstractContextManager, nullcontext
from types import TracebackType
from typing import Self

from audiencekit.cli.log_file import LogFile
from audiencekit.cli.main import manner
from audiencekit.cli.output import spelled
from audiencekit.reporting.progress import (
    LINE_EVERY_SECONDS,
    BarProgress,
    LineProgress,
    NoProgress,
    Progress,
    progress_for,
)


def command_progress(*, every_seconds: float | None = None) -> AbstractContextManager[Progress]:
    """Return the progress for a command: that of `progress_for`, unless `--quiet` or `--verbose` changes it.

    A verbose command writes lines, between those of its requests.
    """
    how = manner()
    shown: BarProgress | LineProgress | None
    if how.is_quiet:
        shown = None
    elif how.is_verbose:
        shown = LineProgress(sys.stderr, every_seconds=LINE_EVERY_SECONDS if every_seconds is None else every_seconds)
    else:
        shown = progress_for(every_seconds=every_seconds, is_coloured=how.colour != "never")
    return _Spelled(nullcontext(NoProgress()) if shown is None else shown, how.log)


class _Spelled:
    """Passes messages on as the command line spells options, and logs them; and steps, which it logs now and then, and
    when a stage begins and ends."""

    def __init__(self, shown: AbstractContextManager[Progress], log: LogFile | None) -> None:
        self._context, self._log = shown, log
        self._stage, self._written, self._done = "", 0.0, -1

    def tell(self, message: str) -> None:
        """Pass the message on."""
        message = spelled(message)
        if self._log is not None:
            self._log.write("warning" if message.startswith("warning:") else "info", message)
        self._shown.tell(message)

    def step(self, stage: str, done: int, total: int, *, unit: str, also: Mapping[str, int] | None = None) -> None:
        """Pass the step on."""
        if self._log is not None:
            self._log_step(self._log, stage, done, total, unit, also)
        self._shown.step(stage, done, total, unit=unit, also=also)

    def _log_step(
        self, log: LogFile, stage: str, done: int, total: int, unit: str, also: Mapping[str, int] | None
    ) -> None:
        now = time.monotonic()
        is_due = stage != self._stage or now - self._written >= LINE_EVERY_SECONDS or done == total
        if is_due and (stage, done) != (self._stage, self._done):
            self._stage, self._written, self._done = stage, now, done
            facts = {"stage": stage, "done": done, "total": total or None, "unit": unit, **(also or {})}
            log.write("info", stage, **facts)

    def __enter__(self) -> Self:
        self._shown = self._context.__enter__()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None) -> None:
        self._context.__exit__(kind, error, _)
