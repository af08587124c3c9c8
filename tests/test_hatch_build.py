"""The kernels come into the wheel where a compiler is, and the wheel is made where none is."""

from __future__ import annotations

import importlib.machinery
import importlib.util
import os
import shutil
import tomllib
from pathlib import Path
from types import ModuleType

import pytest

from audiencekit.kernels.library import LIBRARY

ROOT = Path(__file__).parents[1]
pytestmark = pytest.mark.skipif(os.name != "posix", reason="the compiler of these tests is a shell script")


@pytest.fixture
def hook() -> ModuleType:
    """The module of the hook, which is in no package."""
    spec = importlib.util.spec_from_file_location("hatch_build", ROOT / "hatch_build.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _compiler(folder: Path, monkeypatch: pytest.MonkeyPatch, script: str) -> None:
    """The only compiler there is; `$library` is what it is to write."""
    command = folder / "bin" / "rustc"
    command.parent.mkdir()
    command.write_text(f"#!/bin/sh\nfor library; do :; done\n{script}\n")
    command.chmod(0o755)
    monkeypatch.setenv("PATH", f"{command.parent}:/usr/bin:/bin")


def test_the_compiler_works_where_no_folder_of_others_is_above(
    hook: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Compilers of rustup look for a rust-toolchain.toml in every folder above the one that they are called in."""
    _compiler(tmp_path, monkeypatch, 'pwd > "$library"')
    library = hook._compiled(ROOT / hook.CRATE, tmp_path)
    assert library == tmp_path / hook.MODULE
    assert library.read_text() == "/\n"


def test_the_options_are_those_of_the_manifest_and_of_the_user(
    hook: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`cargo test` and the installation optimise alike; paths of the machine are left out."""
    monkeypatch.setenv("RUSTFLAGS", "-C target-cpu=native")
    monkeypatch.setenv("CARGO_BUILD_TARGET", "some-other-machine")
    _compiler(tmp_path, monkeypatch, 'printf "%s\\n" "$@" > "$library"')
    given = hook._compiled(ROOT / hook.CRATE, tmp_path).read_text().splitlines()
    profile = tomllib.loads((ROOT / "kernels" / "Cargo.toml").read_text())["profile"]["release"]
    assert {"opt-level", "lto", "codegen-units"} <= set(profile)
    assert {f"-C{name}={str(value).lower()}" for name, value in profile.items()} <= set(given)
    assert {"--crate-type=cdylib", "--edition=2021", "--target=some-other-machine"} <= set(given)
    assert given[-4:-2] == ["-C", "target-cpu=native"]
    assert f"--remap-path-prefix={ROOT / 'kernels'}=kernels" in given


@pytest.mark.parametrize("script", ["exit 1", "echo no library"])
def test_without_a_library_the_wheel_is_made(
    script: str, hook: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A compiler that fails is no error, and is told."""
    _compiler(tmp_path, monkeypatch, script)
    assert hook._compiled(ROOT / hook.CRATE, tmp_path) is None
    assert "built without its kernels" in capsys.readouterr().err


def test_without_a_compiler_the_wheel_is_made(
    hook: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """That, too, is told."""
    monkeypatch.setenv("PATH", str(tmp_path))
    assert hook._compiled(ROOT / hook.CRATE, tmp_path) is None
    assert "no Rust compiler" in capsys.readouterr().err


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("rustc") is None, reason="there is no Rust compiler")
def test_nothing_planted_runs(hook: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Any user can put a configuration of cargo, or a toolchain for rustup, into a shared temporary folder.

    That two folders give the same bytes is shown by `.ci/wheel`.
    """
    ran = tmp_path / "ran"
    shared = tmp_path / "shared"
    tools = shared / "tools" / "bin"
    tools.mkdir(parents=True)
    shared.chmod(0o777)
    for name in ("rustc", "cargo", "wrapper"):
        (tools / name).write_text(f'#!/bin/sh\necho "$0" >> {ran}\nexec "$@"\n')
        (tools / name).chmod(0o755)
    (shared / ".cargo").mkdir()
    (shared / ".cargo" / "config.toml").write_text(f'[build]\nrustc-wrapper = "{tools / "wrapper"}"\n')
    (shared / "rust-toolchain.toml").write_text(f'[toolchain]\npath = "{tools.parent}"\n')
    monkeypatch.chdir(shared)  # pip, too, works below the temporary folder
    crate = shutil.copytree(ROOT / hook.CRATE, shared / hook.CRATE, ignore=shutil.ignore_patterns("target"))
    library = hook._compiled(crate, shared)
    assert not ran.exists()
    assert library is not None
    assert str(shared).encode() not in library.read_bytes()


def test_the_library_has_a_name_that_is_looked_for(hook: ModuleType, tmp_path: Path) -> None:
    """Systems differ in what they take for a compiled module."""
    (tmp_path / hook.MODULE).touch()
    found = importlib.machinery.PathFinder.find_spec(LIBRARY, [str(tmp_path)])
    assert found is not None
    assert found.origin == str(tmp_path / hook.MODULE)
