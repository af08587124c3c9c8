"""Which notices of a watched run were told: a file in the directory of the run, or of the erasure.

A run is watched when its command notifies. The file is there before the run has a journal: so a later command knows of
a run that was killed, and of its receiver. What is to be told is written before it is sent, and that it was told
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
from audiencekit.settings import Watch
from audiencekit.state.files import decode_checked, encode_checked, explained, read_file, replace_file

TOLD: Final = "told.json"
FORM: Final = "audiencekit-told/1"
_MOST_BYTES: Final = 1_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """The ids of the notices that a receiver has, and the message that is still to be delivered, None without one.

    `watch` says who is told; None when that was lost. `is_settled` is False until a command has looked at how the run
    ended, and `was_cut_short` says that none did so before the run went on: its process was killed.
    """

    watch: Watch | None = None
    ids: tuple[str, ...] = ()
    pending: dict[str, Any] | None = None
    is_settled: bool = False
    was_cut_short: bool = False


def says_of_run(name: str) -> bool:
    """Whether a file of this name in the directory of a run says something of the run itself: this room's do not."""
    return name != TOLD and not name.startswith(f".{TOLD}-")


def watch(directory: Path, watched: Watch) -> None:
    """Note that the run in `directory` is watched, and that it begins, or goes on. Raises InputOutputFailed."""
    told = read_told(directory) or Told(is_settled=True)
    was_cut_short = told.was_cut_short or not told.is_settled
    write_told(directory, replace(told, watch=watched, is_settled=False, was_cut_short=was_cut_short))


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
            watched = document["receiver"] and Watch(receiver=document["receiver"], rules=tuple(document["rules"]))
            return Told(
                watch=watched, ids=tuple(document["ids"]), pending=document["pending"],
                is_settled=document["settled"], was_cut_short=document["cut_short"],
            )  # fmt: skip
    return Told()


def left_to_tell(directory: Path) -> Told | None:
    """Return what was told of a run of which something is still to be told, unless it is at work; None for any other.

    A directory without files is that of a process which was killed before it could name the receiver.
    """
    told = read_told(directory)
    if told is None:
        # A file that was being written counts as none; the directory may have been purged meanwhile.
        with contextlib.suppress(OSError):
            return None if any(says_of_run(path.name) for path in directory.iterdir()) else Told()
    return told if told is not None and (told.pending is not None or not told.is_settled) else None


def write_told(directory: Path, told: Told) -> None:
    """Write what was told, durably. Raises InputOutputFailed."""
    document = {
        "receiver": None if told.watch is None else told.watch.receiver,
        "rules": [] if told.watch is None else list(told.watch.rules),
        "ids": list(told.ids),
        "pending": told.pending,
        "settled": told.is_settled,
        "cut_short": told.was_cut_short,
    }
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
