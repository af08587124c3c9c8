"""A redis-server of one's own on a free port, which keeps nothing: for the tests and the soak of the limiter."""

from __future__ import annotations

import re
import socket
import subprocess
import time
from pathlib import Path
from typing import Final

from audiencekit.personal import Secret

_PATIENCE_SECONDS: Final = 20.0
_SCRIPT_CALLS: Final = re.compile(r"cmdstat_(?:eval|evalsha):calls=(\d+),")


class RedisServer:
    """Runs from the start; `arguments` go to redis-server. Raises RuntimeError when it does not start."""

    def __init__(self, folder: Path, *arguments: str) -> None:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        self._command = ["redis-server", "--port", str(self.port), "--bind", "127.0.0.1", "--save", "", *arguments]
        self._folder = folder
        self.start()

    @property
    def address(self) -> Secret:
        """What the limiter is told."""
        return Secret(f"redis://127.0.0.1:{self.port}/0")

    def start(self) -> None:
        """Starts it, at first or again; it answers when this returns."""
        self._process = subprocess.Popen(self._command, cwd=self._folder, stdout=subprocess.DEVNULL)
        deadline = time.monotonic() + _PATIENCE_SECONDS
        while True:
            try:
                socket.create_connection(("127.0.0.1", self.port), timeout=1.0).close()
                return
            except OSError:
                if time.monotonic() >= deadline:
                    self.stop()
                    raise RuntimeError("redis-server does not start") from None
                time.sleep(0.02)

    def stop(self) -> None:
        """Kills it: what it knew is gone."""
        self._process.kill()
        self._process.wait()

    def ask(self, *words: str) -> str:
        """The answer to a short command, as it stands on the wire."""
        with socket.create_connection(("127.0.0.1", self.port), timeout=5.0) as connection:
            connection.sendall(" ".join(words).encode() + b"\r\n")
            return connection.recv(65_536).decode()

    def script_calls(self) -> int:
        """How often a script was called since the start, or the last `CONFIG RESETSTAT`."""
        return sum(map(int, _SCRIPT_CALLS.findall(self.ask("INFO", "commandstats"))))
