"""The library of the kernels: found, or not."""

from __future__ import annotations

import ctypes
import importlib.machinery
import os
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from audiencekit.kernels import library as door
from audiencekit.kernels.library import LIBRARY, find_library

FILE = f"{LIBRARY}{importlib.machinery.EXTENSION_SUFFIXES[-1]}"
TELL = """
from audiencekit.kernels import library
opened = []
library.ctypes.CDLL = opened.append
library.find_library()
print(opened)
"""


def _found(monkeypatch: pytest.MonkeyPatch, place: Path, library: Any = None) -> ctypes.CDLL | None:
    monkeypatch.setattr(door, "_places", lambda: iter([str(place)]))
    if library is not None:
        monkeypatch.setattr(door.ctypes, "CDLL", lambda path: library)
    return find_library.__wrapped__()


def test_without_a_library_there_are_none(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """None is there, or a damaged one, or another release's, or something else of that name."""
    assert _found(monkeypatch, tmp_path / "nowhere") is None
    (tmp_path / FILE).write_bytes(b"nothing to be run")
    assert _found(monkeypatch, tmp_path) is None
    assert _found(monkeypatch, tmp_path, SimpleNamespace()) is None
    with pytest.warns(UserWarning, match="install audiencekit again"):
        assert _found(monkeypatch, tmp_path, SimpleNamespace(audiencekit_version=lambda: door.VERSION + 1)) is None
    assert _found(monkeypatch, tmp_path, SimpleNamespace(audiencekit_version=lambda: door.VERSION)) is not None


def test_it_stands_beside_the_package_or_among_installed_ones(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """An editable package lies elsewhere than the library that was compiled with it."""
    beside, installed = tmp_path / "beside", tmp_path / "installed"
    for place in (beside, installed):
        place.mkdir()
    monkeypatch.setattr(door, "__file__", str(beside / Path(door.__file__).relative_to(Path(door.__file__).parents[2])))
    monkeypatch.setattr(door.sysconfig, "get_path", lambda name: str(installed))
    monkeypatch.setattr(door.site, "ENABLE_USER_SITE", False)
    opened: list[str] = []
    monkeypatch.setattr(door.ctypes, "CDLL", opened.append)
    assert find_library.__wrapped__() is None
    assert opened == []
    for place in (installed, beside):
        (place / FILE).touch()
        importlib.invalidate_caches()  # two looks at a folder may fall into one tick of its clock
        find_library.__wrapped__()
    assert opened == [str(installed / FILE), str(beside / FILE)]


@pytest.mark.parametrize("path", [None, "", "{cwd}", "{cwd}:"], ids=["unset", "empty", "named", "and-empty"])
def test_none_is_taken_from_the_working_directory(path: str | None, tmp_path: Path) -> None:
    """Python looks there for modules under `-c` and `-m`, and where PYTHONPATH has an empty entry."""
    (tmp_path / FILE).write_bytes(b"from an archive")
    environment = {**os.environ, "PYTHONPATH": "" if path is None else path.format(cwd=tmp_path)}
    if path is None:
        del environment["PYTHONPATH"]
    said = subprocess.run(
        [sys.executable, "-c", TELL], cwd=tmp_path, env=environment, capture_output=True, text=True, check=True
    )
    assert str(tmp_path) not in said.stdout
