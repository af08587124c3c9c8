"""Commands that die leave no copy of what they held."""

from __future__ import annotations

import os
import signal
import subprocess
from pathlib import Path

import pytest

from tests.cli.conftest import Service
from tests.processes import COMMAND, environment, start
from tests.shortened import shortened

LIMITED = 'ulimit -c unlimited 2> /dev/null; exec "$@"'


def _begin(*arguments: str, directory: Path, **more: str) -> subprocess.Popen[str]:
    """A command in a new process, which its shell lets dump its memory."""
    return start(
        ["sh", "-c", LIMITED, "sh", *COMMAND, *arguments],
        cwd=directory, env=environment(directory.parent / "state", more), stdin=subprocess.PIPE,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip


def _aborted(process: subprocess.Popen[str]) -> tuple[int, bool]:
    """The signal that it died of, and whether the system dumped its memory, wherever to."""
    process.send_signal(signal.SIGABRT)
    _, status = os.waitpid(process.pid, 0)
    process.returncode = -os.WTERMSIG(status)
    for stream in (process.stdin, process.stdout, process.stderr):
        assert stream is not None
        stream.close()
    return os.WTERMSIG(status), os.WCOREDUMP(status)


@pytest.fixture
def directory(tmp_path: Path) -> Path:
    """An empty working directory."""
    (tmp_path / "work").mkdir()
    return tmp_path / "work"


@pytest.mark.slow
def test_an_upload_that_is_aborted_leaves_no_core(service: Service, directory: Path) -> None:
    """It holds the list, its hashes and the credentials."""
    source = directory.parent / "list.csv"
    source.write_text("email\n" + "".join(f"person{number}@example.com\n" for number in range(130_000)))
    given = ("--audience", service.audience_id, "--requests-per-minute", "1")
    upload = _begin("upload", str(source), *given, directory=directory, **service.env)
    assert upload.stderr is not None
    while "sending" not in upload.stderr.readline():
        assert upload.poll() is None
    assert _aborted(upload) == (signal.SIGABRT, False)
    assert list(directory.iterdir()) == []


@pytest.mark.parametrize("arguments", shortened([(("emulator",),), (("hash", "email"),)], 1), ids=["emulator", "hash"])
def test_so_do_all_commands(arguments: tuple[str, ...], directory: Path) -> None:
    """The emulator holds what was sent to it, others a value."""
    command = _begin(*arguments, directory=directory)
    if arguments[0] == "hash":
        assert command.stdin is not None
        command.stdin.write('"ada@canarymail.com"\n')
        command.stdin.flush()
    assert command.stdout is not None
    assert command.stdout.readline()
    assert _aborted(command) == (signal.SIGABRT, False)
    assert list(directory.iterdir()) == []
