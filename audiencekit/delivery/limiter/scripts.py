"""The two scripts of the Redis limiter: the rules of `line`, on the server's clock, with places in advance.

All times are whole microseconds of that clock, far below 2^53. A clock that was moved back leaves times of a far
future behind; they are forgotten, like what a restart forgets: then the first place is one interval from now.
"""

from __future__ import annotations

from typing import Final

from audiencekit.delivery.limiter.waitingline import CATCH_UP_INTERVALS, SECONDS_PER_MINUTE
from audiencekit.limits import FARTHEST_PLACE_SECONDS, RATE_FLOOR_SHARE, RATE_RECOVERY_PER_MINUTE, REDIS_MEMORY_SECONDS

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
