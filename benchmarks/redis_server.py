"""A redis-server of one's own on a free port, which keeps nothing: for the tests and the soak of the limiter."""

from __future__ import annotations

import asyncio
import re
import socket
import subprocess
import time
from pathlib import Path
from typing import Final, Self

from audiencekit.personal import Secret

_PATIENCE_SECONDS: Final = 20.0
_SCRIPT_CALLS: Final = re.compile(r"cmdstat_(?:eval|evalsha):calls=(\d+),")


class RedisServer:
    """Runs from the start; `arguments` go to redis-server. Raises RuntimeError when it does not start."""

    def __init__(self, folder: Path, *arguments: str) -> None:
        # Bound to its end, so that the system gives the port to no other process while the server is down.
        self._keeper = socket.socket()
        self._keeper.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        self._keeper.bind(("127.0.0.1", 0))
        self.port = self._keeper.getsockname()[1]
        self._command = ["redis-server", "--port", str(self.port), "--bind", "127.0.0.1", "--save", "", *arguments]
        self._folder = folder
        self.start()

    @property
    def address(self) -> Secret:
        """Return the address for the limiter."""
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
                    self.close()
                    raise RuntimeError("redis-server does not start") from None
                time.sleep(0.02)

    def stop(self) -> None:
        """Kills it: what it knew is gone."""
        self._process.kill()
        self._process.wait()

    def close(self) -> None:
        """Kills it for good."""
        self.stop()
        self._keeper.close()

    def ask(self, *words: str) -> str:
        """The answer to a short command, as it stands on the wire."""
        with socket.create_connection(("127.0.0.1", self.port), timeout=5.0) as connection:
            connection.sendall(" ".join(words).encode() + b"\r\n")
            return connection.recv(65_536).decode()

    def script_calls(self) -> int:
        """How often a script was called since the start, or the last `CONFIG RESETSTAT`."""
        return sum(map(int, _SCRIPT_CALLS.findall(self.ask("INFO", "commandstats"))))


class RestartedRedis(RedisServer):
    """A server that is killed and started again `every_seconds` (0: never); a context manager that ends it."""

    def __init__(self, folder: Path, *, every_seconds: float) -> None:
        super().__init__(folder)
        self._every_seconds = every_seconds
        self._calls = self.restarts = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    async def restart_for(self, seconds: float) -> None:
        """Restarts it in the middle of `seconds`, as often as there is time."""
        self.ask("CONFIG", "RESETSTAT")
        for _ in range(int(seconds / self._every_seconds - 0.5) if self._every_seconds else 0):
            await asyncio.sleep(self._every_seconds)
            self._calls += self.script_calls()
            self.stop()
            await asyncio.to_thread(self.start)
            self.restarts += 1

    def all_script_calls(self) -> int:
        """How often a script was called since `restart_for` began, but for the moment before a restart."""
        return self._calls + self.script_calls()
