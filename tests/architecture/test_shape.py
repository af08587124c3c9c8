"""The size of what a reader must hold at once: parameters of a function, modules that a module imports.

The exceptions are those from before there was a bound. They may only shrink: one that is within its bound must leave.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
MOST_PARAMETERS = 7
MOST_IMPORTS = 15
PARAMETERS = {
    # click gives a command its options as parameters; `list_custom_audiences` has those of its endpoint
    "audiencekit/api/audiences.py:list_custom_audiences": 8,
    "audiencekit/cli/api.py:api": 8,
    "audiencekit/cli/do_not_reach.py:upload_list": 9,
    "audiencekit/cli/forget.py:forget": 8,
    "audiencekit/cli/sync.py:sync": 8,
    "audiencekit/cli/upload.py:upload": 10,
}
IMPORTS = {
    # lists, and nothing else: of public names, and of the endpoints of all rooms
    "audiencekit/__init__.py": 26,
    "audiencekit/emulator/routes.py": 20,
}


def _modules() -> Iterator[tuple[str, ast.Module]]:
    for path in sorted((ROOT / "audiencekit").rglob("*.py")):
        yield path.relative_to(ROOT).as_posix(), ast.parse(path.read_text(encoding="utf-8"))


def _parameters(function: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    named = [*function.args.posonlyargs, *function.args.args, *function.args.kwonlyargs]
    return len(named) - (bool(named) and named[0].arg in ("self", "cls"))


def _sizes_of_functions(path: str, module: ast.Module) -> Iterator[tuple[str, int]]:
    for node in ast.walk(module):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield f"{path}:{node.name}", _parameters(node)


def _imports(module: ast.Module) -> int:
    names = {node.module for node in ast.walk(module) if isinstance(node, ast.ImportFrom) and node.module}
    return sum(name.split(".")[0] == "audiencekit" for name in names)


# Where people go is a behaviour: no other room asks which destination it is, by identity, type or name.
_ASKED = re.compile(
    r"is_audience|\.destination(\.name)? (is|==|!=|in|not in) |isinstance\(.*[dD]estination"
    r"|(is|is not|==|!=) (AUDIENCE|DO_NOT_REACH_LIST)\b"
)


def test_no_room_asks_which_destination_it_is() -> None:
    """But `destinations` itself, which has them."""
    inside = ("audiencekit/destinations/", "audiencekit/emulator/")
    rooms = [path for path, _ in _modules() if not path.startswith(inside)]
    assert [path for path in rooms if _ASKED.search((ROOT / path).read_text(encoding="utf-8"))] == []


@pytest.mark.parametrize("kind", ["parameters", "imports"])
def test_none_is_larger_than_its_bound(kind: str) -> None:
    """And no exception is larger than what is there."""
    if kind == "parameters":
        most, exceptions = MOST_PARAMETERS, PARAMETERS
        sizes = dict[str, int]()
        for path, module in _modules():
            for name, size in _sizes_of_functions(path, module):
                sizes[name] = max(size, sizes.get(name, 0))
    else:
        most, exceptions = MOST_IMPORTS, IMPORTS
        sizes = {path: _imports(module) for path, module in _modules()}
    assert {name: size for name, size in sizes.items() if size > most} == exceptions


def test_a_function_that_is_too_large_is_seen() -> None:
    """Of each sort of parameter, and without the object itself."""
    text = "class A:\n async def f(self, a, b, /, c, d, *args, e, g, h, i, **rest): ...\nfrom audiencekit.x import y\n"
    module = ast.parse(text + "from audiencekit.z import w\nfrom audiencekit.x import v\nfrom numpy import a\n")
    assert dict(_sizes_of_functions("a.py", module)) == {"a.py:f": 8}
    assert _imports(module) == 2
