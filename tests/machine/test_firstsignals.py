"""Signals that come before a command is at work, in processes of their own."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from audiencekit.errors import NotFinished
from audiencekit.machine.firstsignals import NOT_FINISHED, sends
from tests.moments import PATIENCE_SECONDS
from tests.processes import COMMAND, ROOT, default_signals, environment, start

SENDING = (["upload", "list.csv"], ["resume"], ["sync", "list.csv"], ["renew"], ["forget"], ["do-not-reach", "upload"])
ASKS_ITSELF = """
import os, signal, sys, time
sys.argv = ["audiencekit", *{arguments!r}]
from audiencekit.machine.firstsignals import hand_over_interrupt, heed_first_signals
signal.signal(signal.{ending}, signal.SIG_DFL)  # the tests may run where it is ignored
heed_first_signals()
{then}
os.kill(os.getpid(), signal.{ending})
time.sleep({seconds})
"""


@pytest.mark.parametrize("arguments", SENDING, ids=" ".join)
def test_commands_that_send_are_known(arguments: list[str]) -> None:
    """With options before and after the words of the command."""
    assert sends(arguments)
    assert sends([*arguments, "--json"])
    assert sends(["--verbose", *arguments])


@pytest.mark.parametrize(
    "arguments", [[], ["check", "upload"], ["do-not-reach", "show"], ["audiences"], ["--help"]], ids=str
)
def test_other_commands_are_no_such(arguments: list[str]) -> None:
    """A file called `upload` is none either."""
    assert not sends(arguments)


def _ended(tmp_path: Path, ending: str, *arguments: str, then: str = "") -> subprocess.CompletedProcess[str]:
    code = ASKS_ITSELF.format(arguments=list(arguments), ending=ending, then=then, seconds=PATIENCE_SECONDS)
    env = environment(tmp_path / "state")
    return subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, env=env, check=False, timeout=PATIENCE_SECONDS
    )


@pytest.mark.parametrize("ending", ["SIGINT", "SIGTERM", "SIGHUP"])
def test_a_command_that_would_send_leaves_with_75(tmp_path: Path, ending: str) -> None:
    """And says that nothing was sent, in JSON where it is asked for."""
    done = _ended(tmp_path, ending, "upload", "list.csv", "--json")
    assert (done.returncode, NOT_FINISHED) == (75, NotFinished.exit_code)
    assert "nothing was sent" in done.stderr
    assert "Traceback" not in done.stderr
    document = json.loads(done.stdout)
    assert (document["state"], document["error"]["type"]) == ("incomplete", "NotFinished")
    assert _ended(tmp_path, ending, "resume").stdout == ""


def test_a_command_that_sends_nothing_leaves_with_130_at_ctrl_c(tmp_path: Path) -> None:
    """Without a traceback; as soon as the loop catches it, it is Python's own again."""
    done = _ended(tmp_path, "SIGINT", "check", "list.csv")
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "interrupted\n")
    caught = _ended(tmp_path, "SIGINT", "check", "list.csv", then="hand_over_interrupt()")
    assert "KeyboardInterrupt" in caught.stderr
    assert _ended(tmp_path, "SIGTERM", "check", "list.csv").returncode == -signal.SIGTERM


def test_a_signal_that_is_ignored_stays_so(tmp_path: Path) -> None:
    """Of a process that was begun with `nohup`."""
    code = (
        "import signal, sys; sys.argv = ['audiencekit', 'upload']; signal.signal(signal.SIGHUP, signal.SIG_IGN);"
        "from audiencekit.machine.firstsignals import heed_first_signals; heed_first_signals();"
        "print(signal.getsignal(signal.SIGHUP) is signal.SIG_IGN)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT, check=True)
    assert done.stdout == "True\n"


@pytest.mark.parametrize("ending", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_command_that_still_imports_leaves_with_75(tmp_path: Path, ending: signal.Signals) -> None:
    """Once the process heeds signals; it still imports then, since an import waits to its end."""
    (tmp_path / "click.py").write_text("import os, time\nos.write(1, b'importing')\ntime.sleep(3_600)\n")
    env = environment(tmp_path / "state")
    process = start(
        [*COMMAND, "upload", "list.csv", "--audience", "1a2b"], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        text=True, cwd=tmp_path, env={**env, "PYTHONPATH": f"{tmp_path}{os.pathsep}{env['PYTHONPATH']}"},
        preexec_fn=default_signals,
    )  # fmt: skip
    assert process.stdout is not None
    assert process.stdout.read(9) == "importing"
    process.send_signal(ending)
    out, err = process.communicate(timeout=PATIENCE_SECONDS)
    assert (process.returncode, out) == (75, "")
    assert err.startswith("error: interrupted before the first request: nothing was sent\n")
    assert not (tmp_path / "state").exists()
