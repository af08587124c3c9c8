"""No copy of the memory of a process: no core dump, and no look into it by other programs of the same user."""

from __future__ import annotations

import sys
from typing import Final

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
