"""Signals as events of an event loop, also of the loops on Windows, which have none."""

from __future__ import annotations

import asyncio
import contextlib
import signal
from collections.abc import Callable, Iterator
from typing import Any

from audiencekit.process.signals import ENDINGS


def on_ending(loop: asyncio.AbstractEventLoop, ending: signal.Signals, call: Callable[[], Any]) -> Callable[[], Any]:
    """Have `loop` call `call` for each signal `ending`. What comes back ends it."""
    try:
        loop.add_signal_handler(ending, call)
    except NotImplementedError:
        # A handler runs between two steps of the main thread; the loop, which may sleep then, is woken.
        before = signal.signal(ending, lambda _ending, _frame: _wake(loop, call))
        return lambda: signal.signal(ending, before)
    return lambda: loop.remove_signal_handler(ending)


def is_detached_from(ending: signal.Signals) -> bool:
    """Whether this is SIGHUP and the process was started to ignore it (`nohup`)."""
    return ending.name == "SIGHUP" and signal.getsignal(ending) is signal.SIG_IGN


def hold_back() -> None:
    """No ending comes through to this thread until `let_through`, where the system can do so."""
    if hasattr(signal, "pthread_sigmask"):
        signal.pthread_sigmask(signal.SIG_BLOCK, ENDINGS)


def let_through() -> None:
    """Let the signals to end through again, first those that were held back."""
    if hasattr(signal, "pthread_sigmask"):
        signal.pthread_sigmask(signal.SIG_UNBLOCK, ENDINGS)


@contextlib.contextmanager
def all_held_back() -> Iterator[None]:
    """No signal at all comes through to this thread meanwhile, where the system can do so."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _wake(loop: asyncio.AbstractEventLoop, call: Callable[[], Any]) -> None:
    with contextlib.suppress(RuntimeError):  # it has closed
        loop.call_soon_threadsafe(call)
