"""The activity stream over losses of its connection, on a clock of the test."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import Any

import pytest

from audiencekit.api.activity import Following, Pulse, read_event
from audiencekit.errors import (
    CertificateRefused,
    MalformedAnswer,
    RateLimited,
    TemporarilyUnavailable,
    TransportFailed,
    Unauthorized,
)
from tests.cases import each_case

LOST = TransportFailed("the connection was lost", sent=True)


def line(number: int) -> bytes:
    """An event that is told by its number."""
    return json.dumps({"data": {"event_type": "spaces.start", "payload": {"number": number}}}).encode()


class Service:
    """Streams one after the other; a number is an event, a float a time that passes, an error a loss."""

    def __init__(self, *streams: list[Any]) -> None:
        self.streams = list(streams)
        self.asked: list[int | None] = []
        self.slept: list[float] = []
        self.notices: list[str] = []
        self.now = 1_800_000_000.0

    async def open(self, backfill_minutes: int | None) -> AsyncGenerator[bytes]:
        """The next stream."""
        self.asked.append(backfill_minutes)
        for each in self.streams.pop(0):
            if isinstance(each, Exception):
                raise each
            if isinstance(each, float):
                self.now += each
            else:
                yield each if isinstance(each, bytes) else line(each)

    async def sleep(self, seconds: float) -> None:
        """Time passes."""
        self.slept.append(seconds)
        self.now += seconds

    def follow(self, backfill_minutes: int | None = None) -> Following:
        """All of it, without chance."""
        pulse = Pulse(clock=lambda: self.now, sleep=self.sleep, chance=lambda: 0.0)
        return Following(self.open, backfill_minutes=backfill_minutes, notice=self.notices.append, pulse=pulse)

    async def told(self, count: int, backfill_minutes: int | None = None) -> list[int]:
        """The numbers of the first so many events."""
        numbers: list[int] = []
        async with aclosing(self.follow(backfill_minutes).events()) as events:
            async for event in events:
                numbers.append(event.payload["number"])
                if len(numbers) == count:
                    break
        return numbers


async def test_a_stream_that_ends_is_opened_again() -> None:
    """With the minutes that were missed, and keep-alives between; the caller's backfill is for the first time."""
    service = Service([1, b"", b"\r"], [2, 200.0], [3])
    assert await service.told(3, backfill_minutes=4) == [1, 2, 3]
    assert service.asked == [4, 1, 4]
    assert service.notices == ["the service ended the stream; it is opened again in 1 s"] * 2


async def test_waits_grow_until_the_service_speaks() -> None:
    """1, 2, 4 … 60 seconds; a word of the service, an empty line too, begins anew."""
    service = Service(*[[LOST]] * 8, [b"", LOST], [LOST], [1])
    assert await service.told(1) == [1]
    assert service.slept == [1, 2, 4, 8, 16, 32, 60, 60, 1, 2]
    assert "the connection was lost" in service.notices[0]


async def test_an_event_that_comes_twice_is_told_once() -> None:
    """Events that a backfill repeats; one that happened twice is told twice."""
    service = Service([1, 2, 2, LOST], [1, 2, 2, 2, 3, LOST], [2, 3, 4])
    assert await service.told(6) == [1, 2, 2, 2, 3, 4]


async def test_more_than_the_service_repeats_is_said() -> None:
    """Five minutes at most are asked for."""
    service = Service([1, 400.0, LOST], [2])
    assert await service.told(2) == [1, 2]
    assert service.asked == [None, 5]
    assert "7 minutes were missed, and the service repeats the last 5" in service.notices


async def test_the_service_says_how_long() -> None:
    """A 429 names its reset by the service's own clock, a 503 its seconds."""
    limited = RateLimited("wait", status=429)
    limited.reset_at, limited.answered_at = 1_000.0, 970.0
    away = TemporarilyUnavailable("away", status=503)
    away.retry_after = 40.0
    service = Service([limited], [away], [RateLimited("wait", status=429)], [1])
    assert await service.told(1) == [1]
    assert service.slept == [30, 40, 60]


async def test_there_is_an_end_to_patience() -> None:
    """After a quarter of an hour of silence the last error is raised."""
    service = Service(*[[LOST]] * 30)
    with pytest.raises(TransportFailed):
        await service.told(1)
    assert 900 < sum(service.slept) < 1_000


async def test_a_first_attempt_that_reaches_no_host_is_the_last() -> None:
    """A wrong name or port is no outage; after an answer of any kind the same is one."""
    unreached = TransportFailed("the name was not resolved", sent=False)
    service = Service([unreached])
    with pytest.raises(TransportFailed, match="not resolved"):
        await service.told(1)
    assert (service.slept, service.notices) == ([], [])
    service = Service([TemporarilyUnavailable("away", status=503)], [unreached], [1])
    assert await service.told(1) == [1]


@each_case("error", [Unauthorized("no", status=403), CertificateRefused("no")])
async def test_a_lasting_refusal_is_raised_at_once(error: Exception) -> None:
    """It would be the same the next time."""
    with pytest.raises(type(error)):
        await Service([error]).told(1)


async def test_a_broken_line_is_a_loss() -> None:
    """The stream is opened again, as after any."""
    assert await Service([b"{"], [1]).told(1) == [1]
    with pytest.raises(MalformedAnswer):
        read_event(b"[]", status=200)


def test_an_event_says_what_it_can() -> None:
    """The form is not stated: the rest is None, and nothing of it is shown by `repr`."""
    document = {"data": {"event_type": "dm.read", "filter": {"user_id": "7"}, "created_at": "t", "payload": {"a": 1}}}
    event = read_event(json.dumps(document).encode(), status=200)
    assert (event.event_type, event.user_id, event.created_at, event.payload) == ("dm.read", "7", "t", {"a": 1})
    other = read_event(b'{"filter": 1, "event_type": 2}', status=200)
    assert (other.event_type, other.user_id, other.created_at, other.payload) == (None, None, None, None)
    assert "dm.read" not in repr(event)
