"""The emulator as a server."""

from __future__ import annotations

import asyncio
import json
import logging
import os
import signal
import socket
from typing import Any
from urllib.parse import urlsplit

import pytest

from audiencekit.emulator import Emulator, EmulatorOptions, serve
from tests.cases import each_case
from tests.moments import PATIENCE_SECONDS
from tests.ports import kept_port

# --- The emulator as a server ---


async def test_the_ready_line_is_one_line_of_json() -> None:
    """Addresses, ids and the environment of a client."""
    async with Emulator(EmulatorOptions(seed=5)) as emulator:
        line = emulator.ready_line()
        ready = json.loads(line)
        assert "\n" not in line
        assert list(ready) == ["ads_url", "ads_sandbox_url", "base_url", "account_id", "audience_id", "env"]
        assert ready["ads_url"] == emulator.ads_url == ready["env"]["AUDIENCEKIT_ADS_URL"]
        assert ready["account_id"] == emulator.account_id == ready["env"]["AUDIENCEKIT_ACCOUNT_ID"]
        assert ready["audience_id"] == emulator.audience_id
        assert ready["env"] == emulator.env
        assert set(ready["env"]) >= {
            "AUDIENCEKIT_ADS_SANDBOX_URL",
            "AUDIENCEKIT_BASE_URL",
            "AUDIENCEKIT_CONSUMER_KEY",
            "AUDIENCEKIT_CONSUMER_SECRET",
            "AUDIENCEKIT_ACCESS_TOKEN",
            "AUDIENCEKIT_ACCESS_TOKEN_SECRET",
        }


async def test_the_addresses_are_three_and_on_loopback() -> None:
    """Three ports of 127.0.0.1."""
    async with Emulator() as emulator:
        urls = {emulator.ads_url, emulator.ads_sandbox_url, emulator.base_url}
        assert len(urls) == 3
        assert {urlsplit(url).hostname for url in urls} == {"127.0.0.1"}


async def test_the_sandbox_answers_and_the_base_address_does_not(caller: Any) -> None:
    """The ads API is at two addresses; the third has no endpoint yet."""
    emulator = caller.emulator
    bases = (emulator.ads_url, emulator.ads_sandbox_url, emulator.base_url)
    replies = [await caller.call("GET", caller.audiences, base=base) for base in bases]
    assert [reply.status for reply in replies] == [200, 200, 404]


async def test_a_seed_fixes_ids_and_credentials() -> None:
    """Two emulators of one seed differ in their ports alone."""
    async with Emulator(EmulatorOptions(seed=9)) as one, Emulator(EmulatorOptions(seed=9)) as two:
        fixed = [{name: text for name, text in each.env.items() if not name.endswith("_URL")} for each in (one, two)]
        assert fixed[0] == fixed[1]
        assert (one.audience_id, one.ads_url != two.ads_url) == (two.audience_id, True)


async def test_a_port_can_be_chosen_and_is_free_afterwards() -> None:
    """`port` is that of the ads API; a port in use is an error, after which nothing listens."""
    with kept_port() as port:
        with socket.create_server(("127.0.0.1", port)), pytest.raises(OSError, match="address already in use"):
            await Emulator(EmulatorOptions(port=port)).__aenter__()
        for _ in range(2):
            async with Emulator(EmulatorOptions(port=port)) as emulator:
                assert emulator.ads_url == f"http://127.0.0.1:{port}"


@each_case("number", [signal.SIGTERM, signal.SIGINT])
async def test_a_signal_ends_it(number: signal.Signals) -> None:
    """`serve` announces itself when it answers, and returns at SIGTERM or SIGINT."""
    lines: list[str] = []

    def announce(line: str) -> None:
        lines.append(line)
        url = urlsplit(json.loads(line)["ads_url"])
        with socket.create_connection((url.hostname, url.port)):
            os.kill(os.getpid(), number)

    await asyncio.wait_for(serve(EmulatorOptions(), announce=announce), timeout=PATIENCE_SECONDS)
    assert len(lines) == 1
    assert not asyncio.get_running_loop().remove_signal_handler(number)


async def test_an_open_connection_does_not_hold_it_up(open_emulator: Any) -> None:
    """Idle keep-alive connections are closed at the end."""
    async with open_emulator() as caller:
        assert (await caller.call("GET", caller.audiences)).status == 200
        async with asyncio.timeout(PATIENCE_SECONDS):
            await caller.emulator.__aexit__(None, None, None)


# --- From a request to its answer: headers, bodies without end, rubbish ---


# --- Whether a request is let in, over the wire: signature, rate, account and body ---

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


@each_case(
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


async def test_too_many_requests_are_refused_until_the_reset(open_emulator: Any) -> None:
    """429 with the headers, nothing applied; after the reset the window is a new one."""
    async with open_emulator(rate=(3, 10.0)) as caller:
        statuses = [(await caller.upload(_body())).status for _ in range(4)]
        assert statuses == [200, 200, 200, 429]
        refused = await caller.upload(_body())
        assert refused.codes == ["TOO_MANY_REQUESTS"]
        assert refused.headers["x-rate-limit-remaining"] == "0"
        assert len(await caller.log()) == 3
        await caller.move_clock(advance=9.5)
        assert (await caller.upload(_body())).status == 429
        await caller.move_clock(set=float(refused.headers["x-rate-limit-reset"]))
        assert (await caller.upload(_body())).status == 200


async def test_windows_are_as_published(caller: Any) -> None:
    """Writes together, reads by endpoint, lists with a total apart, users by themselves."""
    one = f"{caller.audiences}/{caller.emulator.audience_id}"
    calls = [
        ("POST", caller.audiences, {"name": "a"}),
        ("PUT", one, {"name": "b"}),
        ("GET", caller.audiences, {"count": 1}),
        ("GET", one, None),
        ("GET", caller.audiences, {"with_total_count": "true"}),
        ("GET", caller.audiences, {"with_total_count": "false"}),
    ]
    replies = [await caller.call(method, path, query=query) for method, path, query in calls]
    names = ("x-rate-limit-limit", "x-rate-limit-remaining")
    assert [tuple(int(reply.headers[name]) for name in names) for reply in replies] == [
        (450, 449),
        (450, 448),
        (2_000, 1_999),
        (2_000, 1_999),
        (200, 199),
        (2_000, 1_998),
    ]


@pytest.mark.parametrize("chunked", [False, True])
async def test_the_limit_of_a_body_is_exact(caller: Any, chunked: bool) -> None:
    """5,000,000 bytes pass, 5,000,001 do not, whether the length is told beforehand or not."""

    async def parts(body: bytes) -> Any:
        for start in range(0, len(body), 1_000_000):
            yield body[start : start + 1_000_000]

    for size, status in ((LIMIT, 200), (LIMIT + 1, 413)):
        body = _body(size)
        reply = await caller.call(
            "POST",
            caller.users,
            data=parts(body) if chunked else body,
            headers={"Content-Type": "application/json"},
        )
        assert reply.status == status
    assert reply.codes == ["REQUEST_TOO_COMPLEX"]
    assert [entry["bytes"] for entry in (await caller.send("GET", "/__requests")).body] == [LIMIT, LIMIT + 1]
    assert len(await caller.log()) == 1


@each_case("encoding, status", [("identity", 200), ("gzip", 415), ("deflate", 415)])
async def test_only_plain_bodies_are_taken(caller: Any, encoding: str, status: int) -> None:
    """A packed body is refused, not unpacked."""
    headers = {"Content-Type": "application/json", "Content-Encoding": encoding}
    assert (await caller.call("POST", caller.users, data=_body(), headers=headers)).status == status


async def test_a_form_is_covered_by_the_signature(caller: Any) -> None:
    """A form body that was not signed is not let in; a signed one is no JSON."""
    headers = {"Content-Type": "application/x-www-form-urlencoded"}
    assert (await caller.call("POST", caller.users, data=b"a=b", headers=headers)).codes == [32]
    assert (await caller.call("POST", caller.users, data=b"", headers=headers)).status == 415


async def test_an_unknown_account_is_refused(caller: Any) -> None:
    """403 with the captured body; the rate counts."""
    reply = await caller.call("GET", "/12/accounts/unknown/custom_audiences")
    assert reply.status == 403
    assert reply.body == {
        "errors": [{"code": "NOT_FOUND", "message": "Account unknown was not found"}],
        "request": {"params": {}},
    }
    assert reply.headers["x-rate-limit-remaining"] == "1999"


async def test_a_call_that_was_let_in_is_not_let_in_again(caller: Any) -> None:
    """A replay of the very same bytes is refused, and applies nothing."""
    headers = {
        **caller.sign("POST", caller.emulator.ads_url + caller.users),
        "Content-Type": "application/json",
    }
    first = await caller.send("POST", caller.users, data=_body(), headers=headers)
    second = await caller.send("POST", caller.users, data=_body(), headers=headers)
    assert (first.status, second.status, second.codes) == (200, 401, [32])
    assert len(await caller.log()) == 1


async def test_the_signature_goes_by_the_moved_clock(caller: Any) -> None:
    """A client with another clock learns the right time from `Date`."""
    old = caller.sign("GET", caller.emulator.ads_url + caller.audiences)
    await caller.move_clock(advance=301)
    refused = await caller.send("GET", caller.audiences, headers=old)
    assert (refused.status, refused.codes) == (401, [135])
    assert refused.headers["Date"] == "Fri, 15 Jan 2027 08:05:01 GMT"
    assert (await caller.call("GET", caller.audiences)).status == 200


async def test_a_token_that_may_only_read_changes_nothing(caller: Any) -> None:
    """403 for calls that change something, which count for the rate."""
    caller.emulator.store.tokens.readers.add(caller.emulator.env["AUDIENCEKIT_ACCESS_TOKEN"])
    assert (await caller.call("GET", caller.audiences)).status == 200
    refused = await caller.upload(_body())
    assert (refused.status, refused.codes) == (403, ["INSUFFICIENT_USER_AUTHORIZED_PERMISSION"])
    assert refused.headers["x-rate-limit-remaining"] == "1499"
    assert await caller.log() == []
