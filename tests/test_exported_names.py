"""The promised names."""

from __future__ import annotations

import ast
import importlib
import pkgutil
import subprocess
import sys
import typing
from pathlib import Path
from types import ModuleType

import pytest

import audiencekit
from audiencekit import errors
from tests.processes import ROOT
from tests.shortened import shortened

COMMAND = """
import runpy
sys.argv = ["audiencekit", {}]
try:
    runpy.run_module("audiencekit", run_name="__main__")
except SystemExit:
    pass
"""
HEAVY = (
    "aiohttp",
    "asyncio",
    "pyarrow",
    "phonenumbers",
    "numpy",
    "cryptography",
    "email_validator",
    "rich",
    "orjson",
)


def test_all_names_exist_and_are_sorted() -> None:
    """`__all__` is what can be imported."""
    assert sorted(audiencekit.__all__) == list(audiencekit.__all__)
    for name in audiencekit.__all__:
        assert getattr(audiencekit, name) is not None


def test_no_module_takes_a_promised_name() -> None:
    """After all of them were imported, `audiencekit.check` is still what it was."""
    for module in pkgutil.walk_packages(audiencekit.__path__, "audiencekit."):
        if module.name != "audiencekit.__main__":
            _import(module.name)
    for name in audiencekit.__all__:
        assert not isinstance(getattr(audiencekit, name), ModuleType), name


def _import(module: str) -> None:
    """Imports it; modules of an integration need an optional package, which may be missing."""
    try:
        importlib.import_module(module)
    except ModuleNotFoundError as error:
        if not module.startswith("audiencekit.integrations.") or (error.name or "").startswith("audiencekit"):
            raise


def test_an_unknown_name_is_an_attribute_error() -> None:
    """As of any module."""
    with pytest.raises(AttributeError, match="nonsense"):
        audiencekit.nonsense  # noqa: B018


def test_help_and_import_are_light() -> None:
    """Neither loads a library that takes its time; `--help` begins with the import."""
    script = f"import sys\n{COMMAND.format(repr('--help'))}{COMMAND.format(repr('upload') + ', ' + repr('--help'))}"
    assert _loaded(script, HEAVY) == []


def _loaded(script: str, libraries: tuple[str, ...]) -> list[str]:
    """Those of `libraries` that a new process has imported at the end of `script`."""
    script = f"import sys\n{script}\nprint('\\nloaded:', *sorted(set({libraries!r}) & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    return done.stdout.splitlines()[-1].split()[1:]


def test_checkers_of_types_see_the_same_names() -> None:
    """And the whole tree of errors is among them."""
    tree = ast.parse(Path(audiencekit.__file__).read_text(encoding="utf-8"))
    imports = [node for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) and node.module != "typing"]
    seen = {alias.name for node in imports for alias in node.names} - {"*", "annotations", "import_module"}
    tree_of_errors = {
        name for name, found in vars(errors).items() if getattr(found, "__module__", "") == errors.__name__
    }
    assert seen | tree_of_errors == set(audiencekit.__all__)


def test_hints_can_be_resolved() -> None:
    """Callers that read signatures at run time find every type that they name."""
    for name in audiencekit.__all__:
        if callable(promised := getattr(audiencekit, name)):
            typing.get_type_hints(promised)


PREPARED = """
import sys

class NoPandas:  # it loads the module by itself
    def find_spec(self, name, path, target=None):
        if name == "pandas":
            raise ModuleNotFoundError(name, name=name)

sys.meta_path.insert(0, NoPandas())
if {without_kernels}:
    from audiencekit.kernels import library

    library.find_library = lambda: None
import numpy

others = "numpy.ma" in sys.modules  # as numpy 1.26 does by itself
import audiencekit

plan = audiencekit.prepare({source!r}, out={out!r}, requests=True)
print(plan.requests > 0, "numpy.ma" in sys.modules and not others)
"""


@pytest.mark.parametrize("without_kernels", shortened([False, True], 1))
def test_no_array_is_asked_whether_it_is_masked(tmp_path: Path, without_kernels: bool) -> None:
    """Arrow does so with what is given to it as numbers, and imports a module of numpy for that: 12 ms."""
    source, out = str(ROOT / "samples" / "contacts.csv"), str(tmp_path / "out")
    script = PREPARED.format(source=source, out=out, without_kernels=without_kernels)
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["True", "False"]
