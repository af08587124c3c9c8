"""Pictures of the terminal for the documentation, of real runs: `python -m tests.terminal_pictures docs/images`."""

from __future__ import annotations

import io
import re
import subprocess
import sys
import tempfile
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
}
# No font is fetched from elsewhere: the reader's own one is good enough.
_FORMAT = re.sub(r"@font-face \{\{.*?\}\}\n", "", CONSOLE_SVG_FORMAT, flags=re.DOTALL)


def take_pictures(directory: Path) -> None:
    """Run each command, and write what it prints to a file of its name."""
    for name, arguments in COMMANDS.items():
        (directory / name).write_text(picture(arguments), encoding="utf-8")


def picture(arguments: tuple[str, ...]) -> str:
    """A terminal after `audiencekit` with these arguments, as SVG. Raises CalledProcessError when it fails."""
    with tempfile.TemporaryDirectory() as home:
        done = subprocess.run(
            [*COMMAND, *arguments], env=environment(Path(home)), cwd=ROOT, capture_output=True, text=True, check=True
        )
    console = Console(record=True, width=WIDTH, file=io.StringIO())
    console.print(Text(f"$ audiencekit {' '.join(arguments)}", style="bold green"))
    console.print(Text(done.stdout.rstrip()))
    svg = console.export_svg(title="audiencekit", code_format=_FORMAT, unique_id="terminal")
    return "\n".join(line.rstrip() for line in svg.splitlines()) + "\n"


if __name__ == "__main__":
    take_pictures(Path(sys.argv[1]))
