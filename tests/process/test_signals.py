"""Signals that come before a command is at work, in processes of their own."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from audiencekit.errors import NotFinished
from audiencekit.process.signals import NOT_FINISHED, sends
from tests.cases import each_case
from tests.moments import PATIENCE_SECONDS
from tests.processes import COMMAND, ROOT, default_signals, environment, start

SENDING = (
    ["upload", "list.csv"],
    ["resume"],
    ["sync", "list.csv"],
    ["run", "--all"],
    ["renew"],
    ["forget"],
    ["do-not-reach", "upload"],
)
ASKS_ITSELF = """
import os, signal, sys, time
sys.argv = ["audiencekit", *{arguments!r}]
from audiencekit.process.signals import hand_over_interrupt, heed_first_signals
signal.signal(signal.{ending}, signal.SIG_DFL)  # the tests may run where it is ignored
heed_first_signals()
{then}
os.kill(os.getpid(), signal.{ending})
time.sleep({seconds})
"""


@each_case("arguments", SENDING)
def test_commands_that_send_are_known(arguments: list[str]) -> None:
    """With options before and after the words of the command."""
    assert sends(arguments)
    assert sends([*arguments, "--json"])
    assert sends(["--verbose", *arguments])


@each_case("arguments", [[], ["check", "upload"], ["do-not-reach", "show"], ["audiences"], ["--help"]])
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
        "from audiencekit.process.signals import heed_first_signals; heed_first_signals();"
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


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux has namespaces of processes")
@pytest.mark.parametrize("arguments", [("check", "-"), ("hash", "email"), ("forget",)], ids=" ".join)
def test_the_process_1_of_a_container_ends_by_sigterm(tmp_path: Path, arguments: tuple[str, ...]) -> None:
    """The kernel passes on no signal to it that it has no handler for."""
    unshare = ["unshare", "--pid", "--fork", "--kill-child"]
    if subprocess.run([*unshare, "true"], capture_output=True, check=False).returncode:
        pytest.skip("this user may not make a namespace of processes")
    env = environment(tmp_path / "state")
    command = [*unshare, sys.executable, "-m", "audiencekit", *arguments]
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    with subprocess.Popen(command, stdin=subprocess.PIPE, env=env, **quiet) as outer:
        try:
            inner = _first_child(outer.pid)
            _wait_for_handler(inner, signal.SIGTERM)
            os.kill(inner, signal.SIGTERM)
            assert outer.wait(timeout=PATIENCE_SECONDS) in (75, 128 + signal.SIGTERM)
        finally:
            outer.kill()


def _first_child(pid: int) -> int:
    while not (children := Path(f"/proc/{pid}/task/{pid}/children").read_text().split()):
        time.sleep(0.01)
    return int(children[0])


def _wait_for_handler(pid: int, ending: signal.Signals) -> None:
    """Return when the process has a handler for the signal, by what the kernel says of it; fail after minutes."""
    for _ in range(30_000):
        (caught,) = re.findall(r"^SigCgt:\s*([0-9a-f]+)", Path(f"/proc/{pid}/status").read_text(), re.M)
        if int(caught, 16) >> (ending - 1) & 1:
            return
        time.sleep(0.01)
    pytest.fail("the process has no handler for the signal")
