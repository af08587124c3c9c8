"""Where a person or a program could read something: logs, frames of errors, files, spools, the process list."""

from __future__ import annotations

import logging
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import TypeAlias

import audiencekit

Printed: TypeAlias = Callable[[], dict[str, bytes]]


class Recorder(logging.Handler):
    """Keeps what is logged, with arguments and errors."""

    def __init__(self) -> None:
        super().__init__(logging.DEBUG)
        self.lines: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.lines.append(f"{record.getMessage()} {record.args!r} {record.exc_info!r}")


def frames_of(error: BaseException) -> bytes:
    """The error as a debugger or a crash reporter sees it: with the locals of every frame below the caller's."""
    chain: list[str] = []
    seen: BaseException | None = error
    below = error.__traceback__.tb_next if error.__traceback__ else None
    while seen is not None:
        chain += traceback.TracebackException(type(seen), seen, below, capture_locals=True).format()
        chain.append(repr(vars(seen)))
        seen = seen.__cause__ or seen.__context__
        below = seen.__traceback__ if seen else None
    return "".join(chain).encode()


def package_frames_of(error: BaseException) -> str:
    """The locals of the frames that run code of the package, whatever folder the checkout is in.

    The frames of a test are left out: they hold what the test made up.
    """
    package = Path(audiencekit.__file__).parent
    told = traceback.TracebackException.from_exception(error, capture_locals=True)
    return "\n".join(str(frame.locals) for frame in told.stack if package in Path(frame.filename).parents)


def files_in(directory: Path, *, but: Path) -> dict[str, bytes]:
    """Return the files written, by relative path; `but` is the source."""
    return {
        str(path.relative_to(directory)): path.read_bytes()
        for path in directory.rglob("*")
        if path.is_file() and path != but
    }


def said_of(number: int) -> bytes:
    """Return the lines of the process list on a process and all its children; nothing of those that ended meanwhile."""
    entry = Path(f"/proc/{number}")
    try:
        said = (entry / "cmdline").read_bytes() + (entry / "environ").read_bytes()
        children = [int(child) for each in (entry / "task").glob("*/children") for child in each.read_text().split()]
    except OSError:
        return b""
    return said + b"".join(map(said_of, children))
