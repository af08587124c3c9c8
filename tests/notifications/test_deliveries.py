"""Deliveries to programs."""

from __future__ import annotations

import json
import os
import sys
import time
from pathlib import Path

import pytest

from audiencekit.notifications.deliveries import run_program
from audiencekit.process.exchanges import Deadline
from tests.moments import PATIENCE_SECONDS

PRINT = "import os, sys, json; open(sys.argv[1], 'w').write(json.dumps([sys.stdin.read(), dict(os.environ), sys.argv]))"


def test_a_program_gets_the_body_and_none_of_our_settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """On its standard input, and without a shell."""
    monkeypatch.setenv("AUDIENCEKIT_CONSUMER_SECRET", "s3cret")
    out = tmp_path / "out"
    words = (sys.executable, "-c", PRINT, str(out), "$(id); *")
    assert run_program(words, b'{"version":1}', Deadline(PATIENCE_SECONDS)) == ""
    body, environment, arguments = json.loads(out.read_text())
    assert body == '{"version":1}'
    assert not [name for name in environment if name.startswith("AUDIENCEKIT_")]
    assert arguments[-1] == "$(id); *"


@pytest.mark.parametrize(
    ("code", "why"),
    [
        ("import sys; sys.exit(3)", "the program ended with exit code 3"),
        ("import sys; sys.stdin.close(); print('s3cret')", ""),
    ],
)
def test_a_program_may_end_as_it_likes(capfd: pytest.CaptureFixture[str], code: str, why: str) -> None:
    """Its output is dropped: stdout is for the data of the command."""
    assert run_program((sys.executable, "-c", code), b"{}" * 100_000, Deadline(PATIENCE_SECONDS)) == why
    assert capfd.readouterr() == ("", "")


def test_a_program_that_does_not_end_is_ended_with_its_children(tmp_path: Path) -> None:
    children = tmp_path / "children"
    code = (
        "import subprocess, sys, time\n"
        "one = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(600)'])\n"
        "open(sys.argv[1] + '.new', 'w').write(str(one.pid))\n"
        "__import__('os').rename(sys.argv[1] + '.new', sys.argv[1])\n"
        "time.sleep(600)"
    )
    deadline = Deadline(0.2)
    why = ""
    while not children.exists():  # on a busy machine this is not enough for two interpreters
        deadline = Deadline(deadline._seconds * 2)
        why = run_program((sys.executable, "-c", code, str(children)), b"{}", deadline)
    assert why.startswith("the program did not end in time")
    child = int(children.read_text())
    end = time.monotonic() + PATIENCE_SECONDS
    while _lives(child) and time.monotonic() < end:
        time.sleep(0.02)
    assert not _lives(child)


def _lives(process_id: int) -> bool:
    try:
        os.kill(process_id, 0)
        return Path(f"/proc/{process_id}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except (OSError, IndexError):
        return False


def test_a_missing_program_is_no_failure_of_ours() -> None:
    assert run_program(("/no/such/program",), b"{}", Deadline(1)).startswith("the program cannot be run")
