"""Modules that nobody imports for us."""

from __future__ import annotations

import subprocess
import sys

import pytest

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
