"""The command line in processes of its own, begun quickly.

On Linux they are forked from one that has imported everything (`forking.py`), elsewhere they are started. How the
command starts by itself is what tests/cli/test_start.py is about.
"""

from __future__ import annotations

import contextlib
import json
import os
import select
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Collection, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import IO, Any, TypeAlias

from audiencekit.process.signals import ENDINGS
from tests.moments import PATIENCE_SECONDS

ROOT = Path(__file__).resolve().parent.parent
COMMAND = [sys.executable, "-m", "audiencekit"]
PIPE, DEVNULL = subprocess.PIPE, subprocess.DEVNULL
MAX_NUMBER_BYTES = 32


def environment(state_dir: Path, more: Mapping[str, str] | None = None) -> dict[str, str]:
    """That of this process without its settings, with a state directory, and `more`."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("AUDIENCEKIT_")}
    ours = {"AUDIENCEKIT_STATE_DIR": str(state_dir), "XDG_CONFIG_HOME": f"{state_dir}-settings"}
    return {**kept, **ours, "PYTHONPATH": str(ROOT), **(more or {})}


def default_signals() -> None:
    """For a process that is begun (`preexec_fn`): no signal is ignored there because the tests run under `nohup`, or in
    the background of a shell."""
    for ending in ENDINGS:
        signal.signal(ending, signal.SIG_DFL)


def start(command: Sequence[str | Path], **options: Any) -> subprocess.Popen[Any]:
    """`subprocess.Popen`, of a process that is killed when its test ends and it has not."""
    process = subprocess.Popen(command, **options)
    BEGUN.append(process)
    return process


def end_those_begun(but: Collection[Process] = ()) -> None:
    """Kill what runs still, and close what is open: the pipes that a failed test leaves would fail a later one."""
    for process in [each for each in BEGUN if each not in but]:
        BEGUN.remove(process)
        process.kill()
        process.wait()
        for stream in (process.stdin, process.stdout, process.stderr):
            if stream is not None:
                with contextlib.suppress(BrokenPipeError):  # what was not written any more
                    stream.close()


class Commands:
    """Begins commands, and ends what they are forked from, which has imported `packages` (`forking.py`)."""

    def __init__(self, packages: str = "all") -> None:
        self._packages = packages
        self._door: socket.socket | None = None
        self._nursery: subprocess.Popen[bytes] | None = None
        self._one_at_a_time = threading.Lock()

    def run(
        self,
        *arguments: str,
        env: Mapping[str, str],
        cwd: Path,
        text: str = "",
        stdin: int = PIPE,
        stdout: int | IO[str] = PIPE,
        timeout: float = PATIENCE_SECONDS,
    ) -> subprocess.CompletedProcess[str]:
        """One command from its start to its end; `text` is what it finds on a stdin that is a pipe."""
        process = self.begin(*arguments, env=env, cwd=cwd, stdin=stdin, stdout=stdout)
        out, err = process.communicate(text if stdin == PIPE else None, timeout=timeout)
        code = process.returncode
        assert code is not None
        return subprocess.CompletedProcess(arguments, code, out, err)

    def begin(
        self,
        *arguments: str,
        env: Mapping[str, str],
        cwd: Path,
        stdin: int = DEVNULL,
        stdout: int | IO[str] = PIPE,
        stderr: int | None = PIPE,
    ) -> Process:
        """A command under way; a stream that is None is that of this process."""
        if sys.platform != "linux":
            return start([*COMMAND, *arguments], env=env, cwd=cwd, stdin=stdin, stdout=stdout, stderr=stderr, text=True)
        job = json.dumps({"arguments": arguments, "environment": dict(env), "directory": str(cwd)}).encode()
        with self._one_at_a_time:
            process = Forked(self.door, job, stdin, stdout, stderr)
        BEGUN.append(process)
        return process

    @property
    def door(self) -> socket.socket:
        """The socket at which processes are asked for (`forking.py`), opened when it is first needed; Linux only."""
        if self._door is None:
            self._door, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
            without_threads = {**os.environ, "PYTHONPATH": ".", "OPENBLAS_NUM_THREADS": "1"}
            self._nursery = subprocess.Popen(
                [sys.executable, "-m", "tests.forking", str(theirs.fileno()), self._packages],
                pass_fds=[theirs.fileno()], stdin=DEVNULL, cwd=ROOT, env=without_threads, start_new_session=True,
            )  # fmt: skip
            theirs.close()
        return self._door

    def close(self) -> None:
        """Kill the processes that still run."""
        if self._door is not None and self._nursery is not None:
            self._door.close()
            self._nursery.wait(timeout=PATIENCE_SECONDS)


class Forked:
    """A process that another one forked for this one, in the words of `subprocess.Popen`."""

    def __init__(self, door: socket.socket, job: bytes, *streams: int | IO[str] | None) -> None:
        ours, theirs = zip(*map(_ends, streams, range(3)), strict=True)
        self.stdin, self.stdout, self.stderr = map(_opened, ours, ("w", "r", "r"))
        self._listening, told = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with told:
            socket.send_fds(door, [job], [*theirs, told.fileno()])
        for end in theirs:
            os.close(end)
        self.returncode: int | None = None
        self.peak_bytes = 0  # the most memory that it had, once it has ended
        self.pid = int(self._listening.recv(MAX_NUMBER_BYTES))

    def poll(self) -> int | None:
        """The exit code, negative for a signal; None as long as there is none."""
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.wait(timeout=0)
        return self.returncode

    def wait(self, timeout: float | None = None) -> int:
        if self.returncode is None:
            if not select.select([self._listening], [], [], timeout)[0]:
                raise subprocess.TimeoutExpired("audiencekit", timeout or 0)
            self.returncode, self.peak_bytes = map(int, self._listening.recv(MAX_NUMBER_BYTES).split())
            self._listening.close()
        return self.returncode

    def communicate(self, text: str | None = None, timeout: float | None = None) -> tuple[str, str]:
        """Send `text`, wait for the end and return the output; a process that does not end in time is killed."""
        with ThreadPoolExecutor(2) as readers:
            out, err = (readers.submit(_read, stream) for stream in (self.stdout, self.stderr))
            if self.stdin is not None:
                with contextlib.suppress(BrokenPipeError), self.stdin:
                    self.stdin.write(text or "")
            try:
                self.wait(timeout)
            except subprocess.TimeoutExpired:
                self.kill()
                raise
        return out.result(), err.result()

    def send_signal(self, number: int) -> None:
        if self.poll() is None:
            os.kill(self.pid, number)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)


def _ends(asked: int | IO[str] | None, number: int) -> tuple[int | None, int]:
    """Of a pipe our end and theirs; of anything else only theirs, which is to be closed here all the same."""
    if asked == PIPE:
        reads, writes = os.pipe()
        return (reads, writes) if number else (writes, reads)
    if asked == DEVNULL:
        return None, os.open(os.devnull, os.O_RDWR)
    if asked is None:
        return None, os.dup(number)
    return None, os.dup(asked if isinstance(asked, int) else asked.fileno())


def _opened(end: int | None, mode: str) -> IO[str] | None:
    return None if end is None else open(end, mode, encoding="utf-8")


def _read(stream: IO[str] | None) -> str:
    """All that is left of it."""
    if stream is None:
        return ""
    with stream:
        return stream.read()


Process: TypeAlias = "Forked | subprocess.Popen[Any]"
BEGUN: list[Process] = []  # that may run still
