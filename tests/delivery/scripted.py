"""A delivery under test: a service that follows a script and watches over the promises."""

from __future__ import annotations

import asyncio
import random
from collections import defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt
import orjson

from audiencekit.api.answers import check_counts
from audiencekit.delivery.limiter import RateLimiter, Unlimited
from audiencekit.delivery.options import Earlier, Journal, Listener, Route, Waits
from audiencekit.delivery.results import Delivered, RequestResult
from audiencekit.delivery.retry import Clock, RetryPolicy
from audiencekit.delivery.uploader import deliver
from audiencekit.destinations.requests.operations_body import OperationsBody
from audiencekit.errors import (
    NotFound,
    Outcome,
    RateLimited,
    Redirected,
    RequestRefused,
    TemporarilyUnavailable,
    TransportFailed,
    Unauthorized,
)
from audiencekit.personal import Personal

EXCHANGE_SECONDS = 0.5
MARKER = "marker-of-a-person"


@dataclass(frozen=True, slots=True, weakref_slot=True, eq=False)
class Packed:
    number: int
    wave: int = 1
    records: int = 10
    body_bytes: int = 1000
    operations: int = 1

    @property
    def body(self) -> Personal[bytes]:
        users = [{"email": [f"{MARKER}-{place}"]} for place in range(self.records)]
        return Personal(orjson.dumps([{"operation_type": "Update", "params": {"users": users}}] if users else []))

    @property
    def rows(self) -> npt.NDArray[np.int64]:
        return np.arange(self.records)


@dataclass(frozen=True, slots=True)
class Counts:
    success_count: int
    total_count: int


def limited(reset_in: float | None = None) -> Callable[[Clock], Exception]:
    """A 429 whose reset is `reset_in` seconds after the answer."""

    def make(clock: Clock) -> Exception:
        error = RateLimited("the service asks to wait", status=429)
        error.reset_at = None if reset_in is None else clock.now() + reset_in
        return error

    return make


def busy(retry_after: float | None = None) -> Exception:
    codes = ("OVER_CAPACITY",)
    error = TemporarilyUnavailable("the service is not available", status=503, codes=codes, outcome=Outcome.UNKNOWN)
    error.retry_after = retry_after
    return error


def lost() -> Exception:
    return TransportFailed("no answer", sent=True)


def unreached() -> Exception:
    return TransportFailed("connection refused", sent=False)


def revoked() -> Exception:
    return Unauthorized("the service refuses the credentials", status=401, codes=("UNAUTHORIZED_ACCESS",))


FATAL: list[Any] = [
    revoked(),
    Redirected("elsewhere", status=307),
    RequestRefused("refused", status=405, codes=("METHOD_NOT_ALLOWED",)),
    NotFound("gone", status=404),
]

Step = Any  # None: counted right; Counts; an exception; a callable that makes one; a float: seconds it takes longer


class Service:
    """Answers each request by its script, then rightly. Notes who was sent when, and watches over the promises."""

    def __init__(self, clock: Clock, scripts: dict[int, list[Step]] | None = None) -> None:
        self._clock = clock
        self._scripts = {number: list(script) for number, script in (scripts or {}).items()}
        self.sent: list[tuple[float, int]] = []
        self.confirmed: set[int] = set()
        self.left: dict[int, int] = {}  # records that are not taken yet: a request may come in parts
        self.in_flight: set[int] = set()
        self.most_in_flight = 0
        self.unfinished_waves: dict[int, set[int]] = defaultdict(set)

    @property
    def numbers(self) -> list[int]:
        return [number for _, number in self.sent]

    def times_of(self, number: int) -> list[float]:
        return [round(at, 6) for at, sent in self.sent if sent == number]

    async def send(self, request: Packed) -> Counts:
        assert request.number not in self.in_flight, "one request is in flight twice"
        assert request.number not in self.confirmed, "a confirmed request was sent again"
        assert not [wave for wave, open_ in self.unfinished_waves.items() if wave < request.wave and open_]
        self.sent.append((self._clock.monotonic(), request.number))
        self.in_flight.add(request.number)
        self.left.setdefault(request.number, request.records)
        self.most_in_flight = max(self.most_in_flight, len(self.in_flight))
        try:
            return await self._answer(request)
        finally:
            self.in_flight.discard(request.number)

    async def _answer(self, request: Packed) -> Counts:
        script = self._scripts.get(request.number, [])
        step = script.pop(0) if script else None
        if isinstance(step, float):
            await self._clock.sleep(step)
            step = None
        await self._clock.sleep(EXCHANGE_SECONDS)
        if callable(step):
            step = step(self._clock)
        if isinstance(step, BaseException):
            raise step
        if step is None:
            self.left[request.number] -= request.records
            if not self.left[request.number]:
                self.confirmed.add(request.number)
                self.unfinished_waves[request.wave].discard(request.number)
            return Counts(request.records, request.records)
        check_counts(step, sent=request.records)
        return step


class Upload:
    """One delivery under test, with whatever it did."""

    def __init__(
        self,
        clock: Clock,
        requests: Iterable[Packed],
        scripts: dict[int, list[Step]] | None = None,
        *,
        limiter: RateLimiter | None = None,
        seed: int = 1,
        **options: Any,
    ) -> None:
        self.clock, self.requests = clock, requests
        self.service = Service(clock, scripts)
        self.progress: list[RequestResult] = []
        own = {name: options.pop(name) for name in ("quota", "longest_wait_seconds") if name in options}
        policy = RetryPolicy(clock=clock, randomness=random.Random(seed), **own)
        concurrency = options.pop("concurrency", 4)
        self._route = Route(self.service.send, OperationsBody, limiter or Unlimited(), policy, concurrency)
        self._journal: Journal | None = options.pop("journal", None)
        self._earlier: Earlier | None = options.pop("earlier", None)
        heard = {name: options.pop(name) for name in ("on_progress", "notify", "on_wait") if name in options}
        self._listener = Listener(**{"on_progress": self.progress.append} | heard)
        self._waits = Waits(**options)
        self.ended_at = 0.0

    async def run(self, send: Any = None) -> Delivered:
        if isinstance(self.requests, list):
            for request in self.requests:
                self.service.unfinished_waves[request.wave].add(request.number)
        delivered = await deliver(
            self.requests, replace(self._route, send=send or self.service.send),
            journal=self._journal, listener=self._listener, waits=self._waits, earlier=self._earlier,
        )  # fmt: skip
        self.ended_at = self.clock.monotonic()
        assert not self.service.in_flight
        return delivered


def plan(count: int, **options: Any) -> list[Packed]:
    return [Packed(number, **options) for number in range(1, count + 1)]


async def interrupted(upload: Upload, *moments: float, send: Any = None) -> Delivered:
    """The results of a delivery that is cancelled at `moments`."""
    task = asyncio.create_task(upload.run(send))
    for moment in moments:
        await upload.clock.sleep(moment - upload.clock.monotonic())
        task.cancel()
    return await task
