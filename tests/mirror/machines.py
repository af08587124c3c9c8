"""Commands on machines that were never used before: each process in a new empty directory, without a home of others."""

from __future__ import annotations

import itertools
import subprocess
from collections.abc import Iterator, Mapping
from pathlib import Path

from tests.mirror.servers import StateBucket
from tests.processes import Commands, Process, environment

_FOLDERS = ("HOME", "TMPDIR", "XDG_CONFIG_HOME", "XDG_DATA_HOME")


class Machines:
    """New machines below `directory`, which all find the state in `bucket` and the service of `more`."""

    def __init__(self, commands: Commands, directory: Path, bucket: StateBucket, more: Mapping[str, str]) -> None:
        self._commands, self._directory, self._env = commands, directory, {**bucket.env, **more}
        self._new: Iterator[Path] = (directory / f"machine{number}" for number in itertools.count())

    def run(self, *arguments: str, text: str = "", **more: str) -> subprocess.CompletedProcess[str]:
        """One command from its start to its end. Nothing of its working copy is left."""
        place = self._made()
        done = self._commands.run(*arguments, env=self._environment(place, more), cwd=self._directory, text=text)
        assert list((place / "TMPDIR").iterdir()) == []
        return done

    def begin(self, *arguments: str, **more: str) -> Process:
        """A command under way."""
        env = self._environment(self._made(), more)
        return self._commands.begin(*arguments, env=env, cwd=self._directory)

    def _made(self) -> Path:
        place = next(self._new)
        for name in _FOLDERS:
            (place / name).mkdir(mode=0o700, parents=True)
        return place

    def _environment(self, place: Path, more: Mapping[str, str]) -> dict[str, str]:
        own = {name: str(place / name) for name in _FOLDERS}
        found = environment(place / "state", {**self._env, **own, **more})
        del found["AUDIENCEKIT_STATE_DIR"]
        return found
