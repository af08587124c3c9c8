"""Open a page in the browser without its address on a command line, where other users of the machine could read it."""

from __future__ import annotations

import html
import os
import signal
import sys
import tempfile
from pathlib import Path
from types import TracebackType
from typing import Final, Self

from audiencekit.process.programs import start_program
from audiencekit.process.signals import ENDINGS
from audiencekit.state.files import NEW_FILE

_SILENT: Final = tuple(ending for ending in ENDINGS if ending != signal.SIGINT)  # Ctrl-C raises
# In a process without our secrets, which the browser would have from this one for as long as it is open.
_BOOT: Final = "import sys, webbrowser; sys.exit(not webbrowser.open(sys.argv[1]))"
_LEADING_ON: Final = """<!doctype html><html lang="en"><head><meta charset="utf-8"><title>audiencekit</title>
<meta name="referrer" content="no-referrer"><meta http-equiv="refresh" content="0; url={page}"></head>
<body><p><a href="{page}">Go on to log in</a></p></body></html>
"""


class Browser:
    """Opens pages through a redirecting file that only its owner can read. The file exists until the context ends."""

    def __init__(self) -> None:
        self._directory: tempfile.TemporaryDirectory[str] | None = None

    def open(self, page: str) -> bool:
        """Start a browser with a file that redirects to `page`; return whether one was started."""
        self.close()
        self._directory = tempfile.TemporaryDirectory(prefix="audiencekit-login-")  # 0700
        file = Path(self._directory.name) / "login.html"
        with os.fdopen(os.open(file, NEW_FILE, 0o600), "w", encoding="utf-8") as stream:
            stream.write(_LEADING_ON.format(page=html.escape(page)))
        return open_address(file.as_uri())

    def close(self) -> None:
        """Remove the file."""
        if self._directory is not None:
            self._directory.cleanup()
            self._directory = None

    def __enter__(self) -> Self:
        for ending in _SILENT:
            if signal.getsignal(ending) is signal.SIG_DFL:
                signal.signal(ending, self._end)
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None) -> None:
        self.close()
        for ending in _SILENT:
            if signal.getsignal(ending) == self._end:
                signal.signal(ending, signal.SIG_DFL)

    def _end(self, ending: int, _frame: object) -> None:
        """Remove the file, and end as the signal does by default."""
        self.close()
        signal.signal(ending, signal.SIG_DFL)
        os.kill(os.getpid(), ending)


def open_address(address: str) -> bool:
    """Open an address that other users of the machine may see; return whether a browser was started.

    No browser is taken from the working directory: the program starts in the root directory.
    """
    root = Path(sys.executable).anchor
    try:
        with start_program([sys.executable, "-I", "-c", _BOOT, address], directory=Path(root)) as process:
            return process.wait() == 0
    except OSError:
        return False
