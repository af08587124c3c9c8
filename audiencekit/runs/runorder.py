"""In what order runs and erasures were begun: no clock tells it, since one that is wrong would for as long as it is.

The file `begun` of the state directory has an id on each line. It is written anew, whole, under a lock that the kernel
gives back, when a run has its journal or an erasure its receipt, and before anything is sent. What is not in it, as
after a kill or with its line damaged, has its place by its time, behind the last of those with an earlier one.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Final

from audiencekit.errors import InputOutputFailed
from audiencekit.machine.filelocks import locked
from audiencekit.machine.privatefiles import explained, read_file, replace_file

BEGUN: Final = "begun"
UNSURE: Final = "?"  # behind an id that may never have begun
MAX_BYTES: Final = 64_000_000


class Succession:
    """The order in which runs and erasures were begun in one state directory."""

    def __init__(self, state_dir: Path) -> None:
        self._directory, self._path = state_dir, state_dir / BEGUN
        self._homes = [state_dir / home for home in ("runs", "erasures")]

    def ordered(self, moments: Mapping[str, float]) -> list[str]:
        """The ids of `moments`, the one that was begun last at the end.

        `moments` are when each was begun, by the clock of then, in epoch seconds. They tell where no list can be read.
        """
        listed: list[str] = []
        with contextlib.suppress(InputOutputFailed):
            listed = list(self._read())
        return [each for each in _merged(listed, moments) if each in moments]

    def begin(self, run_id: str, others: Mapping[str, float]) -> None:
        """Put `run_id`, which is not listed yet, behind all others. What was removed is forgotten.

        Raises InputOutputFailed when the list cannot be read or written.
        """
        with self._alone():
            there = {name for home in self._homes if home.is_dir() for name in os.listdir(home)}
            listed = self._read()
            order = [each for each in _merged(listed, others) if each in there and each != run_id]
            begun = {each: listed.get(each) or self._says_something(each) for each in order}
            self._write({**begun, run_id: True})

    def insert(self, run_id: str, moments: Mapping[str, float]) -> None:
        """Note that `run_id` had begun; unlisted, it comes where it belongs by its time. Raises as `begin`."""
        with self._alone():
            listed = {**self._read()}
            order = [each for each in _merged(listed, moments) if each in listed or each == run_id]
            self._write({each: each == run_id or listed[each] for each in order})

    def knows(self, run_id: str) -> bool:
        """Whether `run_id` had begun; True when no list can be read, since it cannot be excluded then."""
        try:
            return self._read().get(run_id, False)
        except InputOutputFailed:
            return True

    def forget(self, run_id: str) -> None:
        """Take `run_id` off the list. Raises as `begin`."""
        with self._alone():
            listed = self._read()
            if run_id in listed:
                del listed[run_id]
                self._write(listed)

    def _says_something(self, run_id: str) -> bool:
        """Whether an unlisted run has written anything: else it may never have begun."""
        files = (path for home in self._homes for path in (home / run_id).glob("*"))
        return any(path.stat().st_size for path in files if path.is_file())

    @contextlib.contextmanager
    def _alone(self) -> Iterator[None]:
        with (
            explained("the list of what was begun cannot be written", self._path),
            locked(self._directory, is_directory=True),
        ):
            yield

    def _write(self, begun: Mapping[str, bool]) -> None:
        for left in self._directory.glob(f".{BEGUN}-*"):  # by a kill: no other process writes now
            left.unlink()
        replace_file(
            self._path, "".join(f"{each}{'' if is_sure else UNSURE}\n" for each, is_sure in begun.items()).encode()
        )

    def _read(self) -> dict[str, bool]:
        """Each id, in order, and whether it is sure that it had begun."""
        with explained("the list of what was begun cannot be read", self._path):
            try:
                lines = read_file(self._path, MAX_BYTES).decode("ascii", "replace").split()
            except FileNotFoundError:
                return {}
        return {line.removesuffix(UNSURE): not line.endswith(UNSURE) for line in lines}


def _merged(listed: Iterable[str], moments: Mapping[str, float]) -> list[str]:
    """All that is listed, in order, and the others of `moments` between them."""
    numbers = {run_id: number for number, run_id in enumerate(listed)}
    timed = [(moments[run_id], number) for run_id, number in numbers.items() if run_id in moments]

    def rank(run_id: str) -> tuple[float, float, str]:
        if run_id in numbers:
            return numbers[run_id], 0.0, run_id
        earlier = (number for moment, number in timed if moment <= moments[run_id])
        return max(earlier, default=-1) + 0.5, moments[run_id], run_id

    return sorted(numbers.keys() | moments.keys(), key=rank)
