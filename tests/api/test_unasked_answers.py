"""Answers that are not the one to the request: second copies, late ones, early ones, two in one packet.

HTTP/1.1 knows answers by their order alone. A gateway that repeats a POST, or that answers 504 and passes on the late
200 as well, sends more answers than there were requests.
"""

from __future__ import annotations

import asyncio
from itertools import count
from typing import Any

import pytest
from aiohttp.connector import Connection

from audiencekit.api.exchange import ApiRequest, Body
from audiencekit.api.proven_answer import ProvenAnswer
from audiencekit.errors import Outcome, TransportFailed
from tests.api.cleanliness import assert_clean
from tests.api.exchanges import GET, GOOD, PATH, POST, Reader, Writer
from tests.cases import each_case
from tests.moments import PATIENCE_SECONDS

OTHERS = b'{"data": {"success_count": 4, "total_count": 4}, "request": {"of": "another"}}'
LARGE = ApiRequest(method="POST", path=PATH + "/1nmth/users", body=Body([bytes(64 << 20)]))  # more than a socket takes


def _kept(answer: bytes) -> bytes:
    """The same answer, as of a peer that wants to keep the connection."""
    return answer.replace(b"\r\n", b"\r\nConnection: keep-alive\r\n", 1)


@each_case("status", [200, 400, 401, 408, 429, 504])
@each_case("request_", [GET, POST])
async def test_the_answer_behind_an_answer_is_not_the_next_ones(
    status: int, request_: ApiRequest, listening: Any, answer_bytes: Any, make_transport: Any
) -> None:
    """An answer is followed by another one on the same connection, before the next request leaves."""
    numbers, was_sent = count(1), asyncio.Event()

    async def script(reader: Reader, writer: Writer) -> None:
        number = next(numbers)
        while True:
            await listener.read_request(reader)
            writer.write(_kept(answer_bytes(200, GOOD) if number == 1 else answer_bytes(503, b"{}")))
            await writer.drain()
            if number == 1:
                await asyncio.sleep(0.01)
                writer.write(_kept(answer_bytes(status, OTHERS)))
                await asyncio.sleep(0.01)
                was_sent.set()

    async with listening(script) as listener, make_transport(listener) as transport:
        assert (await transport.exchange(request_)).status == 200
        async with asyncio.timeout(PATIENCE_SECONDS):
            await was_sent.wait()
        assert (await transport.exchange(request_)).status == 503
    assert listener.connections == 2


async def test_the_late_answer_behind_a_504_confirms_nothing(
    listening: Any, answer_bytes: Any, make_transport: Any
) -> None:
    """No request of many at once takes it for its own answer; in one packet with the 504, it leaves a doubt."""
    numbers = count(1)

    async def script(reader: Reader, writer: Writer) -> None:
        while True:
            _, body = await listener.read_request(reader)
            writer.write(_kept(answer_bytes(504, b"")))
            await asyncio.sleep(0.005 * (next(numbers) % 3))
            writer.write(_kept(answer_bytes(200, body)))

    async with listening(script) as listener, make_transport(listener) as transport:
        ends = await asyncio.gather(*(transport.exchange(POST) for _ in range(60)), return_exceptions=True)
    assert {getattr(end, "status", None) for end in ends} <= {504, None}
    assert {end.outcome for end in ends if isinstance(end, TransportFailed)} <= {Outcome.UNKNOWN}


@each_case("status", [200, 201, 204])
async def test_a_success_before_the_body_has_left_is_in_doubt(
    status: int, listening: Any, answer_bytes: Any, make_transport: Any
) -> None:
    """The peer has read the head only: it cannot know what it confirms."""

    async def script(reader: Reader, writer: Writer) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(answer_bytes(status, b"" if status == 204 else GOOD))
        await writer.drain()
        await ended.wait()

    ended = asyncio.Event()
    async with listening(script) as listener, make_transport(listener) as transport:
        with pytest.raises(TransportFailed, match="before the request had left whole") as caught:
            await transport.exchange(LARGE)
        ended.set()
    assert caught.value.outcome is Outcome.UNKNOWN
    assert_clean(caught.value)


@each_case("status", [400, 401, 413, 429, 503])
async def test_a_refusal_before_the_body_has_left_is_believed(
    status: int, listening: Any, answer_bytes: Any, make_transport: Any
) -> None:
    """On a connection that carried nothing else it is about this request, whose head was read."""

    async def script(reader: Reader, writer: Writer) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(answer_bytes(status, b'{"errors": [{"code": "TOO_LARGE"}]}'))
        await writer.drain()
        await ended.wait()

    ended = asyncio.Event()
    async with listening(script) as listener, make_transport(listener) as transport:
        assert (await transport.exchange(LARGE)).status == status
        ended.set()


@each_case("first", [200, 400, 503])
@each_case("second", [200, 503])
async def test_two_answers_in_one_packet_are_in_doubt(
    first: int, second: int, listening: Any, answer_bytes: Any, make_transport: Any
) -> None:
    """Nothing says which of them is the one to the request; the next request is not concerned."""
    numbers = count(1)

    async def script(reader: Reader, writer: Writer) -> None:
        await listener.read_request(reader)
        if next(numbers) == 1:
            writer.write(_kept(answer_bytes(first, GOOD)) + _kept(answer_bytes(second, OTHERS)))
        else:
            writer.write(answer_bytes(200, OTHERS))
        await reader.read()

    async with listening(script) as listener, make_transport(listener) as transport:
        with pytest.raises(TransportFailed) as caught:
            await transport.exchange(POST)
        assert (await transport.exchange(POST)).body == OTHERS
    assert caught.value.outcome is Outcome.UNKNOWN
    assert_clean(caught.value)


@each_case("rest", [b"x", b"\r\n\r\nno HTTP", b"\n", b"\r\n", b"HTTP/1.1", b"HTTP/1.1 200 OK\r\nDate"])
@each_case("form", ["length", "chunks", "trailers", "interim"])
async def test_a_byte_behind_an_answer_leaves_a_doubt(
    form: str, rest: bytes, listening: Any, answer_bytes: Any, make_transport: Any
) -> None:
    """It begins another answer, or it belongs to nothing. Without it there is no doubt."""
    answer = _kept(answer_bytes(200, GOOD))
    if form in ("chunks", "trailers"):
        answer = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n%x\r\n%b\r\n0\r\n\r\n" % (len(GOOD), GOOD)
    if form == "trailers":  # they are allowed, and rare
        answer = answer.removesuffix(b"0\r\n\r\n") + b"00;x=y\r\nServer-Timing: a;dur=1\r\n\r\n"
    elif form == "interim":
        answer = b"HTTP/1.1 103 Early Hints\r\nLink: <x>\r\n\r\n" + answer
    answers = iter([answer, answer + rest])

    async def script(reader: Reader, writer: Writer) -> None:
        await listener.read_request(reader)
        writer.write(next(answers))
        await reader.read()

    async with listening(script) as listener, make_transport(listener) as transport:
        assert (await transport.exchange(POST)).body == GOOD
        with pytest.raises(TransportFailed) as caught:
            await transport.exchange(POST)
    assert caught.value.outcome is Outcome.UNKNOWN


@each_case("request_", [GET, POST])
async def test_an_answer_before_its_request_is_in_doubt(
    request_: ApiRequest, listening: Any, answer_bytes: Any, make_transport: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever is received when the request begins to leave was sent without it."""

    async def script(reader: Reader, writer: Writer) -> None:
        writer.write(_kept(answer_bytes(200, GOOD)))
        await reader.read()

    start = ProvenAnswer.start

    async def late(answer: ProvenAnswer, connection: Connection) -> Any:
        async with asyncio.timeout(PATIENCE_SECONDS):
            while not connection.protocol:  # its answers
                await asyncio.sleep(0)
        return await start(answer, connection)

    monkeypatch.setattr(ProvenAnswer, "start", late)
    async with listening(script) as listener, make_transport(listener) as transport:
        with pytest.raises(TransportFailed, match="before its request") as caught:
            await transport.exchange(request_)
    assert caught.value.outcome is Outcome.UNKNOWN
