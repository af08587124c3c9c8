"""Pictures of the terminal for the documentation, of real runs: `python -m tests.terminal_pictures docs/images`."""

from __future__ import annotations

import contextlib
import io
import json
import os
import pty
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from rich._export_format import CONSOLE_SVG_FORMAT
from rich.console import Console
from rich.text import Text

from tests.processes import COMMAND, environment

ROOT = Path(__file__).resolve().parents[1]
WIDTH = 96
COMMANDS = {
    "demo.svg": ("demo",),
    "check.svg": ("check", "samples/contacts.csv"),
    "upload.svg": ("upload", "samples/contacts.csv", "--audience", "dlzxk"),
    "sync.svg": ("sync", "samples/contacts.csv", "--audience", "dlzxk", "--dry-run"),
    "runs.svg": ("runs",),
}
BEFORE = {"runs.svg": ("upload.svg",)}  # what the run that is shown takes for granted
# No font is fetched from elsewhere: the reader's own one is good enough.
_FORMAT = re.sub(r"@font-face \{\{.*?\}\}\n", "", CONSOLE_SVG_FORMAT, flags=re.DOTALL)


def take_pictures(directory: Path) -> None:
    """Run each command, and write what it prints to a file of its name."""
    for name, arguments in COMMANDS.items():
        (directory / name).write_text(picture(arguments), encoding="utf-8")


@contextlib.contextmanager
def _emulator(home: Path) -> Iterator[dict[str, str]]:
    """The environment that leads to an emulator."""
    with subprocess.Popen([*COMMAND, "emulator"], env=environment(home), stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            yield json.loads(process.stdout.readline())["env"]
        finally:
            process.terminate()


def _shown(arguments: tuple[str, ...], env: dict[str, str]) -> str:
    """The stdout of the command on a terminal. Raises CalledProcessError when it fails."""
    ours, theirs = pty.openpty()
    with subprocess.Popen(
        [*COMMAND, *arguments], env=env, cwd=ROOT, stdout=theirs, stderr=subprocess.DEVNULL
    ) as process, open(ours, "rb", buffering=0) as terminal:  # fmt: skip
        os.close(theirs)
        told = b""
        with contextlib.suppress(OSError):  # which says that the other end is closed
            while block := terminal.read(65_536):
                told += block
    if process.returncode:
        raise subprocess.CalledProcessError(process.returncode, process.args)
    return told.decode().replace("\r\n", "\n")


def picture(arguments: tuple[str, ...]) -> str:
    """A terminal after `audiencekit` with these arguments, as SVG. Raises CalledProcessError when it fails."""
    name = next(name for name, known in COMMANDS.items() if known == arguments)
    with tempfile.TemporaryDirectory() as home, _emulator(Path(home)) as service:
        for each in (*(COMMANDS[one] for one in BEFORE.get(name, ())), arguments):
            shown = _shown(each, environment(Path(home), {**service, "COLUMNS": str(WIDTH), "NO_COLOR": "1"}))
    console = Console(record=True, width=WIDTH, file=io.StringIO())
    console.print(Text(f"$ audiencekit {' '.join(arguments)}", style="bold green"))
    console.print(Text(shown.rstrip()))
    svg = console.export_svg(title="audiencekit", code_format=_FORMAT, unique_id="terminal")
    return "\n".join(line.rstrip() for line in svg.splitlines()) + "\n"


if __name__ == "__main__":
    take_pictures(Path(sys.argv[1]))
