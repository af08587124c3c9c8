"""A run of the real client against a real emulator, its waits a hundred times shorter."""

from __future__ import annotations

import functools
import hashlib
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any
from unittest import mock

import aiohttp

from audiencekit.api.client import AdsClient
from audiencekit.api.transport import HttpTransport, Timeouts
from audiencekit.delivery.faults import RetryClass, retry_class
from audiencekit.delivery.options import Waits
from audiencekit.delivery.retry import SystemClock
from audiencekit.destinations.requests.request_plan import BodyLimits
from audiencekit.emulator import Emulator, EmulatorOptions
from audiencekit.errors import AudiencekitError
from audiencekit.limits import MAX_ATTEMPTS
from audiencekit.pipeline import resume_async, upload_async
from audiencekit.runs import execution, second_pass
from audiencekit.runs.run import RunClock
from audiencekit.settings import Settings, load_settings
from tests.live_faults.cases import At, Case
from tests.moments import IN_HALF_A_YEAR
from tests.oracle.reckoning import Verdict, compare, read_applied, read_expected

FASTER = 100.0
CLIENT_TRANSPORT = "audiencekit.api.opening.HttpTransport"
SETTLE_SECONDS = 50.0  # of the fast clock; a late one is applied after 10
PEOPLE, DELETED = 40, 4
BODY_BYTES = 1_500
MIDDLE, LAST = 3, 8  # of the requests that these come to; test_faults holds them to it
# Real seconds: as long as a busy machine may take, and little where the fault is that no answer comes.
AMPLE, PATIENCE = Timeouts(connect=30.0, read=30.0, total=60.0), Timeouts(connect=2.0, read=0.8, total=1.5)


class FastClock(SystemClock):
    """Waits a hundredth of what it is asked to, and says that it was the whole."""

    def monotonic(self) -> float:
        return super().monotonic() * FASTER

    async def sleep(self, seconds: float) -> None:
        await super().sleep(seconds / FASTER)


class Timer:
    """A limiter that never waits, and orders the faults when the request that they are meant for is about to leave."""

    def __init__(self, live: Live, nth: int, orders: list[dict[str, Any]]) -> None:
        self._live, self._left, self._orders = live, nth, orders

    async def acquire(self) -> None:
        self._left -= 1
        if not self._left:
            for order in self._orders:
                await self._live.door("POST", order)


@dataclass
class Live:
    """An emulator, a source of one person a row, and what the client met on its way."""

    emulator: Emulator
    source: Path
    settings: Settings
    met: list[RetryClass] = field(default_factory=list)

    async def door(self, method: str, order: Any = None) -> Any:
        """The answer of `/__faults`."""
        async with (
            aiohttp.ClientSession() as session,
            session.request(method, f"{self.emulator.base_url}/__faults", json=order) as answer,
        ):
            document = await answer.json(content_type=None)
            assert answer.status == 200, document
            return document

    async def strikes(self, fault: int) -> int:
        """How often that fault struck so far."""
        return sum(each["fault"] == fault for each in (await self.door("GET"))["fired"])

    async def begin(self, nth: int = 1, orders: list[dict[str, Any]] | None = None) -> AudiencekitError | None:
        """The first process: what it ended in, None for a complete run."""
        timer = Timer(self, nth, orders or [])
        return await self._end_of(
            upload_async(
                self.source, audience=self.emulator.audience_id, settings=self.settings, limiter=timer,
                operation_column="operation", hashed=["email", "handle"], expires_at=IN_HALF_A_YEAR,
            )
        )  # fmt: skip

    async def resume(self, settings: Settings) -> AudiencekitError | None:
        """The second process, when nothing is wrong any more."""
        again = resume_async("last", settings=settings, limiter=Timer(self, 0, []), new_address=True)
        return await self._end_of(again)

    async def _end_of(self, run: Any) -> AudiencekitError | None:
        send = AdsClient.send_users

        async def watched(client: AdsClient, *given: Any, **more: Any) -> Any:
            try:
                return await send(client, *given, **more)
            except AudiencekitError as error:
                self.met.append(retry_class(error))
                raise

        with mock.patch.object(AdsClient, "send_users", watched):
            try:
                await run
            except AudiencekitError as error:
                return error
        return None

    def verdict(self) -> Verdict:
        """The list, as the log says, against the rows that the service did not refuse when they were sent alone."""
        expected = read_expected(self.source, expires_at=IN_HALF_A_YEAR, skip_rows=self._refused_rows())
        return compare(expected, read_applied(self.emulator.store.operations.lines(), self.emulator.audience_id))

    def _refused_rows(self) -> list[int]:
        files = self.settings.state_dir.glob("runs/*/rejections.csv")
        lines = [line for path in files for line in path.read_text().splitlines()]
        return [int(line.split(",")[0]) for line in lines if line.endswith("refused_by_service")]

    @property
    def requests(self) -> int:
        """Of the whole run."""
        (report,) = self.settings.state_dir.glob("runs/*/report.json")
        return int(json.loads(report.read_text())["requests"]["planned"])


@asynccontextmanager
async def live_run(tmp_path: Path, *, is_single: bool, is_silent: bool = False) -> AsyncIterator[Live]:
    """An emulator at work, and what makes the client quick."""
    source = tmp_path / "people.csv"
    source.write_text("\n".join(_rows(is_single=is_single)) + "\n")
    timeouts = PATIENCE if is_silent else AMPLE
    limits = BodyLimits(max_body_bytes=5_000_000 if is_single else BODY_BYTES)
    async with Emulator(EmulatorOptions(rate=(1_000_000, 1.0))) as emulator:
        settings = load_settings(emulator.env, directory=tmp_path, state_dir=tmp_path / "state", concurrency=1)
        with (
            mock.patch.object(BodyLimits, "within", return_value=limits),
            mock.patch.object(execution, "RunClock", functools.partial(RunClock, FastClock())),
            mock.patch.object(
                second_pass,
                "deliver",
                functools.partial(second_pass.deliver, waits=Waits(settle_seconds=SETTLE_SECONDS)),
            ),
            mock.patch(CLIENT_TRANSPORT, functools.partial(HttpTransport, timeouts=timeouts)),
        ):
            yield Live(emulator, source, settings)


def _rows(*, is_single: bool) -> list[str]:
    people = [(_hash(f"person{number}@example.com"), _hash(f"handle{number}")) for number in range(PEOPLE)]
    rows = [f"{email},{handle},update" for email, handle in people]
    if not is_single:  # a wave of its own, which overrules the first rows
        rows += [f"{email},,delete" for email, _ in people[:DELETED]]
    return ["email,handle,operation", *rows]


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


async def strike(live: Live, case: Case, at: At, tmp_path: Path, monkeypatch: Any) -> AudiencekitError | None:
    """The first process of a run that meets `case` there."""
    await _lead(live, case, tmp_path, monkeypatch)
    times = {At.TWICE: 2, At.TOO_OFTEN: MAX_ATTEMPTS + 1}.get(at, 1)
    order = case.order if case.is_lasting or "times" in case.settings else {**case.order, "times": times}
    return await live.begin(_place(at), [order])


def _place(at: At) -> int:
    return {At.FIRST: 1, At.ONLY: 1, At.LAST: LAST}.get(at, MIDDLE)


async def _lead(live: Live, case: Case, tmp_path: Path, monkeypatch: Any) -> None:
    """The client over https, or with a proxy in its environment, where the case says so."""
    if case.over == "http":
        return
    # An order that is never carried out opens the address.
    shown = await live.door("POST", {"fault": case.fault, "nth": 1_000_000, "times": 1})
    if case.over == "https":
        authority = tmp_path / "authority.pem"
        authority.write_text(shown["authority"])
        monkeypatch.setenv("SSL_CERT_FILE", str(authority))
        url = shown["https_url"]
        live.settings = replace(live.settings, ads_url=url, named_addresses=live.settings.named_addresses | {url})
    else:
        monkeypatch.setenv("HTTP_PROXY", shown["proxy_url"])
        monkeypatch.setenv("HTTPS_PROXY", shown["proxy_url"])
