"""The library of the kernels: found, or not."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from audiencekit.preparation.columnar.kernels import library as door
from audiencekit.preparation.columnar.kernels.library import Kernels, kernels


def _found(monkeypatch: pytest.MonkeyPatch, spec: Any, library: Any = None) -> Kernels | None:
    monkeypatch.setattr(door.importlib.util, "find_spec", lambda name: spec)
    if library is not None:
        monkeypatch.setattr(door.ctypes, "CDLL", lambda path: library)
    return kernels.__wrapped__()


def test_without_a_library_there_are_none(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """None is there, or a damaged one, or another release's, or something else of that name."""
    assert _found(monkeypatch, None) is None
    damaged = tmp_path / "library.so"
    damaged.write_bytes(b"nothing to be run")
    spec = SimpleNamespace(origin=str(damaged))
    assert _found(monkeypatch, SimpleNamespace(origin=None)) is None
    assert _found(monkeypatch, spec) is None
    assert _found(monkeypatch, spec, SimpleNamespace()) is None
    assert _found(monkeypatch, spec, SimpleNamespace(audiencekit_version=lambda: door.VERSION + 1)) is None
    assert _found(monkeypatch, spec, SimpleNamespace(audiencekit_version=lambda: door.VERSION)) is not None
