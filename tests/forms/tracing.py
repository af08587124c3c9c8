"""All bytes that a command and its children write to files, as the kernel sees them (strace)."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Iterator, Mapping
from pathlib import Path

from tests.strace import strace

# Every call that puts bytes into a file, and the one that lets memory be a file.
_CALLS = "write,pwrite64,writev,pwritev,pwritev2,sendfile,splice,tee,vmsplice,copy_file_range,mmap"
_CALL = re.compile(r"(?:^|\] |\d )(\w+)\((.*)$")
_FIRST_FILE = re.compile(r"^\d+<(/[^>]*)>")
_ANY_FILE = re.compile(r"\d+<(/[^>]*)>")
_TEXT = re.compile(r'"((?:[^"\\]|\\.)*)"')
_NO_FILES = re.compile("/dev/(?!shm/)|/proc/|/memfd:")
# SQLite's index of a journal that several processes share: numbers of pages, and no cells.
_INDEX = "-shm"


class Traced:
    """A command that has ended, and the bytes that it wrote to each file."""

    def __init__(self, done: subprocess.CompletedProcess[str], lines: list[str]) -> None:
        self.done = done
        self.written: dict[str, bytes] = {}
        self.odd: list[str] = []  # files that were written to in a way that shows no bytes
        for line in lines:
            if found := _CALL.search(line):
                self._take(found[1], found[2])

    def _take(self, call: str, arguments: str) -> None:
        if call == "mmap":
            shared = "MAP_SHARED" in arguments and "PROT_WRITE" in arguments
            files = [name for name in _files(_ANY_FILE.findall(arguments)) if not name.endswith(_INDEX)]
            self.odd += files if shared else []
        elif "write" in call:
            for name in _files(_FIRST_FILE.findall(arguments)):
                self.written[name] = self.written.get(name, b"") + b"".join(_texts(arguments))
        else:
            self.odd += _files(_ANY_FILE.findall(arguments))


def _files(names: list[str]) -> list[str]:
    return [name for name in names if not _NO_FILES.match(name)]


def _texts(arguments: str) -> Iterator[bytes]:
    for text in _TEXT.findall(arguments):
        yield text.encode("latin-1").decode("unicode_escape").encode("latin-1")


def traced(command: list[str], env: Mapping[str, str], cwd: Path, trace: Path) -> Traced:
    """Run the command under strace, all of its children with it."""
    tracing = strace("-ff", "-y", "-s", "100000000", "-e", f"trace={_CALLS}", "-e", "signal=none", "-o", str(trace))
    done = subprocess.run(
        [*tracing, *command], env={**os.environ, **env}, cwd=cwd, capture_output=True, text=True, check=False
    )
    lines = [line for file in trace.parent.glob(f"{trace.name}.*") for line in file.read_text("latin-1").splitlines()]
    return Traced(done, lines)
