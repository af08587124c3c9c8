"""A checker of types finds every wrong use of the package, and none of the right ones is wrong to it."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.moments import PATIENCE_SECONDS

ROOT = Path(__file__).resolve().parents[2]
USES = 30
NAMES = ("right_uses", "wrong_uses")


def _printed_by_mypy() -> str:
    """The messages of mypy about both files. What it knows of the package is kept where `mypy` alone keeps it."""
    command = [sys.executable, "-m", "mypy"]
    done = subprocess.run(
        [*command, *(f"tests/typed/{name}.py" for name in NAMES)],
        cwd=ROOT, capture_output=True, text=True, check=False, timeout=PATIENCE_SECONDS,
    )  # fmt: skip
    assert done.returncode == 1, done.stdout + done.stderr
    return done.stdout


def uses(name: str) -> list[int]:
    """The lines of the uses in a file: the statements of its functions, but for docstrings."""
    tree = ast.parse((ROOT / f"tests/typed/{name}.py").read_text(encoding="utf-8"))
    functions = [node for node in tree.body if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)]
    return [statement.lineno for function in functions for statement in function.body[1:]]


@pytest.mark.slow
def test_right_uses_are_right_and_wrong_ones_are_found() -> None:
    """Strictly; each in its line, and no line beside. In one test, since mypy takes a minute."""
    printed = _printed_by_mypy()
    found = re.findall(r"^tests/typed/(\w+)\.py:(\d+): error: ", printed, flags=re.MULTILINE)
    assert {name: len(uses(name)) for name in NAMES} == dict.fromkeys(NAMES, USES)
    assert sorted({(name, int(line)) for name, line in found}) == [("wrong_uses", line) for line in uses("wrong_uses")]
    _check_endpoints(printed)


def _check_endpoints(printed: str) -> None:
    """A wrong call of an endpoint is told in one line, with its name, and without the overloads of all the others."""
    lines = (ROOT / "tests/typed/wrong_uses.py").read_text(encoding="utf-8").splitlines()
    calls = {number: re.search(r'client\.\w+\("(\w+)"', line) for number, line in enumerate(lines, start=1)}
    wrong = {number: call[1] for number, call in calls.items() if call}
    assert len(wrong) == 4
    for number, name in wrong.items():
        (message,) = re.findall(rf"^tests/typed/wrong_uses\.py:{number}: (.+)$", printed, flags=re.MULTILINE)
        assert f"Literal['{name}']" in message
        assert len(message) < 200
