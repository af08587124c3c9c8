"""Compiles the kernels into the wheel where a Rust compiler is there; without one the wheel is pure Python.

The compiler is called without cargo, which reads configuration from every folder above the one it works in: below a
shared temporary folder that of any user, and it may name programs to run. The crate has no dependencies.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
import sysconfig
import tempfile
import tomllib
from importlib.machinery import EXTENSION_SUFFIXES
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

CRATE = "kernels"
SOURCES = "AUDIENCEKIT_KERNELS_SOURCES"  # where `lib.rs` finds `digest_of`
MODULE = f"_audiencekit_kernels{EXTENSION_SUFFIXES[-1]}"  # as imports would find it, beside the package


class KernelsHook(BuildHookInterface[Any]):
    """Adds the library for this machine to wheels, and to editable installations."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Compile, in a folder of ours: neither the checkout nor another build at the same time is touched."""
        if self.target_name != "wheel":
            return
        self._directory = Path(tempfile.mkdtemp(prefix="audiencekit-kernels-"))  # 0700
        library = _compiled(Path(self.root) / CRATE, self._directory)
        if library is None:
            return
        platform = sysconfig.get_platform().replace("-", "_").replace(".", "_")
        build_data["pure_python"] = False
        build_data["tag"] = f"py3-none-{platform}"
        build_data["force_include"][str(library)] = MODULE
        build_data.setdefault("force_include_editable", {})[str(library)] = MODULE

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        """Nothing of it stays behind."""
        if directory := getattr(self, "_directory", None):
            shutil.rmtree(directory, ignore_errors=True)


def _compiled(crate: Path, directory: Path) -> Path | None:
    """The library that `crate` is compiled into, in `directory`; None, and why, where that is not possible."""
    compiler = shutil.which(os.environ.get("RUSTC", "rustc"))
    if compiler is None:
        return _without("no Rust compiler (rustc) was found")
    library = directory / MODULE
    # rustup's compiler looks for a rust-toolchain.toml in every folder above; above the root there is none.
    finished = subprocess.run(
        [Path(compiler).absolute(), *_arguments(crate.absolute(), library)],
        cwd=library.anchor, env={**os.environ, SOURCES: digest_of(crate)}, capture_output=True, text=True, check=False,
    )  # fmt: skip
    if finished.returncode or not library.exists():
        return _without(f"rustc gave no library:\n{finished.stderr}")
    return library


def digest_of(crate: Path) -> str:
    """16 hexadecimal digits of what is compiled. Two branches may give other sources the same version."""
    digest = hashlib.sha256()
    for path in [crate / "Cargo.toml", *sorted((crate / "src").rglob("*.rs"))]:
        content = path.read_bytes()
        digest.update(f"{path.relative_to(crate).as_posix()} {len(content)}\n".encode() + content)
    return digest.hexdigest()[:16]


def _arguments(crate: Path, library: Path) -> list[str]:
    """The arguments that cargo would give to the compiler: from the manifest, and from the environment of the user."""
    manifest = tomllib.loads((crate / "Cargo.toml").read_text("utf-8"))
    described, profile = manifest["lib"], manifest["profile"]["release"]
    options = [f"-C{name}={str(value).lower()}" for name, value in profile.items()]
    target = os.environ.get("CARGO_BUILD_TARGET")
    return [
        str(crate / "src" / "lib.rs"),
        f"--crate-name={described['name']}",
        f"--crate-type={described['crate-type'][0]}",
        f"--edition={manifest['package']['edition']}",
        f"--remap-path-prefix={crate}={CRATE}",  # the same bytes wherever the sources lie
        *options,
        *([f"--target={target}"] if target else []),
        *os.environ.get("RUSTFLAGS", "").split(),
        "-o",
        str(library),
    ]


def _without(reason: str) -> None:
    lost = "every result is the same, and large lists take more time"
    cure = "to have them, install a wheel, or Rust 1.88 or later; then `pip install --force-reinstall --no-cache-dir`"
    print(f"audiencekit is built without its kernels: {lost}; {cure}. {reason}", file=sys.stderr)
