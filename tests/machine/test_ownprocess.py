"""What a process of ours does less often, and what it is without."""

from __future__ import annotations

import signal
import subprocess
import sys

import pytest

SEARCHES = """
import gc
from audiencekit.machine.ownprocess import end_own_process, set_up_own_process

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


@pytest.mark.parametrize("ending", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_at_the_end_changes_no_exit_code(ending: signal.Signals) -> None:
    """The interpreter needs a while to end, and the code says what was sent."""
    script = (
        "import os; from audiencekit.machine.ownprocess import end_own_process;"
        f"end_own_process(75); os.kill(os.getpid(), {int(ending)}); print('went on', flush=True)"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (75, "", "")
