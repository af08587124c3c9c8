"""A service that takes so many connections and closes the others: on virtual time, and over real sockets."""

from __future__ import annotations

import asyncio
import math
import random
from typing import Any

import pytest
from hypothesis import given, settings, strategies as st

from audiencekit.api.client import AdsClient
from audiencekit.api.exchange import Body
from audiencekit.api.hosts import ServiceAddresses
from audiencekit.api.oauth import Credentials
from audiencekit.api.transport import HttpTransport
from audiencekit.delivery.concurrency import Lanes, Losses
from audiencekit.delivery.limiter import Unlimited
from audiencekit.delivery.options import Route
from audiencekit.delivery.retry import Clock, RetryPolicy
from audiencekit.delivery.uploader import deliver
from audiencekit.destinations.requests.operations_body import OperationsBody
from audiencekit.errors import TransportFailed
from audiencekit.limits import LANE_RECOVERY_SECONDS
from audiencekit.packed_request import PackedRequest
from audiencekit.personal import Secret
from audiencekit.profile import SPEC
from tests.delivery.scripted import Counts, Upload, plan
from tests.examples import examples
from tests.shortened import shortened

CROWDED = "the service closes connections while it answers on others"


class Narrow:
    """Takes `bears` requests at a time, each for some time; the others it drops at once, read or unread."""

    def __init__(self, clock: Clock, bears: int, *, is_read: bool = False, seed: int = 1) -> None:
        self._clock, self.bears, self._is_read = clock, bears, is_read
        self._draw = random.Random(seed)
        self._under_way = 0
        self.began_at: list[float] = []
        self.dropped_at: list[float] = []

    async def send(self, request: PackedRequest) -> Counts:
        self.began_at.append(self._clock.monotonic())
        if self._under_way >= self.bears:
            self.dropped_at.append(self._clock.monotonic())
            await self._clock.sleep(self._draw.uniform(0.0, 0.01))
            raise TransportFailed("dropped", sent=self._is_read)
        self._under_way += 1
        try:
            await self._clock.sleep(self._draw.uniform(0.05, 0.5))
        finally:
            self._under_way -= 1
        return Counts(request.records, request.records)


@settings(max_examples=examples(40), deadline=None)
@given(bears=st.integers(1, 20), concurrency=st.integers(1, 32), requests=st.integers(1, 150), seed=st.integers(0, 999))
def test_all_of_it_gets_through(
    virtually: Any, clock: Clock, bears: int, concurrency: int, requests: int, seed: int
) -> None:
    """However few it takes at a time, and however many would go at once."""
    service, told = Narrow(clock, bears, is_read=bool(seed % 2), seed=seed), list[str]()
    upload = Upload(clock, plan(requests), concurrency=concurrency, seed=seed, notify=told.append)
    delivered = virtually(upload.run(service.send))
    assert delivered.is_complete, delivered
    assert sum(CROWDED in message for message in told) <= 1
    if min(concurrency, requests) <= bears:
        assert (told, delivered.notes, delivered.attempts) == ([], (), requests)


def test_the_concurrency_that_a_service_bears_is_found_and_said_once(virtually: Any, clock: Clock) -> None:
    """While it lasts, hardly anything is dropped any more; the report has a note."""
    service, told = Narrow(clock, 3), list[str]()
    upload = Upload(clock, plan(400), concurrency=16, notify=told.append)
    delivered = virtually(upload.run(service.send))
    assert delivered.is_complete
    assert [message for message in told if CROWDED in message] == told
    assert len(told) == 1
    assert any("at the fewest 3:" in note for note in delivered.notes)
    after_a_while = [at for at in service.dropped_at if 20 < at < LANE_RECOVERY_SECONDS]
    assert after_a_while == []


def test_it_recovers_slowly(virtually: Any, clock: Clock) -> None:
    """When the service takes all again, as many as ever go at once after some minutes; and not earlier."""
    service = Narrow(clock, 1)
    upload = Upload(clock, plan(4_500), concurrency=8)

    async def live() -> Any:
        asyncio.get_running_loop().call_later(30.0, setattr, service, "bears", math.inf)
        return await upload.run(service.send)

    assert virtually(live()).is_complete
    one_lane, all_lanes = (
        sum(first <= at < first + 20 for at in service.began_at) for first in (35, 50 + 3 * LANE_RECOVERY_SECONDS)
    )
    assert 6 * one_lane < all_lanes < 10 * one_lane
    assert not [at for at in service.dropped_at if at > 30]


@pytest.mark.slow
def test_trying_more_again_in_vain_becomes_rare(virtually: Any, clock: Clock) -> None:
    """Each time it takes twice as long until more than it bears are sent at once."""
    service = Narrow(clock, 1)
    delivered = virtually(Upload(clock, plan(10_500), concurrency=16).run(service.send))
    assert delivered.is_complete
    hours = [sum(first <= at < first + 900 for at in service.dropped_at) for first in (0, 900, 1800)]
    assert hours[0] > hours[1] > hours[2] > 0


@pytest.mark.parametrize("share", shortened([0.15, 0.01, 0.05], 1))
def test_losses_at_random_are_not_taken_for_it(virtually: Any, clock: Clock, share: float) -> None:
    """Fewer requests at once would lose as many: most lanes stay."""
    draw, under_way, most = random.Random(5), 0, list[int]()

    async def send(request: PackedRequest) -> Counts:
        nonlocal under_way
        under_way += 1
        most.append(under_way)
        try:
            await clock.sleep(draw.uniform(0.1, 0.4))
        finally:
            under_way -= 1
        if draw.random() < share:
            raise TransportFailed("lost", sent=True)
        return Counts(request.records, request.records)

    delivered = virtually(Upload(clock, plan(3_000), concurrency=16).run(send))
    assert delivered.is_complete
    assert max(most[-500:-100]) >= 10


def test_an_outage_is_not_taken_for_it(virtually: Any, clock: Clock) -> None:
    """No request is answered then; all go at once again when it is over."""

    async def send(request: PackedRequest) -> Counts:
        await clock.sleep(0.2)
        if 5 < clock.monotonic() < 25:
            raise TransportFailed("away", sent=False)
        return Counts(request.records, request.records)

    upload = Upload(clock, plan(2_000), concurrency=16)
    delivered = virtually(upload.run(send))
    assert delivered.is_complete
    assert delivered.notes == ()


def test_lanes_are_given_in_turn_and_given_back(virtually: Any, clock: Clock) -> None:
    """A later request does not overtake; one that gives up waiting takes no place."""

    async def live() -> None:
        lanes, order = Lanes(2, clock=clock), list[int]()

        async def use(number: int) -> None:
            await lanes.enter()
            order.append(number)
            await clock.sleep(1.0)
            lanes.leave()

        users = [asyncio.create_task(use(number)) for number in range(6)]
        await clock.sleep(0.5)
        users[2].cancel()
        await clock.sleep(0.5)
        users[3].cancel()  # it may have a lane by now
        await asyncio.gather(*users, return_exceptions=True)
        assert order in ([0, 1, 3, 4, 5], [0, 1, 4, 5])
        assert clock.monotonic() <= 4.0
        await lanes.enter()
        await lanes.enter()

    virtually(live())


def test_it_never_leaves_its_bounds(virtually: Any, clock: Clock) -> None:
    """At least one lane and never more than there were, whatever is noted."""

    async def live() -> None:
        draw, lanes = random.Random(3), Lanes(5, clock=clock)
        flights = list[tuple[Any, Losses]]()
        for _ in range(3_000):
            await clock.sleep(draw.uniform(0, 5))
            if flights and draw.random() < 0.5:
                flight, losses = flights.pop(draw.randrange(len(flights)))
                lanes.end(flight, losses, is_lost=draw.random() < 0.7, is_confirmed=draw.random() < 0.7)
                lanes.leave()
            elif len(flights) < lanes.limit:
                await lanes.enter()
                flights.append((lanes.begin(), Losses()))
            assert 1 <= lanes.limit <= 5

    virtually(live())


# --- over real sockets ---


class OneAtATime:
    """Serves one connection as long as it is open, and closes all others, before or after it has read a request."""

    def __init__(self, *, reads: bool, keeps: bool, resets: bool) -> None:
        self._reads, self._keeps, self._resets = reads, keeps, resets
        self._serving: asyncio.StreamWriter | None = None
        self.answered = self.closed = 0

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            if self._serving is not None:
                await self._turn_away(reader, writer)
            else:
                self._serving = writer
                await self._answer(reader, writer)
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            if self._serving is writer:
                self._serving = None
            writer.close()

    async def _turn_away(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.closed += 1
        if self._reads:
            await _read(reader)
        if self._resets:
            writer.transport.abort()

    async def _answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while True:
            await _read(reader)
            await asyncio.sleep(0.002)
            self.answered += 1
            body = b'{"data": {"success_count": 1, "total_count": 1}}'
            ending = b"" if self._keeps else b"Connection: close\r\n"
            writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n%s\r\n%s" % (len(body), ending, body))
            await writer.drain()
            if not self._keeps:
                return


async def _read(reader: asyncio.StreamReader) -> None:
    head = await reader.readuntil(b"\r\n\r\n")
    (length,) = (line.partition(b":")[2] for line in head.lower().split(b"\r\n") if line.startswith(b"content-length"))
    await reader.readexactly(int(length))


class Hurried:
    """A clock whose waits are fifty times shorter, so that real sockets meet them in this life."""

    def now(self) -> float:
        return 1_795_000_000.0 + self.monotonic()

    def monotonic(self) -> float:
        return asyncio.get_running_loop().time() * 50

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(seconds / 50)


@pytest.mark.parametrize(
    ("reads", "keeps", "resets"),  # each pair of two of them
    [(False, False, False), (False, True, True), (True, False, True), (True, True, False)],
)
async def test_a_server_that_takes_one_connection_at_a_time_gets_all(reads: bool, keeps: bool, resets: bool) -> None:
    """63 requests, 16 at once: before, it had 35 of them."""
    service, clock = OneAtATime(reads=reads, keeps=keeps, resets=resets), Hurried()
    server = await asyncio.start_server(service.serve, "127.0.0.1", 0)
    address = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    names = ("consumer_key", "consumer_secret", "access_token", "access_token_secret")
    credentials = Credentials(**dict.fromkeys(names, Secret("invented")))
    transport = HttpTransport(credentials=credentials, addresses=ServiceAddresses(SPEC, {"ads_url": address}))
    client = AdsClient(transport, account_id="18ce54d4x5t")
    body = b'[{"operation_type":"Update","params":{"users":[{"partner_user_id":["a1"]}]}}]'

    async def send(request: PackedRequest) -> Any:
        return await client.send_users("1a2b", Body((body,)), records=1)

    async with server, client:
        policy = RetryPolicy(clock=clock, randomness=random.Random(1))
        delivered = await deliver(plan(63, records=1), Route(send, OperationsBody, Unlimited(), policy))
    assert delivered.is_complete, (delivered.error, delivered.confirmed, service.answered, service.closed)
    assert service.closed > 0
