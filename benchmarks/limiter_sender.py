"""One of the processes of the soak of the limiter (`limiter_soak`): started, and killed, many times.

It imports no more than it needs, so that its time is not spent on that.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from audiencekit.delivery.limiter import HostLimiter, RateLimiter
from audiencekit.delivery.limiter.redis import RedisLimiter
from audiencekit.delivery.retry import SystemClock
from audiencekit.personal import Secret
from audiencekit.process.boot import boot_seconds

HOST: Final = "host"
COROUTINES: Final = 4  # that want to send, in each process
QUOTA: Final = "soak"


class OffClock(SystemClock):
    """The time of a host whose clocks are off by `seconds`."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds

    def now(self) -> float:
        """Epoch seconds, as the wall clock of that host says."""
        return super().now() + self._seconds

    def monotonic(self) -> float:
        """Seconds that never go back."""
        return super().monotonic() + self._seconds


async def send_on(options: argparse.Namespace) -> None:
    """Sends as fast as the limiter lets it, until it is killed."""
    _, writer = await asyncio.open_connection("127.0.0.1", options.port)
    async with contextlib.AsyncExitStack() as stack:
        limiter = await _open(options, stack)

        async def send() -> None:
            while True:
                await limiter.acquire()
                writer.write(b"%d %.6f\n" % (options.number, boot_seconds()))

        await asyncio.gather(*(send() for _ in range(COROUTINES)))


async def _open(options: argparse.Namespace, stack: contextlib.AsyncExitStack) -> RateLimiter:
    pace, clock = options.requests_per_minute, OffClock(options.clock_off)
    if options.limiter == HOST:
        return stack.enter_context(HostLimiter(pace, quota=QUOTA, state_dir=options.state_dir, clock=clock))
    address = Secret(options.limiter)
    return await stack.enter_async_context(RedisLimiter(pace, address=address, quota=QUOTA, clock=clock))


def main(arguments: Sequence[str] | None = None) -> None:
    """Sends to PORT until it is killed."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.limiter_sender", description=__doc__)
    parser.add_argument("port", type=int)
    parser.add_argument("state_dir", type=Path)
    parser.add_argument("--limiter", default=HOST)
    parser.add_argument("--requests-per-minute", type=float, required=True)
    parser.add_argument("--clock-off", type=float, default=0.0)
    parser.add_argument("--number", type=int, default=0)
    asyncio.run(send_on(parser.parse_args(arguments)))


if __name__ == "__main__":
    main()
