"""In what order runs and erasures were begun: no clock tells it, since one that is wrong would for as long as it is.

The file `begun` of the state directory has an id on each line. It is written anew, whole, before anything is begun,
under a lock that the kernel gives back. What is not in it, as a run of an older version, has its place by its time,
behind the last of those with an earlier one.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Final, TypeAlias

from audiencekit.errors import InputOutputFailed
from audiencekit.machine.filelocks import locked
from audiencekit.machine.privatefiles import explained, read_file, replace_file

BEGUN: Final = "begun"
MAX_BYTES: Final = 64_000_000

# When something was begun, by the clock of then: second, as reports write it, and moment in epoch seconds.
RunPlace: TypeAlias = tuple[str, float]


class Succession:
    """The order in which runs and erasures were begun in one state directory."""

    def __init__(self, state_dir: Path) -> None:
        self._directory, self._path = state_dir, state_dir / BEGUN
        self._homes = [state_dir / home for home in ("runs", "erasures")]

    def ordered(self, places: Mapping[str, RunPlace]) -> list[str]:
        """The ids of `places`, the one that was begun last at the end. Where no list can be read, their times tell."""
        listed: list[str] = []
        with contextlib.suppress(InputOutputFailed):
            listed = self._read()
        return [each for each in _merged(listed, places) if each in places]

    def begin(self, run_id: str, others: Mapping[str, RunPlace]) -> None:
        """Put `run_id`, which is not there yet, behind all others. What was removed is forgotten.

        Raises InputOutputFailed when the list cannot be read or written.
        """
        with self._alone():
            there = {name for home in self._homes if home.is_dir() for name in os.listdir(home)}
            order = [each for each in _merged(self._read(), others) if each in there and each != run_id]
            self._write([*order, run_id])

    def forget(self, run_id: str) -> None:
        """Take `run_id` off the list. Raises as `begin`."""
        with self._alone():
            listed = self._read()
            if run_id in listed:
                self._write(each for each in listed if each != run_id)

    @contextlib.contextmanager
    def _alone(self) -> Iterator[None]:
        with (
            explained("the list of what was begun cannot be written", self._path),
            locked(self._directory, is_directory=True),
        ):
            yield

    def _write(self, ids: Iterable[str]) -> None:
        for left in self._directory.glob(f".{BEGUN}-*"):  # by a kill: no other process writes now
            left.unlink()
        replace_file(self._path, "".join(f"{each}\n" for each in ids).encode())

    def _read(self) -> list[str]:
        with explained("the list of what was begun cannot be read", self._path):
            try:
                return read_file(self._path, MAX_BYTES).decode("ascii", "replace").split()
            except FileNotFoundError:
                return []


def _merged(listed: Iterable[str], places: Mapping[str, RunPlace]) -> list[str]:
    """All that is listed, in order, and the others of `places` between them."""
    numbers = {run_id: number for number, run_id in enumerate(listed)}
    timed = [(places[run_id], number) for run_id, number in numbers.items() if run_id in places]

    def rank(run_id: str) -> tuple[float, RunPlace, str]:
        if run_id in numbers:
            return numbers[run_id], ("", 0.0), run_id
        earlier = (number for place, number in timed if place <= places[run_id])
        return max(earlier, default=-1) + 0.5, places[run_id], run_id

    return sorted(numbers.keys() | places.keys(), key=rank)
