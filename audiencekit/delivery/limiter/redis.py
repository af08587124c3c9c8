"""The limiter of many hosts: two scripts on a Redis server that keep the queue by the server's clock.

All times are whole microseconds of that clock, far below 2^53. If the clock is moved back, the stored times are far in
the future. They are then forgotten, as after a restart: the first place is one interval from now.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from types import TracebackType
from typing import TYPE_CHECKING, Any, Final, Self
from urllib.parse import parse_qsl, urlencode, urlsplit

from audiencekit.delivery.limiter.host import CATCH_UP_INTERVALS, SECONDS_PER_MINUTE, interval_seconds
from audiencekit.delivery.limiter.pacing import PacedLimiter
from audiencekit.delivery.retry import Clock
from audiencekit.errors import AudiencekitError, CredentialsRefused, ServiceUnavailable, UsageError
from audiencekit.limits import (
    FARTHEST_PLACE_SECONDS,
    MAX_LATENESS_SECONDS,
    PACED_REQUESTS_PER_MINUTE,
    RATE_FLOOR_SHARE,
    RATE_RECOVERY_PER_MINUTE,
    REDIS_AWAY_SECONDS,
    REDIS_MEMORY_SECONDS,
    REDIS_RETRY_SECONDS,
    REDIS_TIMEOUT_SECONDS,
)
from audiencekit.personal import Secret
from audiencekit.process.event_loop import to_its_end
from audiencekit.text import install_extra

if TYPE_CHECKING:
    from redis.asyncio import Redis


# --- The two scripts of the Redis limiter: the rules of `line`, on the server's clock, with places in advance ---
#
# All times are whole microseconds of that clock, far below 2^53. A clock that was moved back leaves times of a far
# future behind; they are forgotten, like what a restart forgets: then the first place is one interval from now.

MICROSECONDS: Final = 1_000_000

_READ: Final = """
local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]
local interval, farthest, recovery = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3])
local kept = redis.call('HMGET', KEYS[1], 'free_at', 'paused_until', 'share', 'share_at')
local free_at, paused_until = tonumber(kept[1] or now + interval), tonumber(kept[2] or 0)
if free_at > now + farthest or paused_until > now + farthest then
    free_at, paused_until = now + interval, 0
end
local share = math.min(1, tonumber(kept[3] or 1) + recovery * math.max(0, now - tonumber(kept[4] or now)))
"""

# Gives back whether this is a place, the microseconds to it, and whether the share is below 1. In a pause there are
# no places: the time is that to its end.
TAKE: Final = (
    _READ
    + """
local is_shared = share < 1 and 1 or 0
if now < paused_until then
    return {0, paused_until - now, is_shared}
end
interval = interval / share
local place = math.max(free_at, paused_until, now - tonumber(ARGV[5]) * interval)
redis.call('HSET', KEYS[1], 'free_at', string.format('%.0f', place + interval))
redis.call('PEXPIRE', KEYS[1], ARGV[4])
return {1, place - now, is_shared}
"""
)

PAUSE: Final = (
    _READ
    + """
if now >= paused_until then
    share = math.max(tonumber(ARGV[6]), share / 2)
end
paused_until = string.format('%.0f', math.max(paused_until, now + tonumber(ARGV[5])))
redis.call('HSET', KEYS[1], 'free_at', string.format('%.0f', free_at),
    'paused_until', paused_until, 'share', tostring(share), 'share_at', paused_until)
redis.call('PEXPIRE', KEYS[1], ARGV[4])
return {0, 0, 1}
"""
)


def take_arguments(interval: float) -> list[str]:
    """The arguments of TAKE for `interval` seconds at the full rate."""
    return [*_read_arguments(interval), str(CATCH_UP_INTERVALS)]


def pause_arguments(interval: float, seconds: float) -> list[str]:
    """The arguments of PAUSE for a pause of `seconds`."""
    return [*_read_arguments(interval), _microseconds(seconds), str(RATE_FLOOR_SHARE)]


def _read_arguments(interval: float) -> list[str]:
    recovery = RATE_RECOVERY_PER_MINUTE / SECONDS_PER_MINUTE / MICROSECONDS
    memory_milliseconds = str(round(REDIS_MEMORY_SECONDS * 1000))
    return [_microseconds(interval), _microseconds(FARTHEST_PLACE_SECONDS), str(recovery), memory_milliseconds]


def _microseconds(seconds: float) -> str:
    return str(round(seconds * MICROSECONDS))


# --- The limiter that many hosts share: one script call for each request, by the clock of a Redis server ---
#
# A call takes a place and says how long it is to it, so no clock of a client is compared with another. A place that
# could not be used in time is void. A server that lost its memory paces all from then on.

WHEN_AWAY: Final = "when_away"
STOP: Final = "stop"
PACE: Final = "pace"
SCHEMES: Final = ("redis", "rediss", "unix")


class RedisLimiter:
    """An async context manager that spaces requests evenly among all clients of `quota` on one Redis server.

    All clients should have the same pace. While Redis is away no request leaves, and after REDIS_AWAY_SECONDS
    ServiceUnavailable is raised; with `when_away=pace` in the address each process keeps the whole pace alone
    meanwhile. Raises UsageError for an invalid address, CredentialsRefused when Redis refuses the password.
    """

    def __init__(
        self,
        requests_per_minute: float = PACED_REQUESTS_PER_MINUTE,
        *,
        address: Secret,
        quota: str,
        clock: Clock,
    ) -> None:
        self._interval = interval_seconds(requests_per_minute)
        self._clock = clock
        url, when_away = read_address(address)
        self._client = _connect(url)
        self._scripts = {text: self._client.register_script(text) for text in (TAKE, PAUSE)}
        self._key = f"audiencekit:limiter:{quota}"
        self._own_pace = PacedLimiter(requests_per_minute, clock=clock) if when_away == PACE else None
        self._turn = asyncio.Lock()
        self._is_quota_shared = False

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await to_its_end(self._client.aclose())

    @property
    def is_quota_shared(self) -> bool:
        """Whether any of the clients got a 429 although the pace was kept; once True, it stays True."""
        return self._is_quota_shared

    async def acquire(self) -> None:
        """Return when one request may leave. A cancelled call uses up at most one place."""
        async with self._turn:
            while not await self._leave():
                pass

    async def pause(self, seconds: float) -> None:
        """Note a 429: no request gets a place for `seconds`, and the pace is halved, once in each pause."""
        await self._answer(PAUSE, pause_arguments(self._interval, seconds))

    async def _leave(self) -> bool:
        """Whether a place was taken, and used in time."""
        answer = await self._answer(TAKE, take_arguments(self._interval))
        if answer is None:
            assert self._own_pace is not None  # noqa: S101
            await self._own_pace.acquire()
            return True
        is_place, microseconds, _ = answer
        due = self._clock.monotonic() + microseconds / MICROSECONDS
        while (wait_seconds := due - self._clock.monotonic()) > 0:
            await self._clock.sleep(wait_seconds)
        return bool(is_place) and self._clock.monotonic() - due <= MAX_LATENESS_SECONDS

    async def _answer(self, script: str, arguments: Sequence[str]) -> Sequence[int] | None:
        """Return the result of the script; None when Redis is away and requests go on without it."""
        patience = self._clock.monotonic() + REDIS_AWAY_SECONDS
        while True:
            asked_at = self._clock.monotonic()
            answer = await self._call(script, arguments)
            # A place in a late answer may be past without our knowing.
            if answer is not None and self._clock.monotonic() - asked_at <= MAX_LATENESS_SECONDS:
                self._is_quota_shared |= bool(answer[2])
                return answer
            if self._own_pace is not None:
                return None
            if self._clock.monotonic() >= patience:
                raise _away()
            if answer is None:
                await self._clock.sleep(REDIS_RETRY_SECONDS)

    async def _call(self, script: str, arguments: Sequence[str]) -> Sequence[int] | None:
        """Make one call; None when there was no answer. Raises when the server answers with a refusal."""
        from redis import exceptions

        failure: AudiencekitError
        try:
            answer: Sequence[int] = await self._scripts[script](keys=[self._key], args=arguments)
            return answer
        except (exceptions.AuthenticationError, exceptions.NoPermissionError):
            failure = _password_refused()
        except (exceptions.ConnectionError, exceptions.TimeoutError, OSError):
            return None
        except exceptions.RedisError as error:
            failure = ServiceUnavailable(
                f"Redis, which keeps the limiter, refused the script ({type(error).__name__})",
                hint="it must be Redis 5 or later, the primary, and have the database that its address names",
            )
        raise failure


def read_address(address: Secret) -> tuple[Secret, str]:
    """Return the address without our own parameter, and what to do when Redis is away: STOP or PACE.

    Raises UsageError, which does not show the address.
    """
    text = address.unwrap()
    try:
        parts = urlsplit(text)
        parameters = dict(parse_qsl(parts.query, keep_blank_values=True))
    except ValueError:
        parts, parameters = urlsplit(""), {}
    when_away = parameters.pop(WHEN_AWAY, STOP)
    if parts.scheme not in SCHEMES or not (parts.hostname or parts.scheme == "unix") or when_away not in (STOP, PACE):
        hint = f"such as redis://host:6379/0, with {WHEN_AWAY}={STOP} or {WHEN_AWAY}={PACE}"
        raise UsageError("the address of the limiter cannot be read", hint=hint)
    rest = f"?{urlencode(parameters)}" if parameters else ""
    return Secret(text.partition("?")[0] + rest), when_away


def _connect(address: Secret) -> Redis:
    try:
        from redis.asyncio import Redis
        from redis.asyncio.retry import Retry
        from redis.backoff import NoBackoff
    except ImportError:
        raise UsageError("the limiter needs the package redis", hint=install_extra("redis")) from None
    options: dict[str, Any] = {
        "socket_timeout": REDIS_TIMEOUT_SECONDS,
        "socket_connect_timeout": REDIS_TIMEOUT_SECONDS,
        "retry": Retry(NoBackoff(), 0),  # a call that was made twice would take two places
    }
    try:
        return Redis.from_url(address.unwrap(), **options)
    except (ValueError, TypeError):
        pass  # the text of the error may show the address
    raise UsageError("the address of the limiter cannot be read", hint="such as redis://host:6379/0")


def _away() -> ServiceUnavailable:
    return ServiceUnavailable(
        f"Redis, which keeps the limiter, gave no answer in time for {REDIS_AWAY_SECONDS:.0f} s",
        hint=f"start it or correct its address, and resume; with {WHEN_AWAY}={PACE} in it each run keeps its own pace",
    )


def _password_refused() -> CredentialsRefused:
    return CredentialsRefused(
        "Redis, which keeps the limiter, refuses our user or password",
        hint="correct them in AUDIENCEKIT_LIMITER: redis://user:password@host:6379/0",
    )
