"""What a process of ours does less often, and what it is without."""

from __future__ import annotations

import subprocess
import sys

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
    assert _searches("set_up_own_process()", "end_own_process()") == ["0", "True"]
