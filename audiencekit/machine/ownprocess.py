"""A process that is all ours, as that of a command is: set up once, before it has threads or imports Arrow or numpy."""

from __future__ import annotations

import contextlib
import gc
import io
import os
import signal
import sys
import threading
from typing import Any, Final

from audiencekit.machine.coredumps import prevent_dumps
from audiencekit.machine.firstsignals import ENDINGS
from audiencekit.machine.heap import share_heap
from audiencekit.machine.memoryreserve import keep_reserve, release_reserve
from audiencekit.machine.programs import withhold_settings

# Objects that may be made before the next look at them. What `check` imports makes two thirds of them, so that a short
# list waits for none; the work itself makes few, and hardly any circles.
_YOUNG_OBJECTS: Final = 100_000
_LAST_STANDARD_FILE: Final = 2


def set_up_own_process() -> None:
    """No dump of its memory, one heap, one thread for linear algebra, few searches for circles of objects.

    A search holds the lock of the interpreter for 20 milliseconds, while all threads wait.
    """
    _occupy_standard_files()
    _let_messages_be_lost()
    gc.set_threshold(_YOUNG_OBJECTS, *gc.get_threshold()[1:])
    prevent_dumps()
    withhold_settings()
    share_heap()
    limit_blas_threads()
    keep_reserve()


def limit_blas_threads() -> None:
    """numpy starts no threads for linear algebra, for which we have no use: 40 ms of processor time with two cores.

    For a process of our own, before it imports numpy. A number that the environment gives holds.
    """
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")


def _occupy_standard_files() -> None:
    """None of ours gets the number of a standard file that is closed: what others write there would end up in it.

    Nothing comes from a stdin that is closed, and who closes stderr wants no messages; that no one can take the data of
    stdout is an error, but not here.
    """
    while (number := os.open(os.devnull, os.O_RDWR)) <= _LAST_STANDARD_FILE:
        pass
    os.close(number)
    sys.stdin = sys.stdin or open(os.devnull, encoding="utf-8")  # noqa: SIM115
    sys.stderr = sys.stderr or open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115


class Messages(io.FileIO):
    """Text that no one takes, as in a closed pipe or on a full disk, is gone, and that is all."""

    def write(self, message: Any) -> int:
        """All of it, as far as the writer can tell."""
        with contextlib.suppress(OSError):
            super().write(message)
        return len(message)


def _let_messages_be_lost() -> None:
    """A message that stderr does not take must not end, nor fail, what it is about."""
    stream = sys.stderr
    if isinstance(stream, io.TextIOWrapper) and stream.fileno() == _LAST_STANDARD_FILE:
        file = io.BufferedWriter(Messages(_LAST_STANDARD_FILE, "w", closefd=False))
        sys.stderr = io.TextIOWrapper(file, stream.encoding, "backslashreplace", line_buffering=True)


def end_own_process(code: int) -> None:
    """No last search for circles: with the process all of them go. An interruption now ends with its `code` at once.

    What was said is said by now; another code, that of a signal, would say that nothing was sent. A signal that was
    ignored when the process began, as SIGHUP is under `nohup`, stays ignored.
    """
    release_reserve()
    gc.freeze()
    if threading.current_thread() is threading.main_thread():
        for ending in ENDINGS:
            if signal.getsignal(ending) is not signal.SIG_IGN:
                signal.signal(ending, lambda _signal, _frame: os._exit(code))
