"""Which notices of a watched run were told: a file in the directory of the run, or of the erasure.

A run is watched when its command notifies. The file is there, and empty, before the run has a journal: so a later
command knows of a run that was killed. What is to be told is written before it is sent, and that it was told
afterwards: it is told at least once, and twice only when the answer was lost.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

from audiencekit.errors import InputOutputFailed
from audiencekit.process.crash_points import pass_point
from audiencekit.state.files import NEW_FILE, decode_checked, encode_checked, explained, read_file, replace_file

TOLD: Final = "told.json"
FORM: Final = "audiencekit-told/1"
_MOST_BYTES: Final = 1_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """The ids of the notices that a receiver has, and the message that is still to be delivered, None without one.

    `is_settled` is False until a command has looked at how the run ended.
    """

    ids: tuple[str, ...] = ()
    pending: dict[str, Any] | None = None
    is_settled: bool = False


def says_of_run(name: str) -> bool:
    """Whether a file of this name in the directory of a run says something of the run itself: this room's do not."""
    return name != TOLD and not name.startswith(f".{TOLD}-")


def watch(directory: Path) -> None:
    """Note that the run in `directory` is watched, and that it begins, or goes on. Raises InputOutputFailed."""
    with explained("the run cannot be watched", directory):
        try:
            os.close(
                os.open(directory / TOLD, NEW_FILE, 0o600)
            )  # empty: a run that has said nothing may not have begun
        except FileExistsError:
            if (told := read_told(directory)) is not None and told.is_settled:
                write_told(directory, replace(told, is_settled=False))


def read_told(directory: Path) -> Told | None:
    """Return what was told of the run in `directory`; None for one that is not watched.

    A file that cannot be read counts as one that says nothing: then it is told again.
    """
    path = directory / TOLD
    if not os.path.lexists(path):
        return None
    with contextlib.suppress(OSError, InputOutputFailed, KeyError, TypeError):
        document, is_as_written = decode_checked(read_file(path, _MOST_BYTES), FORM, path)
        if document is not None and is_as_written:
            return Told(ids=tuple(document["ids"]), pending=document["pending"], is_settled=document["settled"])
    return Told()


def write_told(directory: Path, told: Told) -> None:
    """Write what was told, durably. Raises InputOutputFailed."""
    document = {"ids": list(told.ids), "pending": told.pending, "settled": told.is_settled}
    with explained("what was told of the run cannot be written", directory / TOLD), _unmoved(directory):
        pass_point("before told")
        replace_file(directory / TOLD, encode_checked(document, FORM))
        pass_point("after told")


@contextlib.contextmanager
def _unmoved(directory: Path) -> Iterator[None]:
    """Leave the time of the last change in `directory` as it is: it says when the run ended."""
    status = os.stat(directory)
    yield
    os.utime(directory, ns=(status.st_atime_ns, status.st_mtime_ns))
