"""One run at a time on one target: a lock that the kernel gives back when its holder ends, however it ends."""

from __future__ import annotations

import contextlib
import fcntl
import os
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Self

import orjson

from audiencekit.errors import AudienceBusy, InputOutputFailed
from audiencekit.machine.privatefiles import explained
from audiencekit.machine.statedirectory import make_directory, safe_child
from audiencekit.preparation.target import Target

LOCKS: Final = "locks"
MAX_HOLDER_BYTES: Final = 4_096


class TargetLock:
    """The lock of a target of an account on this host. The file stays; what it says is for messages only.

    Raises AudienceBusy when somebody holds it, InputOutputFailed when the state directory cannot be written.
    """

    def __init__(self, state_dir: Path, account_id: str, target: Target, run_id: str) -> None:
        self._state_dir, self._path = state_dir, _place(state_dir, account_id, target)
        self._target, self._run_id = target, run_id
        self._file: int | None = None

    def __enter__(self) -> Self:
        make_directory(self._state_dir, LOCKS)
        with explained(f"the lock of the {self._target.kind.noun} cannot be made", self._path):
            file = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
            try:
                self._take(file)
            except BaseException:
                os.close(file)
                raise
        self._file = file
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._file is not None:
            with contextlib.suppress(OSError):
                os.close(self._file)
        self._file = None

    def _take(self, file: int) -> None:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise _busy(self._target, _read_holder(file)) from None
        holder = orjson.dumps({"run_id": self._run_id, "process_id": os.getpid()})
        os.ftruncate(file, 0)
        os.pwrite(file, holder, 0)


def is_running(state_dir: Path, account_id: str, target: Target, run_id: str) -> bool:
    """Whether `run_id` is at work on its target on this host now."""
    try:
        file = os.open(_place(state_dir, account_id, target), os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
    except (OSError, InputOutputFailed):  # of a journal that says what no id is, too
        return False
    try:
        fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except OSError:
        return _read_holder(file).get("run_id") == run_id
    finally:
        os.close(file)
    return False


def _place(state_dir: Path, account_id: str, target: Target) -> Path:
    return safe_child(state_dir / LOCKS, f"{account_id}-{target.lock_name}").with_suffix(".lock")


def _read_holder(file: int) -> dict[str, Any]:
    """What the holder says of itself; nothing when it has not said it yet."""
    try:
        holder = orjson.loads(os.pread(file, MAX_HOLDER_BYTES, 0))
    except (OSError, ValueError):
        return {}
    return holder if isinstance(holder, dict) else {}


def _busy(target: Target, holder: dict[str, Any]) -> AudienceBusy:
    run_id, process_id = holder.get("run_id"), holder.get("process_id")
    who = f"run {run_id} (process {process_id})" if isinstance(run_id, str) else "another run"
    return AudienceBusy(
        f"{who} is at work on this {target.kind.noun}: nothing was sent",
        run_id=run_id if isinstance(run_id, str) else None,
        process_id=process_id if isinstance(process_id, int) else None,
        hint="wait until it has ended; a run that was killed holds nothing",
    )
