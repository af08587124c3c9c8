"""From a request to its answer: headers, bodies without end, rubbish."""

from __future__ import annotations

import asyncio
import json
import logging
from typing import Any

import pytest

H1 = "a1" * 32
LIMIT = 5_000_000


def _body(size: int = 0) -> bytes:
    operation = {"operation_type": "Update", "params": {"users": [{"email": [H1]}]}}
    text = json.dumps([operation]).encode()
    return text + b" " * (size - len(text))


async def test_ordinary_headers_are_on_every_answer(caller: Any) -> None:
    """Successes, refusals and strangers' calls alike."""
    replies = [
        await caller.upload(_body()),
        await caller.upload(b"["),
        await caller.send("POST", caller.users),
        await caller.send("GET", "/nothing"),
        await caller.send("GET", "/__log"),
    ]
    assert [reply.status for reply in replies] == [200, 400, 401, 404, 200]
    for reply in replies:
        assert reply.headers["Date"] == "Fri, 15 Jan 2027 08:00:00 GMT"
        assert reply.headers["x-current-api-version"] == "12"
        assert reply.headers["x-access-level"] == "read-write"
        assert reply.headers["x-response-time"] == "0"
    assert {reply.headers["Content-Type"] for reply in replies[:-1]} == {"application/json;charset=utf-8"}
    assert len({reply.headers["x-transaction"] for reply in replies}) == len(replies)


async def test_rate_headers_are_on_successes_and_refusals(caller: Any) -> None:
    """As soon as it is known who calls; not before."""
    replies = [await caller.upload(_body()), await caller.upload(b"["), await caller.send("POST", caller.users)]
    shown = [
        {name.lower(): text for name, text in reply.headers.items() if "rate-limit" in name.lower()}
        for reply in replies
    ]
    reset = "1800000061"
    assert shown == [
        {"x-rate-limit-limit": "1500", "x-rate-limit-remaining": "1499", "x-rate-limit-reset": reset},
        {"x-rate-limit-limit": "1500", "x-rate-limit-remaining": "1498", "x-rate-limit-reset": reset},
        {},
    ]


async def test_a_refused_sender_hears_the_answer(caller: Any) -> None:
    """A large body that will not be parsed is read to its end, and the connection lives on."""
    headers = {"Content-Type": "application/json"}
    for _ in range(2):
        reply = await caller.send("POST", caller.users, data=b"x" * 4_000_000, headers=headers)
        assert (reply.status, reply.headers.get("Connection")) == (401, None)


async def test_a_body_without_end_is_cut_off(caller: Any) -> None:
    """Beyond four times the limit the connection is closed, with an answer."""

    async def parts() -> Any:
        for _ in range(21):
            yield b" " * 1_000_000

    reply = await caller.call("POST", caller.users, data=parts(), headers={"Content-Type": "application/json"})
    assert (reply.status, reply.headers["Connection"]) == (413, "close")
    assert (await caller.upload(_body())).status == 200


async def test_a_client_may_wait_for_leave_to_send(caller: Any) -> None:
    """`Expect: 100-continue` is answered, and then the request."""
    signed = caller.sign("POST", caller.emulator.ads_url + caller.users)
    async with caller.session.post(
        caller.emulator.ads_url + caller.users,
        data=_body(),
        headers={**signed, "Content-Type": "application/json"},
        expect100=True,
    ) as answer:
        assert answer.status == 200


async def _raw(caller: Any, *pieces: bytes) -> bytes:
    host, port = caller.emulator.ads_url.removeprefix("http://").split(":")
    reader, writer = await asyncio.open_connection(host, int(port))
    try:
        for piece in pieces:
            writer.write(piece)
            await writer.drain()
        writer.write_eof()
        return await reader.read()
    finally:
        writer.close()
        await writer.wait_closed()


@pytest.mark.parametrize(
    "rubbish",
    [
        b"\x00\x01\x02\r\n\r\n",
        b"GET\r\n\r\n",
        b"GET / HTTP/9.9\r\n\r\n",
        b"GET /" + b"a" * 100_000 + b" HTTP/1.1\r\n\r\n",
        b"POST /12/x HTTP/1.1\r\nHost: x\r\nContent-Length: -5\r\n\r\n",
        b"GET /\xff\xfe?\xff HTTP/1.1\r\nHost: \xff\r\nAuthorization: OAuth \xff\r\n\r\n",
        b"GET /12/accounts/%FF/custom_audiences?%FF=%00 HTTP/1.1\r\nHost: x\r\n\r\n",
    ],
)
async def test_rubbish_is_answered_and_quoted_nowhere(
    caller: Any, rubbish: bytes, caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
) -> None:
    """Bytes that are no HTTP neither end the emulator nor show up in a log."""
    with caplog.at_level(logging.DEBUG):
        answered = await _raw(caller, rubbish)
        # The names that this emulator's own loop logs are no concern here.
        assert not [record for record in caplog.records if record.name.startswith(("aiohttp", "audiencekit"))]
    assert answered == b"" or answered.startswith((b"HTTP/1.1 4", b"HTTP/1.0 4"))
    assert capfd.readouterr() == ("", "")
    assert (await caller.upload(_body())).status == 200


async def test_a_client_that_goes_away_leaves_nothing(caller: Any) -> None:
    """Half a request applies nothing, and stays without a status in the log."""
    signed = caller.sign("POST", caller.emulator.ads_url + caller.users)["Authorization"]
    head = (
        f"POST {caller.users} HTTP/1.1\r\nHost: {caller.emulator.ads_url.removeprefix('http://')}\r\n"
        f"Authorization: {signed}\r\nContent-Type: application/json\r\nContent-Length: {len(_body())}\r\n\r\n"
    )
    assert await _raw(caller, head.encode(), _body()[:-5]) == b""
    assert await caller.log() == []
    assert [entry["status"] for entry in (await caller.send("GET", "/__requests")).body] == [None]
