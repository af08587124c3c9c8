"""Hosts share one pace on the clock of a Redis server, and its absence stops them unless they were told otherwise."""

from __future__ import annotations

import asyncio
import itertools
import re
import shutil
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from audiencekit.delivery.limiter.redis import PACE, STOP, RedisLimiter, read_address
from audiencekit.delivery.retry import SystemClock
from audiencekit.errors import CredentialsRefused, ServiceUnavailable, UsageError
from audiencekit.limits import MAX_LATENESS_SECONDS
from audiencekit.personal import Secret
from audiencekit.process.boot import boot_seconds
from benchmarks.limiter_soak import REDIS, Soak, run_soak
from benchmarks.redis_server import RedisServer
from tests.cases import each_case

PASSWORD = "invented-password-7391"


@pytest.mark.parametrize(
    ("given", "address", "when_away"),
    [
        ("redis://host:1/0", "redis://host:1/0", STOP),
        ("redis://host?when_away=stop", "redis://host", STOP),
        ("rediss://user:pa%40ss@host/2?when_away=pace&a=b%20c", "rediss://user:pa%40ss@host/2?a=b+c", PACE),
        ("unix:///run/redis.sock?db=2", "unix:///run/redis.sock?db=2", STOP),
    ],
)
def test_our_parameter_is_taken_out_of_the_address(given: str, address: str, when_away: str) -> None:
    """The rest is for the client of Redis."""
    assert read_address(Secret(given)) == (Secret(address), when_away)


@each_case("address", ["http://HOST", "redis://", "redis://HOST?when_away=HOST", "redis://[HOST", "redis:HOST"])
def test_an_address_that_cannot_be_is_refused_and_not_shown(address: str) -> None:
    """It may hold a password."""
    with pytest.raises(UsageError) as caught:
        read_address(Secret(address.replace("HOST", PASSWORD)))
    assert PASSWORD not in f"{caught.value}{caught.value.hint}"


# --- with a real server, whose clock is what all go by: seconds are real ones ---


def needs_redis() -> None:
    pytest.importorskip("redis", reason="the package redis is not installed: pip install '.[redis]'")
    if shutil.which("redis-server") is None:
        pytest.skip("redis-server is not installed: apt-get install redis-server")


@pytest.fixture
def server(tmp_path: Path) -> Iterator[RedisServer]:
    """A running Redis server."""
    needs_redis()
    running = RedisServer(tmp_path)
    yield running
    running.close()


class ShiftedClock:
    """The time of a host whose clocks are off by `seconds`; `leap` is how much each sleep skips."""

    def __init__(self, seconds: float = 0.0, leap: bool = False) -> None:
        self._seconds, self._leap = seconds, leap

    def now(self) -> float:
        return time.time() + self._seconds

    def monotonic(self) -> float:
        return time.monotonic() + self._seconds

    async def sleep(self, seconds: float) -> None:
        if self._leap:
            self._seconds += seconds
        await asyncio.sleep(0 if self._leap else seconds)


def limiter_of(server: RedisServer, per_minute: float, clock: Any = None, parameters: str = "") -> RedisLimiter:
    address = Secret(server.address.unwrap() + parameters)
    return RedisLimiter(per_minute, address=address, quota="quota", clock=clock or SystemClock())


async def leave(limiter: RedisLimiter, times: int) -> list[float]:
    moments = []
    for _ in range(times):
        await limiter.acquire()
        moments.append(boot_seconds())
    return moments


def free_at(server: RedisServer) -> float:
    """When the next may leave, on the clock of the server."""
    return int(server.ask("HGET", "audiencekit:limiter:quota", "free_at").split("\r\n")[1]) / 1e6


@pytest.mark.services
async def test_hosts_share_one_pace_whatever_their_clocks_say(server: RedisServer, worst_window: Any) -> None:
    """Clocks up to 2 s apart: as many requests as one host would send, in equal parts."""
    limiters = [limiter_of(server, 3_000, ShiftedClock(seconds)) for seconds in (-1.0, 0.0, 0.5, 1.0)]
    shares: list[list[float]] = [[] for _ in limiters]

    async def send(number: int, end: float) -> None:
        async with limiters[number] as limiter:
            while boot_seconds() < end:
                await limiter.acquire()
                shares[number].append(boot_seconds())

    await asyncio.gather(*(send(number, boot_seconds() + 3.0) for number in range(4)))
    assert worst_window(itertools.chain(*shares), 1.0) <= 50 * (1 + 2 * MAX_LATENESS_SECONDS) + 1
    assert min(map(len, shares)) >= 0.8 * max(map(len, shares))


@pytest.mark.services
async def test_one_script_call_a_request(server: RedisServer) -> None:
    """And no other command of ours, after the first."""
    async with limiter_of(server, 60_000) as limiter:
        await leave(limiter, 1)
        server.ask("CONFIG", "RESETSTAT")
        await leave(limiter, 50)
    statistics = server.ask("INFO", "commandstats")
    assert "cmdstat_evalsha:calls=50," in statistics
    assert "cmdstat_eval:" not in statistics


@pytest.mark.services
async def test_places_are_never_nearer_than_the_pace(server: RedisServer) -> None:
    """In the server's own count: after n requests the next is free n intervals from the first, or later."""
    _, _, seconds, _, microseconds, _ = server.ask("TIME").split("\r\n")
    first = int(seconds) + int(microseconds) / 1e6
    async with limiter_of(server, 6_000) as limiter:
        await leave(limiter, 100)
    assert free_at(server) >= first + 101 * 0.01 - 0.005


@pytest.mark.services
async def test_a_429_to_one_holds_back_all(server: RedisServer) -> None:
    """For the longest time that was asked; the pace halves once, and each process knows why."""
    async with limiter_of(server, 6_000) as one, limiter_of(server, 6_000) as other:
        await leave(other, 1)
        started_at = boot_seconds()
        await one.pause(1.0)
        await other.pause(0.2)
        assert min(await leave(other, 1)) >= started_at + 1.0
        assert server.ask("HGET", "audiencekit:limiter:quota", "share").split("\r\n")[1] == "0.5"
        before = free_at(server)
        await leave(one, 1)
        assert free_at(server) >= before + 1.9 * 0.01  # half the pace, less what recovered
        assert one.is_quota_shared
        assert other.is_quota_shared


@pytest.mark.services
async def test_a_longer_pause_holds_back_who_waits_already(server: RedisServer) -> None:
    """No process has a place in a pause; each asks again at its end."""
    waits, may_wait = asyncio.Event(), asyncio.Event()

    class Held(ShiftedClock):
        async def sleep(self, seconds: float) -> None:
            waits.set()
            await may_wait.wait()
            await super().sleep(seconds)

    async with limiter_of(server, 6_000) as one, limiter_of(server, 6_000, Held()) as other:
        await one.pause(1.0)
        waiting = asyncio.create_task(leave(other, 1))
        await waits.wait()
        started_at = boot_seconds()
        await one.pause(1.3)
        may_wait.set()
        assert min(await waiting) >= started_at + 1.3 - 0.001


@pytest.mark.services
async def test_a_restart_in_the_middle_is_outlived_without_a_burst(server: RedisServer, worst_window: Any) -> None:
    """Redis forgets everything: those who go on are paced from then on."""
    moments: list[float] = []
    in_the_middle = asyncio.Event()

    async def send(limiter: RedisLimiter) -> None:
        async with limiter:
            for _ in range(60):
                moments.extend(await leave(limiter, 1))
                if len(moments) == 100:
                    in_the_middle.set()

    sending = asyncio.gather(*(send(limiter_of(server, 6_000)) for _ in range(4)))
    await in_the_middle.wait()
    server.stop()
    await asyncio.to_thread(server.start)
    await sending
    assert len(moments) == 240
    assert worst_window(moments, 1.0) <= 100 * (1 + 2 * MAX_LATENESS_SECONDS) + 1


@pytest.mark.services
async def test_a_server_that_forgot_makes_the_first_wait(server: RedisServer) -> None:
    """A request may have left just before."""
    clock = ShiftedClock(leap=True)
    async with limiter_of(server, 60, clock) as limiter:
        started_at = clock.monotonic()
        await limiter.acquire()
        assert clock.monotonic() >= started_at + 1.0
    assert 3_590_000 < int(server.ask("PTTL", "audiencekit:limiter:quota").strip(":\r\n")) <= 3_600_000


@pytest.mark.services
async def test_a_far_future_is_forgotten(server: RedisServer) -> None:
    """The server's clock was moved back."""
    server.ask("HSET", "audiencekit:limiter:quota", "free_at", "9000000000000000", "paused_until", "9000000000000000")
    async with limiter_of(server, 6_000) as limiter:
        assert len(await leave(limiter, 2)) == 2


@pytest.mark.services
async def test_a_place_that_was_slept_through_is_void(server: RedisServer) -> None:
    """A process that was stopped for minutes takes a new place instead of leaving with the others."""

    class Sleeper(ShiftedClock):
        naps = 1

        async def sleep(self, seconds: float) -> None:
            await super().sleep(seconds)
            if self.naps:
                self.naps -= 1
                self._seconds += 600.0

    async with limiter_of(server, 600) as awake, limiter_of(server, 600, Sleeper()) as limiter:
        await awake.acquire()
        server.ask("CONFIG", "RESETSTAT")
        await limiter.acquire()
    calls = re.search(r"cmdstat_evalsha:calls=(\d+),", server.ask("INFO", "commandstats"))
    assert calls is not None
    assert int(calls[1]) >= 2  # the place it had, and the new one


@pytest.mark.services
async def test_without_redis_every_sender_stops(server: RedisServer) -> None:
    """After half a minute, with a word on what to do."""
    async with limiter_of(server, 6_000, ShiftedClock(leap=True)) as limiter:
        await limiter.acquire()
        server.stop()
        with pytest.raises(ServiceUnavailable, match="no answer in time for 30 s") as caught:
            await limiter.acquire()
    assert "when_away=pace" in caught.value.hint


@pytest.mark.services
async def test_without_redis_a_sender_told_to_pace_goes_on(server: RedisServer) -> None:
    """At a pace of its own."""
    async with limiter_of(server, 6_000, parameters="?when_away=pace") as limiter:
        server.stop()
        await limiter.pause(60.0)
        moments = await leave(limiter, 10)
    assert moments[-1] - moments[0] >= 8.5 * 0.01


@pytest.mark.services
@pytest.mark.parametrize("login", ["", ":wrong-" + PASSWORD + "@", "stranger:" + PASSWORD + "@"])
async def test_a_wrong_password_is_one_clear_error(tmp_path: Path, login: str) -> None:
    """It shows neither password."""
    needs_redis()
    server = RedisServer(tmp_path, "--requirepass", PASSWORD)
    try:
        address = Secret(f"redis://{login}127.0.0.1:{server.port}/0")
        async with RedisLimiter(address=address, quota="quota", clock=SystemClock()) as limiter:
            with pytest.raises(CredentialsRefused, match="password") as caught:
                await limiter.acquire()
    finally:
        server.close()
    assert PASSWORD not in f"{caught.value!r}{caught.value}{caught.value.hint}{limiter!r}"


@pytest.mark.services
async def test_a_server_that_will_not_is_said(server: RedisServer) -> None:
    """Something else lies under the key."""
    server.ask("SET", "audiencekit:limiter:quota", "text")
    async with limiter_of(server, 6_000) as limiter:
        with pytest.raises(ServiceUnavailable, match="refused the script"):
            await limiter.acquire()


@pytest.mark.services
async def test_processes_with_clocks_apart_keep_one_pace() -> None:
    """Four real processes at the real rate, clocks up to 2 s apart, one restart of Redis: never over, and all go on.

    How much of the quota each uses depends on how busy the machine is; `benchmarks.limiter_soak` says it.
    """
    needs_redis()
    soak = Soak(seconds=8.0, kill_every_seconds=0.0, restart_every_seconds=4.0, clocks_apart=2.0, limiter=REDIS)
    # 147 at the pace, and 5 that are late; and one of each process that lost its processor as it left.
    findings = await run_soak(replace(soak, limit=157, window_seconds=6.0))
    assert (findings.over_limit, findings.restarts) == (0, 1)
    assert all(findings.shares)
    assert findings.script_calls
