"""Environments in which tools are installed, each with its own, and the command lines that call their functions."""

from __future__ import annotations

import hashlib
import shutil
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from audiencekit.identifiers.kinds import Kind
from benchmarks.other_tools.tools import Language, Tool

_HERE: Final = Path(__file__).resolve().parent


class NotInstalled(Exception):
    """A tool cannot be installed here; its text says why."""


@dataclass(frozen=True, slots=True)
class Environment:
    """A folder in which a tool is installed."""

    tool: Tool
    folder: Path

    def command(self, kind: Kind, form: str) -> list[str]:
        """The program that prints the digests of values of `kind`: `form` is `lines` or `pairs`."""
        given = [self.tool.setup, self.tool.calls[kind], form]
        if self.tool.language is Language.NODE:
            return ["node", str(_HERE / "call_function.js"), *given, str(self.folder)]
        # Without -I, modules of this folder would be in front of those of the tool.
        return [str(_python(self.folder)), "-I", str(_HERE / "call_function.py"), *given]


def place_of(tool: Tool, folder: Path) -> Path:
    """The folder of the environment of `tool` below `folder`: of what it installs, and the same for all who do."""
    name = hashlib.sha256(" ".join(tool.requirements).encode()).hexdigest()[:12]
    return folder / f"{tool.language.value.lower()}-{name}"


def install(tool: Tool, folder: Path) -> Environment:
    """Install `tool` below `folder`, unless it is there. Raises NotInstalled.

    The caches of the clients are there, too. Scripts of npm packages are not run.
    """
    found = place_of(tool, folder)
    if not (found / "installed").exists():
        shutil.rmtree(found, ignore_errors=True)
        install_in = _install_node if tool.language is Language.NODE else _install_python
        install_in(tool.requirements, found, folder)
        (found / "installed").touch()
    return Environment(tool, found)


def _install_python(requirements: Sequence[str], found: Path, folder: Path) -> None:
    _run([sys.executable, "-m", "venv", str(found)])
    options = ["--quiet", "--disable-pip-version-check", "--cache-dir", str(folder / "pip")]
    _run([str(_python(found)), "-m", "pip", "install", *options, *requirements])


def _install_node(requirements: Sequence[str], found: Path, folder: Path) -> None:
    npm = shutil.which("npm")
    if npm is None or shutil.which("node") is None:
        raise NotInstalled("node and npm are not found")
    found.mkdir(parents=True)
    options = ["--ignore-scripts", "--no-audit", "--no-fund", "--silent", "--cache", str(folder / "npm")]
    _run([npm, "install", "--prefix", str(found), *options, *requirements])


def _python(found: Path) -> Path:
    return found / ("Scripts" if sys.platform == "win32" else "bin") / "python"


def _run(words: Sequence[str]) -> None:
    try:
        code = subprocess.run(words, stdout=subprocess.DEVNULL, check=False).returncode
    except OSError as error:
        raise NotInstalled(f"{Path(words[0]).name} cannot be started: {error.strerror}") from None
    if code:
        client = "npm" if "--prefix" in words else "pip" if "pip" in words else "venv"
        raise NotInstalled(f"{client} ended with exit code {code}")
