"""The promised names."""

from __future__ import annotations

import importlib
import pkgutil
import subprocess
import sys
import typing
from pathlib import Path

import pytest

import audiencekit

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
    "datafusion",
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


def test_every_promised_name_stays_callable_after_every_module_was_imported() -> None:
    """No folder or module may take the name of a promised function."""
    for module in pkgutil.walk_packages(audiencekit.__path__, "audiencekit."):
        if module.name != "audiencekit.__main__":
            _import(module.name)
    for name in audiencekit.__all__:
        assert callable(getattr(audiencekit, name)), name


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


@pytest.mark.parametrize(
    "code",
    [
        "import audiencekit",
        COMMAND.format("'--help'"),
        COMMAND.format("'upload', '--help'"),
    ],
)
def test_help_and_import_are_light(code: str) -> None:
    """Neither loads a library that takes its time."""
    script = f"import sys\n{code}\nprint('loaded:', sorted(set({HEAVY!r}) & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "loaded: []"


def test_a_command_leaves_pandas_out() -> None:
    """Arrow would import it, wherever it is installed, and no command has a use for it."""
    script = (
        f"import sys\n{COMMAND}".format("'--help'")
        + "\nimport pyarrow\npyarrow.array(['a'])\nprint('pandas' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "False"


@pytest.mark.parametrize("name", audiencekit.__all__)
def test_hints_can_be_resolved(name: str) -> None:
    """By whoever looks at signatures at run time: what they name is there."""
    typing.get_type_hints(getattr(audiencekit, name))


def test_who_only_checks_loads_nothing_that_waits_or_writes(tmp_path: Path) -> None:
    """An event loop and Parquet take 50 ms, a fifth of the time that a short list takes."""
    (tmp_path / "contacts.csv").write_text("email\nann@larchpost.example\n")
    script = f"import sys\n{COMMAND}".format(f"'check', {str(tmp_path / 'contacts.csv')!r}")
    script += "\nprint('loaded:', sorted({'aiohttp', 'asyncio', 'pyarrow.parquet', 'pyarrow.fs'} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "loaded: []"


def test_who_only_reads_loads_no_http() -> None:
    """It takes 10 MB of memory."""
    script = "import sys\nfrom audiencekit import check, prepare\nprint('aiohttp' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False"]
