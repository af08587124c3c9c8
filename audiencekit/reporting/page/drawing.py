"""Draw the pictures of a page in a separate process: matplotlib reads a configuration of the working directory."""

from __future__ import annotations

import importlib.util
import json
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Final

from audiencekit.errors import InputOutputFailed
from audiencekit.process.programs import start_program
from audiencekit.reporting.page.page_parts import Picture
from audiencekit.state.directory import make_missing, user_directory
from audiencekit.state.files import make_private_directory

# Its modules are those of this process, and none of the working directory, which is another one there.
_BOOT: Final = """
import json, sys
sys.path[:] = json.loads(sys.stdin.buffer.readline())
from audiencekit.reporting.page.pictures import main
main()
"""


def draws() -> bool:
    """Whether the extra `html` is installed."""
    return importlib.util.find_spec("matplotlib") is not None


def draw(pictures: Sequence[Picture]) -> list[str]:
    """Return each picture as SVG, in the same order. Raises InputOutputFailed when they cannot be drawn."""
    if not pictures:
        return []
    asked = json.dumps([(type(picture).__name__, asdict(picture)) for picture in pictures])
    paths = json.dumps([str(Path(path).absolute()) for path in sys.path])
    with _configuration() as directory:
        try:
            process = start_program(
                [sys.executable, "-P", "-c", _BOOT],
                more={"MPLCONFIGDIR": str(directory), "MATPLOTLIBRC": str(directory), "MPLBACKEND": "svg"},
                directory=directory,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,  # matplotlib quotes what it does not know
            )
        except OSError as error:
            raise _failed(error.strerror or "it cannot be started") from None
        with process:
            drawn, _ = process.communicate(f"{paths}\n{asked}".encode())
    if process.returncode:
        raise _failed(f"exit code {process.returncode}")
    found: list[str] = json.loads(drawn)
    return found


@contextmanager
def _configuration() -> Iterator[Path]:
    """Yield a private directory where matplotlib stores the fonts of the machine; a temporary one if need be."""
    caches = user_directory("cache")
    if caches is not None:
        directory = caches / "matplotlib"
        try:
            make_missing(caches.parent)
            make_private_directory(caches)
            make_private_directory(directory)
        except (OSError, InputOutputFailed):
            pass
        else:
            yield directory
            return
    with tempfile.TemporaryDirectory(prefix="audiencekit-pictures-") as passing:
        yield Path(passing)


def _failed(why: str) -> InputOutputFailed:
    return InputOutputFailed(
        f"the process that draws the pictures of the page ended: {why}", hint="leave out the page to have the rest"
    )
