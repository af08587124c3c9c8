"""Exchanges over real sockets on loopback: what is sent, what is read, and every way in which it can go wrong."""

from __future__ import annotations

import asyncio
import gzip
import hashlib
import json
import re
import socket
import ssl
import struct
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from itertools import count, pairwise
from pathlib import Path
from types import FrameType, TracebackType
from typing import Any, TypeAlias
from urllib.parse import unquote

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from oauthlib import oauth1  # type: ignore[import-untyped]

from audiencekit.api.exchange import ApiRequest, Body
from audiencekit.api.oauth import Credentials
from audiencekit.api.transport import HttpTransport, Timeouts
from audiencekit.api.wire import read_answer
from audiencekit.errors import (
    Bug,
    HostRefused,
    MalformedAnswer,
    Outcome,
    Redirected,
    TransportFailed,
    Unauthorized,
    UsageError,
)
from audiencekit.personal import Secret
from audiencekit.profile import SPEC, X

NOW = 1_790_000_000.25
PATH = "/12/accounts/abc1/custom_audiences"
GET = ApiRequest(method="GET", path=PATH)
GOOD = b'{"data": {"success_count": 4, "total_count": 4}}'
CANARY = b"canary-of-the-body"
POST = ApiRequest(method="POST", path=PATH + "/1nmth/users", body=Body([b'[{"', CANARY, b'":1}]']))

Reader: TypeAlias = asyncio.StreamReader
Writer: TypeAlias = asyncio.StreamWriter


# --- what is sent ---


async def test_what_arrives(answering: Any, answer_bytes: Any, make_transport: Any, read_header: Any) -> None:
    """A body arrives whole, with its length, its type and one OAuth header, and nothing that was not asked for."""
    async with answering(answer_bytes()) as listener, make_transport(listener) as transport:
        await transport.exchange(POST)
    [(head, body)] = listener.requests
    assert body == b'[{"canary-of-the-body":1}]'
    lines = head.strip().split("\r\n")
    assert lines[0] == f"POST {PATH}/1nmth/users HTTP/1.1"
    assert sorted(line.partition(":")[0].lower() for line in lines[1:]) == [
        "accept",
        "accept-encoding",
        "authorization",
        "content-length",
        "content-type",
        "host",
        "user-agent",
    ]
    assert read_header(head, "content-length") == str(len(body))
    assert read_header(head, "content-type") == "application/json"
    assert read_header(head, "accept-encoding") == "identity"
    assert read_header(head, "host") == f"127.0.0.1:{listener.port}"
    assert (read_header(head, "authorization") or "").startswith("OAuth oauth_consumer_key=")


async def test_what_arrives_without_a_body(answering: Any, answer_bytes: Any, make_transport: Any) -> None:
    """A write with its parameters in the query has no body, says so, and claims no type for it."""
    request = ApiRequest(method="POST", path=PATH, query=(("name", "n"),))
    async with answering(answer_bytes()) as listener, make_transport(listener) as transport:
        await transport.exchange(request)
    [(head, body)] = listener.requests
    assert body == b""
    assert "content-length: 0\r\n" in head.lower()
    assert "content-type" not in head.lower()
    assert "transfer-encoding" not in head.lower()


async def test_what_comes_back(answering: Any, answer_bytes: Any, make_transport: Any) -> None:
    """An answer keeps its status and body; header names are lower-case and repeated ones joined."""
    answer = answer_bytes(503, b"<html>later</html>", {"X-Thing": "a", "x-thing": "b", "Retry-After": "7"})
    async with answering(answer) as listener, make_transport(listener) as transport:
        response = await transport.exchange(GET)
    assert (response.status, response.body, response.received_at) == (503, b"<html>later</html>", NOW)
    assert response.headers["retry-after"] == "7"
    assert response.headers["x-thing"] == "a, b"


def _signed_again(head: str, port: int, credentials: Credentials) -> tuple[str, str]:
    """The signature that arrived, and the one that oauthlib gives to what arrived."""
    method, target, _ = head.split("\r\n")[0].split(" ")
    authorization = re.search(r"^Authorization: (.+?)\r$", head, re.M | re.I)
    assert authorization is not None
    sent = {name: unquote(value) for name, value in re.findall(r'(\w+)="([^"]*)"', authorization[1])}
    signer = oauth1.Client(
        credentials.consumer_key.unwrap(),
        client_secret=credentials.consumer_secret.unwrap(),
        resource_owner_key=credentials.access_token.unwrap(),
        resource_owner_secret=credentials.access_token_secret.unwrap(),
        nonce=sent["oauth_nonce"],
        timestamp=sent["oauth_timestamp"],
    )
    _, headers, _ = signer.sign(f"http://127.0.0.1:{port}{target}", method)
    expected = re.search(r'oauth_signature="([^"]*)"', headers["Authorization"])
    assert expected is not None
    assert sent["oauth_timestamp"] == str(int(NOW))
    return sent["oauth_signature"], unquote(expected[1])


QUERIES: list[tuple[tuple[str, str], ...]] = [
    (),
    (("q", ""),),
    (("count", "1000"), ("sort_by", "created_at-desc,name-asc")),
    (("q", "Köln: 20 % + 1/2 & more = ~fun~ 'now'!*()"),),
    (("name", "☃ 日本\t\r\n"), ("description", "a+b%20c?#[]@$;:,")),
    (("with_deleted", "true"), ("a", "b"), ("A", "B"), ("a1", "")),
]


@pytest.mark.parametrize("query", QUERIES)
@pytest.mark.parametrize("method", ["GET", "POST", "PUT", "DELETE"])
async def test_signature_on_the_wire(
    method: str,
    query: tuple[tuple[str, str], ...],
    answering: Any,
    answer_bytes: Any,
    make_transport: Any,
    credentials: Credentials,
) -> None:
    """What arrives carries the signature that an independent signer gives it, with the JSON body left out."""
    body = POST.body if method == "POST" and not query else None
    request = ApiRequest(method=method, path=PATH, query=query, body=body)
    async with answering(answer_bytes()) as listener, make_transport(listener) as transport:
        await transport.exchange(request)
    found, expected = _signed_again(listener.requests[0][0], listener.port, credentials)
    assert found == expected


@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(parameters=st.dictionaries(st.text("abcxyz_", min_size=1, max_size=5), st.text(max_size=10), max_size=3))
def test_any_query_arrives_as_signed(
    answering: Any,
    answer_bytes: Any,
    make_transport: Any,
    credentials: Credentials,
    parameters: dict[str, str],
) -> None:
    """Whatever stands in the parameters, the bytes of the address are those that were signed."""

    async def exchange() -> tuple[str, str]:
        request = ApiRequest(method="GET", path=PATH, query=tuple(parameters.items()))
        async with answering(answer_bytes()) as listener, make_transport(listener) as transport:
            await transport.exchange(request)
        return _signed_again(listener.requests[0][0], listener.port, credentials)

    found, expected = asyncio.run(exchange())
    assert found == expected


async def test_form_arrives_as_signed(answering: Any, answer_bytes: Any, make_transport: Any) -> None:
    """With its content type, escaped as the signature has it; a bearer token and a key pair are not signed."""
    form = (("oauth_verifier", "a b+c"), ("é", "&="))
    requests = [
        ApiRequest(method="POST", path="/oauth/access_token", form=form),
        ApiRequest(method="POST", path="/oauth2/token", form=(("grant_type", "client_credentials"),), auth="basic"),
        ApiRequest(method="GET", path="/2/tweets", auth="bearer", bearer=Secret("token-canary")),
    ]
    async with answering(answer_bytes()) as listener, make_transport(listener) as transport:
        for request in requests:
            await transport.exchange(request)
    (first, body), (second, _), (third, _) = listener.requests
    assert body == b"oauth_verifier=a%20b%2Bc&%C3%A9=%26%3D"
    assert "content-type: application/x-www-form-urlencoded" in first.lower()
    assert "Authorization: OAuth oauth_" in first
    assert "Authorization: Basic " in second
    assert "Authorization: Bearer token-canary" in third


async def test_reserved_characters_stay_escaped(answering: Any, answer_bytes: Any, make_transport: Any) -> None:
    """Colons, commas and the like go out escaped, as the service wants them (public service, staff answers)."""
    query = (("q", "a:b,c/d?e@f"), ("sort_by", "name-asc,id-desc"))
    async with answering(answer_bytes()) as listener, make_transport(listener) as transport:
        await transport.exchange(ApiRequest(method="GET", path=PATH, query=query))
    target = listener.requests[0][0].split(" ")[1]
    assert target == f"{PATH}?q=a%3Ab%2Cc%2Fd%3Fe%40f&sort_by=name-asc%2Cid-desc"


async def test_every_attempt_is_signed_anew(answering: Any, answer_bytes: Any, make_transport: Any) -> None:
    """A re-send has the same bytes as body and another nonce."""
    async with answering(answer_bytes()) as listener, make_transport(listener) as transport:
        for _attempt in range(3):
            await transport.exchange(POST)
    nonces = [re.search(r'oauth_nonce="(\w+)"', head) for head, _ in listener.requests]
    assert [nonce and nonce[1] for nonce in nonces] == ["nonce1", "nonce2", "nonce3"]
    assert len({body for _, body in listener.requests}) == 1


def test_nonces_are_long_and_differ_by_default(credentials: Credentials) -> None:
    """Without a given source, nonces are random hex of 32 digits and more."""
    transport = HttpTransport(profile=SPEC, credentials=credentials)
    nonces = {transport._nonce() for _ in range(100)}
    assert len(nonces) == 100
    assert all(re.fullmatch(r"[0-9a-f]{32,}", nonce) for nonce in nonces)


async def test_large_body_in_many_pieces(answering: Any, answer_bytes: Any, make_transport: Any) -> None:
    """Five million bytes in uneven views arrive as they are, without a warning, and again at the next attempt."""
    data = hashlib.shake_256(b"invented").digest(5_000_000)
    cuts = [0, 1, 70_000, 70_001, 1_500_000, 4_999_999, 5_000_000]
    view = memoryview(data)
    body = Body(view[start:end] for start, end in pairwise(cuts))
    request = ApiRequest(method="POST", path=PATH, body=body)
    async with answering(answer_bytes()) as listener, make_transport(listener) as transport:
        await transport.exchange(request)
        await transport.exchange(request)
    assert [hashlib.sha256(got).digest() for _, got in listener.requests] == [hashlib.sha256(data).digest()] * 2


async def test_connections_are_bounded_and_reused(answering: Any, answer_bytes: Any, make_transport: Any) -> None:
    """Many exchanges at once share the connections that are allowed."""
    async with answering(answer_bytes()) as listener, make_transport(listener, concurrency=3) as transport:
        await asyncio.gather(*(transport.exchange(POST) for _ in range(20)))
    assert len(listener.requests) == 20
    assert listener.connections <= 3


async def test_cookies_are_not_kept(answering: Any, answer_bytes: Any, make_transport: Any) -> None:
    """A cookie that the service sets is not sent back."""
    answer = answer_bytes(200, b"{}", {"Set-Cookie": "guest=1; Path=/"})
    async with answering(answer) as listener, make_transport(listener) as transport:
        await transport.exchange(GET)
        await transport.exchange(GET)
    assert "cookie" not in listener.requests[1][0].lower()


async def test_environment_is_not_trusted(
    answering: Any, answer_bytes: Any, make_transport: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Proxies and netrc of the environment get nothing; the request goes straight and with our header."""
    netrc = tmp_path / "netrc"
    netrc.write_text("default login invented password invented\n")
    netrc.chmod(0o600)
    async with answering(answer_bytes()) as proxy, answering(answer_bytes()) as listener:
        for name in ("HTTP_PROXY", "http_proxy", "HTTPS_PROXY", "ALL_PROXY", "all_proxy"):
            monkeypatch.setenv(name, proxy.url)
        monkeypatch.setenv("NO_PROXY", "")
        monkeypatch.setenv("no_proxy", "")
        monkeypatch.setenv("NETRC", str(netrc))
        async with make_transport(listener) as transport:
            await transport.exchange(GET)
    assert proxy.connections == 0
    assert "Basic" not in listener.requests[0][0]


# --- where it goes ---


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
@pytest.mark.parametrize("where", ["other", "same", "userinfo", "relative"])
async def test_redirects_are_not_followed(
    status: int, where: str, answering: Any, answer_bytes: Any, make_transport: Any
) -> None:
    """A redirect of any kind ends the exchange: the second listener gets not one byte, and nothing goes out twice."""
    async with answering(answer_bytes()) as second:
        target = {
            "other": f"{second.url}{PATH}",
            "same": PATH,
            "userinfo": f"http://127.0.0.1@127.0.0.1:{second.port}/",
            "relative": f"//127.0.0.1:{second.port}{PATH}",
        }[where]
        async with (
            answering(answer_bytes(status, b"", {"Location": target})) as first,
            make_transport(first) as transport,
        ):
            response = await transport.exchange(POST)
    assert response.status == status
    with pytest.raises(Redirected):
        read_answer(response)
    assert second.connections == 0
    assert len(first.requests) == 1


@pytest.mark.parametrize("address", ["https://evil.example.net", "http://ads.example.com", "http://user@127.0.0.1:1"])
def test_hosts_are_checked_at_once(address: str, credentials: Credentials) -> None:
    """A transport to a host that credentials do not go to cannot even be made."""
    with pytest.raises(HostRefused):
        HttpTransport(profile=SPEC, credentials=credentials, addresses={"ads_url": address})


async def test_own_address_of_a_request_is_checked(answering: Any, answer_bytes: Any, make_transport: Any) -> None:
    """A request may name its own address, which is checked like any other."""
    async with (
        answering(answer_bytes()) as first,
        answering(answer_bytes()) as second,
        make_transport(first) as transport,
    ):
        await transport.exchange(ApiRequest(method="GET", path=PATH, base=second.url))
        with pytest.raises(HostRefused):
            await transport.exchange(ApiRequest(method="GET", path=PATH, base="https://evil.example.net"))
    assert (len(first.requests), len(second.requests)) == (0, 1)


async def test_base_with_a_path(
    answering: Any, answer_bytes: Any, make_transport: Any, credentials: Credentials
) -> None:
    """An address may end in a path, which is part of what is called and signed."""
    async with answering(answer_bytes()) as listener:
        async with make_transport(listener, addresses={"ads_url": f"{listener.url}/ads/"}) as transport:
            await transport.exchange(GET)
        assert listener.requests[0][0].startswith(f"GET /ads{PATH} HTTP/1.1\r\n")
        found, expected = _signed_again(listener.requests[0][0], listener.port, credentials)
    assert found == expected


async def test_missing_address_is_named(credentials: Credentials) -> None:
    """A base without address is a UsageError that names the setting."""
    async with HttpTransport(profile=SPEC, credentials=credentials) as transport:
        with pytest.raises(UsageError) as caught:
            await transport.exchange(GET)
    assert caught.value.hint == "set AUDIENCEKIT_ADS_URL"


def test_profile_gives_the_addresses(credentials: Credentials) -> None:
    """The public service's own addresses are there without settings, and a given one takes precedence."""
    transport = HttpTransport(profile=X, credentials=credentials, addresses={"base_url": "http://127.0.0.1:9"})
    assert transport._find_address("ads_url").prefix == "https://ads-api.x.com"
    assert transport._find_address("base_url").prefix == "http://127.0.0.1:9"


async def test_unopened_transport(make_transport: Any, answering: Any, answer_bytes: Any) -> None:
    """Outside `async with` nothing is sent; nested use closes at the outer end."""
    async with answering(answer_bytes()) as listener:
        transport = make_transport(listener)
        with pytest.raises(Bug):
            await transport.exchange(GET)
        async with transport:
            async with transport:
                await transport.exchange(GET)
            await transport.exchange(GET)
        with pytest.raises(Bug):
            await transport.exchange(GET)
    assert len(listener.requests) == 2


# --- what goes wrong ---


def _reset(writer: Writer) -> None:
    """Closes with RST instead of FIN."""
    sock = writer.get_extra_info("socket")
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    writer.transport.abort()


async def _silent(reader: Reader, writer: Writer) -> None:
    await reader.read()


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
    while True:
        writer.write(b" ")
        await writer.drain()
        await asyncio.sleep(0.005)


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
        HEAD + b"Content-Encoding: gzip\r\nTransfer-Encoding: chunked\r\n\r\n5\r\n" + gzip.compress(b"{}")[:5]
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
        HEAD + b"Content-Encoding: gzip\r\nContent-Length: %d\r\n\r\n" % len(gzip.compress(b" " * 10**6))
        + gzip.compress(b" " * 10**6)
    ),
}  # fmt: skip


@pytest.mark.parametrize("request_", [GET, POST], ids=["without-body", "with-body"])
@pytest.mark.parametrize("script", FAULTS.values(), ids=FAULTS.keys())
async def test_fault(script: Any, request_: ApiRequest, listening: Any, make_transport: Any) -> None:
    """Whatever breaks after a connection was there, the outcome is unknown and the failure carries no secret."""
    patience = Timeouts(connect=1, read=0.08, total=0.25)
    async with listening(script) as listener:
        async with make_transport(listener, timeouts=patience, max_answer_bytes=4_000) as transport:
            with pytest.raises(TransportFailed) as caught:
                await transport.exchange(request_)
        assert listener.connections == 1
    assert caught.value.sent
    assert caught.value.outcome is Outcome.UNKNOWN
    _assert_clean(caught.value)


@pytest.mark.parametrize(
    ("script", "patience"),
    [
        (_silent, Timeouts(connect=30, read=0.05, total=30)),
        (_drips, Timeouts(connect=30, read=30, total=0.05)),
        (_silent, Timeouts(connect=30, read=30, total=0.05)),
    ],
    ids=["read", "total-while-reading", "total-before-the-answer"],
)
async def test_each_patience_ends(script: Any, patience: Timeouts, listening: Any, make_transport: Any) -> None:
    """The time between two reads and the time of a whole attempt each end an exchange by themselves."""
    async with (
        asyncio.timeout(10),
        listening(script) as listener,
        make_transport(listener, timeouts=patience) as transport,
    ):
        with pytest.raises(TransportFailed, match="in time"):
            await transport.exchange(POST)


async def test_patience_to_connect(listening: Any, make_transport: Any) -> None:
    """A listener that never gets through the TLS handshake costs the time to connect, and nothing was sent."""
    patience = Timeouts(connect=0.05, read=30, total=30)
    async with asyncio.timeout(10), listening(_silent) as listener:
        addresses = {"ads_url": f"https://127.0.0.1:{listener.port}"}
        async with make_transport(listener, addresses=addresses, timeouts=patience) as transport:
            with pytest.raises(TransportFailed, match="not opened in time") as caught:
                await transport.exchange(POST)
    assert not caught.value.sent


async def test_refused_connection(make_transport: Any, answering: Any, answer_bytes: Any) -> None:
    """Where nobody listens, not a byte was sent, and the failure says so."""
    async with answering(answer_bytes()) as listener:
        pass
    async with make_transport(listener) as transport:
        for request in (GET, POST):
            with pytest.raises(TransportFailed, match="ECONNREFUSED") as caught:
                await transport.exchange(request)
            assert (caught.value.sent, caught.value.outcome) == (False, Outcome.REFUSED)
            _assert_clean(caught.value)


@pytest.mark.parametrize("method", ["GET", "PUT", "DELETE", "POST"])
async def test_lost_connection_is_not_tried_again(
    method: str, listening: Any, answer_bytes: Any, make_transport: Any
) -> None:
    """On a kept connection that breaks, the library does not send the request a second time with the same nonce."""
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


@pytest.mark.parametrize("status", DECIDED)
@pytest.mark.parametrize(
    "rest",
    [
        b'Content-Length: 500\r\n\r\n{"errors": [',
        b"Content-Encoding: gzip\r\nContent-Length: 8\r\n\r\nnot gzip",
        b"Content-Length: 5000\r\n\r\n" + b"x" * 5_000,
    ],
    ids=["truncated", "bad-gzip", "too-long"],
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


@pytest.mark.parametrize(
    "answer",
    [
        b"HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 48\r\n\r\n" + GOOD,
        b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 48\r\n\r\n" + GOOD,
        b"HTTP/1.0 200 OK\r\n\r\n" + GOOD,
        b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n" + GOOD,
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n30\r\n" + GOOD + b"\r\n0\r\n\r\n",
        b"HTTP/1.1 200\r\nContent-Length: 48\r\n\r\n" + GOOD,
        b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nConnection: close\r\n\r\n" + gzip.compress(GOOD),
        b"HTTP/1.1 200 OK\r\nContent-Encoding: identity\r\nContent-Length: 48\r\n\r\n" + GOOD,
        b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 48\r\n\r\n" + GOOD,
    ],
    ids=["103", "100", "1.0", "close", "chunked", "no-reason", "gzip", "identity", "text/html"],
)
async def test_odd_but_whole_answers(answer: bytes, listening: Any, make_transport: Any) -> None:
    """Every form in which HTTP can carry a whole answer is read."""
    async with listening(_writes(answer)) as listener, make_transport(listener) as transport:
        response = await transport.exchange(POST)
    assert (response.status, response.body) == (200, GOOD)


def _self_signed(folder: Path) -> ssl.SSLContext:
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "ads.example.com")])
    now = datetime.now(UTC)
    certificate = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(1)
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .sign(key, hashes.SHA256())
    )
    encoding = serialization.Encoding.PEM
    pem = folder / "pem"
    pem.write_bytes(
        certificate.public_bytes(encoding)
        + key.private_bytes(encoding, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    )
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(pem)
    return context


async def test_untrusted_certificate(listening: Any, make_transport: Any, tmp_path: Path) -> None:
    """A certificate that nobody vouches for gets nothing: no byte of HTTP, a failure that names the reason."""
    heard = bytearray()

    async def script(reader: Reader, writer: Writer) -> None:
        heard.extend(await reader.read())

    async with listening(script, ssl=_self_signed(tmp_path)) as listener:
        addresses = {"ads_url": f"https://127.0.0.1:{listener.port}"}
        async with make_transport(listener, addresses=addresses) as transport:
            with pytest.raises(TransportFailed, match="certificate") as caught:
                await transport.exchange(POST)
    assert not caught.value.sent
    assert caught.value.hint
    assert heard == b""
    _assert_clean(caught.value)


async def test_plain_answer_to_tls(answering: Any, answer_bytes: Any, make_transport: Any) -> None:
    """A listener that speaks no TLS gets no request."""
    async with answering(answer_bytes()) as listener:
        addresses = {"ads_url": f"https://127.0.0.1:{listener.port}"}
        patience = Timeouts(connect=0.2, read=0.2, total=0.5)
        async with make_transport(listener, addresses=addresses, timeouts=patience) as transport:
            with pytest.raises(TransportFailed) as caught:
                await transport.exchange(POST)
    assert not caught.value.sent
    assert listener.requests == []


def test_session_keys_are_not_written(
    credentials: Credentials, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """SSLKEYLOGFILE does not make the TLS keys readable, and nothing older than TLS 1.2 is spoken."""
    from audiencekit.api.transport import _tls

    monkeypatch.setenv("SSLKEYLOGFILE", str(tmp_path / "keys"))
    context = _tls()
    assert not context.keylog_filename
    assert context.minimum_version is ssl.TLSVersion.TLSv1_2
    assert context.verify_mode is ssl.CERT_REQUIRED
    assert context.check_hostname


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
    _assert_clean(caught.value)


def _frames(error: BaseException) -> Iterator[FrameType]:
    traces: list[TracebackType | None] = [error.__traceback__]
    for inner in (error.__context__, error.__cause__):
        if inner is not None:
            yield from _frames(inner)
    for trace in traces:
        while trace is not None:
            yield trace.tb_frame
            trace = trace.tb_next


def _assert_clean(error: BaseException) -> None:
    """No message, attribute or local variable of a frame of ours or of the library shows header, secret or body."""
    frames = [frame for frame in _frames(error) if "/tests/" not in frame.f_code.co_filename]
    shown = [str(error), repr(error), repr(vars(error)), *(repr(frame.f_locals) for frame in frames)]
    for text in shown:
        assert "oauth_" not in text
        assert "invented" not in text
        assert CANARY.decode() not in text
    assert error.__context__ is None
    assert error.__cause__ is None


async def test_sizes_of_an_answer(answering: Any, answer_bytes: Any, make_transport: Any) -> None:
    """An answer of exactly the largest size is read."""
    document = json.dumps({"data": "x" * 3_000}).encode()
    async with answering(answer_bytes(200, document)) as listener:
        async with make_transport(listener, max_answer_bytes=len(document)) as transport:
            assert (await transport.exchange(GET)).body == document
        async with make_transport(listener, max_answer_bytes=len(document) - 1) as transport:
            with pytest.raises(TransportFailed, match="longer"):
                await transport.exchange(GET)
