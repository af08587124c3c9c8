"""The directories of one command, and what may be written to them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from tests.cli.conftest import Service
from tests.hostile_service.terminal import Shown, Terminal
from tests.processes import Commands, environment

PEOPLE: Final = tuple(f"p{number}@canarymail.com" for number in range(12))
_NAME: Final = re.compile(r"\.?[a-z0-9][a-zA-Z0-9._-]{0,99}", re.ASCII)  # of all files that we name


class Machine:
    """Its home, working directory and place for temporary files, none of which is written to; and those that are: its
    state, its settings, and what it remembers of it elsewhere (`data`)."""

    def __init__(self, root: Path, commands: Commands, service: Service) -> None:
        self.root, self._commands, self._service = root, commands, service
        self.own = root / "state", root / "state-settings", root / "data"
        for name in ("home", "work", "temporary", "data"):
            (root / name).mkdir(parents=True, mode=0o700)
        (self.work / "list.csv").write_text("email,marketing\n" + "".join(f"{person},yes\n" for person in PEOPLE))
        (self.work / "people").write_text(f"{PEOPLE[0]}\n")
        self._before = self._elsewhere()

    @property
    def work(self) -> Path:
        return self.root / "work"

    @property
    def env(self) -> dict[str, str]:
        places = {"HOME": "home", "TMPDIR": "temporary", "XDG_DATA_HOME": "data"}
        directories = {name: str(self.root / directory) for name, directory in places.items()}
        return environment(self.root / "state", {**self._service.env, **directories})

    def run(self, *arguments: str) -> Shown:
        return Terminal(self._commands, self.work, self.env).run(*arguments)

    def written_astray(self) -> list[str]:
        """Return files made, changed or removed outside its own directory, and unexpected names inside it."""
        after = self._elsewhere()
        changed = [path for path in {*after, *self._before} if after.get(path) != self._before.get(path)]
        return sorted(changed) + [str(path) for path in self._all() if not _NAME.fullmatch(path.name)]

    def _elsewhere(self) -> dict[str, tuple[int, int, bytes]]:
        return {str(path): _facts(path) for path in self._all() if not any(map(path.is_relative_to, self.own))}

    def _all(self) -> Iterator[Path]:
        return self.root.rglob("*")


def _facts(path: Path) -> tuple[int, int, bytes]:
    facts = path.lstat()
    return facts.st_mode, facts.st_uid, path.read_bytes() if path.is_file() else b""
