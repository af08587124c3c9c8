"""Compiles the kernels into the wheel where a Rust compiler is there; without one the wheel is pure Python."""

from __future__ import annotations

import shutil
import subprocess
import sys
import sysconfig
import tempfile
from importlib.machinery import EXTENSION_SUFFIXES
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

CRATE = "kernels"
BUILT = "audiencekit_kernels"  # as cargo calls it, with what the system puts around it
MODULE = f"_audiencekit_kernels{EXTENSION_SUFFIXES[-1]}"  # as imports would find it, beside the package


class KernelsHook(BuildHookInterface[Any]):
    """Adds the library for this machine to wheels, and to editable installations."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Compile, in a copy: neither the checkout nor another build that runs at the same time is touched."""
        if self.target_name != "wheel":
            return
        self._directory = Path(tempfile.mkdtemp(prefix="audiencekit-kernels-"))
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
    """The library that `crate` is compiled into, below `directory`; None, and why, where that is not possible."""
    if shutil.which("cargo") is None:
        return _without("no Rust compiler (cargo) was found")
    copy = directory / "crate"
    shutil.copytree(crate, copy, ignore=shutil.ignore_patterns("target", "Cargo.lock"))
    build = ["cargo", "build", "--release", "--offline", "--target-dir", str(directory / "target")]
    finished = subprocess.run(build, cwd=copy, capture_output=True, text=True, check=False)
    # Where a target is set for cargo, it builds in a folder of that name.
    built = (directory / "target").glob(f"**/release/*{BUILT}.*")
    found = [path for path in built if path.suffix in (".so", ".dylib", ".dll")]
    if finished.returncode or len(found) != 1:
        return _without(f"cargo build gave no library:\n{finished.stderr}")
    return found[0]


def _without(reason: str) -> None:
    print(f"audiencekit is built without its kernels, and will be slower: {reason}", file=sys.stderr)
