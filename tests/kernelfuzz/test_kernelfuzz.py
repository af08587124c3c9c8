"""The fuzzer of the kernels calls all of them, and sees what it is there for."""

from __future__ import annotations

import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from audiencekit.kernels.library import find_library
from tests.kernelfuzz.calls import CALLS
from tests.moments import PATIENCE_SECONDS
from tests.processes import ROOT

DOOR = ROOT / "kernels" / "src" / "door"
compiled = pytest.mark.skipif(find_library() is None, reason="the kernels are not compiled here")

# A call that goes wrong in one way, in the place of all others.
BROKEN = """
import ctypes, sys
from tests.kernelfuzz import calls, fuzzing
from tests.kernelfuzz.layouts import Called

def broken(draw, library):
    place = draw.memory.room(100)
    other = draw.memory.given(b"a" * 100)
    {deed}
    return Called(0, 1, True)

calls.CALLS.clear()
calls.CALLS["broken"] = broken
fuzzing.MOST_FAULTS = 1
fuzzing.SILENCE_SECONDS = {silence}
total = fuzzing.fuzz(7, 60)
print(total.calls, *total.faults[:1])
"""


def _python(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, *arguments], cwd=ROOT, capture_output=True, text=True, timeout=PATIENCE_SECONDS, check=False
    )


def test_every_export_is_called() -> None:
    """Whatever stands in the door of the kernels."""
    texts = [path.read_text(encoding="utf-8") for path in Path(DOOR).glob("*.rs")]
    exports = {name for text in texts for name in re.findall(r"extern \"C\" fn audiencekit_(\w+)", text)}
    assert exports == set(CALLS)


@pytest.mark.slow
@compiled
def test_the_kernels_bear_it() -> None:
    """For a moment; the steps of continuous integration take longer."""
    done = _python("-m", "tests.kernelfuzz", "--seconds", "2", "--seed", "1")
    assert done.returncode == 0, done.stdout + done.stderr
    assert re.match(r"[\d,]+ calls, [\d,]+ texts and values, [\d,]+ panics caught, 0 faults\n", done.stdout)


@compiled
@pytest.mark.parametrize(
    ("deed", "told"),
    [
        ("ctypes.string_at(place, 5000)", f"signal {signal.SIGSEGV.value}"),
        ("ctypes.string_at(place - 4096, 1)", f"signal {signal.SIGSEGV.value}"),
        ("ctypes.memset(other, 0, 1)", f"signal {signal.SIGSEGV.value}"),
        ("ctypes.memset(place - 1, 0, 102)", "wrote beside a buffer"),
        ("return Called(0, 1, False)", "answered wrongly"),
        ("return Called(-2, 1)", "answered wrongly"),
        ("import time; time.sleep(60)", "did not end"),
    ],
    ids=[
        *("reads behind", "reads before", "writes where it reads", "writes beside", "is wrong"),
        *("has no such code", "hangs"),
    ],
)
def test_a_failed_call_is_told_by_its_seed(deed: str, told: str) -> None:
    """Whichever way it does; the process that tells of it is another."""
    if "102" in deed:  # on one side there is slack, on the other the guard page
        told = f"{told}|signal {signal.SIGSEGV.value}"
    silence = "0.5" if told == "did not end" else "60"
    done = _python("-c", BROKEN.replace("{deed}", deed).replace("{silence}", silence))
    assert re.search(rf"0 seed 7, broken: .*({told})", done.stdout), done.stdout + done.stderr
