"""The locks of a state directory: a target has one run at work on it, and the directory one erasure.

The kernel gives them back when their holder ends, however it ends. The files stay; what they say is for messages only.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Collection, Iterator
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Self

import orjson

from audiencekit.destinations.target import Target
from audiencekit.errors import AudienceBusy
from audiencekit.machine.filelocks import holder_of, read_holder, taken, write_holder
from audiencekit.machine.statedirectory import make_directory, safe_child
from audiencekit.selection.forgotten.notes import ERASURES

LOCKS: Final = "locks"
ERASURE_LOCK: Final = ".lock"
_NOTHING_HELD: Final = "wait until it has ended; {} that was killed holds nothing"


class TargetLock:
    """The lock of a target of an account on this host.

    Raises AudienceBusy when another run holds it, InputOutputFailed when the state directory cannot be written.
    """

    def __init__(self, state_dir: Path, account_id: str, target: Target, run_id: str) -> None:
        self._state_dir, self._path = state_dir, _place(state_dir, account_id, target)
        self._target, self._run_id = target, run_id
        self._taken = contextlib.ExitStack()

    def __enter__(self) -> Self:
        make_directory(self._state_dir, LOCKS)
        what = f"the lock of the {self._target.destination.words.noun} cannot be made"
        self._taken.enter_context(taken(self._path, what, self._busy, holder=_words(self._run_id)))
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._taken.close()

    def _busy(self) -> AudienceBusy:
        holder = _read(read_holder(self._path))
        run_id, process_id = holder.get("run_id"), holder.get("process_id")
        who = f"run {run_id} (process {process_id})" if isinstance(run_id, str) else "another run"
        return AudienceBusy(
            f"{who} is at work on this {self._target.destination.words.noun}: nothing was sent",
            run_id=run_id if isinstance(run_id, str) else None,
            process_id=process_id if isinstance(process_id, int) else None,
            hint=_NOTHING_HELD.format("a run"),
        )


@contextlib.contextmanager
def erasure_lock(state_dir: Path) -> Iterator[Callable[[str], None]]:
    """No other process erases from this state directory meanwhile. Yields what notes the id of the erasure at work.

    Raises AudienceBusy when another process does, InputOutputFailed when the state directory cannot be written.
    """
    path = make_directory(state_dir, ERASURES) / ERASURE_LOCK
    told = "another erasure is at work in this state directory: nothing was sent"
    hint = _NOTHING_HELD.format("one")
    what = "the lock of erasures cannot be taken"
    with taken(path, what, lambda: AudienceBusy(told, hint=hint), holder=b"") as file:

        def note(erasure_id: str) -> None:
            with contextlib.suppress(OSError):  # it is for those who look, and nothing hangs on it
                write_holder(file, _words(erasure_id))

        yield note


@contextlib.contextmanager
def nothing_at_work(state_dir: Path) -> Iterator[None]:
    """Every lock of a target and of erasures is held. Raises AudienceBusy, and InputOutputFailed."""
    told = "a run or an erasure is at work: nothing was changed"
    hint = "try again when it has ended"
    with contextlib.ExitStack() as stack:
        for path in _files(state_dir):
            stack.enter_context(taken(path, "a lock cannot be taken", lambda: AudienceBusy(told, hint=hint)))
        yield


def at_work(state_dir: Path, run_ids: Collection[str]) -> set[str]:
    """Those of `run_ids`, of runs or erasures, that hold a lock on this host now, whatever their journals say."""
    found = set()
    for path in _files(state_dir):
        # Looking whether a lock is held takes it for a moment: only where it may be one of theirs.
        run_id = _read(read_holder(path)).get("run_id")
        if run_id in run_ids and holder_of(path) is not None:
            found.add(str(run_id))
    return found


def _files(state_dir: Path) -> list[Path]:
    return [*sorted((state_dir / LOCKS).glob("*.lock")), *(state_dir / ERASURES).glob(ERASURE_LOCK)]


def _place(state_dir: Path, account_id: str, target: Target) -> Path:
    return safe_child(state_dir / LOCKS, f"{account_id}-{target.lock_name}").with_suffix(".lock")


def _words(run_id: str) -> bytes:
    return orjson.dumps({"run_id": run_id, "process_id": os.getpid()})


def _read(words: bytes) -> dict[str, Any]:
    """The entry of the holder; empty when it has not written it yet."""
    try:
        holder = orjson.loads(words)
    except ValueError:
        return {}
    return holder if isinstance(holder, dict) else {}
