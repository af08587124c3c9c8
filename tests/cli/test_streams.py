"""Commands whose messages or data have no reader: the exit code is that of the work done."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cli.conftest import Run, Service
from tests.moments import PATIENCE_SECONDS
from tests.processes import COMMAND, PIPE, Commands, environment

ROWS = 600


@pytest.fixture
def closed() -> Iterator[int]:
    """Return a pipe without a reader, as that of `| head -1`."""
    reads, writes = os.pipe()
    os.close(reads)
    yield writes
    os.close(writes)


@pytest.mark.parametrize(("stdout_too", "code"), [(False, 0), (True, 74)], ids=["stderr", "both"])
def test_messages_without_a_reader_fail_nothing(
    commands: Commands, run: Run, service: Service, tmp_path: Path, closed: int, stdout_too: bool, code: int
) -> None:
    """Everything is sent, through faults that are told. The report is data: a stdout that does not take it is 74."""
    service.order({"fault": 13, "nth": 1, "match": {"path": "*/users"}})
    source = tmp_path / "list.csv"
    source.write_text("email\n" + "".join(f"person{number}@example.com\n" for number in range(ROWS)))
    process = commands.begin(
        "upload", str(source), "--audience", service.audience_id, "--json",
        env=environment(tmp_path / "state", service.env), cwd=tmp_path,
        stdout=closed if stdout_too else PIPE, stderr=closed,
    )  # fmt: skip
    out, _ = process.communicate(timeout=PATIENCE_SECONDS)
    assert process.returncode == code
    assert stdout_too or json.loads(out)["state"] == "complete"
    kept = json.loads(run("report", "--json").stdout)
    assert (kept["state"], kept["rows"]["sent"]) == ("complete", ROWS)


@pytest.mark.parametrize("arguments", [("--help",), ("--version",), ("upload", "--help")], ids=" ".join)
def test_texts_of_the_command_line_itself_are_data_too(
    commands: Commands, tmp_path: Path, arguments: tuple[str, ...]
) -> None:
    """A full disk is told as such, and is no bug."""
    with open("/dev/full", "wb") as full:
        process = commands.begin(
            *arguments, env=environment(tmp_path / "state", {}), cwd=tmp_path, stdout=full.fileno(), stderr=PIPE
        )
        _, err = process.communicate(timeout=PATIENCE_SECONDS)
    assert (process.returncode, err) == (74, "error: stdout cannot be written: No space left on device\n")


@pytest.mark.parametrize("arguments", [("runs", "--json"), ("api",)], ids=" ".join)
def test_a_reader_that_left_the_pipe_is_told_nothing(
    commands: Commands, tmp_path: Path, closed: int, arguments: tuple[str, ...]
) -> None:
    process = commands.begin(
        *arguments, env=environment(tmp_path / "state", {}), cwd=tmp_path, stdout=closed, stderr=PIPE
    )
    _, err = process.communicate(timeout=PATIENCE_SECONDS)
    assert (process.returncode, err) == (74, "")


def test_a_letter_that_stdout_does_not_have_is_escaped(tmp_path: Path) -> None:
    """A redirected stdout has the encoding of the system there, and a name may hold any letter."""
    name = "Kündinnen ★ 😀.csv"
    (tmp_path / name).write_text("email\nada@example.com\n")
    env = environment(tmp_path / "state", {"PYTHONIOENCODING": "cp1252"})
    found = [
        subprocess.run([*COMMAND, "check", name, *more], env=env, cwd=tmp_path, capture_output=True, check=True).stdout
        for more in ((), ("--json",))
    ]
    text, document = (one.decode("cp1252") for one in found)
    assert r"Kündinnen \u2605 \U0001f600.csv" in text
    assert json.loads(document)["sources"][0]["name"] == name
