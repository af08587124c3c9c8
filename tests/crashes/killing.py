"""Commands that end where they are told to, and how they ended."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.moments import PATIENCE_SECONDS

ROOT = Path(__file__).resolve().parent.parent.parent


@dataclass(frozen=True)
class Ended:
    """How a process ended; negative for a signal."""

    code: int
    out: str
    err: str


class Driver:
    """`tests.crashes.driver` in another process, for all tests: it imports everything once."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[str] | None = None

    async def run(
        self,
        directory: Path,
        env: dict[str, str],
        *argv: str,
        stdin: str = os.devnull,
        kill: dict[str, Any] | None = None,
        ahead_seconds: float = 0,
    ) -> Ended:
        """One command from start to end."""
        job = {
            "argv": argv, "env": env, "directory": str(directory), "stdin": stdin, "kill": kill,
            "ahead_seconds": ahead_seconds,
        }  # fmt: skip
        code = await asyncio.to_thread(self._ask, json.dumps(job))
        return Ended(code, (directory / "out").read_text(), (directory / "err").read_text())

    def _ask(self, job: str) -> int:
        if self._process is None:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "tests.crashes.driver"], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                text=True, cwd=ROOT, env={**os.environ, "PYTHONPATH": "."},
            )  # fmt: skip
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(f"{job}\n")
        self._process.stdin.flush()
        return int(self._process.stdout.readline())

    def close(self) -> None:
        """End the process."""
        if self._process is not None:
            self._process.communicate(timeout=PATIENCE_SECONDS)
