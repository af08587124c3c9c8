"""Starts the program many times without loading it each time: a process that has its modules, and forks.

The campaign alone uses it (`--preload`): most of the time of a short run is the loading of modules.
"""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
from pathlib import Path

LOADED = ("upload", "sync", "forget", "resume", "resume_erasure")

SERVE = "from tests.raw_service import preloaded; preloaded.serve()"


class Preloaded:
    """One process per size of bodies, because settings of limits come before all other modules."""

    def __init__(self) -> None:
        self.parents: dict[str, asyncio.subprocess.Process] = {}

    async def start(self, settings: str, arguments: list[str], environment: dict[str, str], directory: Path) -> Child:
        if settings not in self.parents:
            self.parents[settings] = await asyncio.create_subprocess_exec(
                sys.executable, "-c", f"import audiencekit.limits as l;{settings}{SERVE}", stdin=-1,
                env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])},
            )  # fmt: skip
        child = Child(directory, f"{len(list(directory.glob('*.exit')))}")
        order = {"arguments": arguments, "environment": environment, "directory": str(directory), "name": child.name}
        stdin = self.parents[settings].stdin
        assert stdin is not None
        stdin.write(json.dumps(order).encode() + b"\n")
        await stdin.drain()
        return child

    async def end(self) -> None:
        for parent in self.parents.values():
            assert parent.stdin is not None
            parent.stdin.close()
            await parent.wait()


class Child:
    """A forked program; it looks like a subprocess as far as the campaign needs."""

    def __init__(self, directory: Path, name: str) -> None:
        self.directory, self.name = directory, name
        self.returncode: int | None = None

    def file(self, end: str) -> Path:
        return self.directory / f"{self.name}.{end}"

    async def communicate(self) -> tuple[bytes, bytes]:
        while not self.file("exit").exists():
            await asyncio.sleep(0.02)
        self.returncode = int(self.file("exit").read_text())
        return self.file("out").read_bytes(), self.file("err").read_bytes()

    def _signal(self, number: int) -> None:
        if self.file("pid").exists() and not self.file("exit").exists():
            os.kill(int(self.file("pid").read_text()), number)

    def kill(self) -> None:
        self._signal(signal.SIGKILL)

    def terminate(self) -> None:
        self._signal(signal.SIGTERM)


def written(path: str, text: str) -> None:
    Path(f"{path}.part").write_text(text)
    os.replace(f"{path}.part", path)


def serve() -> None:
    """Load the program, then fork it for each line of stdin."""
    import audiencekit
    from audiencekit.__main__ import start

    for name in LOADED:
        getattr(audiencekit, name)
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    for line in sys.stdin:
        if os.fork() == 0:
            watch(json.loads(line), start)


def watch(order: dict[str, object], start: object) -> None:
    """Fork the program, wait for it, and write how it ended."""
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    base = f"{order['directory']}/{order['name']}"
    child = os.fork()
    if child == 0:
        run(order, start, base)
    written(f"{base}.pid", str(child))
    _, status = os.waitpid(child, 0)
    written(f"{base}.exit", str(os.waitstatus_to_exitcode(status)))
    os._exit(0)


def run(order: dict[str, object], start: object, base: str) -> None:
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.dup2(os.open(f"{base}.out", os.O_WRONLY | os.O_CREAT, 0o600), 1)
    os.dup2(os.open(f"{base}.err", os.O_WRONLY | os.O_CREAT, 0o600), 2)
    os.chdir(str(order["directory"]))
    os.environ.clear()
    os.environ.update(order["environment"])  # type: ignore[call-overload]
    sys.argv = ["audiencekit", *order["arguments"]]  # type: ignore[misc]
    code: object = 1
    try:
        start()  # type: ignore[operator]
        code = 0
    except SystemExit as ending:
        code = ending.code or 0
    except BaseException:
        import traceback

        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code if isinstance(code, int) else 1)
