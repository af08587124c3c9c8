"""Every way in which an exchange can go wrong, over real sockets on loopback."""

from __future__ import annotations

import asyncio
import gzip
import json
import re
import socket
import struct
import time
from collections.abc import Callable
from itertools import count
from types import SimpleNamespace
from typing import Any

import pytest

from audiencekit.api.answers import read_answer
from audiencekit.api.exchange import ApiRequest, Body
from audiencekit.api.transport import Timeouts
from audiencekit.errors import MalformedAnswer, Outcome, TransportFailed, Unauthorized
from tests.api.cleanliness import assert_clean
from tests.api.exchanges import GET, GOOD, PATH, POST, Reader, Writer
from tests.cases import each_case
from tests.ports import kept_port


def _reset(writer: Writer) -> None:
    """Closes with RST instead of FIN."""
    sock = writer.get_extra_info("socket")
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    writer.transport.abort()


SECONDS = 30.0  # of patience; they pass at once, and only when the script lets them
FOREVER = 100 * SECONDS


def _pass_a_second() -> None:
    """For all that waits on this loop: no test asks how quick the machine is."""
    loop = asyncio.get_running_loop()
    ahead = loop.time() + 1.0 - time.monotonic()
    loop.time = lambda: time.monotonic() + ahead  # type: ignore[method-assign]


async def _keep_silent(reader: Reader) -> None:
    for _ in range(int(FOREVER)):
        _pass_a_second()
        await asyncio.sleep(0)
        if reader.at_eof():
            return


async def _silent(reader: Reader, writer: Writer) -> None:
    await reader.readuntil(b"\r\n\r\n")
    await _keep_silent(reader)


async def _silent_at_once(reader: Reader, writer: Writer) -> None:
    await reader.read(1)
    await _keep_silent(reader)


async def _close_after_request(reader: Reader, writer: Writer) -> None:
    await reader.readuntil(b"\r\n\r\n")


async def _close_at_once(reader: Reader, writer: Writer) -> None:
    return


async def _reset_after_request(reader: Reader, writer: Writer) -> None:
    await reader.readuntil(b"\r\n\r\n")
    _reset(writer)


def _writes(*pieces: bytes) -> Callable[[Reader, Writer], Any]:
    async def script(reader: Reader, writer: Writer) -> None:
        head = await reader.readuntil(b"\r\n\r\n")
        length = re.search(rb"content-length: (\d+)", head, re.I)
        await reader.readexactly(int(length[1]) if length else 0)
        for piece in pieces:
            writer.write(piece)
            await writer.drain()

    return script


async def _drips(reader: Reader, writer: Writer) -> None:
    await reader.readuntil(b"\r\n\r\n")
    writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n")
    for _ in range(int(FOREVER)):
        writer.write(b" ")
        await writer.drain()
        _pass_a_second()
        await asyncio.sleep(0)


HEAD = b"HTTP/1.1 200 OK\r\n"
FAULTS: dict[str, Callable[[Reader, Writer], Any]] = {
    "silent": _silent,
    "closed at once": _close_at_once,
    "closed after the request": _close_after_request,
    "reset after the request": _reset_after_request,
    "one byte at a time": _drips,
    "headers without end": _writes(HEAD + b"X-A: b\r\n"),
    "truncated body": _writes(HEAD + b'Content-Length: 500\r\n\r\n{"data": {"success_count": 1}}'),
    "truncated chunk": _writes(HEAD + b"Transfer-Encoding: chunked\r\n\r\n1f4\r\n{}"),
    "bad chunk size": _writes(HEAD + b"Transfer-Encoding: chunked\r\n\r\nzz\r\n{}\r\n0\r\n\r\n"),
    "bad gzip": _writes(HEAD + b"Content-Encoding: gzip\r\nContent-Length: 8\r\n\r\nnot gzip"),
    "truncated gzip": _writes(
        HEAD + b"Content-Encoding: gzip\r\nTransfer-Encoding: chunked\r\n\r\n5\r\n" + gzip.compress(b"{}", mtime=0)[:5]
    ),
    "not HTTP": _writes(b"SSH-2.0-Invented\r\n\r\n"),
    "no status": _writes(b"HTTP/1.1 fine OK\r\n\r\n"),
    "negative length": _writes(HEAD + b"Content-Length: -1\r\n\r\n{}"),
    "two lengths": _writes(HEAD + b"Content-Length: 2\r\nContent-Length: 3\r\n\r\n{}"),
    "header of 100 KB": _writes(HEAD + b"X-A: " + b"b" * 100_000 + b"\r\n\r\n"),
    "longer than allowed": _writes(HEAD + b"Content-Length: 5000\r\n\r\n" + b" " * 5_000),
    "longer than allowed, chunked": _writes(
        HEAD + b"Transfer-Encoding: chunked\r\n\r\n", *[b"3e8\r\n" + b" " * 1_000 + b"\r\n"] * 10
    ),
    "a small bomb": _writes(
        HEAD + b"Content-Encoding: gzip\r\nContent-Length: %d\r\n\r\n" % len(gzip.compress(b" " * 10**6, mtime=0))
        + gzip.compress(b" " * 10**6, mtime=0)
    ),
}  # fmt: skip
AMPLE = Timeouts(connect=FOREVER, read=SECONDS, total=2 * SECONDS)


@each_case("request_", [GET, POST])
@each_case("script", FAULTS.values())
async def test_fault(script: Any, request_: ApiRequest, listening: Any, make_transport: Any) -> None:
    """Whatever breaks after a connection was there, the outcome is unknown and the failure carries no secret."""
    async with listening(script) as listener:
        async with make_transport(listener, timeouts=AMPLE, max_answer_bytes=4_000) as transport:
            with pytest.raises(TransportFailed) as caught:
                await transport.exchange(request_)
        assert listener.connections == 1
    assert caught.value.sent
    assert caught.value.outcome is Outcome.UNKNOWN
    assert_clean(caught.value)


@each_case(
    "script, patience",
    [
        (_silent, Timeouts(connect=FOREVER, read=SECONDS, total=FOREVER)),
        (_drips, Timeouts(connect=FOREVER, read=SECONDS, total=2 * SECONDS)),
        (_silent, Timeouts(connect=FOREVER, read=FOREVER, total=SECONDS)),
    ],
)
async def test_each_patience_ends(script: Any, patience: Timeouts, listening: Any, make_transport: Any) -> None:
    """The time between two reads and the time of a whole attempt each end an exchange by themselves."""
    async with listening(script) as listener, make_transport(listener, timeouts=patience) as transport:
        with pytest.raises(TransportFailed, match="in time"):
            await transport.exchange(POST)


async def test_patience_to_connect(listening: Any, make_transport: Any) -> None:
    """A listener that never gets through the TLS handshake costs the time to connect, and nothing was sent."""
    patience = Timeouts(connect=SECONDS, read=FOREVER, total=FOREVER)
    async with listening(_silent_at_once) as listener:
        addresses = {"ads_url": f"https://127.0.0.1:{listener.port}"}
        async with make_transport(listener, addresses=addresses, timeouts=patience) as transport:
            with pytest.raises(TransportFailed, match="not opened in time") as caught:
                await transport.exchange(POST)
    assert not caught.value.sent


async def test_refused_connection(make_transport: Any) -> None:
    """Where no process listens, no byte was sent, and the failure says so."""
    with kept_port() as port:
        async with make_transport(SimpleNamespace(url=f"http://127.0.0.1:{port}")) as transport:
            for request in (GET, POST):
                with pytest.raises(TransportFailed, match="ECONNREFUSED") as caught:
                    await transport.exchange(request)
                assert (caught.value.sent, caught.value.outcome) == (False, Outcome.REFUSED)
                assert_clean(caught.value)


@each_case("method", ["GET", "PUT", "DELETE", "POST"])
async def test_lost_connection_is_not_tried_again(
    method: str, listening: Any, answer_bytes: Any, make_transport: Any
) -> None:
    """On a connection that breaks, the library does not send the request a second time with the same nonce."""
    numbers = count(1)

    async def script(reader: Reader, writer: Writer) -> None:
        while True:
            await listener.read_request(reader)
            if next(numbers) == 2:
                return
            writer.write(answer_bytes())

    request = ApiRequest(method=method, path=PATH)
    async with listening(script) as listener, make_transport(listener) as transport:
        await transport.exchange(request)
        with pytest.raises(TransportFailed) as caught:
            await transport.exchange(request)
        assert len(listener.requests) == 2
        assert (await transport.exchange(request)).status == 200
    assert caught.value.sent


async def test_length_that_is_too_short(answering: Any, answer_bytes: Any, make_transport: Any) -> None:
    """An answer cut by its own Content-Length is an unknown outcome, and its rest does not spoil the next exchange."""
    short = answer_bytes(200, GOOD, {"Content-Length": "30"})
    async with answering(short, answer_bytes(200, GOOD)) as listener, make_transport(listener) as transport:
        with pytest.raises((TransportFailed, MalformedAnswer)) as caught:
            read_answer(await transport.exchange(POST))
        assert (await transport.exchange(POST)).body == GOOD
    assert caught.value.outcome is Outcome.UNKNOWN


DECIDED = [302, 307, 401, 403, 404, 413, 429, 500, 503]


@each_case("status", DECIDED)
@each_case(
    "rest",
    [
        b'Content-Length: 500\r\n\r\n{"errors": [',
        b"Content-Encoding: gzip\r\nContent-Length: 8\r\n\r\nnot gzip",
        b"Content-Length: 5000\r\n\r\n" + b"x" * 5_000,
    ],
)
async def test_status_decides_without_a_body(status: int, rest: bytes, listening: Any, make_transport: Any) -> None:
    """A status that needs no body counts even when its body cannot be read: a 401 stops a run, come what may."""
    script = _writes(b"HTTP/1.1 %d Any\r\nX-Rate-Limit-Reset: 5\r\n" % status + rest)
    async with listening(script) as listener, make_transport(listener, max_answer_bytes=4_000) as transport:
        response = await transport.exchange(POST)
    assert (response.status, response.body) == (status, b"")
    assert response.headers["x-rate-limit-reset"] == "5"


async def test_400_needs_its_body(listening: Any, make_transport: Any) -> None:
    """A 400 cut short is an unknown outcome: which operations it names is in the part that is missing."""
    script = _writes(b'HTTP/1.1 400 Any\r\nContent-Length: 500\r\n\r\n{"operation_errors": [')
    async with listening(script) as listener, make_transport(listener) as transport:
        with pytest.raises(TransportFailed):
            await transport.exchange(POST)


async def test_early_answer_to_a_large_body(listening: Any, make_transport: Any) -> None:
    """A service that answers before it read the body is heard at once, and the rest is not sent."""

    async def script(reader: Reader, writer: Writer) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 401 Any\r\nContent-Length: 2\r\n\r\n{}")
        await finished.wait()

    finished = asyncio.Event()
    request = ApiRequest(method="POST", path=PATH, body=Body([bytes(5_000_000)] * 4))
    async with listening(script) as listener, make_transport(listener) as transport:
        response = await transport.exchange(request)
        finished.set()
    with pytest.raises(Unauthorized):
        read_answer(response)
    assert [task for task in asyncio.all_tasks() if "write_bytes" in repr(task)] == []


@each_case(
    "answer",
    [
        b"HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 48\r\n\r\n" + GOOD,
        b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 48\r\n\r\n" + GOOD,
        b"HTTP/1.0 200 OK\r\n\r\n" + GOOD,
        b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n" + GOOD,
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n30\r\n" + GOOD + b"\r\n0\r\n\r\n",
        b"HTTP/1.1 200\r\nContent-Length: 48\r\n\r\n" + GOOD,
        b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nConnection: close\r\n\r\n" + gzip.compress(GOOD, mtime=0),
        b"HTTP/1.1 200 OK\r\nContent-Encoding: identity\r\nContent-Length: 48\r\n\r\n" + GOOD,
        b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 48\r\n\r\n" + GOOD,
    ],
)
async def test_odd_but_whole_answers(answer: bytes, listening: Any, make_transport: Any) -> None:
    """Every form in which HTTP can carry a whole answer is read."""
    async with listening(_writes(answer)) as listener, make_transport(listener) as transport:
        response = await transport.exchange(POST)
    assert (response.status, response.body) == (200, GOOD)


async def test_cancelled_exchange(listening: Any, make_transport: Any) -> None:
    """A cancelled exchange ends at once, leaves no task, and its traceback holds no secret."""
    arrived = asyncio.Event()

    async def script(reader: Reader, writer: Writer) -> None:
        await reader.readuntil(b"\r\n\r\n")
        arrived.set()
        await reader.read()

    async with listening(script) as listener, make_transport(listener) as transport:
        task = asyncio.create_task(transport.exchange(POST))
        await arrived.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError) as caught:
            await task
    assert_clean(caught.value)


async def test_sizes_of_an_answer(answering: Any, answer_bytes: Any, make_transport: Any) -> None:
    """An answer of exactly the largest size is read."""
    document = json.dumps({"data": "x" * 3_000}).encode()
    async with answering(answer_bytes(200, document)) as listener:
        async with make_transport(listener, max_answer_bytes=len(document)) as transport:
            assert (await transport.exchange(GET)).body == document
        async with make_transport(listener, max_answer_bytes=len(document) - 1) as transport:
            with pytest.raises(TransportFailed, match="longer"):
                await transport.exchange(GET)
