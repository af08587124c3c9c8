"""strace, with the right to look into a process that keeps its memory to itself, as each command does.

Root has it. Another user has it as root of a namespace of users, where the system allows one; elsewhere strace shows
addresses in place of names, and no call fails on one file alone.
"""

from __future__ import annotations

import subprocess
import sys
from functools import cache

import pytest

_WAYS = ([], ["unshare", "--user", "--map-root-user"])
_OPTIONS = ["--seccomp-bpf", "-f", "-y", "-e", "trace=mkdirat", "-e", "inject=mkdirat:error=EIO", "-o", "/dev/stdout"]
_SCRIPT = """
import os
from audiencekit.process.startup import prevent_dumps
prevent_dumps()
os.mkdir("named", dir_fd=os.open("/", os.O_RDONLY))
"""


def strace(*options: str) -> list[str]:
    """The begin of a command that is traced; skips the test where names are not seen."""
    way = _way()
    if way is None:
        pytest.skip("strace is not installed, or shows no names here")
    return [*way, "strace", *options]


@cache
def _way() -> list[str] | None:
    return next(filter(_shows_names, _WAYS), None)


def _shows_names(way: list[str]) -> bool:
    """Those in memory, and those of open files; and calls can be made to fail."""
    command = [*way, "strace", *_OPTIONS, sys.executable, "-c", _SCRIPT]
    try:
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, check=False)
    except FileNotFoundError:
        return False
    return '</>, "named"' in done.stdout and "INJECTED" in done.stdout
