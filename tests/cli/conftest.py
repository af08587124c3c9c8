"""Commands as people and programs use them: real processes, against an emulator on real sockets."""

from __future__ import annotations

import json
import subprocess
import urllib.request
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import pytest

from audiencekit.testing import run_emulator
from tests.processes import DEVNULL, PIPE, Commands, Process, environment

Run = Callable[..., subprocess.CompletedProcess[str]]
Begin = Callable[..., Process]


@dataclass(frozen=True)
class Service:
    """An emulator, and the facts of the line that it prints when it is ready."""

    ready: dict[str, Any]

    @property
    def env(self) -> dict[str, str]:
        found: dict[str, str] = self.ready["env"]
        return found

    @property
    def audience_id(self) -> str:
        return str(self.ready["audience_id"])

    def get(self, door: str) -> str:
        with urllib.request.urlopen(f"{self.ready['ads_url']}{door}") as answer:
            text: str = answer.read().decode()
            return text

    def order(self, fault: dict[str, Any]) -> None:
        """Have something go wrong."""
        data, kind = json.dumps(fault).encode(), {"Content-Type": "application/json"}
        request = urllib.request.Request(f"{self.ready['ads_url']}/__faults", data, kind)
        with urllib.request.urlopen(request) as answer:
            assert answer.status == 200

    def clear(self) -> None:
        """Nothing goes wrong any more."""
        request = urllib.request.Request(f"{self.ready['ads_url']}/__faults", method="DELETE")
        urllib.request.urlopen(request).close()


@pytest.fixture
def run(commands: Commands, tmp_path: Path) -> Run:
    """Runs `audiencekit` with these arguments in a directory of its own; `stdin` may be a descriptor."""

    def call(*arguments: str, text: str = "", stdin: int = PIPE, **more: str) -> subprocess.CompletedProcess[str]:
        env = environment(tmp_path / "state", more)
        return commands.run(*arguments, env=env, cwd=tmp_path, text=text, stdin=stdin)

    return call


@pytest.fixture
def begin(commands: Commands, tmp_path: Path) -> Begin:
    """Begins `audiencekit` with these arguments there, and does not wait for its end."""

    def call(*arguments: str, stdin: int = DEVNULL, **more: str) -> Process:
        return commands.begin(*arguments, env=environment(tmp_path / "state", more), cwd=tmp_path, stdin=stdin)

    return call


@pytest.fixture
def service() -> Iterator[Service]:
    """An emulator in a thread; as a process, tests/cli/test_emulator.py starts it."""
    with run_emulator() as running:
        yield Service(asdict(running))
