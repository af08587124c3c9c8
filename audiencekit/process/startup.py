"""No copy of the memory of a process: no core dump, and no look into it by other programs of the same user."""

from __future__ import annotations

import contextlib
import gc
import io
import os
import signal
import sys
import threading
from typing import Any, Final

from audiencekit.process.memory import keep_reserve, release_reserve, share_heap
from audiencekit.process.programs import withhold_settings
from audiencekit.process.signals import ENDINGS

_SET_DUMPABLE: Final = 4  # PR_SET_DUMPABLE of prctl(2)


def prevent_dumps() -> None:
    """Keep the system from writing a core dump of this process or, on Linux, handing it to a collecting program.

    On Linux it also keeps other processes of the same user from its memory and its environment: debuggers and
    profilers cannot attach, unless they are root's. It holds until the process ends, and for processes that it forks;
    of a program that it starts no core is written. Nothing happens where the system knows no such limits (Windows).
    """
    try:
        import resource
    except ImportError:
        return
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    if sys.platform == "linux":
        _forbid_dumps()


def _forbid_dumps() -> None:
    """Also to collectors, which the limit is not asked for."""
    import ctypes

    ctypes.CDLL(None).prctl(_SET_DUMPABLE, 0, 0, 0, 0)


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
    """Ignore a failed write to stderr: a lost message must not end or fail the work that it is about."""
    stream = sys.stderr
    if isinstance(stream, io.TextIOWrapper) and stream.fileno() == _LAST_STANDARD_FILE:
        file = io.BufferedWriter(Messages(_LAST_STANDARD_FILE, "w", closefd=False))
        sys.stderr = io.TextIOWrapper(file, stream.encoding, "backslashreplace", line_buffering=True)


_TOLD_OF: Final = "_duckdb"  # made with nanobind, which tells of each object that is in a circle at the end


def end_own_process(code: int) -> None:
    """No last search for circles: with the process all of them go. An interruption now ends with its `code` at once.

    What was said is said by now; another code, that of a signal, would say that nothing was sent. A signal that was
    ignored when the process began, as SIGHUP is under `nohup`, stays ignored.
    """
    release_reserve()
    if _TOLD_OF not in sys.modules:
        gc.freeze()
    if threading.current_thread() is threading.main_thread():
        for ending in ENDINGS:
            if signal.getsignal(ending) is not signal.SIG_IGN:
                signal.signal(ending, lambda _signal, _frame: os._exit(code))
