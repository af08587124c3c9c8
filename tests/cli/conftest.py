"""Commands as people and programs use them, against an emulator on real sockets."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import urllib.request
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import pytest

from audiencekit.testing import run_emulator
from tests.calls import call
from tests.processes import DEVNULL, PIPE, Commands, Process, environment

Run = Callable[..., subprocess.CompletedProcess[str]]
Begin = Callable[..., Process]
THREE_REQUESTS = 150  # rows, of a command with OF_FIFTY
OF_FIFTY = ("--max-records-per-request", "50")


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

    def members(self, list_id: str = "") -> int:
        """How many people are in the audience, or in another list."""
        return int(json.loads(self.get(f"/__members/{list_id or self.audience_id}"))["count"])

    def sent(self) -> int:
        """The requests with people so far."""
        return sum(each["path"].endswith("/users") for each in json.loads(self.get("/__requests")))

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
def run(tmp_path: Path) -> Run:
    """Calls `audiencekit` with these arguments in a directory of its own."""

    def called(*arguments: str, text: str = "", **more: str) -> subprocess.CompletedProcess[str]:
        return call(*arguments, env=environment(tmp_path / "state", more), cwd=tmp_path, text=text)

    return called


@pytest.fixture
def run_process(commands: Commands, tmp_path: Path) -> Run:
    """Runs it there as a process; `stdin` may be a descriptor."""

    def ran(*arguments: str, stdin: int = PIPE, **more: str) -> subprocess.CompletedProcess[str]:
        return commands.run(*arguments, env=environment(tmp_path / "state", more), cwd=tmp_path, stdin=stdin)

    return ran


@pytest.fixture
def begin(commands: Commands, tmp_path: Path) -> Begin:
    """Begins `audiencekit` with these arguments there, and does not wait for its end."""

    def begun(*arguments: str, stdin: int = DEVNULL, **more: str) -> Process:
        return commands.begin(*arguments, env=environment(tmp_path / "state", more), cwd=tmp_path, stdin=stdin)

    return begun


@pytest.fixture
def begin_slowly(begin: Begin) -> Begin:
    """Begins a command of three requests, and waits for the first one; the second waits its turn at one a minute."""

    def begun(*arguments: str, **more: str) -> Process:
        process = begin(*arguments, "--requests-per-minute", "1", "-v", **more)
        assert process.stderr is not None
        while "request 1: confirmed" not in process.stderr.readline():
            assert process.poll() is None
        return process

    return begun


@pytest.fixture
def answer(run_process: Run) -> Run:
    """Runs a command at a terminal with this answer typed."""
    import pty  # not known to Windows

    def answered(typed: str, *arguments: str, **more: str) -> subprocess.CompletedProcess[str]:
        ours, theirs = pty.openpty()
        os.write(ours, f"{typed}\n".encode())
        done = run_process(*arguments, stdin=theirs, **more)
        os.close(ours)
        os.close(theirs)
        return done

    return answered


def write_list(directory: Path, rows: int = THREE_REQUESTS, name: str = "list.csv") -> str:
    """A list of so many people, and its path."""
    people = "".join(f"person{number}@example.com\n" for number in range(rows))
    return write_source(directory, f"email\n{people}", name)


def write_source(directory: Path, text: str, name: str = "list.csv") -> str:
    """A list of this text, and its path."""
    path = directory / name
    path.write_text(text)
    return str(path)


def forget_the_pace(directory: Path) -> None:
    """At one request a minute the next command would wait a minute; the test need not."""
    shutil.rmtree(directory / "state" / "limiter")


@pytest.fixture
def service() -> Iterator[Service]:
    """An emulator in a thread; as a process, tests/cli/test_emulator.py starts it."""
    with run_emulator() as running:
        yield Service(asdict(running))
