"""Commands on a terminal of their own, and what of all that they show could act there."""

from __future__ import annotations

import os
import pty
import re
import threading
import time
import urllib.parse
import urllib.request
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from audiencekit.emulator.faults.replies import FORGED
from tests.forking import FASTER
from tests.moments import PATIENCE_SECONDS
from tests.processes import Commands, Forked, Process

FASTER_TIMES: Final = 1_000
_OWN: Final = {"TERM": "xterm", "COLUMNS": "100", "COLORTERM": "", "NO_COLOR": "", FASTER: str(FASTER_TIMES)}
# All that our bars and messages are drawn with on such a terminal, letter for letter: the cursor hidden and shown, a
# line cleared, the cursor a line up, colours, and bold letters. Nothing that a hostile service says is among it.
_OURS: Final = re.compile(r"\x1b\[(?:\?25[lh]|2K|1A|[01]m|3[0-7]m|9[0-7]m)")


@dataclass(frozen=True)
class Shown:
    """A command that ended: all that it showed, its exit code, how long it took, and the most memory that it had."""

    text: str
    code: int
    seconds: float
    peak_bytes: int

    @property
    def acting(self) -> list[str]:
        """Every character that is not our own and does something, and every line that we did not write."""
        left = _OURS.sub("", self.text).replace("\r\n", "\n")
        acting = {f"U+{ord(sign):04X}" for sign in left if not (sign.isprintable() or sign in "\n\r")}
        lone = [part for line in left.split("\n") for part in line.split("\r")]
        return sorted(acting) + [part for part in lone if part.startswith(FORGED)]


class Terminal:
    """Runs commands on a terminal of their own, in `directory`. Their waits pass FASTER_TIMES as fast."""

    def __init__(self, commands: Commands, directory: Path, env: Mapping[str, str]) -> None:
        self._commands, self._directory, self._env = commands, directory, {**env, **_OWN}

    def run(self, *arguments: str, typed: str = "", answering: bool = False) -> Shown:
        """One command; with `answering`, its page is answered before `typed` is given. One that does not end in
        PATIENCE_SECONDS is killed, and raises TimeoutExpired."""
        terminal, its_end = pty.openpty()
        began = time.monotonic()
        process = self._commands.begin(
            *arguments, env=self._env, cwd=self._directory, stdin=its_end, stdout=its_end, stderr=its_end
        )
        os.close(its_end)
        assert isinstance(process, Forked)
        shown = bytearray()
        reader = threading.Thread(target=_read, args=(terminal, shown))
        reader.start()
        try:
            if answering:
                _answer(shown, reader)
            if typed:
                os.write(terminal, typed.encode())
            code = _await(process)
        finally:
            reader.join(timeout=PATIENCE_SECONDS)
            os.close(terminal)
        return Shown(shown.decode("utf-8", "surrogateescape"), code, time.monotonic() - began, process.peak_bytes)


def _await(process: Process) -> int:
    try:
        return process.wait(timeout=PATIENCE_SECONDS)
    except BaseException:
        process.kill()
        process.wait()
        raise


def _read(terminal: int, shown: bytearray) -> None:
    while True:
        try:
            part = os.read(terminal, 65_536)
        except OSError:  # the other end is closed
            return
        shown.extend(part)


def _answer(shown: bytearray, reader: threading.Thread) -> None:
    """Press the button of the page that is shown."""
    while (found := re.search(rb"allow access: (http\S+)\r", bytes(shown))) is None:
        assert reader.is_alive(), bytes(shown)
        reader.join(timeout=0.05)
    page = found[1].decode()
    form = {**dict(urllib.parse.parse_qsl(urllib.parse.urlsplit(page).query)), "decision": "approve"}
    urllib.request.urlopen(
        page.partition("?")[0], urllib.parse.urlencode(form).encode(), timeout=PATIENCE_SECONDS
    ).close()
