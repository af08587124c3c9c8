"""A process that is to leave no copy of its memory."""

from __future__ import annotations

import resource
import signal
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.skipif(
    resource.getrlimit(resource.RLIMIT_CORE)[1] == 0, reason="no process here leaves a core dump"
)
LIMITED = 'ulimit -c unlimited; exec "$@"'
ABORT = "import os; from audiencekit.machine.coredumps import prevent_dumps; {}; os.abort()"
TELL = """
import ctypes, os, resource
from audiencekit.machine.coredumps import prevent_dumps
prevent_dumps()
get_dumpable = 3
told = resource.getrlimit(resource.RLIMIT_CORE), ctypes.CDLL(None).prctl(get_dumpable, 0, 0, 0, 0)
child = os.fork()
if child:
    os.waitpid(child, 0)
else:
    print(told, ctypes.CDLL(None).prctl(get_dumpable, 0, 0, 0, 0), flush=True)
    os._exit(0)
"""


def _python(script: str, directory: Path) -> subprocess.CompletedProcess[str]:
    command = ["sh", "-c", LIMITED, "sh", sys.executable, "-c", script]
    return subprocess.run(command, cwd=directory, capture_output=True, text=True, check=False)


def test_a_process_that_is_aborted_leaves_no_core(tmp_path: Path) -> None:
    """Whatever the shell allows; one that did not ask leaves one."""
    assert _python(ABORT.format("prevent_dumps()"), tmp_path).returncode == -signal.SIGABRT
    assert list(tmp_path.iterdir()) == []
    assert _python(ABORT.format("pass"), tmp_path).returncode == -signal.SIGABRT
    if not list(tmp_path.iterdir()):
        pytest.skip("core dumps go elsewhere here")


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere there is only the limit")
def test_neither_it_nor_its_children_can_be_dumped(tmp_path: Path) -> None:
    """A collector of dumps is handed those of every process that says it can be, whatever the limit."""
    assert _python(TELL, tmp_path).stdout.strip() == "((0, 0), 0) 0"
