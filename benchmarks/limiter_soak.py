"""The limiter for an hour, as the service sees it: processes that are killed and started again, and one real server.

`python -m benchmarks.limiter_soak --minutes 60` at the real rate; `--limiter redis://…` for the one on Redis.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import os
import random
import sys
import tempfile
from collections import Counter, deque
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from audiencekit.delivery.clock import SystemClock
from audiencekit.delivery.limiter import HostLimiter, RateLimiter
from audiencekit.delivery.limiter.boot import boot_seconds
from audiencekit.delivery.limiter.redis import RedisLimiter
from audiencekit.limits import PACED_REQUESTS_PER_MINUTE, REQUESTS_PER_WINDOW, WINDOW_SECONDS
from audiencekit.personal import Secret

ROOT: Final = Path(__file__).resolve().parent.parent
HOST: Final = "host"
COROUTINES: Final = 4  # that want to send, in each process
QUOTA: Final = "soak"
WARM_UP_SECONDS: Final = 2.0  # processes start before the clock does


@dataclass(frozen=True, slots=True, kw_only=True)
class Soak:
    """What is run: `limit` requests in any `window_seconds` are allowed, `requests_per_minute` is the pace."""

    seconds: float
    processes: int = 4
    kill_every_seconds: float = 0.5  # 0: nobody is killed
    limiter: str = HOST
    requests_per_minute: float = PACED_REQUESTS_PER_MINUTE
    limit: int = REQUESTS_PER_WINDOW
    window_seconds: float = WINDOW_SECONDS
    seed: int = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Findings:
    """What the server saw: requests over the limit are the 429 that it would have answered."""

    requests: int
    seconds: float
    worst_window: int
    over_limit: int
    quota_used: float
    shares: tuple[int, ...]
    kills: int

    def to_json(self) -> dict[str, object]:
        """The findings, for a line of JSON."""
        return {name: getattr(self, name) for name in self.__slots__}


class Arrivals:
    """The moments at which requests arrived, and the worst closed window so far."""

    def __init__(self, soak: Soak) -> None:
        self._limit, self._window_seconds = soak.limit, soak.window_seconds
        self._window: deque[float] = deque()
        self.worst_window = self.over_limit = 0
        self.by_process: Counter[int] = Counter()
        self.is_counting = False

    def add(self, process: int, moment: float) -> None:
        """Notes one request of `process` at `moment`, which is no earlier than those before."""
        self._window.append(moment)
        while self._window[0] < moment - self._window_seconds:
            self._window.popleft()
        self.worst_window = max(self.worst_window, len(self._window))
        self.over_limit += len(self._window) > self._limit
        self.by_process[process] += self.is_counting


async def run_soak(soak: Soak) -> Findings:
    """The findings of one run, in a state directory of its own."""
    arrivals = Arrivals(soak)
    with tempfile.TemporaryDirectory() as state_dir:
        async with _server(arrivals) as port, _Workers(soak, port, state_dir) as workers:
            await asyncio.sleep(WARM_UP_SECONDS)
            arrivals.is_counting, started_at = True, boot_seconds()
            kills = await workers.kill_for(soak.seconds)
            arrivals.is_counting, seconds = False, boot_seconds() - started_at
    requests = arrivals.by_process.total()
    return Findings(
        requests=requests,
        seconds=round(seconds, 3),
        worst_window=arrivals.worst_window,
        over_limit=arrivals.over_limit,
        quota_used=round(requests / (soak.limit / soak.window_seconds * seconds), 4),
        shares=tuple(arrivals.by_process[process] for process in range(soak.processes)),
        kills=kills,
    )


@contextlib.asynccontextmanager
async def _server(arrivals: Arrivals) -> AsyncIterator[int]:
    """The port of a server that notes every line, which is the number of a process."""

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(ConnectionError):
            while line := await reader.readline():
                arrivals.add(int(line), boot_seconds())
        writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    async with server:
        yield server.sockets[0].getsockname()[1]


class _Workers:
    """The processes that send, each in its place."""

    def __init__(self, soak: Soak, port: int, state_dir: str) -> None:
        self._soak, self._random = soak, random.Random(soak.seed)
        arguments = ["--limiter", soak.limiter, "--requests-per-minute", str(soak.requests_per_minute)]
        self._command = [sys.executable, "-m", "benchmarks.limiter_soak", "--send-to", str(port), state_dir, *arguments]
        self._running: list[asyncio.subprocess.Process] = []

    async def __aenter__(self) -> _Workers:
        self._running = [await self._start(number) for number in range(self._soak.processes)]
        return self

    async def __aexit__(self, *exception: object) -> None:
        for process in self._running:
            await _kill(process)

    async def kill_for(self, seconds: float) -> int:
        """How many processes were killed and started again in `seconds`; raises when one ended by itself."""
        kills, end, pause = 0, boot_seconds() + seconds, self._soak.kill_every_seconds
        while (left := end - boot_seconds()) > 0:
            await asyncio.sleep(min(left, pause or 1.0))
            if any(process.returncode is not None for process in self._running):
                raise RuntimeError("a sending process ended by itself")
            if pause and boot_seconds() < end:
                number = self._random.randrange(len(self._running))
                await _kill(self._running[number])
                self._running[number] = await self._start(number)
                kills += 1
        return kills

    async def _start(self, number: int) -> asyncio.subprocess.Process:
        environment = {**os.environ, "PYTHONPATH": str(ROOT)}
        return await asyncio.create_subprocess_exec(*self._command, "--number", str(number), env=environment)


async def _kill(process: asyncio.subprocess.Process) -> None:
    with contextlib.suppress(ProcessLookupError):
        process.kill()
    await process.wait()


async def _send(options: argparse.Namespace) -> None:
    """Sends as fast as the limiter lets it, until it is killed."""
    port, state_dir = options.send_to
    _, writer = await asyncio.open_connection("127.0.0.1", int(port))
    async with contextlib.AsyncExitStack() as stack:
        limiter = await _open(options, Path(state_dir), stack)

        async def send() -> None:
            while True:
                await limiter.acquire()
                writer.write(b"%d\n" % options.number)

        await asyncio.gather(*(send() for _ in range(COROUTINES)))


async def _open(options: argparse.Namespace, state_dir: Path, stack: contextlib.AsyncExitStack) -> RateLimiter:
    pace, clock = options.requests_per_minute, SystemClock()
    if options.limiter == HOST:
        return stack.enter_context(HostLimiter(pace, quota=QUOTA, state_dir=state_dir, clock=clock))
    address = Secret(options.limiter)
    return await stack.enter_async_context(RedisLimiter(pace, address=address, quota=QUOTA, clock=clock))


def _read_options(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.limiter_soak", description=__doc__)
    parser.add_argument("--minutes", type=float, default=1.0)
    parser.add_argument("--processes", type=int, default=4)
    parser.add_argument("--kill-every", type=float, default=0.5, metavar="SECONDS", help="0: never")
    parser.add_argument("--limiter", default=HOST, help="host, or redis://…")
    parser.add_argument("--requests-per-minute", type=float, default=PACED_REQUESTS_PER_MINUTE)
    parser.add_argument("--limit", type=int, default=REQUESTS_PER_WINDOW)
    parser.add_argument("--window", type=float, default=WINDOW_SECONDS, metavar="SECONDS")
    parser.add_argument("--send-to", nargs=2, metavar=("PORT", "STATE_DIR"), help=argparse.SUPPRESS)
    parser.add_argument("--number", type=int, default=0, help=argparse.SUPPRESS)
    return parser.parse_args(arguments)


def main(arguments: Sequence[str] | None = None) -> None:
    """Prints the findings as one line of JSON; ends with 1 when the limit was passed or the quota not used."""
    options = _read_options(arguments)
    if options.send_to:
        asyncio.run(_send(options))
    soak = Soak(
        seconds=options.minutes * 60,
        processes=options.processes,
        kill_every_seconds=options.kill_every,
        limiter=options.limiter,
        requests_per_minute=options.requests_per_minute,
        limit=options.limit,
        window_seconds=options.window,
    )
    findings = asyncio.run(run_soak(soak))
    print(json.dumps(findings.to_json()))
    sys.exit(findings.over_limit > 0 or findings.quota_used < 0.95)


if __name__ == "__main__":
    main()
