"""Signals to a command that sends: the first lets requests under way finish, the second stops now."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Coroutine
from typing import Any, Final, TypeVar

import click

from audiencekit.limits import DRAIN_SECONDS

T = TypeVar("T")
ENDINGS: Final = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


def run_until_interrupted(work: Coroutine[Any, Any, T]) -> T:
    """What `work` returns or raises. Every Ctrl-C, SIGTERM or SIGHUP cancels it once more."""
    return asyncio.run(_work(work))


async def _work(work: Coroutine[Any, Any, T]) -> T:
    task = asyncio.current_task()
    assert task is not None  # noqa: S101
    for ending in ENDINGS:
        asyncio.get_running_loop().add_signal_handler(ending, _interrupt, task)
    return await work


def _interrupt(task: asyncio.Task[Any]) -> None:
    patience = f"requests under way get {DRAIN_SECONDS:.0f} seconds to finish; once more stops now"
    click.echo("stopping now" if task.cancelling() else f"stopping: {patience}", err=True)
    task.cancel()
