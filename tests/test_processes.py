"""Processes that are forked are processes all the same."""

from __future__ import annotations

import json
import os
import signal
import sys
from pathlib import Path

import pytest

from tests.moments import PATIENCE_SECONDS
from tests.processes import BEGUN, PIPE, Commands, end_those_begun, environment, start

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="elsewhere commands are started, and nothing is forked")


@pytest.mark.slow
def test_each_has_its_own_environment_directory_and_streams(commands: Commands, tmp_path: Path) -> None:
    """And the exit code of the command."""
    for name, code in (("one", 0), ("two", 3)):
        directory = tmp_path / name
        directory.mkdir()
        (directory / "list.csv").write_text("email\nada@example.com\n" if code == 0 else "email\nnull\n")
        done = commands.run("check", "list.csv", "--json", env=environment(directory / "state"), cwd=directory)
        assert (done.returncode, json.loads(done.stdout)["rows"]["rejected"]) == (code, bool(code)), done.stderr
    env = environment(tmp_path / "state", {"AUDIENCEKIT_PROFILE": "nowhere"})
    refused = commands.run("audiences", "list", env=env, cwd=tmp_path)
    assert (refused.returncode, "nowhere" in refused.stderr) == (2, True), refused.stderr
    done = commands.run("hash", "handle", env=environment(tmp_path), cwd=tmp_path, text='"@ada"\n' * 20_000)
    assert (done.returncode, len(done.stdout.splitlines())) == (0, 20_000)


def test_several_live_at_once_and_die_of_signals(commands: Commands, tmp_path: Path) -> None:
    """Each has a number of its own, and ends as the signal has it."""
    env = environment(tmp_path)
    begun = [commands.begin("emulator", env=env, cwd=tmp_path) for _ in range(3)]
    assert len({process.pid for process in begun} | {os.getpid()}) == 4
    for process in begun:
        assert process.stdout is not None
        assert json.loads(process.stdout.readline())["account_id"]
        assert process.poll() is None
    ends = (signal.SIGTERM, signal.SIGKILL, signal.SIGSEGV)
    for process, ending in zip(begun, ends, strict=True):
        process.send_signal(ending)
    assert [process.wait(timeout=PATIENCE_SECONDS) for process in begun] == [0, -signal.SIGKILL, -signal.SIGSEGV]
    assert [process.communicate() for process in begun] == [("", "")] * 3


def test_processes_that_a_test_has_left_are_ended(commands: Commands, tmp_path: Path) -> None:
    """Its pipes, too; what a fixture of more tests has begun goes on."""
    waiting = [sys.executable, "-c", "print('begun', flush=True); input()"]
    kept, left = (start(waiting, stdin=PIPE, stdout=PIPE, text=True) for _ in range(2))
    forked = commands.begin("hash", "email", env=environment(tmp_path), cwd=tmp_path, stdin=PIPE)
    for process in (kept, left):
        assert process.stdout.readline() == "begun\n"
    end_those_begun(but=[*BEGUN[: BEGUN.index(kept)], kept])
    for process in (left, forked):
        assert process.returncode == -signal.SIGKILL
        assert all(stream.closed for stream in (process.stdin, process.stdout))
    assert kept.poll() is None
    assert kept.communicate("\n") == ("", None)


@pytest.mark.slow
def test_a_process_that_outlives_its_tests_is_killed(tmp_path: Path) -> None:
    """With what it was forked from."""
    commands = Commands()
    left = commands.begin("hash", "email", env=environment(tmp_path), cwd=tmp_path, stdin=PIPE)
    assert left.poll() is None
    commands.close()
    assert left.communicate() == ("", "")
    assert left.returncode == -signal.SIGKILL
    with pytest.raises(ProcessLookupError):
        os.kill(left.pid, 0)
