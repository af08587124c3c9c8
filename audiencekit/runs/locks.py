"""One run at a time on one target: a lock that the kernel gives back when its holder ends, however it ends."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Collection
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Self

import orjson

from audiencekit.destinations.target import Target
from audiencekit.errors import AudienceBusy, InputOutputFailed
from audiencekit.machine.filelocks import holder_of, locked, read_holder, write_holder
from audiencekit.machine.privatefiles import explained
from audiencekit.machine.statedirectory import make_directory, safe_child

LOCKS: Final = "locks"
MAX_HOLDER_BYTES: Final = 4_096


class TargetLock:
    """The lock of a target of an account on this host. The file stays; what it says is for messages only.

    Raises AudienceBusy when another run holds it, InputOutputFailed when the state directory cannot be written.
    """

    def __init__(self, state_dir: Path, account_id: str, target: Target, run_id: str) -> None:
        self._state_dir, self._path = state_dir, _place(state_dir, account_id, target)
        self._target, self._run_id = target, run_id
        self._taken = contextlib.ExitStack()

    def __enter__(self) -> Self:
        make_directory(self._state_dir, LOCKS)
        with explained(f"the lock of the {self._target.destination.noun} cannot be made", self._path):
            try:
                file = self._taken.enter_context(locked(self._path, wait=False))
            except BlockingIOError:
                raise _busy(self._target, _read(read_holder(self._path))) from None
            with contextlib.ExitStack() as undone:
                undone.callback(self._taken.close)
                write_holder(file, orjson.dumps({"run_id": self._run_id, "process_id": os.getpid()}))
                undone.pop_all()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._taken.close()


def is_running(state_dir: Path, account_id: str, target: Target, run_id: str) -> bool:
    """Whether `run_id` is at work on its target on this host now."""
    try:
        holder = holder_of(_place(state_dir, account_id, target))
    except InputOutputFailed:  # of a journal that says what no id is
        return False
    return holder is not None and _read(holder).get("run_id") == run_id


def at_work(state_dir: Path, run_ids: Collection[str]) -> set[str]:
    """Those of `run_ids`, of runs or erasures, that hold a lock on this host now, whatever their journals say."""
    found = set()
    for path in (state_dir / LOCKS).glob("*.lock"):
        # Looking whether a lock is held takes it for a moment: only where it may be one of theirs.
        run_id = _read(read_holder(path)).get("run_id")
        if run_id in run_ids and holder_of(path) is not None:
            found.add(str(run_id))
    return found


def _place(state_dir: Path, account_id: str, target: Target) -> Path:
    return safe_child(state_dir / LOCKS, f"{account_id}-{target.lock_name}").with_suffix(".lock")


def _read(words: bytes) -> dict[str, Any]:
    """The entry of the holder; empty when it has not written it yet."""
    try:
        holder = orjson.loads(words)
    except ValueError:
        return {}
    return holder if isinstance(holder, dict) else {}


def _busy(target: Target, holder: dict[str, Any]) -> AudienceBusy:
    run_id, process_id = holder.get("run_id"), holder.get("process_id")
    who = f"run {run_id} (process {process_id})" if isinstance(run_id, str) else "another run"
    return AudienceBusy(
        f"{who} is at work on this {target.destination.noun}: nothing was sent",
        run_id=run_id if isinstance(run_id, str) else None,
        process_id=process_id if isinstance(process_id, int) else None,
        hint="wait until it has ended; a run that was killed holds nothing",
    )
