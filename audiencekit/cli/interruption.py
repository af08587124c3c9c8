"""Signals to a command that sends: the first lets requests under way finish, the second stops now."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Coroutine
from typing import Any, TypeVar

from audiencekit.cli.command_settings import silent_settings
from audiencekit.cli.output import tell
from audiencekit.errors import NotFinished
from audiencekit.process.cancellation import interruptible
from audiencekit.process.loop_signals import hold_back, is_detached_from, let_through, on_ending
from audiencekit.process.signals import ENDINGS, let_end

T = TypeVar("T")


def run_until_interrupted(work: Coroutine[Any, Any, T], *, max_minutes: float | None = None) -> T:
    """Return or raise the result of `work`.

    Every Ctrl-C, SIGTERM or SIGHUP cancels it once more, and so does the end of `max_minutes`. The first that comes
    when it has ended does nothing: what is left is to say how. In a process that was begun with `nohup` SIGHUP is
    ignored.

    Raises NotFinished for work that was cancelled before there was anything to say of it.
    """
    try:
        return asyncio.run(_work(work, max_minutes))
    except asyncio.CancelledError:
        pass  # raised below, without the frames of the work
    finally:
        for ending in ENDINGS:
            if signal.getsignal(ending) is not signal.SIG_IGN:
                signal.signal(ending, _too_late)
        let_through()
    raise NotFinished("interrupted", hint="`audiencekit runs` shows whether a run was begun, and what it has sent")


async def _work(work: Coroutine[Any, Any, T], max_minutes: float | None) -> T:
    task, loop = asyncio.current_task(), asyncio.get_running_loop()
    assert task is not None  # noqa: S101
    for ending in ENDINGS:
        if not is_detached_from(ending):
            on_ending(loop, ending, lambda: _interrupt(task))
    alarm = None if max_minutes is None else loop.call_later(max_minutes * 60, _run_out, task, max_minutes)
    try:
        return await interruptible(work)
    finally:
        # The loop takes its handlers away when it closes, and a signal right then would end the process.
        hold_back()
        if alarm is not None:
            alarm.cancel()


def _too_late(ending: int, _frame: object) -> None:
    """Let the second one end the process: the reader of the output may be gone."""
    let_end(ending)


def _run_out(task: asyncio.Task[Any], minutes: float) -> None:
    if not task.cancelling():
        tell(f"the run has reached its limit of {minutes:g} minutes")
        _interrupt(task)


def _interrupt(task: asyncio.Task[Any]) -> None:
    seconds = silent_settings(directory=None).drain_seconds
    patience = f"requests under way, if any, have {seconds:g} seconds to finish; Ctrl-C again stops at once"
    tell("stopping now" if task.cancelling() else f"stopping: {patience}")
    task.cancel()
