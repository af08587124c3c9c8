"""Modules that are not imported, and threads that are not started."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from audiencekit.machine.librarystartup import leave_out_blas_threads

CONTACTS = Path(__file__).parents[2] / "samples" / "contacts.csv"

WITHOUT = """
import sys
from audiencekit.machine.librarystartup import leave_out_pandas

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


PREPARED = """
import sys
from audiencekit.machine.librarystartup import leave_out_pandas

leave_out_pandas()
if {without_kernels}:
    sys.modules["_audiencekit_kernels"] = None
import numpy

others = "numpy.ma" in sys.modules  # as numpy 1.26 does by itself
import audiencekit

plan = audiencekit.prepare({source!r}, out={out!r}, requests=True)
print(plan.requests > 0, "numpy.ma" in sys.modules and not others)
"""


@pytest.mark.parametrize("without_kernels", [False, True])
def test_no_array_is_asked_whether_it_is_masked(tmp_path: Path, without_kernels: bool) -> None:
    """Arrow does so with what is given to it as numbers, and imports a module of numpy for that: 12 ms."""
    source, out = str(CONTACTS), str(tmp_path / "out")
    script = PREPARED.format(source=source, out=out, without_kernels=without_kernels)
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["True", "False"]


@pytest.mark.parametrize(("said", "threads"), [(None, "1"), ("3", "3")])
def test_numpy_starts_no_thread_unless_told(monkeypatch: pytest.MonkeyPatch, said: str | None, threads: str) -> None:
    """The environment's own setting of them holds."""
    monkeypatch.setenv("OPENBLAS_NUM_THREADS", said or "")
    if said is None:
        monkeypatch.delenv("OPENBLAS_NUM_THREADS")
    leave_out_blas_threads()
    assert os.environ["OPENBLAS_NUM_THREADS"] == threads


UNDOCUMENTED = """
import sys
from audiencekit.machine.librarystartup import leave_out_documentation

leave_out_documentation()
import numpy
import pyarrow.compute as pc

was_there = "pydoc" in sys.modules
print(was_there, pc.docscrape.NumpyDocString.__name__, "pydoc" in sys.modules)
print(numpy.array.__doc__, pc.is_in.__doc__, pc.cast.__doc__ is None)
print(pc.is_in(["a", "b"], value_set=pc.unique(["b"])).to_pylist(), pc.utf8_zero_fill("1", width=2), numpy.ma.array(1))
"""


def test_functions_of_libraries_work_without_documentation() -> None:
    """Those that Arrow makes when it is loaded, and those of numpy in C; what is written in Python keeps its own."""
    done = subprocess.run([sys.executable, "-c", UNDOCUMENTED], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == ["False NumpyDocString True", "None None False", "[False, True] 01 1"]


COMPILED = r"""
import re
import sys

from audiencekit.machine.librarystartup import compile_patterns_late

compiled, compile_now = [], re._compiler.compile
re._compiler.compile = lambda pattern, flags=0: compiled.append(pattern) or compile_now(pattern, flags)
compile_patterns_late()
from audiencekit.identifiers.email import normalize_email

def large() -> int:
    return sum("\\U0010ffff" in ascii(pattern) for pattern in compiled)

before = large()
print(before, ascii(normalize_email("\u00e4nna@larchpost.org")), large() > 0, type(re.compile("a")) is re.Pattern)
"""


def test_large_patterns_are_compiled_when_they_are_used() -> None:
    """An address of other letters is judged by them as ever; patterns of other modules are compiled at once."""
    done = subprocess.run([sys.executable, "-c", COMPILED], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["0", r"'\xe4nna@larchpost.org'", "True", "True"]
