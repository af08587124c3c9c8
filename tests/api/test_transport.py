"""Bodies on their way into a writer."""

from __future__ import annotations

import asyncio
import hashlib
import re
from itertools import pairwise
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import pytest
from hypothesis import HealthCheck, given, settings, strategies as st
from oauthlib import oauth1

from audiencekit.api.answers import read_answer
from audiencekit.api.exchange import ApiRequest, Body
from audiencekit.api.hosts import ServiceAddresses
from audiencekit.api.oauth import Credentials
from audiencekit.api.transport import SLICE_BYTES, BodyPayload, HttpTransport
from audiencekit.errors import Bug, HostRefused, Redirected, TransportFailed, UsageError
from audiencekit.personal import Secret
from audiencekit.process.connections import Connections
from audiencekit.profile import SPEC, X
from tests.api.exchanges import GET, NOW, PATH, POST
from tests.cases import each_case
from tests.examples import examples

# --- Bodies on their way into a writer ---


class _Writer:
    """Keeps what is written; fails when told to."""

    def __init__(self, failure: Exception | None = None) -> None:
        self.pieces: list[bytes] = []
        self._failure = failure

    async def write(self, chunk: Any) -> None:
        if self._failure is not None:
            raise self._failure
        self.pieces.append(bytes(chunk))


async def test_writes_everything_in_slices() -> None:
    """Every byte is written once and in order, in slices, and a second attempt writes the same."""
    data = bytes(range(256)) * 4_000
    body = Body([memoryview(data)[:300_000], data[300_000:]])
    for _attempt in range(2):
        writer, payload = _Writer(), BodyPayload(body)
        assert payload.size == len(data)
        await payload.write_with_length(writer, payload.size)  # type: ignore[arg-type]
        assert hashlib.sha256(b"".join(writer.pieces)).digest() == hashlib.sha256(data).digest()
        assert max(map(len, writer.pieces)) == SLICE_BYTES
        assert payload.started


async def test_started_before_the_first_byte_could_leave() -> None:
    """A payload counts as started once a byte was handed over, even when that failed; not before."""
    payload = BodyPayload(Body([b"canary"]))
    assert not payload.started
    with pytest.raises(ConnectionResetError):
        await payload.write(_Writer(ConnectionResetError()))  # type: ignore[arg-type]
    assert payload.started


async def test_another_length_is_a_bug() -> None:
    """A length that was announced wrongly is noticed before a byte is written."""
    payload, writer = BodyPayload(Body([b"123"])), _Writer()
    with pytest.raises(Bug):
        await payload.write_with_length(writer, 2)  # type: ignore[arg-type]
    assert writer.pieces == []


def test_never_text_and_never_shown() -> None:
    """A payload does not decode, and its repr holds nothing of the body."""
    payload = BodyPayload(Body([b"canary"]))
    with pytest.raises(Bug):
        payload.decode()
    assert "canary" not in repr(payload)


# --- what is sent ---


# --- Exchanges over real sockets on loopback: what is sent, what is read, and every way in which it can go wrong ---


async def test_a_body_arrives_whole_with_its_headers(
    answering: Any, answer_bytes: Any, make_transport: Any, read_header: Any
) -> None:
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
        "connection",
        "content-length",
        "content-type",
        "host",
        "user-agent",
    ]
    assert read_header(head, "content-length") == str(len(body))
    assert read_header(head, "content-type") == "application/json"
    assert read_header(head, "accept-encoding") == "identity"
    assert read_header(head, "connection") == "close"
    assert read_header(head, "host") == f"127.0.0.1:{listener.port}"
    assert (read_header(head, "authorization") or "").startswith("OAuth oauth_consumer_key=")


async def test_a_write_without_a_body_says_so(answering: Any, answer_bytes: Any, make_transport: Any) -> None:
    """A write with its parameters in the query has no body, says so, and claims no type for it."""
    request = ApiRequest(method="POST", path=PATH, query=(("name", "n"),))
    async with answering(answer_bytes()) as listener, make_transport(listener) as transport:
        await transport.exchange(request)
    [(head, body)] = listener.requests
    assert body == b""
    assert "content-length: 0\r\n" in head.lower()
    assert "content-type" not in head.lower()
    assert "transfer-encoding" not in head.lower()


async def test_an_answer_keeps_its_status_headers_and_body(
    answering: Any, answer_bytes: Any, make_transport: Any
) -> None:
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


@each_case("query", QUERIES)
@each_case("method", ["GET", "POST", "PUT", "DELETE"])
async def test_signature_on_the_wire(
    method: str,
    query: tuple[tuple[str, str], ...],
    answering: Any,
    answer_bytes: Any,
    make_transport: Any,
    credentials: Credentials,
) -> None:
    """The request arrives with the signature that an independent signer gives it, the JSON body left out."""
    body = POST.body if method == "POST" and not query else None
    request = ApiRequest(method=method, path=PATH, query=query, body=body)
    async with answering(answer_bytes()) as listener, make_transport(listener) as transport:
        await transport.exchange(request)
    found, expected = _signed_again(listener.requests[0][0], listener.port, credentials)
    assert found == expected


@settings(max_examples=examples(25), suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
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
    transport = HttpTransport(credentials=credentials, addresses=ServiceAddresses(SPEC))
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


async def test_connections_are_bounded_and_new(listening: Any, answer_bytes: Any, make_transport: Any) -> None:
    """No more are open at once than allowed, and none carries a second request, though the service would keep it."""
    at_once, most = 0, 0

    async def script(reader: Any, writer: Any) -> None:
        nonlocal at_once, most
        at_once += 1
        most = max(most, at_once)
        await listener.read_request(reader)
        writer.write(answer_bytes())
        assert await reader.read() == b""  # until the client closes it
        at_once -= 1

    async with (
        listening(script) as listener,
        make_transport(listener, connections=Connections(concurrency=3)) as transport,
    ):
        await asyncio.gather(*(transport.exchange(POST) for _ in range(20)))
    assert len(listener.requests) == listener.connections == 20
    assert most <= 3


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


@each_case("status", [301, 302, 303, 307, 308])
@each_case("where", ["other", "same", "userinfo", "relative"])
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


async def test_own_address_of_a_request_is_checked(answering: Any, answer_bytes: Any, make_transport: Any) -> None:
    """A request may name its own address, which is checked like any other: one of loopback must be known before."""
    async with answering(answer_bytes()) as first, answering(answer_bytes()) as second:
        named = frozenset({first.url, second.url})
        transport = make_transport(first, addresses=ServiceAddresses(SPEC, {"ads_url": first.url}, named=named))
        async with transport:
            await transport.exchange(ApiRequest(method="GET", path=PATH, base=second.url))
            with pytest.raises(HostRefused):
                await transport.exchange(ApiRequest(method="GET", path=PATH, base="https://evil.example.net"))
            with pytest.raises(HostRefused):
                await transport.exchange(ApiRequest(method="GET", path=PATH, base="http://127.0.0.1:9"))
    assert (len(first.requests), len(second.requests)) == (0, 1)


@each_case("name", ["SSL_CERT_FILE", "SSL_CERT_DIR"])
def test_the_working_directory_does_not_choose_authorities(
    name: str, credentials: Credentials, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A relative path of the environment would take the authorities from wherever the program is started."""
    monkeypatch.setenv(name, "authority.pem")
    with pytest.raises(UsageError, match=f"{name} is not an absolute path"):
        HttpTransport(credentials=credentials, addresses=ServiceAddresses(X))
    HttpTransport(credentials=credentials, addresses=ServiceAddresses(SPEC, {"ads_url": "http://127.0.0.1:9"}))
    monkeypatch.setenv(name, "/etc/ssl/authority.pem")
    HttpTransport(credentials=credentials, addresses=ServiceAddresses(X))


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


async def test_an_unused_proxy_is_named_when_the_host_is_not_reached(monkeypatch: pytest.MonkeyPatch) -> None:
    """Behind a firewall with a proxy nothing else tells why; a service on this machine needs none."""

    async def resolve(*_: Any, **__: Any) -> Any:
        raise OSError("no such host")

    monkeypatch.setenv("HTTPS_PROXY", "http://canary:canary@10.0.0.1:3128")
    monkeypatch.setattr(asyncio.get_running_loop(), "getaddrinfo", resolve)
    names = ("consumer_key", "consumer_secret", "access_token", "access_token_secret")
    credentials = Credentials(**dict.fromkeys(names, Secret("invented")))
    hints = {}
    for address in ("https://ads-api.x.com", "http://127.0.0.1:9"):
        transport = HttpTransport(credentials=credentials, addresses=ServiceAddresses(X, {"ads_url": address}))
        async with transport:
            with pytest.raises(TransportFailed) as caught:
                await transport.exchange(GET)
        hints[address] = caught.value.hint
    assert "HTTPS_PROXY: set and not used" in hints["https://ads-api.x.com"]
    assert "PROXY" not in hints["http://127.0.0.1:9"]
    assert "canary" not in str(hints)
