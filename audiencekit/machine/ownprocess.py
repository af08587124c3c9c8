"""A process that is all ours, as that of a command is: set up once, before it has threads or imports Arrow or numpy."""

from __future__ import annotations

import gc
import os
import signal
import threading
from typing import Final

from audiencekit.machine.heap import share_heap
from audiencekit.machine.leftout import leave_out_blas_threads, leave_out_pandas

# Objects that may be made before the next look at them. What we import makes as many; the work itself makes few, and
# hardly any circles.
_YOUNG_OBJECTS: Final = 50_000


def set_up_own_process() -> None:
    """One heap, nothing that we have no use for, and seldom a search for circles of objects that nobody holds.

    A search holds the lock of the interpreter for 20 milliseconds, while all threads wait.
    """
    gc.set_threshold(_YOUNG_OBJECTS, *gc.get_threshold()[1:])
    share_heap()
    leave_out_pandas()
    leave_out_blas_threads()


def end_own_process(code: int) -> None:
    """No last search for circles: with the process all of them go. Whoever interrupts it now has its `code` at once.

    What was said is said by now; another code, that of a signal, would say that nothing was sent.
    """
    gc.freeze()
    if threading.current_thread() is threading.main_thread():
        for ending in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(ending, lambda _signal, _frame: os._exit(code))
