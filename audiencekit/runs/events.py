"""The events of a run, one for each of its steps: lines of JSON in a file or on stdout, and a trace (docs/nightly.md).

A line is written when its step is in the journal or in the stored report, so that it never claims more than these. What
a kill keeps from the file is written when the run goes on: the last line of a request has its present counts.
"""

from __future__ import annotations

import errno
import math
import os
import stat
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, ExitStack
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias

import orjson

from audiencekit.errors import AudiencekitError, InputOutputFailed, UsageError
from audiencekit.runs.journal.facts import RequestFacts
from audiencekit.settings import Settings
from audiencekit.state.files import explained

if TYPE_CHECKING:
    from audiencekit.runs.telemetry import Telemetry

VERSION: Final = 1
STDOUT: Final = Path("-")
_STDOUT_DESCRIPTOR: Final = 1
_MOST_LINE_BYTES: Final = 64_000_000  # a report has as many sources as a directory has files
_APPEND: Final = os.O_WRONLY | os.O_APPEND | os.O_CREAT | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_NOCTTY", 0)

Event: TypeAlias = Literal["begun", "read", "planned", "request", "wait", "ended", "erasure"]


class RunEvents:
    """The events of one run. Without a `descriptor` nothing is written.

    When a line cannot be written, no further one is, and the run goes on.
    """

    def __init__(self, run_id: str = "", descriptor: int | None = None) -> None:
        self._run_id, self._descriptor = run_id, descriptor
        self._telemetry: Telemetry | None = None
        self._failure = ""
        self._tell: Callable[[str], None] | None = None

    @property
    def is_on(self) -> bool:
        """Whether there is a reader of events."""
        return self._descriptor is not None or self._telemetry is not None

    def close(self) -> None:
        """End the trace, write nothing from now on, and close the file."""
        telemetry, self._telemetry = self._telemetry, None
        if telemetry is not None and (why := telemetry.close()):
            self._warn(f"warning: the collector of AUDIENCEKIT_OTEL_URL did not take the whole trace: {why}")
        self._close_file()

    def _close_file(self) -> None:
        descriptor, self._descriptor = self._descriptor, None
        if descriptor not in (None, _STDOUT_DESCRIPTOR):
            os.close(descriptor)

    def trace_by(self, telemetry: Telemetry) -> None:
        """Make a trace of the events, too."""
        self._telemetry = telemetry

    def tell_by(self, tell: Callable[[str], None]) -> None:
        """Call `tell` with the reason when a line cannot be written; at once, if that has happened."""
        self._tell = tell
        if self._failure:
            tell(self._failure)

    def _warn(self, message: str) -> None:
        self._failure = message
        if self._tell is not None:
            self._tell(message)

    def begun(self, report: Mapping[str, Any], *, is_resumed: bool, requests: Iterable[RequestFacts] = ()) -> None:
        """The run begins in this process, or goes on; `report` and `requests` are those of earlier ones."""
        self._write("begun", resumed=is_resumed, report=report)
        for request in requests:
            self.request(request)

    def read(self, rows_read: int, rows_rejected: int) -> None:
        """The source was read to its end."""
        self._write("read", rows={"read": rows_read, "rejected": rows_rejected})

    def planned(self, report: Mapping[str, Any]) -> None:
        """The plan is in the journal; `report` is the one before anything of it is sent in this process."""
        self._write("planned", report=report)

    def request(self, facts: RequestFacts, error: str | None = None) -> None:
        """A request is about to be sent, or has ended; `error` is the name of the last error."""
        self._write(
            "request", number=facts.number, wave=facts.wave, state=facts.state, attempts=facts.attempts,
            rate_limited=facts.rate_limited, records=facts.records, bytes=facts.body_bytes,
            success_count=facts.success_count, total_count=facts.total_count,
            refused=[{"row": each.row, "codes": each.codes} for each in facts.refused], error=error,
        )  # fmt: skip

    def wait(self, number: int | None, seconds: float, why: str) -> None:
        """A request, or the whole run, waits for so many seconds; `pace` says that it has waited."""
        if self.is_on and math.isfinite(seconds):
            self._write("wait", request=number, seconds=round(seconds, 3), why=why)

    def ended(self, report: Mapping[str, Any], error: AudiencekitError | None = None) -> None:
        """The run has ended in this process, with this stored report."""
        self._write("ended", report=report, **_how_it_ended(error))

    def erasure(self, step: str, facts: Mapping[str, Any], error: AudiencekitError | None = None) -> None:
        """A step of an erasure, with facts of its receipt; at its end with the error."""
        self._write("erasure", step=step, **facts, **({} if step != "ended" else _how_it_ended(error)))

    def _write(self, event: Event, **facts: Any) -> None:
        if not self.is_on:
            return
        at = datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
        document = {"version": VERSION, "event": event, "run_id": self._run_id, "at": at, **facts}
        if self._telemetry is not None:
            self._telemetry.add(document)
        if self._descriptor is None:
            return
        line = orjson.dumps(document) + b"\n"
        try:
            while line:
                line = line[os.write(self._descriptor, line) :]
        except OSError as error:
            self._close_file()
            self._warn(f"warning: events are not written any more: {error.strerror or type(error).__name__}")


def _how_it_ended(error: AudiencekitError | None) -> dict[str, Any]:
    if error is None:
        return {"error": None, "exit_code": 0}
    return {"error": type(error).__name__, "exit_code": error.exit_code}


def open_events(settings: Settings, run_id: str, stack: ExitStack) -> RunEvents:
    """Return the events of the run `run_id`, for the file and the collector of `settings`; `stack` closes them.

    Raises UsageError for a file that is there and holds no events, and for a collector that cannot be called;
    InputOutputFailed when the file cannot be written.
    """
    events = RunEvents(run_id, None if settings.events is None else _open_file(settings.events))
    stack.callback(events.close)
    if settings.otel_url is not None:
        from audiencekit.runs.telemetry import Telemetry  # an extra, which few have

        events.trace_by(Telemetry(settings, run_id))
    return events


def check_events(settings: Settings) -> None:
    """Check that `open_events` can open the file and call the collector; change nothing. Raises as it does."""
    if settings.events is not None:
        _check_file(settings.events)
    if settings.otel_url is not None:
        from audiencekit.runs.telemetry import read_collector  # an extra, which few have

        read_collector(settings)


def _check_file(path: Path) -> None:
    if path == STDOUT:
        _stdout()
        return
    with _explained(path):
        try:
            mode = os.stat(path).st_mode
        except FileNotFoundError:
            parent = Path(os.path.realpath(path)).parent
            if not parent.is_dir():
                raise
            if not os.access(parent, os.W_OK | os.X_OK):
                raise PermissionError(errno.EACCES, os.strerror(errno.EACCES)) from None
            return
        if not (stat.S_ISREG(mode) or stat.S_ISDIR(mode)):  # to open a pipe would wait for its reader
            if not os.access(path, os.W_OK):
                raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
            return
        os.close(os.open(path, _APPEND & ~os.O_CREAT))
        if os.path.getsize(path):
            _ends_whole(path)


def _stdout() -> int:
    if sys.__stdout__ is None:  # its number may be that of another file
        raise InputOutputFailed("stdout cannot be written: it is closed", hint="`events=FILE` names a file")
    return _STDOUT_DESCRIPTOR


def _explained(path: Path) -> AbstractContextManager[None]:
    return explained("the file of events cannot be written", path, hint="`events=` names another")


def _open_file(path: Path) -> int:
    if path == STDOUT:
        return _stdout()
    with _explained(path):
        descriptor = os.open(path, _APPEND, 0o600)
        try:
            status = os.fstat(descriptor)
            if stat.S_ISREG(status.st_mode) and status.st_size and not _ends_whole(path):
                os.write(descriptor, b"\n")
        except BaseException:
            os.close(descriptor)
            raise
    return descriptor


def _ends_whole(path: Path) -> bool:
    """Whether the last line is whole. Raises UsageError when the first one is no event: it is another file."""
    with path.open("rb") as stream:
        if _read(stream.readline(_MOST_LINE_BYTES)) is None:
            message = f"`events=`: {str(path)!r} is there, and is not a file of events"
            raise UsageError(message, hint="name another file, or remove this one")
        stream.seek(-1, os.SEEK_END)
        return stream.read() == b"\n"


def read_events(path: Path) -> Iterator[dict[str, Any]]:
    """Return the events of a file, of all its runs. A line that a kill has cut short is left out.

    Raises InputOutputFailed when it cannot be read, and UsageError for lines of a later version.
    """
    with explained("the file of events cannot be read", path), path.open("rb") as stream:
        while line := stream.readline(_MOST_LINE_BYTES):
            if (found := _read(line)) is None:
                continue
            if found["version"] != VERSION:
                raise UsageError(
                    f"{str(path)!r} has events of another version", hint="read them with a later audiencekit"
                )
            yield found


def _read(line: bytes) -> dict[str, Any] | None:
    try:
        found = orjson.loads(line)
    except orjson.JSONDecodeError:
        return None
    return found if isinstance(found, dict) and {"version", "event", "run_id"} <= found.keys() else None
