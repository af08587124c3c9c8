"""The kernels come into the wheel where cargo compiles them, and the wheel is made where it does not."""

from __future__ import annotations

import importlib.machinery
import importlib.util
import os
from pathlib import Path
from types import ModuleType

import pytest

from audiencekit.preparation.columnar.kernels.library import LIBRARY

ROOT = Path(__file__).parents[1]
pytestmark = pytest.mark.skipif(os.name != "posix", reason="the cargo of these tests is a shell script")


@pytest.fixture
def hook() -> ModuleType:
    """The module of the hook, which is in no package."""
    spec = importlib.util.spec_from_file_location("hatch_build", ROOT / "hatch_build.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _cargo(folder: Path, monkeypatch: pytest.MonkeyPatch, script: str) -> None:
    """The only cargo there is; its fifth argument is the target directory."""
    command = folder / "bin" / "cargo"
    command.parent.mkdir()
    command.write_text(f"#!/bin/sh\n{script}\n")
    command.chmod(0o755)
    monkeypatch.setenv("PATH", f"{command.parent}:/usr/bin:/bin")


@pytest.mark.parametrize("where", ["release", "some-other-machine/release"])
@pytest.mark.parametrize(
    "name", ["libaudiencekit_kernels.so", "libaudiencekit_kernels.dylib", "audiencekit_kernels.dll"]
)
def test_the_library_is_found(
    where: str, name: str, hook: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever the system calls it, and where a target is set; nothing beside it is taken for it."""
    script = f'cd "$5/.." && mkdir -p target/{where}/deps && cd target/{where} && touch {name} {name}.lib deps/{name}'
    _cargo(tmp_path, monkeypatch, script)
    assert hook._compiled(ROOT / hook.CRATE, tmp_path) == tmp_path / "target" / where / name


@pytest.mark.parametrize("script", ["exit 1", "echo no library"])
def test_without_a_library_the_wheel_is_made(
    script: str, hook: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A compiler that fails is no error, and is told."""
    _cargo(tmp_path, monkeypatch, script)
    assert hook._compiled(ROOT / hook.CRATE, tmp_path) is None
    assert "built without its kernels" in capsys.readouterr().err


def test_without_a_compiler_the_wheel_is_made(
    hook: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """That, too, is told."""
    monkeypatch.setenv("PATH", str(tmp_path))
    assert hook._compiled(ROOT / hook.CRATE, tmp_path) is None
    assert "no Rust compiler" in capsys.readouterr().err


def test_the_library_has_a_name_that_is_looked_for(hook: ModuleType, tmp_path: Path) -> None:
    """Systems differ in what they take for a compiled module."""
    (tmp_path / hook.MODULE).touch()
    found = importlib.machinery.PathFinder.find_spec(LIBRARY, [str(tmp_path)])
    assert found is not None
    assert found.origin == str(tmp_path / hook.MODULE)
