"""Commands from their very start: each imports what it needs of audiencekit, of which nothing was there before.

The other tests of this folder call commands (`tests/calls.py`), or fork processes that have imported everything
(`tests/processes.py`).
"""

from __future__ import annotations

import json
import subprocess
from contextlib import closing
from pathlib import Path

import pytest

from tests.cli.conftest import Service
from tests.moments import PATIENCE_SECONDS
from tests.processes import COMMAND, Commands, environment

PEOPLE = "email,phone\n" + "".join(f"p{number}@example.com,+120155501{number:02}\n" for number in range(3))


def _start(directory: Path, *arguments: str, **more: str) -> subprocess.CompletedProcess[str]:
    (directory / "list.csv").write_text(PEOPLE)
    return subprocess.run(
        [*COMMAND, *arguments], input='"ada"\n', capture_output=True, text=True, cwd=directory,
        timeout=PATIENCE_SECONDS, env=environment(directory / "state", more), check=False,
    )  # fmt: skip


# Libraries, and modules of some, that a short list needs nothing of. An event loop and Parquet take 50 ms.
UNNEEDED = {
    "aiohttp", "asyncio", "duckdb", "html.entities", "pyarrow.fs", "pyarrow.parquet", "tenacity", "tomllib",
}  # fmt: skip


def test_a_short_list_is_checked_without_what_it_does_not_need(tmp_path: Path) -> None:
    """It starts by itself; each of these takes milliseconds of every start."""
    done = _start(tmp_path, "check", "list.csv", "--json", PYTHONPROFILEIMPORTTIME="1")
    assert (done.returncode, json.loads(done.stdout)["verdict"]) == (0, "ready"), done.stderr
    imported = _imported(done)
    assert {"audiencekit.pipeline", "pyarrow.compute"} <= imported
    assert not imported & UNNEEDED


def _imported(done: subprocess.CompletedProcess[str]) -> set[str]:
    return {line.rpartition("|")[2].strip() for line in done.stderr.splitlines() if line.startswith("import time:")}


def test_an_upload_that_tells_no_one_loads_nothing_for_it(service: Service, tmp_path: Path) -> None:
    """Without a receiver, a collector and a file of events it pays for none of them."""
    arguments = ("upload", "list.csv", "--audience", service.audience_id)
    done = _start(tmp_path, *arguments, PYTHONPROFILEIMPORTTIME="1", **service.env)
    assert done.returncode == 0, done.stderr
    imported = _imported(done)
    rooms = (
        "audiencekit.notifications",
        "audiencekit.runs.telemetry",
        "audiencekit.process.exchanges",
        "opentelemetry",
    )
    assert "audiencekit.runs.events" in imported
    assert [name for name in imported if name.startswith(rooms)] == []


def _with_closed(directory: Path, number: int, *arguments: str) -> subprocess.CompletedProcess[str]:
    """A command that is begun by a shell which has closed one of its standard files."""
    (directory / "list.csv").write_text(PEOPLE)
    shell = ["sh", "-c", f'exec "$@" {number}>&-', "sh", *COMMAND, *arguments]
    env = environment(directory / "state")
    return subprocess.run(
        shell, capture_output=True, text=True, cwd=directory, timeout=PATIENCE_SECONDS, env=env, check=False
    )


@pytest.mark.slow
def test_closed_standard_files_are_no_bug(tmp_path: Path) -> None:
    """Without stderr no message is printed, without stdin no data comes, without stdout no data leaves."""
    quiet = _with_closed(tmp_path, 2, "check", "list.csv", "--json")
    assert (quiet.returncode, json.loads(quiet.stdout)["verdict"]) == (0, "ready")
    empty = _with_closed(tmp_path, 0, "hash", "email")
    assert (empty.returncode, empty.stdout, empty.stderr) == (0, "", "")
    mute = _with_closed(tmp_path, 1, "check", "list.csv", "--json")
    assert (mute.returncode, "stdout cannot be written: it is closed" in mute.stderr) == (74, True)


@pytest.mark.slow
def test_commands_start_by_themselves(service: Service, tmp_path: Path) -> None:
    """One after the other, each in a process that has imported only what others wrote: nothing is missing."""
    (tmp_path / "list.csv").write_text(PEOPLE)
    who = ("--audience", service.audience_id)
    calls = (
        ("prepare", "list.csv", "--out", "out", "--requests", "--json"),
        ("hash", "handle"),
        ("runs", "--json"),
        ("upload", "list.csv", *who, "--run-id", "first-run", "--json"),
        ("report", "--json"),
        ("resume", "first-run", "--json"),
        ("sync", "list.csv", *who, "--rebuild", "--json"),
        ("renew", *who, "--json"),
        ("forget", "--from", "list.csv", "--json"),
        ("api", "get_account"),
        ("do-not-reach", "show", "--json"),
    )
    with closing(Commands("others")) as commands:
        for arguments in calls:
            env = environment(tmp_path / "state", service.env)
            done = commands.run(*arguments, env=env, cwd=tmp_path, text='"ada"\n')
            assert done.returncode == 0, (arguments, done.stderr)
            json.loads(done.stdout)
