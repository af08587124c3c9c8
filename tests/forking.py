"""Forks processes of the command line from one that has imported everything: `python -m tests.forking DOOR PACKAGES`.

PACKAGES is `all`, or `others` for one that has imported what others wrote, and nothing of audiencekit.

DOOR is a socket. One message on it is one process: `arguments`, `environment` and `directory`, with four descriptors,
its stdin, stdout and stderr, and a socket where its number is written when it begins, and when it ended its exit code
and the most memory that it had, in bytes.
It is a process as any other, with signals and streams of its own, but that what takes its time was imported before it
was born. Where its environment names FASTER, its waits pass so many times as fast, and where it names SETTLE, attempts
in doubt are settled after so many seconds. Nothing here may start a thread: a fork has only one of them.
"""

from __future__ import annotations

import atexit
import gc
import importlib
import json
import os
import pkgutil
import runpy
import select
import signal
import socket
import sys
import threading
import time
from pathlib import Path
from typing import Any, NoReturn

MAX_JOB_BYTES = 1 << 17
MAX_DESCRIPTORS = 1024
FASTER = "TESTS_FASTER"
SETTLE = "TESTS_SETTLE"
SHORTEST_PATIENCE_SECONDS = 3.0  # of a command for a dead holder of a state in a bucket
LEFT_OUT = ("audiencekit.integrations", "audiencekit.__main__", "audiencekit.delivery.limiter.redis")
OTHERS = ("aiohttp", "click", "email_validator", "numpy", "orjson", "phonenumbers", "platformdirs", "tenacity", "yarl")
HEAVY = ("aiohttp.web", "pyarrow.parquet", "pyarrow.compute", "rich.progress", "cryptography.x509")


def main() -> None:
    door = socket.socket(fileno=int(sys.argv[1]))
    if sys.argv[2] == "all":
        import_everything()
    else:
        import_others()
    assert threads() <= {"jemalloc_bg_thd"}, "a thread was started; a fork would not have it"
    gc.collect()
    gc.freeze()
    signal.signal(signal.SIGHUP, signal.SIG_DFL)  # pytest may have been begun with `nohup`
    Nursery(door).serve()


def import_everything() -> None:
    """Import the modules that commands import, at their start or inside their functions."""
    import audiencekit

    for module in pkgutil.walk_packages(audiencekit.__path__, "audiencekit."):
        if not module.name.startswith(LEFT_OUT):
            importlib.import_module(module.name)
    import_others()


def import_others() -> None:
    """Import their modules that are not of audiencekit."""
    for name in (*OTHERS, *HEAVY):
        importlib.import_module(name)


def threads() -> set[str]:
    """Names of the threads beside this one. That of Arrow's jemalloc knows of forks, and starts again in them."""
    others = set(os.listdir("/proc/self/task")) - {str(threading.get_native_id())}
    return {Path(f"/proc/self/task/{number}/comm").read_text().strip() for number in others}


class Nursery:
    """Forks what it is asked for until its door is shut; then it ends whatever is still there."""

    def __init__(self, door: socket.socket) -> None:
        self._door = door
        self._alive: dict[int, tuple[int, socket.socket]] = {}
        self._poll = select.poll()
        self._poll.register(door, select.POLLIN)

    def serve(self) -> None:
        while True:
            for ready, _ in self._poll.poll():
                if ready != self._door.fileno():
                    self._bury(ready)
                elif not self._fork():
                    return self._end()

    def _fork(self) -> bool:
        message, descriptors, _, _ = socket.recv_fds(self._door, MAX_JOB_BYTES, 4)
        if not message:
            return False
        number = os.fork()
        if not number:
            become(json.loads(message), descriptors)
        *streams, told = descriptors
        for stream in streams:
            os.close(stream)
        pidfd, teller = os.pidfd_open(number), socket.socket(fileno=told)
        self._alive[pidfd] = number, teller
        self._poll.register(pidfd, select.POLLIN)
        teller.sendall(f"{number}\n".encode())
        return True

    def _bury(self, pidfd: int) -> None:
        number, teller = self._alive.pop(pidfd)
        self._poll.unregister(pidfd)
        os.close(pidfd)
        _, status, used = os.wait4(number, 0)
        with teller:
            try:
                teller.sendall(f"{os.waitstatus_to_exitcode(status)} {used.ru_maxrss * 1024}\n".encode())
            except BrokenPipeError:
                return  # the caller has gone

    def _end(self) -> None:
        for pidfd, (number, _) in list(self._alive.items()):
            os.kill(number, signal.SIGKILL)
            self._bury(pidfd)


def become(job: dict[str, Any], descriptors: list[int]) -> None:
    """The child: takes its streams, environment and directory, runs the command and never comes back."""
    for number, stream in enumerate(descriptors[:3]):
        os.dup2(stream, number)
    os.closerange(3, MAX_DESCRIPTORS)
    signal.signal(signal.SIGINT, signal.default_int_handler)  # ignored where the tests run in the background
    os.environ.clear()
    os.environ.update(job["environment"])
    time.tzset()
    os.chdir(job["directory"])
    sys.stdin = open(0, closefd=False, encoding="utf-8", errors="surrogateescape")  # noqa: SIM115
    sys.stdout = open(1, "w", closefd=False, encoding="utf-8", errors="strict")  # noqa: SIM115
    sys.stderr = open(2, "w", 1, closefd=False, encoding="utf-8", errors="backslashreplace")  # noqa: SIM115
    sys.argv = ["audiencekit", *job["arguments"]]
    if FASTER in os.environ:
        hasten(float(os.environ[FASTER]))
    if SETTLE in os.environ:
        from audiencekit.runs import first_pass

        first_pass.SETTLE_SECONDS = float(os.environ[SETTLE])  # type: ignore[misc]
    try:
        runpy.run_module("audiencekit", run_name="__main__", alter_sys=True)
    except SystemExit as ending:
        leave(ending.code if isinstance(ending.code, int) else 0)


def hasten(times: float) -> None:
    """Lets the clocks of deliveries and of their pace run so many times as fast; those that tell a time stay right.

    A stream of events that was lost is opened again as much sooner.
    """
    import asyncio

    from audiencekit.api.activity import Pulse
    from audiencekit.delivery.limiter.host import HostLimiter
    from audiencekit.delivery.retry import SystemClock
    from audiencekit.mirror import opening
    from audiencekit.process.boot import boot_seconds

    sleep, monotonic = SystemClock.sleep, SystemClock.monotonic
    SystemClock.sleep = lambda clock, seconds: sleep(clock, seconds / times)  # type: ignore[method-assign]
    SystemClock.monotonic = lambda clock: monotonic(clock) * times  # type: ignore[method-assign]
    HostLimiter.__init__.__kwdefaults__["now"] = lambda: boot_seconds() * times
    Pulse.__init__.__kwdefaults__["sleep"] = lambda seconds: asyncio.sleep(seconds / times)
    # Not so short that a process on a busy machine is taken for dead.
    defaults = opening.open_state.__wrapped__.__kwdefaults__  # type: ignore[attr-defined]
    defaults["patience_seconds"] = max(SHORTEST_PATIENCE_SECONDS, defaults["patience_seconds"] / times)


def leave(code: int) -> NoReturn:
    """Leave as an interpreter does, but free nothing: that would take longer than most commands."""
    threading._shutdown()  # type: ignore[attr-defined]
    atexit._run_exitfuncs()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)


if __name__ == "__main__":
    main()
