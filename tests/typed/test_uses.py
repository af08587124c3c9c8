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


@pytest.fixture(scope="module")
def printed(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The messages of mypy about both files."""
    names = ("right_uses", "wrong_uses")
    command = [sys.executable, "-m", "mypy", "--strict", "--cache-dir", str(tmp_path_factory.mktemp("mypy"))]
    done = subprocess.run(
        [*command, *(f"tests/typed/{name}.py" for name in names)],
        cwd=ROOT, capture_output=True, text=True, check=False, timeout=PATIENCE_SECONDS,
    )  # fmt: skip
    assert done.returncode == 1, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def found(printed: str) -> dict[str, list[int]]:
    """The lines with an error, by file."""
    names = ("right_uses", "wrong_uses")
    errors = re.findall(r"^tests/typed/(\w+)\.py:(\d+): error: ", printed, flags=re.MULTILINE)
    assert {name for name, _ in errors} <= set(names)
    return {name: sorted({int(line) for file, line in errors if file == name}) for name in names}


def uses(name: str) -> list[int]:
    """The lines of the uses in a file: the statements of its functions, but for docstrings."""
    tree = ast.parse((ROOT / f"tests/typed/{name}.py").read_text(encoding="utf-8"))
    functions = [node for node in tree.body if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)]
    return [statement.lineno for function in functions for statement in function.body[1:]]


@pytest.mark.slow
def test_thirty_right_uses_are_right(found: dict[str, list[int]]) -> None:
    """Strictly."""
    assert len(uses("right_uses")) == USES
    assert found["right_uses"] == []


@pytest.mark.slow
def test_thirty_wrong_uses_are_found(found: dict[str, list[int]]) -> None:
    """Each in its line, and no line beside."""
    assert len(uses("wrong_uses")) == USES
    assert found["wrong_uses"] == uses("wrong_uses")


@pytest.mark.slow
def test_a_wrong_call_of_an_endpoint_is_told_in_one_line(printed: str) -> None:
    """With the name of the endpoint, and without the overloads of all the others."""
    lines = (ROOT / "tests/typed/wrong_uses.py").read_text(encoding="utf-8").splitlines()
    calls = {number: re.search(r'client\.\w+\("(\w+)"', line) for number, line in enumerate(lines, start=1)}
    wrong = {number: call[1] for number, call in calls.items() if call}
    assert len(wrong) == 4
    for number, name in wrong.items():
        (message,) = re.findall(rf"^tests/typed/wrong_uses\.py:{number}: (.+)$", printed, flags=re.MULTILINE)
        assert f"Literal['{name}']" in message
        assert len(message) < 200
