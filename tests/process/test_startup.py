"""A process that is to leave no copy of its memory."""

from __future__ import annotations

import os
import resource
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from audiencekit.process.startup import limit_blas_threads
from tests.cases import each_case

pytestmark = pytest.mark.skipif(
    resource.getrlimit(resource.RLIMIT_CORE)[1] == 0, reason="no process here leaves a core dump"
)
LIMITED = 'ulimit -c unlimited; exec "$@"'
ABORT = "import os; from audiencekit.process.startup import prevent_dumps; {}; os.abort()"
TELL = """
import ctypes, os, resource
from audiencekit.process.startup import prevent_dumps
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


SEARCHES = """
import gc
from audiencekit.process.startup import end_own_process, set_up_own_process

searches = []
gc.callbacks.append(lambda phase, told: searches.append((phase, told["generation"])))
{}
objects = [[] for _ in range(5_000)]
during = len(searches)
{}
gc.collect()
print(during, gc.get_freeze_count() > 5_000)
"""


def _searches(begin: str, end: str) -> list[str]:
    script = SEARCHES.format(begin, end)
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    return done.stdout.split()


def test_circles_are_searched_seldom_and_not_at_the_end() -> None:
    """Five thousand new lists begin several searches otherwise."""
    during, is_frozen = _searches("", "")
    assert int(during) > 0
    assert is_frozen == "False"
    assert _searches("set_up_own_process()", "end_own_process(0)") == ["0", "True"]


@each_case("ending", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_at_the_end_changes_no_exit_code(ending: signal.Signals) -> None:
    """The interpreter needs a while to end, and the code says what was sent. One that is ignored ends nothing."""
    script = (
        "import os, signal; from audiencekit.process.startup import end_own_process;"
        f"signal.signal({int(ending)}, signal.{{}}); end_own_process(75);"
        f"os.kill(os.getpid(), {int(ending)}); print('went on', flush=True)"
    )
    for before, expected in (("SIG_DFL", (75, "")), ("SIG_IGN", (0, "went on\n"))):
        command = [sys.executable, "-c", script.format(before)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert ((done.returncode, done.stdout), done.stderr) == (expected, ""), before


LOSES = """
import os, sys
from audiencekit.process.startup import set_up_own_process

set_up_own_process()
for _ in range(3):
    print("a message" * 9_000, file=sys.stderr, flush=True)
sys.stderr.write("more")
print(sys.stderr.isatty(), sys.stderr.fileno(), sys.stderr.encoding)
sys.exit(75)
"""


@each_case("taker", ["closed pipe", "full disk", "closed stderr"])
def test_a_message_that_cannot_be_taken_is_lost(taker: str) -> None:
    """And nothing else: what the process does goes on, and its exit code is its own."""
    if taker == "full disk" and not Path("/dev/full").is_char_device():
        pytest.skip("there is no /dev/full here")
    reads, writes = os.pipe()
    os.close(reads)
    with open("/dev/full" if taker == "full disk" else os.devnull, "w") as file:
        command: list[str] = [sys.executable, "-c", LOSES]
        if taker == "closed stderr":
            command = ["sh", "-c", 'exec "$0" "$@" 2>&-', *command]
        stderr = writes if taker == "closed pipe" else file
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=stderr, text=True, check=False)
    os.close(writes)
    assert done.returncode == 75
    assert done.stdout.startswith("False ")


def test_messages_that_can_be_taken_are(tmp_path: Path) -> None:
    """All of them, at once, whatever stands in them."""
    script = (
        "import sys; from audiencekit.process.startup import set_up_own_process; set_up_own_process();"
        "print('caf\\xe9 \\udc80', file=sys.stderr); import os; os._exit(0)"
    )
    environment = {**os.environ, "PYTHONIOENCODING": "utf-8"}
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, check=False, env=environment)
    assert done.stderr == b"caf\xc3\xa9 \\udc80\n"


@pytest.mark.parametrize(("said", "threads"), [(None, "1"), ("3", "3")])
def test_numpy_starts_no_thread_unless_told(monkeypatch: pytest.MonkeyPatch, said: str | None, threads: str) -> None:
    """The environment's own setting of them holds."""
    monkeypatch.setenv("OPENBLAS_NUM_THREADS", said or "")
    if said is None:
        monkeypatch.delenv("OPENBLAS_NUM_THREADS")
    limit_blas_threads()
    assert os.environ["OPENBLAS_NUM_THREADS"] == threads


UNCHANGED = """
import builtins, ctypes.util, importlib, re, sys

before = [*sys.meta_path], [*sys.path_hooks], builtins.__import__, ctypes.util.find_library, re.compile
from audiencekit.process.startup import set_up_own_process

set_up_own_process()
after = [*sys.meta_path], [*sys.path_hooks], builtins.__import__, ctypes.util.find_library, re.compile
print(before == after)
"""


def test_libraries_are_loaded_as_they_are() -> None:
    """Nothing of ours takes part in their imports."""
    done = subprocess.run([sys.executable, "-c", UNCHANGED], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["True"]
