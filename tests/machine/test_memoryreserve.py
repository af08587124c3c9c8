"""Addresses that are kept back until a process finds no more."""

from __future__ import annotations

import subprocess
import sys

import pytest

from tests.processes import ROOT

SCRIPT = """
import contextlib, resource
from audiencekit.machine.memoryreserve import RESERVE_BYTES, keep_reserve, release_reserve
keep_reserve()
resource.setrlimit(resource.RLIMIT_AS, (200_000_000, 200_000_000))
block = RESERVE_BYTES * 3 // 4
kept = [None] * 10_000
for place in range(len(kept)):
    try:
        kept[place] = bytearray(block)
    except MemoryError:
        break
release_reserve()
bytearray(block)
release_reserve()
print("ended")
"""


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere addresses are not limited")
def test_there_is_memory_once_more() -> None:
    """Of a process that has taken all that its limit gives."""
    done = subprocess.run([sys.executable, "-c", SCRIPT], cwd=ROOT, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, "ended\n"), done.stderr
    without = SCRIPT.replace("\nkeep_reserve()", "")
    assert (
        "MemoryError"
        in subprocess.run([sys.executable, "-c", without], capture_output=True, text=True, cwd=ROOT).stderr
    )
