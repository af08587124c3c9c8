"""Modules that nobody imports for us, and threads that nobody starts."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from audiencekit.machine.leftout import leave_out_blas_threads

WITHOUT = """
import sys
from audiencekit.machine.leftout import leave_out_pandas

{}
leave_out_pandas()
import pyarrow

print(pyarrow.scalar("a"), pyarrow.array(["a", "b"]).to_pylist()[1], "pandas" in sys.modules)
"""


@pytest.mark.parametrize(
    ("before", "is_there"),
    [("", False), ("import types; sys.modules['pandas'] = types.SimpleNamespace(__version__='0.1')", True)],
)
def test_arrow_finds_no_pandas_but_one_that_was_there(before: str, is_there: bool) -> None:
    """Whether it is installed or not; arrays and scalars are as ever."""
    script = WITHOUT.format(before)
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["a", "b", str(is_there)]


@pytest.mark.parametrize(("said", "threads"), [(None, "1"), ("3", "3")])
def test_numpy_starts_no_thread_unless_told(monkeypatch: pytest.MonkeyPatch, said: str | None, threads: str) -> None:
    """What the environment says of them holds."""
    monkeypatch.setenv("OPENBLAS_NUM_THREADS", said or "")
    if said is None:
        monkeypatch.delenv("OPENBLAS_NUM_THREADS")
    leave_out_blas_threads()
    assert os.environ["OPENBLAS_NUM_THREADS"] == threads
