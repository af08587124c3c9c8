"""Commands whose messages or data have no reader: the exit code is that of the work done."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.calls import call
from tests.cases import each_case
from tests.cli.conftest import Run, Service, write_list, write_source
from tests.moments import PATIENCE_SECONDS
from tests.processes import PIPE, Commands, environment

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
    source = write_list(tmp_path, ROWS)
    process = commands.begin(
        "upload", source, "--audience", service.audience_id, "--json",
        env=environment(tmp_path / "state", service.env), cwd=tmp_path,
        stdout=closed if stdout_too else PIPE, stderr=closed,
    )  # fmt: skip
    out, _ = process.communicate(timeout=PATIENCE_SECONDS)
    assert process.returncode == code
    assert stdout_too or json.loads(out)["state"] == "complete"
    kept = json.loads(run("report", "--json").stdout)
    assert (kept["state"], kept["rows"]["sent"]) == ("complete", ROWS)


@each_case("arguments", [("--help",), ("--version",), ("upload", "--help"), ("check", "list.csv"), ("runs", "--json")])
def test_a_full_disk_is_no_bug(commands: Commands, tmp_path: Path, arguments: tuple[str, ...]) -> None:
    """It is told as such. Texts of the command line itself are data, too."""
    write_source(tmp_path, "email\nada@example.com\n")
    with open("/dev/full", "w") as full:
        done = commands.run(*arguments, env=environment(tmp_path / "state"), cwd=tmp_path, stdout=full)
    assert done.returncode == 74
    assert "error: stdout cannot be written: No space left on device" in done.stderr.splitlines()
    assert "bug" not in done.stderr


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
    env = environment(tmp_path / "state")
    text, document = (
        call("check", name, *more, env=env, cwd=tmp_path, encoding="cp1252").stdout for more in ((), ("--json",))
    )
    assert r"Kündinnen \u2605 \U0001f600.csv" in text
    assert json.loads(document)["sources"][0]["name"] == name
