"""A test waits for an event, and not for a clock that a busy machine can miss: PATIENCE_SECONDS is when it gives up."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cases import each_case

ROOT = Path(__file__).resolve().parents[2]
WAITS = ("wait", "result", "join", "communicate", "wait_for", "timeout")
VIRTUAL = {  # where time passes at once, and what a test asks for is to end too early
    "tests/api/test_oauth.py",
    "tests/delivery/limiter/test_host.py",
    "tests/mirror/campaign.py",
    "tests/process/test_event_loop.py",
}
LOOKS_AGAIN = {("tests/cli/test_login.py", "timeout=10"), ("tests/planning/test_prepared.py", "wait(1)")}
OF_OTHERS = {("tests/cli/test_interrupted_uploads.py", "timeout=10")}  # SQLite's, whose end is no failure


def _is_seconds(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and type(node.value) in (int, float) and node.value >= 1


def waits_of(tree: ast.AST) -> Iterator[str]:
    """The waits with a number of seconds in them: those that a call names `timeout`, and those that it begins."""
    for call in ast.walk(tree):
        if isinstance(call, ast.Call):
            name = call.func.attr if isinstance(call.func, ast.Attribute) else ""
            for keyword in call.keywords:
                if keyword.arg in ("timeout", "startup_timeout") and _is_seconds(keyword.value):
                    yield f"timeout={ast.unparse(keyword.value)}"
            if name in WAITS and call.args and _is_seconds(call.args[-1]):
                yield f"{name}({ast.unparse(call.args[-1])})"


@pytest.mark.slow
def test_no_wait_of_a_test_has_a_number_of_seconds() -> None:
    """One constant says for how long; a wait that is begun again, and one for what must not come, is none."""
    found = {
        (path.relative_to(ROOT).as_posix(), wait)
        for path in sorted((ROOT / "tests").rglob("*.py"))
        for wait in waits_of(ast.parse(path.read_text(encoding="utf-8")))
    }
    real = {(path, wait) for path, wait in found if path not in VIRTUAL and "/dags/" not in path}
    assert real - LOOKS_AGAIN - OF_OTHERS == set()


@each_case(
    "wait", ["process.wait(timeout=20)", "event.wait(60)", "asyncio.timeout(5)", "asyncio.wait_for(event.wait(), 30)"]
)
def test_a_wait_of_seconds_is_seen(wait: str) -> None:
    """The test of the test."""
    assert len(list(waits_of(ast.parse(wait)))) == 1
