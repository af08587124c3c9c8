"""The status file: how far a command is, for a probe. It is whole at every moment, and only its owner can read it.

A thread writes it every few seconds: `written_at` says that the process lives, `stepped_at` that its work goes on.
"""

from __future__ import annotations

import contextlib
import os
import threading
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Self

from audiencekit.errors import AudiencekitError, InputOutputFailed, UsageError
from audiencekit.records.plan_times import format_time
from audiencekit.reporting.progress import Progress
from audiencekit.state.files import decode_checked, encode_checked, explained, read_file, replace_file

FORM: Final = "audiencekit-status/1"
EVERY_SECONDS: Final = 5.0
_MOST_BYTES: Final = 64_000


class StatusFile:
    """A progress that passes steps on, and writes the file at `path` while it is entered; at the end the last state.

    Raises UsageError for a path of another file, which is not replaced, and InputOutputFailed when it cannot be
    written at the beginning. Later failures are told once, and end nothing.
    """

    def __init__(
        self,
        path: Path,
        progress: Progress,
        command: str,
        *,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
        every_seconds: float = EVERY_SECONDS,
    ) -> None:
        self._path, self._progress, self._now, self._every_seconds = path, progress, now, every_seconds
        started = format_time(now())
        self._facts: dict[str, Any] = {
            "command": command,
            "state": "running",
            "exit_code": None,
            "process_id": os.getpid(),
            "started_at": started,
            "stepped_at": started,
            "phase": None,
            "done": 0,
            "total": None,
            "unit": None,
        }
        self._is_due, self._over, self._has_failed = threading.Event(), threading.Event(), False
        self._thread = threading.Thread(target=self._keep, name="audiencekit-status", daemon=True)

    def step(self, stage: str, done: int, total: int, *, unit: str, also: Mapping[str, int] | None = None) -> None:
        """Pass the step on; a new stage is written at once."""
        is_new = stage != self._facts["phase"]
        position = {"phase": stage, "done": done, "total": total or None, "unit": unit}
        self._facts = {**self._facts, **position, "stepped_at": format_time(self._now())}
        if is_new:
            self._is_due.set()
        self._progress.step(stage, done, total, unit=unit, also=also)

    def tell(self, message: str) -> None:
        """Pass the message on."""
        self._progress.tell(message)

    def __enter__(self) -> Self:
        _check(self._path)
        self._write()
        self._thread.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None) -> None:
        self._over.set()
        self._is_due.set()
        self._thread.join()
        state, code = ("complete", 0) if error is None else ("incomplete", 1)
        if isinstance(error, AudiencekitError):
            state, code = error.state, error.exit_code
        self._facts = {**self._facts, "state": state, "exit_code": code}
        self._write_if_possible()

    def _keep(self) -> None:
        while not self._over.is_set():
            self._is_due.wait(self._every_seconds)
            self._is_due.clear()
            self._write_if_possible()

    def _write_if_possible(self) -> None:
        failure = ""
        try:
            self._write()
        except InputOutputFailed as error:
            failure = str(error)
        if failure and not self._has_failed:
            self._has_failed = True
            self._progress.tell(f"note: {failure}")

    def _write(self) -> None:
        with explained("the status file cannot be written", self._path, hint="AUDIENCEKIT_STATUS_FILE names another"):
            replace_file(self._path, encode_checked({**self._facts, "written_at": format_time(self._now())}, FORM))


def _check(path: Path) -> None:
    """Raises UsageError for a file that is not a status file, so that no list is lost by a wrong setting."""
    if not os.path.lexists(path):
        return
    with contextlib.suppress(OSError, InputOutputFailed):
        document, is_as_written = decode_checked(read_file(path, _MOST_BYTES), FORM, path)
        if document is not None and is_as_written:
            return
    message = f"AUDIENCEKIT_STATUS_FILE: {str(path)!r} is there, and is not a status file of audiencekit"
    raise UsageError(message, hint="name another file, or remove this one")
