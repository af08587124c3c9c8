"""Faults of connections and of time, over real sockets."""

from __future__ import annotations

import asyncio
from typing import Any

import aiohttp
import pytest

from audiencekit.emulator import Emulator, EmulatorOptions
from audiencekit.emulator.faults.orders import read_faults
from tests.moments import PATIENCE_SECONDS


async def _until_fired(bench: Any, count: int = 1) -> None:
    while len(await bench.fired()) < count:
        await asyncio.sleep(0)


async def _stays_silent(bench: Any, reader: asyncio.StreamReader) -> None:
    """Nothing comes, nor does the connection end, while others are answered many times."""
    reading = asyncio.ensure_future(reader.read(1))
    for _ in range(20):
        await bench.fired()
    assert not reading.done()
    reading.cancel()
    with pytest.raises(asyncio.CancelledError):
        await reading


@pytest.mark.parametrize(
    ("number", "where", "applied"),
    [
        (13, "headers", 0),
        (13, "body", 0),
        (13, "before_apply", 0),
        (13, "after_apply", 2),
    ],
)
async def test_a_reset_at_each_place(bench: Any, number: int, where: str, applied: int) -> None:
    """The other side hears a reset, not a farewell; the next request is answered."""
    await bench.order(number, where=where)
    with pytest.raises(ConnectionResetError):
        await bench.exchange(bench.request())
    assert len(await bench.log()) == applied
    assert await bench.fired() == [(number, where, 1, applied > 0)]
    assert (await bench.upload()).status == 200


async def test_a_reset_before_any_byte(bench: Any) -> None:
    """The second connection is reset when it is made: there is no request to speak of."""
    await bench.order(12, nth=2)
    for expected in (b"HTTP/1.1 200 OK", None):
        if expected:
            assert (await bench.exchange(bench.request(Connection="close"))).startswith(expected)
        else:
            with pytest.raises(ConnectionResetError):
                await bench.exchange(bench.request())
    assert await bench.fired() == [(12, "connect", None, False)]


async def test_a_body_is_cut_after_so_many_bytes(bench: Any) -> None:
    """Not before them: what was sent up to there is taken in."""
    await bench.order(13, where="body", after_bytes=100)
    reader, writer = await bench.connect()
    request = bench.request()
    head, _, body = request.partition(b"\r\n\r\n")
    writer.write(head + b"\r\n\r\n" + body[:50])
    await _until_fired(bench)
    await _stays_silent(bench, reader)
    writer.write(body[50:110])
    with pytest.raises(ConnectionResetError):
        await reader.read()
    writer.close()
    assert await bench.log() == []


REFUSALS = pytest.mark.parametrize(
    "order", [{"fault": 12, "kind": "refused"}, {"fault": 26, "where": "connect"}, {"fault": 27, "where": "headers"}]
)


@REFUSALS
async def test_connections_are_refused(bench: Any, order: dict[str, Any]) -> None:
    """No server listens at the first two addresses; the third one answers."""
    await bench.order(order["fault"], **{**order, "delay_seconds": 3_600})
    with pytest.raises(ConnectionResetError):
        await bench.exchange(bench.request())
    for url in (bench.emulator.ads_url, bench.emulator.ads_sandbox_url):
        with pytest.raises(aiohttp.ClientConnectorError):
            await bench.caller.send("GET", "/__log", base=url)
    assert await bench.log() == []


@REFUSALS
async def test_a_port_that_refused_connections_comes_back(bench: Any, order: dict[str, Any]) -> None:
    """At the same port, with everything as before."""
    await bench.order(order["fault"], **{**order, "delay_seconds": 0.01})
    with pytest.raises(ConnectionResetError):
        await bench.exchange(bench.request())
    reply = None
    while reply is None:
        try:
            reply = await bench.upload()
        except aiohttp.ClientConnectorError:
            await asyncio.sleep(0)
    assert reply.status == 200


@pytest.mark.parametrize(("state", "members"), [("kept", 3), ("lost", 0)])
async def test_a_restart_keeps_or_loses_the_lists(bench: Any, state: str, members: int) -> None:
    """Applied requests stay in the log in either case: the log is the witness."""
    assert (await bench.upload()).status == 200
    await bench.order(27, where="after_apply", state=state, delay_seconds=0.02)
    with pytest.raises(ConnectionResetError):
        await bench.exchange(bench.request())
    reply = await bench.caller.send("GET", f"/__members/{bench.emulator.audience_id}", base=bench.emulator.base_url)
    assert reply.body["count"] == members
    assert len(await bench.log()) == 4
    assert (await bench.fired())[0] == (27, "after_apply", 2, True)


@pytest.mark.parametrize(
    ("where", "applied"), [("connect", 0), ("headers", 0), ("body", 0), ("before_apply", 0), ("after_apply", 2)]
)
async def test_a_black_hole_takes_and_never_gives(open_bench: Any, where: str, applied: int) -> None:
    """No answer, no farewell; and it does not hold up the end of the emulator."""
    async with open_bench({"fault": 28, "where": where}) as bench:
        reader, writer = await bench.connect()
        writer.write(bench.request())
        await _until_fired(bench)
        await _stays_silent(bench, reader)
        assert len(await bench.log()) == applied
        async with asyncio.timeout(PATIENCE_SECONDS):
            await bench.emulator.__aexit__(None, None, None)
    writer.close()


@pytest.mark.parametrize("where", ["connect", "headers", "body", "after_apply"])
async def test_a_black_hole_may_end_in_a_reset(bench: Any, where: str) -> None:
    """After the seconds that were ordered."""
    await bench.order(28, where=where, delay_seconds=0.01)
    with pytest.raises(ConnectionResetError):
        await bench.exchange(bench.request())


@pytest.mark.parametrize("number", [1, 2])
async def test_an_answer_comes_late_and_is_right(bench: Any, number: int) -> None:
    """Latency changes nothing else."""
    await bench.order(number, delay_seconds=0.01, jitter_seconds=0.01)
    assert (await bench.upload()).body["data"]["success_count"] == 3
    assert [fired[3] for fired in await bench.fired()] == [True]


async def test_a_client_that_gave_up_was_applied(bench: Any) -> None:
    """Fault 2: there before the answer is."""
    await bench.order(2, delay_seconds=60)
    _, writer = await bench.connect()
    writer.write(bench.request())
    await _until_fired(bench)
    writer.close()
    assert len(await bench.log()) == 2


async def test_a_slow_intake_is_whole_in_the_end(bench: Any) -> None:
    """Fault 29 at the body."""
    await bench.order(29, where="body", bytes_per_second=1e5)
    assert (await bench.upload()).body["data"]["success_count"] == 3
    assert await bench.fired() == [(29, "body", 1, True)]


@pytest.mark.parametrize("skew", [600, -600])
async def test_the_clock_is_off_in_all_that_it_says(bench: Any, skew: int) -> None:
    """`Date` and resets; a timestamp by the right clock is refused, one by the wrong clock is not."""
    await bench.order(23, skew_seconds=skew)
    refused = await bench.upload()
    assert (refused.status, refused.codes) == (401, [135])
    assert refused.headers["Date"] == ("Fri, 15 Jan 2027 08:10:00 GMT" if skew > 0 else "Fri, 15 Jan 2027 07:50:00 GMT")
    path = bench.caller.users
    signed = bench.caller.sign(
        "POST", bench.emulator.ads_url + path, timestamp=str(int(bench.emulator.clock.now()) + skew)
    )
    body = b'[{"operation_type":"Update","params":{"users":[{"email":["' + b"a1" * 32 + b'"]}]}}]'
    reply = await bench.caller.send("POST", path, data=body, headers={**signed, "Content-Type": "application/json"})
    assert reply.status == 200
    assert reply.headers["x-rate-limit-reset"] == str(1_800_000_061 + skew)


async def test_a_small_skew_is_let_in(bench: Any) -> None:
    """Within five minutes only `Date` shows it."""
    await bench.order(23, skew_seconds=120)
    reply = await bench.upload()
    assert (reply.status, reply.headers["Date"]) == (200, "Fri, 15 Jan 2027 08:02:00 GMT")


async def test_a_429_goes_by_the_clock_that_is_off(bench: Any) -> None:
    """Two faults of one request: the reset is that of the claimed time."""
    await bench.order(23, skew_seconds=200)
    await bench.order(4, reset=5)
    assert (await bench.upload()).headers["x-account-rate-limit-reset"] == "1800000206"


@pytest.mark.parametrize("meanwhile", ["reset", "status", "hold"])
async def test_a_creation_is_lost(bench: Any, meanwhile: str) -> None:
    """The audience is there, its maker heard nothing, and the name is taken when he tries again."""
    await bench.order(36, meanwhile=meanwhile, delay_seconds=0.01)
    assert (await bench.upload()).status == 200
    caller = bench.caller
    if meanwhile == "status":
        assert (await caller.call("POST", caller.audiences, query={"name": "Spring"})).status == 504
    else:
        with pytest.raises((aiohttp.ClientOSError, aiohttp.ServerDisconnectedError)):
            await caller.call("POST", caller.audiences, query={"name": "Spring"})
    assert await bench.fired() == [(36, "after_apply", 2, True)]
    listed = (await caller.call("GET", caller.audiences)).body["data"]
    assert "Spring" in [audience["name"] for audience in listed]
    assert (await caller.call("POST", caller.audiences, query={"name": "Spring"})).status == 400


async def test_faults_can_be_there_from_the_start() -> None:
    """As options of the emulator; without any, there are none."""
    for faults in ((), tuple(read_faults([{"fault": 8}]))):
        async with (
            Emulator(EmulatorOptions(faults=faults)) as emulator,
            aiohttp.ClientSession() as session,
            session.get(f"{emulator.base_url}/__faults") as answer,
        ):
            assert len((await answer.json())["faults"]) == len(faults)
