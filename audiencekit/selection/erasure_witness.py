"""The memories of erasures that this user of this machine has seen, noted outside of every state directory.

A state directory that is put back whole from a backup looks sound by itself. So the last serial that was seen is noted
in the user's data directory, once by the memory's identity, wherever its state directory stands, and once by the place,
for when nothing is left there. Where there is no such directory nothing is noted, and such a backup is not noticed.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import platform
import stat
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final, Self

import orjson

from audiencekit.errors import InputOutputFailed
from audiencekit.state.directory import make_missing, user_directory
from audiencekit.state.durability import is_mirrored, when_stored
from audiencekit.state.files import is_ours, make_private_directory, others_may, read_file, replace_file

_MACHINE: Final = Path("/etc/machine-id")
_MOST_BYTES: Final = 10_000
_NAME_DIGITS: Final = 32


@dataclass(frozen=True, slots=True, kw_only=True)
class Mark:
    """The note of one state of a memory: whose it is, the how-manieth, how many keys, a keyed digest of them."""

    identity: str
    serial: int
    keys: int
    digest: str

    @classmethod
    def from_json(cls, document: Any) -> Self:
        """The mark that `to_json` gave. Raises ValueError, KeyError or TypeError for anything else."""
        mark = cls(**{name: document[name] for name in cls.__slots__})
        texts, counts = (mark.identity, mark.digest), (mark.serial, mark.keys)
        if not all(isinstance(text, str) for text in texts) or not all(type(count) is int for count in counts):
            raise ValueError("not a mark")
        return mark

    def to_json(self) -> dict[str, Any]:
        """identity, serial, keys, digest."""
        return asdict(self)


class Witness:
    """The marks in one directory. Where it is missing, or others may read it, nothing is known and nothing is noted."""

    def __init__(self, directory: Path | None, machine: str | None = None) -> None:
        self._directory, self._machine = directory, _this_machine() if machine is None else machine

    @classmethod
    def of_user(cls) -> Witness:
        """The witness in the data directory of the current user (`XDG_DATA_HOME`)."""
        data = user_directory("data")
        return cls(None if data is None else data / "witness")

    def of_place(self, state_dir: Path) -> Mark | None:
        """The last mark seen in this state directory of this machine. Raises InputOutputFailed for a damaged record."""
        return self._read(self._place_name(state_dir))

    def of_identity(self, identity: str) -> Mark | None:
        """Return the mark that was seen last of this memory, in any directory. Raises as `of_place`."""
        return self._read(_name("identity", identity))

    def note(self, state_dir: Path, mark: Mark) -> bool:
        """Whether both records say `mark` now, which was found to be no older than they.

        Those of a state in a bucket say it when the bucket has the memory, too: a kill before would make the last one
        that it has look like an earlier one.
        """
        if self._directory is None:
            return False
        names = [_name("identity", mark.identity)]
        if not is_mirrored(state_dir):  # the working copy of a bucket has another place each time
            names.append(self._place_name(state_dir))
        try:
            make_missing(self._directory.parent)
            make_private_directory(self._directory)
        except (OSError, InputOutputFailed):  # a home that cannot be written, as in many containers
            return False
        content, written = orjson.dumps(mark.to_json()), [True]
        paths = [self._directory / name for name in names]

        def write() -> None:
            try:
                for path in paths:
                    replace_file(path, content)
            except (OSError, InputOutputFailed):
                written[0] = False

        when_stored(state_dir, write)
        return written[0]

    def _read(self, name: str) -> Mark | None:
        if self._directory is None:
            return None
        path = self._directory / name
        try:
            if not _is_ours(os.lstat(self._directory)):
                return None
            content = read_file(path, _MOST_BYTES)
        except OSError:
            return None
        with contextlib.suppress(ValueError, KeyError, TypeError):
            return Mark.from_json(orjson.loads(content))
        raise InputOutputFailed(
            f"{str(path)!r}, which says what was seen last of the memory of erased people, is damaged",
            hint="`audiencekit forgotten accept` writes it anew",
        )

    def _place_name(self, state_dir: Path) -> str:
        # Homes are shared between machines, and state directories are not.
        return _name("place", self._machine, str(state_dir.resolve()))


def _name(*parts: str) -> str:
    return hashlib.sha256("\0".join(parts).encode("utf-8", "surrogateescape")).hexdigest()[:_NAME_DIGITS] + ".json"


def _is_ours(status: os.stat_result) -> bool:
    return stat.S_ISDIR(status.st_mode) and is_ours(status) and not others_may(status)


def _this_machine() -> str:
    try:
        machine = read_file(_MACHINE, _MOST_BYTES).decode("ascii", "replace").strip()
    except OSError:
        machine = ""
    return f"{machine}/{platform.node()}"


def newest(marks: Mapping[str, Mark]) -> tuple[str, Mark]:
    """The one with the highest serial, and who says it."""
    return max(marks.items(), key=lambda one: one[1].serial)
