"""The limiter for an hour, as the service sees it: processes that are killed and started again, and one real server.

    python -m benchmarks.limiter_soak --minutes 60
    python -m benchmarks.limiter_soak --minutes 3 --kill-every 0 --limiter redis --clocks-apart 2 --restart-every 60

At the real rate. `--limiter redis` starts a redis-server of its own, and says how many scripts it ran for a request;
`redis://…` uses one that runs already. With `--out`, what was found about Redis is written into RESULTS.md.
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
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from audiencekit.limits import PACED_REQUESTS_PER_MINUTE, REQUESTS_PER_WINDOW, WINDOW_SECONDS
from audiencekit.process.boot import boot_seconds
from benchmarks.arrivals import Arrivals
from benchmarks.limiter_sender import HOST
from benchmarks.machine import describe_machine, list_versions
from benchmarks.redis_server import RestartedRedis
from benchmarks.sections import write_section

ROOT: Final = Path(__file__).resolve().parent.parent
BEGIN: Final = "<!-- limiter: what follows is written by python -m benchmarks.limiter_soak -->"
END: Final = "<!-- limiter: end -->"
REDIS: Final = "redis"
LEAST_USED: Final = 0.95


@dataclass(frozen=True, slots=True, kw_only=True)
class Soak:
    """One soak: `limit` requests in any `window_seconds` are allowed, `requests_per_minute` is the pace.

    The clocks of the first process and the last are `clocks_apart` seconds apart, the others between them.
    """

    seconds: float
    processes: int = 4
    kill_every_seconds: float = 0.5  # 0: no process is killed
    restart_every_seconds: float = 0.0  # of a Redis of our own; 0: never
    clocks_apart: float = 0.0
    limiter: str = HOST
    requests_per_minute: float = PACED_REQUESTS_PER_MINUTE
    limit: int = REQUESTS_PER_WINDOW
    window_seconds: float = WINDOW_SECONDS
    seed: int = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Findings:
    """The figures of the server: requests over the limit are the 429 that it would have answered."""

    requests: int
    seconds: float
    worst_window: int
    over_limit: int
    quota_used: float
    shares: tuple[int, ...]
    kills: int
    restarts: int = 0
    script_calls: int | None = None  # of a Redis of our own, while requests were counted


async def run_soak(soak: Soak) -> Findings:
    """The findings of one run, in a state directory of its own."""
    arrivals = Arrivals(limit=soak.limit, window_seconds=soak.window_seconds)
    with tempfile.TemporaryDirectory() as state_dir, _redis_of(soak, Path(state_dir)) as redis:
        limiter = soak.limiter if redis is None else redis.address.unwrap()
        async with (
            arrivals.serve() as port,
            _Workers(replace(soak, limiter=limiter), arrivals, port, state_dir) as workers,
        ):
            await arrivals.heard_from(soak.processes)  # the clock starts when all of them do
            arrivals.is_counting, started_at = True, boot_seconds()
            restarting = redis.restart_for(soak.seconds) if redis else asyncio.sleep(0)
            kills, _ = await asyncio.gather(workers.kill_for(soak.seconds), restarting)
            arrivals.is_counting, seconds = False, boot_seconds() - started_at
            script_calls = redis.all_script_calls() if redis else None
    requests = arrivals.by_process.total()
    return Findings(
        requests=requests,
        seconds=round(seconds, 3),
        worst_window=arrivals.worst_window,
        over_limit=arrivals.over_limit,
        quota_used=round(requests / (soak.limit / soak.window_seconds * seconds), 4),
        shares=tuple(arrivals.by_process[process] for process in range(soak.processes)),
        kills=kills,
        restarts=redis.restarts if redis else 0,
        script_calls=script_calls,
    )


@contextlib.contextmanager
def _redis_of(soak: Soak, folder: Path) -> Iterator[RestartedRedis | None]:
    """A server of our own, for a limiter that wants one."""
    if soak.limiter != REDIS:
        yield None
        return
    with RestartedRedis(folder, every_seconds=soak.restart_every_seconds) as redis:
        yield redis


class _Workers:
    """The processes that send, each in its place."""

    def __init__(self, soak: Soak, arrivals: Arrivals, port: int, state_dir: str) -> None:
        self._soak, self._arrivals, self._random = soak, arrivals, random.Random(soak.seed)
        arguments = ["--limiter", soak.limiter, "--requests-per-minute", str(soak.requests_per_minute)]
        self._command = [sys.executable, "-m", "benchmarks.limiter_sender", str(port), state_dir, *arguments]
        self._running: list[asyncio.subprocess.Process] = []

    async def __aenter__(self) -> _Workers:
        self._running = [await self._start(number) for number in range(self._soak.processes)]
        return self

    async def __aexit__(self, *exception: object) -> None:
        for process in self._running:
            await _kill(process)

    async def kill_for(self, seconds: float) -> int:
        """How many processes were killed and started again in `seconds`; raises when one ended by itself.

        The next one is killed when all were heard from: however long starts take here, no more than one is missing.
        """
        kills, end, pause = 0, boot_seconds() + seconds, self._soak.kill_every_seconds
        while (left := end - boot_seconds()) > 0:
            await asyncio.sleep(min(left, pause or 1.0))
            if any(process.returncode is not None for process in self._running):
                raise RuntimeError("a sending process ended by itself")
            if pause and boot_seconds() < end:
                await self._arrivals.heard_from(len(self._running))
                number = self._random.randrange(len(self._running))
                await _kill(self._running[number])
                self._arrivals.forget(number)
                self._running[number] = await self._start(number)
                kills += 1
        return kills

    async def _start(self, number: int) -> asyncio.subprocess.Process:
        environment = {**os.environ, "PYTHONPATH": str(ROOT)}
        off = self._soak.clocks_apart * (number / max(1, self._soak.processes - 1) - 0.5)
        arguments = ["--number", str(number), "--clock-off", str(off)]
        return await asyncio.create_subprocess_exec(*self._command, *arguments, env=environment)


async def _kill(process: asyncio.subprocess.Process) -> None:
    with contextlib.suppress(ProcessLookupError):
        process.kill()
    await process.wait()


def _read_options(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.limiter_soak", description=__doc__)
    parser.add_argument("--minutes", type=float, default=1.0)
    parser.add_argument("--processes", type=int, default=4)
    parser.add_argument("--kill-every", type=float, default=0.5, metavar="SECONDS", help="0: never")
    parser.add_argument("--restart-every", type=float, default=0.0, metavar="SECONDS", help="our Redis; 0: never")
    parser.add_argument("--clocks-apart", type=float, default=0.0, metavar="SECONDS", help="of the processes")
    parser.add_argument("--limiter", default=HOST, help="host, redis (one of our own), or redis://…")
    parser.add_argument("--requests-per-minute", type=float, default=PACED_REQUESTS_PER_MINUTE)
    parser.add_argument("--limit", type=int, default=REQUESTS_PER_WINDOW)
    parser.add_argument("--window", type=float, default=WINDOW_SECONDS, metavar="SECONDS")
    parser.add_argument("--out", type=Path, metavar="FILE", help="write what was found of Redis between its marks")
    return parser.parse_args(arguments)


def describe(soak: Soak, found: Findings) -> str:
    """The findings in Markdown."""
    machine, versions = describe_machine(), list_versions()
    calls = "" if found.script_calls is None else f"{found.script_calls / found.requests:.4f}"
    measured = (
        f"Measured {datetime.now(UTC):%Y-%m-%d}: {soak.processes} processes with clocks up to {soak.clocks_apart:g} s"
        f" apart, {found.seconds:.0f} s at {soak.requests_per_minute:g} requests a minute, {found.kills} killed, Redis"
        f" restarted {found.restarts} times; {machine['cores']} cores, load {machine['load']} before, code"
        f" {versions['code']}."
    )
    lines = [
        measured,
        "",
        "| figure | must be | is |",
        "|---|---|---|",
        f"| requests in the worst {soak.window_seconds:g} s | at most {soak.limit:,} | {found.worst_window:,} |",
        f"| of {found.requests:,} requests, over the limit | 0 | {found.over_limit} |",
        f"| share of the quota that was used | at least {LEAST_USED:g} | {found.quota_used:.4f} |",
        f"| requests of each process | within 20 % | {', '.join(map(str, found.shares))} |",
        f"| script calls a request | 1 | {calls} |",
    ]
    return "\n".join(lines)


def main(arguments: Sequence[str] | None = None) -> None:
    """Prints the findings as one line of JSON; ends with 1 when the limit was passed or the quota not used."""
    options = _read_options(arguments)
    soak = Soak(
        seconds=options.minutes * 60,
        processes=options.processes,
        kill_every_seconds=options.kill_every,
        restart_every_seconds=options.restart_every,
        clocks_apart=options.clocks_apart,
        limiter=options.limiter,
        requests_per_minute=options.requests_per_minute,
        limit=options.limit,
        window_seconds=options.window,
    )
    findings = asyncio.run(run_soak(soak))
    print(json.dumps(asdict(findings)))
    if options.out:
        write_section(options.out, describe(soak, findings), begin=BEGIN, end=END)
    sys.exit(findings.over_limit > 0 or findings.quota_used < LEAST_USED)


if __name__ == "__main__":
    main()
