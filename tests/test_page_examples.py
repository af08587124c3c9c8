"""A newcomer's walk: each example of README and of the pages runs as it is printed, against the emulator."""

from __future__ import annotations

import json
import os
import re
import signal
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cases import each_case
from tests.moments import PATIENCE_SECONDS
from tests.pageexamples import DOOR, PAGES, RUN, examples_of, run_page
from tests.processes import Commands, environment
from tests.shortened import shortened

ROOT = Path(__file__).resolve().parents[1]
WITH_EXAMPLES = tuple(page for page in PAGES if any(example.runs for example in examples_of(page)))
IS_COMMAND = re.compile(r"^(?:\S+\$ +)?audiencekit ", re.MULTILINE)
PEOPLE = 120


@pytest.fixture
def directory(tmp_path: Path) -> Path:
    """The folder of a newcomer: the samples, and some lists whose people are invented."""
    home = tmp_path / "home"
    home.mkdir()
    (home / "samples").symlink_to(ROOT / "samples")
    for name in ("contacts", "customers", "people", "exports/customers", "exports/leavers", "exports/objections"):
        _list(home / f"{name}.csv", range(PEOPLE))
    for name in ("optouts", "competitors", "exports/unsubscribed"):
        _list(home / f"{name}.csv", range(100, 110))
    _workbook(home / "people.xlsx")
    return home


def _workbook(path: Path) -> None:
    openpyxl = pytest.importorskip("openpyxl", reason="it writes a workbook, and is not installed")
    book = openpyxl.Workbook()
    book.active.title = "Customers"
    for row in (("email", "phone"), *((f"person{number}@example.com", "020 7946 0123") for number in range(3))):
        book.active.append(row)
    book.save(path)


def _list(path: Path, people: range) -> None:
    path.parent.mkdir(exist_ok=True)
    lines = (f"person{number}@example.com,+1201555{number:04},{'yes' if number % 9 else 'no'},US" for number in people)
    path.write_text("\n".join(["email,phone,marketing,country", *lines, ""]), encoding="utf-8")


# `audiencekit` of a newcomer: asks for the process at the door that it has inherited, and ends as that does.
CALLER = """
import json, os, signal, socket, sys
door = socket.socket(fileno=int(os.environ["DOOR"]))
ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
job = {"arguments": sys.argv[1:], "environment": dict(os.environ), "directory": os.getcwd()}
socket.send_fds(door, [json.dumps(job).encode()], [0, 1, 2, theirs.fileno()])
theirs.close()
number = int(ours.recv(32))
for each in (signal.SIGINT, signal.SIGTERM):
    signal.signal(each, lambda sent, frame: os.kill(number, sent))
code = int(ours.recv(32).split()[0])
sys.exit(code if code >= 0 else 128 - code)
"""


@pytest.fixture
def newcomer(tmp_path: Path, directory: Path, commands: Commands) -> Iterator[dict[str, str]]:
    """An environment with `audiencekit` on its path, and a running emulator; no tool would install anything."""
    tools = tmp_path / "tools"
    tools.mkdir()
    (tools / "caller.py").write_text(CALLER)
    forked = f'exec "{sys.executable}" -ISE "{tools}/caller.py" "$@"'
    started = f'exec "{sys.executable}" -m audiencekit "$@"'
    for name, text in {
        "audiencekit": forked if sys.platform == "linux" else started,
        "python": f'exec "{sys.executable}" "$@"',
    }.items():
        (tools / name).write_text(f"#!/bin/sh\n{text}\n")
        (tools / name).chmod(0o755)
    alone = environment(tmp_path / "state", {"PATH": f"{tools}:{os.environ['PATH']}", "HOME": str(directory)})
    emulator = commands.begin("emulator", env=alone, cwd=tmp_path, stderr=None)
    assert emulator.stdout is not None
    there = {DOOR: str(commands.door.fileno())} if sys.platform == "linux" else {}
    yield {**alone, **there, **json.loads(emulator.stdout.readline())["env"]}
    emulator.send_signal(signal.SIGTERM)
    emulator.wait(timeout=PATIENCE_SECONDS)
    emulator.stdout.close()


@pytest.mark.parametrize("page", shortened(sorted(WITH_EXAMPLES, key=lambda page: page != "README.md"), 1))
def test_the_examples_of_a_page_run_as_printed(page: str, directory: Path, newcomer: dict[str, str]) -> None:
    """One after the other; none fails, none asks."""
    assert run_page(page, directory, newcomer) == []


@pytest.mark.slow
def test_an_example_that_fails_is_told(
    directory: Path, newcomer: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """With its place: the runner can fail."""
    page = directory / "page.md"
    page.write_text("# A page\n\n```sh\naudiencekit check missing.csv\n```\n\n```python\nraise SystemExit(3)\n```\n")
    monkeypatch.setattr("tests.pageexamples.ROOT", directory)
    first, second = run_page("page.md", directory, newcomer)
    assert first.startswith("page.md:3: ")
    assert second.startswith("page.md:7: 3: ")


@each_case("page", PAGES)
def test_commands_stand_in_blocks_that_run(page: str) -> None:
    """No command hides in a block of another language, and a block that is not run says why."""
    for example in examples_of(page):
        assert example.language in RUN or not IS_COMMAND.search(example.text), f"{page}:{example.line}"
        assert example.mark != "not run" or len(example.told.split()) > 2, f"{page}:{example.line}"


def test_most_pages_have_examples() -> None:
    """So that the test of them is about something."""
    assert len(WITH_EXAMPLES) >= 18
    assert sum(example.runs for page in PAGES for example in examples_of(page)) > 30
