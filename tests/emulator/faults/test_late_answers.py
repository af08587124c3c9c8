"""Faults of the answer's way, read from a plain socket."""

from __future__ import annotations

import asyncio
import gzip
import json
import resource
import zlib
from typing import Any

import pytest

from audiencekit.emulator.faults.late_answers import LateApplies
from audiencekit.emulator.store import Clock
from tests.moments import PATIENCE_SECONDS
from tests.virtualtime import run_virtually

# --- Faults of the answer's way, read from a plain socket ---


def _split(content: bytes) -> tuple[bytes, dict[str, str], bytes]:
    """Status line, headers in lower case, and the rest, whatever it is."""
    head, _, rest = content.partition(b"\r\n\r\n")
    line, *fields = head.split(b"\r\n")
    pairs = (field.decode().partition(": ") for field in fields)
    return line, {name.lower(): text for name, _, text in pairs}, rest


@pytest.mark.parametrize(("where", "applied"), [("after_apply", 2), ("before_apply", 0)])
@pytest.mark.parametrize("kind", ["truncated", "content_length_long", "content_length_short", "chunk", "gzip"])
async def test_an_answer_is_broken_in_each_way(bench: Any, where: str, applied: int, kind: str) -> None:
    """The answer differs from its announcement, and then the connection is closed."""
    await bench.order(15, where=where, kind=kind)
    line, headers, content = _split(await bench.exchange(bench.request()))
    assert line == b"HTTP/1.1 200 OK"
    missing = int(headers.get("content-length", 0)) - len(content)
    if kind == "truncated":
        assert 0 < len(content) <= missing + 1
    elif kind == "content_length_long":
        assert missing == 10
    elif kind == "content_length_short":
        assert missing == -5
    elif kind == "chunk":
        assert headers["transfer-encoding"] == "chunked"
        assert content.endswith(b"zz\r\n")
    else:
        assert (headers["content-encoding"], missing) == ("gzip", 0)
        with pytest.raises((OSError, EOFError, zlib.error)):
            gzip.decompress(content)
    assert len(await bench.log()) == applied
    assert await bench.fired() == [(15, where, 1, applied > 0)]


async def test_a_slow_answer_is_whole_in_the_end(bench: Any) -> None:
    """Byte by byte, at the rate that was ordered."""
    await bench.order(29, bytes_per_second=1e6)
    line, headers, content = _split(await bench.exchange(bench.request()))
    assert line == b"HTTP/1.1 200 OK"
    assert int(headers["content-length"]) == len(content)
    assert json.loads(content)["data"]["success_count"] == 3


async def test_a_slow_answer_ends_when_the_emulator_does(open_bench: Any) -> None:
    """A byte an hour does not hold it up."""
    async with open_bench({"fault": 29, "bytes_per_second": 1 / 1000}) as bench:
        reader, writer = await bench.connect()
        writer.write(bench.request())
        while not await bench.fired():
            pass
    assert await reader.read() == b""
    writer.close()


async def test_http_1_0_ends_with_the_connection(bench: Any) -> None:
    """No length, no promise."""
    await bench.order(31, kind="http_1_0")
    line, headers, content = _split(await bench.exchange(bench.request()))
    assert line == b"HTTP/1.0 200 OK"
    assert "content-length" not in headers
    assert json.loads(content)["data"]["total_count"] == 3


async def test_extra_answers_come_first(bench: Any) -> None:
    """Three times 102 and once 103, then the answer."""
    await bench.order(31, kind="extra_1xx")
    content = await bench.exchange(bench.request())
    assert content.count(b"HTTP/1.1 102 Processing\r\n\r\n") == 3
    assert content.count(b"HTTP/1.1 103 Early Hints\r\n") == 1
    assert json.loads(_split(content[content.index(b"HTTP/1.1 200 OK") :])[2])["data"]["total_count"] == 3


async def test_headers_are_huge(bench: Any) -> None:
    """So many bytes of them, and then the answer."""
    await bench.order(31, kind="huge_headers", bytes=100_000)
    content = await bench.exchange(bench.request())
    head, _, body = content.partition(b"\r\n\r\n")
    assert len(head) > 100_000
    assert json.loads(body)["data"]["total_count"] == 3


async def test_headers_never_end(open_bench: Any) -> None:
    """They come until the client or the emulator has enough."""
    async with open_bench({"fault": 31, "kind": "endless_headers"}) as bench:
        reader, writer = await bench.connect()
        writer.write(bench.request())
        content = b""
        while content.count(b"x-padding-") < 5:
            content += await reader.read(65_536)
        assert b"\r\n\r\n" not in content
        writer.close()


async def test_no_continue_is_said(bench: Any) -> None:
    """A client that waits for 100 waits in vain; one that sends its body is answered."""
    await bench.order(31, where="headers")
    request = bench.request(Expect="100-continue", Connection="close")
    content = await bench.exchange(request)
    assert content.startswith(b"HTTP/1.1 200 OK")
    assert (await bench.exchange(bench.request(Expect="100-continue", Connection="close"))).startswith(
        b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK"
    )


async def test_a_kept_connection_is_closed(bench: Any) -> None:
    """The answer is whole and says nothing of closing; the next request has no taker."""
    await bench.order(14)
    content = await bench.exchange(bench.request())
    assert b"connection: close" not in content.lower()
    assert json.loads(_split(content)[2])["data"]["total_count"] == 3
    assert len(await bench.log()) == 2


async def test_a_used_connection_is_reset_when_the_next_request_is_there(bench: Any) -> None:
    """A fresh one is not: fault 14 at the headers counts second requests only."""
    await bench.order(14, where="headers")
    reader, writer = await bench.connect()
    writer.write(bench.request())
    assert (await reader.readline()) == b"HTTP/1.1 200 OK\r\n"
    assert await bench.fired() == []
    writer.write(bench.request())
    with pytest.raises(ConnectionResetError):
        await reader.read()
    writer.close()
    assert await bench.fired() == [(14, "headers", 2, False)]
    assert len(await bench.log()) == 2


async def test_a_bomb_is_small_until_it_is_unpacked(bench: Any) -> None:
    """A sound answer in sound gzip, with spaces behind it."""
    await bench.order(38, bytes=50_000_000)
    line, headers, content = _split(await bench.exchange(bench.request()))
    assert line == b"HTTP/1.1 200 OK"
    assert headers["content-encoding"] == "gzip"
    assert len(content) < 200_000
    whole = gzip.decompress(content)
    assert len(whole) > 50_000_000
    assert json.loads(whole)["data"]["total_count"] == 3


async def test_a_body_without_end_waits_for_its_reader(bench: Any) -> None:
    """It goes on while the client reads; meanwhile other calls are answered, and nothing piles up."""
    await bench.order(38, kind="endless")
    reader, writer = await bench.connect()
    writer.write(bench.request())
    read = sum([len(await reader.readexactly(1_000_000)) for _ in range(20)])
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    assert (await bench.upload()).body["data"]["total_count"] == 3
    await asyncio.sleep(0.2)
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 50_000
    assert read == 20_000_000
    writer.close()


# --- Requests that are applied later than they came ---


async def test_moments_come_in_their_order_and_not_before() -> None:
    """By the clock; what has the same moment comes in the order in which it was added."""
    clock, done = Clock(lambda: 100.0), []
    late = LateApplies(clock)
    for name, seconds in (("b", 20), ("a", 10), ("c", 20)):
        late.add(seconds, lambda name=name: done.append(name))  # type: ignore[misc]
    late.run_due()
    assert done == []
    clock.advance(10)
    late.run_due()
    assert done == ["a"]
    clock.advance(100)
    late.run_due()
    assert done == ["a", "b", "c"]


def test_time_alone_brings_the_moment() -> None:
    """A timer asks the clock, and asks again while it stands still."""

    async def main() -> None:
        now, done = [100.0], asyncio.Event()
        late = LateApplies(Clock(lambda: now[0]))
        late.add(0.01, done.set)
        await asyncio.sleep(60)
        assert not done.is_set()
        now[0] = 200.0
        await asyncio.wait_for(done.wait(), PATIENCE_SECONDS)

    run_virtually(main())


async def test_nothing_is_applied_after_the_end() -> None:
    """Requests that still wait are dropped."""
    late = LateApplies(Clock(lambda: 100.0))
    late.add(0, lambda: pytest.fail("applied after the end"))
    late.close()
    late.run_due()


@pytest.mark.parametrize("meanwhile", ["reset", "status"])
async def test_a_zombie_is_applied_after_the_retry(bench: Any, meanwhile: str) -> None:
    """The client hears of a failure, tries again, is confirmed; then the first request takes effect."""
    await bench.order(3, delay_seconds=900, meanwhile=meanwhile)
    if meanwhile == "reset":
        with pytest.raises(ConnectionResetError):
            await bench.exchange(bench.request())
    else:
        assert (await bench.upload()).status == 504
    assert await bench.fired() == [(3, "late_apply", 1, False)]
    retried = [{"operation_type": "Delete", "params": {"users": [{"email": ["a1" * 32]}]}}]
    assert (await bench.upload(retried)).status == 200
    await bench.caller.move_clock(advance=899)
    assert len(await bench.log()) == 1
    await bench.caller.move_clock(advance=2)
    log = await bench.log()
    assert [(line["seq"], line["operation_type"], line.get("fault")) for line in log] == [
        (1, "Delete", None),
        (2, "Update", 3),
        (3, "Update", 3),
    ]
    assert log[1]["time"] == log[0]["time"] + 901
    assert {"email": ["a1" * 32]} in [member["keys"] for member in await bench.caller.members()]
    assert await bench.fired() == [(3, "late_apply", 1, True)]


async def test_a_held_client_hears_the_late_answer(bench: Any) -> None:
    """If it waits that long."""
    await bench.order(3, delay_seconds=60)
    waiting = asyncio.ensure_future(bench.upload())
    while not await bench.fired():
        await asyncio.sleep(0)
    assert await bench.log() == []
    await bench.caller.move_clock(advance=61)
    assert (await waiting).body["data"]["success_count"] == 3
    assert len(await bench.log()) == 2


async def test_a_held_client_that_left_was_applied_all_the_same(bench: Any) -> None:
    """The connection is gone; the request is not."""
    await bench.order(3, delay_seconds=60)
    _, writer = await bench.connect()
    writer.write(bench.request())
    while not await bench.fired():
        await asyncio.sleep(0)
    writer.close()
    await bench.caller.move_clock(advance=61)
    assert len(await bench.log()) == 2


async def test_a_late_request_can_be_refused(bench: Any) -> None:
    """The audience was deleted in the meantime: nothing is applied."""
    await bench.order(3, delay_seconds=60, meanwhile="status")
    await bench.upload()
    caller = bench.caller
    assert (await caller.call("DELETE", f"{caller.audiences}/{bench.emulator.audience_id}")).status == 200
    await caller.move_clock(advance=61)
    assert await bench.log() == []
    assert (await bench.fired())[0][3] is False
