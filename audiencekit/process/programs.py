"""Programs that are started: by a path that no working directory chooses, and without our settings."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    import subprocess


OURS: Final = "AUDIENCEKIT_"  # the beginning of our variables, which hold secrets
_PATH: Final = "PATH"
_SUFFIXES: Final = ("", ".exe") if os.name == "nt" else ("",)
_NO_ENTRY: Final = os.devnull  # an empty PATH would be the working directory

_withheld: dict[str, str] = {}


def find_program(name: str) -> str | None:
    """Return the absolute path of a program of PATH; None when PATH has no such program.

    Entries of PATH that are relative or empty, or that are the working directory, are passed over. So is a `name` that
    is a relative path.
    """
    if os.path.dirname(name):
        return shutil.which(name) if os.path.isabs(name) else None
    for entry in _absolute_entries(os.environ.get(_PATH, os.defpath)):
        if not _is_working_directory(entry):
            for suffix in _SUFFIXES:
                # With its directory, the name is not looked for in the working directory first, as Windows does.
                if found := shutil.which(os.path.join(entry, name + suffix)):
                    return found
    return None


def program_environment() -> dict[str, str]:
    """The environment of a program: without our variables, and without relative entries of PATH."""
    others = {name: value for name, value in os.environ.items() if not name.upper().startswith(OURS)}
    return {**others, _PATH: _without_relative_entries(others.get(_PATH, os.defpath))}


def start_program(
    words: Sequence[str], *, more: Mapping[str, str] | None = None, directory: Path | None = None, **pipes: Any
) -> subprocess.Popen[bytes]:
    """Start a program, with `more` in its environment.

    Raises OSError, also for a program that is not named by an absolute path.
    """
    import subprocess

    if not os.path.isabs(words[0]):
        raise FileNotFoundError(2, "not an absolute path")
    return subprocess.Popen(  # noqa: S603
        list(words), env={**program_environment(), **(more or {})}, cwd=directory, **pipes
    )


def own_environment() -> dict[str, str]:
    """Return the environment of this process with the settings that child processes do not get."""
    return {**os.environ, **_withheld}


def withhold_settings() -> None:
    """Take our variables, and the relative entries of PATH, out of the environment that programs of libraries get.

    For a process of our own. Libraries start programs by themselves: for the proxy of an ssh configuration, or to find
    a compiler.
    """
    for name in [name for name in os.environ if name.upper().startswith(OURS)]:
        _withheld[name] = os.environ.pop(name)
    os.environ[_PATH] = _without_relative_entries(os.environ.get(_PATH, os.defpath))


@contextmanager
def without_path() -> Iterator[None]:
    """Libraries find no program by PATH in this context.

    asyncssh looks for two libraries by `gcc` and `ld` when it is imported, and these look into the working directory.
    """
    before = os.environ.get(_PATH)
    os.environ[_PATH] = _NO_ENTRY
    try:
        yield
    finally:
        del os.environ[_PATH]
        if before is not None:
            os.environ[_PATH] = before


def _absolute_entries(path: str) -> list[str]:
    return [entry for entry in path.split(os.pathsep) if os.path.isabs(entry)]


def _without_relative_entries(path: str) -> str:
    return os.pathsep.join(_absolute_entries(path)) or _NO_ENTRY


def _is_working_directory(entry: str) -> bool:
    try:
        return os.path.samefile(entry, os.curdir)
    except OSError:
        return False
