"""A process as on Windows, as far as it can be played elsewhere: a plugin of pytest, and a command that runs another.

`fcntl`, `resource` and the like cannot be imported, calls and flags of POSIX are gone, the event loop knows no signals,
and `msvcrt` locks a byte of an open file. Packages of others are imported before: they have releases for Windows.
"""

from __future__ import annotations

import asyncio
import errno
import fcntl
import mmap
import multiprocessing.connection
import os
import resource
import runpy
import select
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import time
import types
from collections.abc import Sequence
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec

import aiohttp
import numpy
import platformdirs
import pyarrow.parquet

# They take of POSIX what they want before it goes.
IMPORTED = (multiprocessing.connection, resource, shutil, subprocess, aiohttp, numpy, platformdirs, pyarrow)
MODULES = ("fcntl", "resource", "pwd", "grp", "termios")
OF_OS = (
    *("O_NOFOLLOW", "O_DIRECTORY", "O_CLOEXEC", "O_NONBLOCK", "O_DIRECT", "geteuid", "getuid", "uname", "confstr"),
    *("pread", "pwrite", "fork", "fchmod", "sched_getaffinity", "killpg", "getpgid", "sysconf", "mkfifo"),
)
OF_SIGNAL = ("SIGHUP", "SIGKILL", "SIGXCPU", "pthread_sigmask")
OF_TIME = ("clock_gettime", "CLOCK_BOOTTIME", "CLOCK_MONOTONIC")
OF_SELECT = ("poll", "epoll")
OF_MMAP = ("MAP_PRIVATE", "MAP_ANONYMOUS")

_LOCK = struct.Struct("hhqqi4x")  # struct flock of Linux


class _Refused(MetaPathFinder):
    """Finds no module of POSIX."""

    def find_spec(self, name: str, path: Sequence[str] | None, target: object = None) -> ModuleSpec | None:
        if name in MODULES:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)
        return None


def _msvcrt() -> types.ModuleType:
    module = types.ModuleType("msvcrt")
    module.LK_UNLCK, module.LK_LOCK, module.LK_NBLCK = 0, 1, 2  # type: ignore[attr-defined]
    take, wait_not, open_lock, write_lock = fcntl.fcntl, fcntl.F_OFD_SETLK, fcntl.F_OFD_SETLKW, fcntl.F_WRLCK
    flags_of, to_read, read_lock = fcntl.F_GETFL, os.O_RDONLY, fcntl.F_RDLCK

    def locking(file: int, mode: int, size: int) -> None:
        start = os.lseek(file, 0, os.SEEK_CUR)
        how = open_lock if mode == module.LK_LOCK else wait_not
        # Windows locks a file that is open to be read alone, too.
        sort = read_lock if take(file, flags_of) & os.O_ACCMODE == to_read else write_lock
        try:
            take(file, how, _LOCK.pack(sort, os.SEEK_SET, start, size, 0))
        except OSError:
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES)) from None

    module.locking = locking  # type: ignore[attr-defined]
    return module


def _no_signals(*_: object) -> None:
    raise NotImplementedError


def take_away() -> None:
    """From here on this process has no POSIX for the modules that are imported after it."""
    home = tempfile.gettempdir()
    os.environ["HOME"] = home  # the profile directory, with all that a test makes
    if "_pytest.tmpdir" in sys.modules:
        sys.modules["_pytest.tmpdir"].get_user_id = lambda: None  # type: ignore[attr-defined]
    sys.modules["msvcrt"] = _msvcrt()
    sys.meta_path.insert(0, _Refused())
    for name in MODULES:
        sys.modules.pop(name, None)
    gone = ((os, OF_OS), (select, OF_SELECT), (signal, OF_SIGNAL), (time, OF_TIME), (mmap, OF_MMAP))
    for module, names in gone:
        for name in names:
            if hasattr(module, name):
                delattr(module, name)
    asyncio.SelectorEventLoop.add_signal_handler = _no_signals  # type: ignore[assignment]


if __name__ == "__main__":
    take_away()
    sys.argv = sys.argv[1:]
    runpy.run_module(sys.argv[0], run_name="__main__", alter_sys=True)
elif os.environ.get("WITHOUT_POSIX") == "pytest":
    take_away()
