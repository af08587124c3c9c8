"""The log of a command: one JSON object a line, with messages and facts, never a value, hash or secret."""

from __future__ import annotations

import json
import logging
import os
import stat
import sys
import time
from datetime import UTC, datetime
from typing import Any, Final

from audiencekit import __version__
from audiencekit.errors import InputOutputFailed, UsageError
from audiencekit.state.files import NO_LINK, NO_WAIT, OURS, read_at
from audiencekit.text import shown_json, shown_lines

LIBRARY: Final = logging.getLogger("audiencekit")
_FLAGS: Final = os.O_RDWR | os.O_CREAT | os.O_APPEND | NO_LINK | NO_WAIT | OURS

_BEGINNING: Final = b'{"time": "'


class LogFile(logging.Handler):
    """Appends lines to a regular file, which its owner alone can read when it is made here.

    Raises UsageError for another file than a log, which may be a list of people, and InputOutputFailed for one that
    cannot be opened. A disk that fails later ends the log and not the command, which tells it once.
    """

    def __init__(self, path: str) -> None:
        super().__init__(logging.DEBUG)
        self._began = time.monotonic()
        self._file: int | None = _open(path)
        LIBRARY.addHandler(self)
        LIBRARY.setLevel(logging.DEBUG)

    def begin(self, command: str) -> None:
        """Write that a command begins."""
        self.write("info", f"audiencekit {command} begins", command=command, version=__version__, process=os.getpid())

    def finish(self, exit_code: int) -> None:
        """Write how the command ended, and close the file."""
        seconds = round(time.monotonic() - self._began, 3)
        self.write("info", f"ended with exit code {exit_code}", exit_code=exit_code, seconds=seconds)
        LIBRARY.removeHandler(self)
        if self._file is not None:
            os.close(self._file)
            self._file = None

    def emit(self, record: logging.LogRecord) -> None:
        """Write what the library logs; `facts` of a record become keys."""
        self.write(record.levelname.lower(), record.getMessage(), **getattr(record, "facts", {}))

    def write(self, level: str, message: str, **facts: Any) -> None:
        """Append one line."""
        if self._file is None:
            return
        now = datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
        line = json.dumps({"time": now, "level": level, "message": message, **facts}, ensure_ascii=False)
        try:
            os.write(self._file, shown_json(line).encode("utf-8", "backslashreplace") + b"\n")
        except OSError as error:
            self._file = None
            sys.stderr.write(f"note: the log file is not written any more: {error.strerror or 'unknown reason'}\n")


class _Spoken(logging.Handler):
    """Writes to stderr what the library logs."""

    def emit(self, record: logging.LogRecord) -> None:
        sys.stderr.write(f"{shown_lines(record.getMessage())}\n")
        sys.stderr.flush()


def log_to_stderr() -> None:
    """Write what the library logs to stderr, once however often it is asked for."""
    if not any(isinstance(handler, _Spoken) for handler in LIBRARY.handlers):
        LIBRARY.addHandler(_Spoken(logging.DEBUG))
        LIBRARY.setLevel(logging.DEBUG)


def stop_listening() -> None:
    """Write nothing more of what the library logs."""
    for handler in list(LIBRARY.handlers):
        if isinstance(handler, LogFile | _Spoken):
            LIBRARY.removeHandler(handler)


def _open(path: str) -> int:
    try:
        file = os.open(path, _FLAGS, 0o600)
        is_log = stat.S_ISREG(os.fstat(file).st_mode) and read_at(file, len(_BEGINNING), 0) in (b"", _BEGINNING)
    except OSError as error:
        reason = error.strerror or "unknown reason"
    else:
        if is_log:
            return file
        os.close(file)
        raise UsageError(f"{path!r} is another file than a log of this tool", hint="give the name of a new file")
    raise InputOutputFailed(f"the log file {path!r} cannot be opened: {reason}")
