"""The address of a proxy: read, and never shown with its password."""

from __future__ import annotations

import asyncio
import base64
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from audiencekit.api.exchange import ApiRequest, Body
from audiencekit.api.hosts import ServiceAddresses
from audiencekit.api.oauth import Credentials
from audiencekit.api.transport import HttpTransport
from audiencekit.errors import CertificateRefused, CredentialsRefused, TransportFailed, UsageError
from audiencekit.personal import Secret
from audiencekit.process.connections import Connections, open_tls, read_proxy
from audiencekit.profile import SPEC
from tests.api.cleanliness import CANARY, assert_clean
from tests.authorities import Authority
from tests.cases import each_case
from tests.connectproxy import ConnectProxy, proxying


@each_case("address", ["http://HOST", "https://HOST:1", "HOST:3128", "http://HOST:3128/x", "http://HOST:99999", "socks5://HOST:1",
     "http://HOST@h:1", "http://a:HOST@h", "http://a:b@HOST@h:1", "http://[HOST]:1", "http://[::zz]:1", "HOST",
     "http://a:HOST\n@h:1"])  # fmt: skip
def test_an_address_that_is_none_is_refused_and_not_shown(address: str) -> None:
    """It may hold a password."""
    with pytest.raises(UsageError, match="AUDIENCEKIT_PROXY") as caught:
        read_proxy(Secret(address.replace("HOST", "invented-word")))
    assert "invented-word" not in f"{caught.value}{caught.value.hint}"


def test_a_proxy_shows_no_password() -> None:
    """Only its header has it."""
    proxy = read_proxy(Secret("http://ann:invented%3Aword@proxy.example.com:3128/"))
    assert "invented" not in repr(proxy) + str(proxy.url)
    sent = proxy.headers["Proxy-Authorization"].removeprefix("Basic ")
    assert base64.b64decode(sent) == b"ann:invented:word"
    assert read_proxy(Secret("http://[::1]:3128")).headers == {}


HOST = "ads.example.com"  # which no machine resolves to loopback: only the proxy knows it
PATH = "/12/accounts/abc1/custom_audiences"
GET = ApiRequest(method="GET", path=PATH)
POST = ApiRequest(method="POST", path=PATH + "/1nmth/users", body=Body([b'[{"', CANARY, b'":1}]']))


@pytest.fixture
def authority(tmp_path: Path) -> Authority:
    return Authority(tmp_path)


@pytest.fixture(autouse=True)
async def _no_name_is_resolved(monkeypatch: pytest.MonkeyPatch) -> None:
    """A query for the name of the service would tell the network of it, and go past the proxy."""
    resolve = asyncio.get_running_loop().getaddrinfo

    async def only_loopback(host: str, *given: Any, **more: Any) -> Any:
        assert host == "127.0.0.1", "a name was asked for"
        return await resolve(host, *given, **more)

    monkeypatch.setattr(asyncio.get_running_loop(), "getaddrinfo", only_loopback)


@asynccontextmanager
async def _world(
    listening: Any, answer_bytes: Any, context: ssl.SSLContext, **options: Any
) -> AsyncIterator[tuple[Any, ConnectProxy]]:
    """The service behind TLS, and a proxy that leads to it."""

    async def script(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while True:
            await service.read_request(reader)
            writer.write(answer_bytes())

    async with (
        listening(script, ssl=context) as service,
        proxying(ConnectProxy({f"{HOST}:443": service.port}, **options)) as proxy,
    ):
        yield service, proxy


def _options(proxy: str | None, bundle: Path | None) -> dict[str, Any]:
    connections = Connections(proxy=Secret(proxy) if proxy else None, ca_bundle=bundle)
    addresses = ServiceAddresses(SPEC, {"ads_url": f"https://{HOST}"}, allowed_hosts=frozenset({HOST}))
    return {"addresses": addresses, "connections": connections}


async def test_the_proxy_carries_what_it_cannot_read(
    authority: Authority, listening: Any, answer_bytes: Any, make_transport: Any
) -> None:
    """It hears the host, and a stream of TLS; the service has the request, and nothing that was for the proxy."""
    async with _world(listening, answer_bytes, authority.server(HOST)) as (service, proxy):
        address = proxy.url.replace("//", "//ann:invented%40word@")
        async with make_transport(service, **_options(address, authority.bundle)) as transport:
            assert (await transport.exchange(POST)).status == 200
            assert (await transport.exchange(GET)).status == 200
    assert len(proxy.heads) == 2
    for head in proxy.heads:
        assert head.startswith(f"CONNECT {HOST}:443 HTTP/1.1\r\n")
        assert f"Proxy-Authorization: Basic {base64.b64encode(b'ann:invented@word').decode()}\r\n" in head
        assert not [word for word in ("oauth", "OAuth", PATH) if word in head]
    assert not [word for word in (CANARY, b"OAuth", b"HTTP/1.1", PATH.encode()) if word in proxy.tunnelled]
    assert [head.partition(" ")[0] for head, _ in service.requests] == ["POST", "GET"]
    assert CANARY in service.requests[0][1]
    assert "proxy" not in "".join(head.lower() for head, _ in service.requests)


async def test_a_proxy_that_opens_tls_gets_nothing(
    authority: Authority, listening: Any, answer_bytes: Any, make_transport: Any, tmp_path: Path
) -> None:
    """A certificate of an authority that was not named ends it before a byte of HTTP."""
    own = Authority(tmp_path, "of the proxy").server(HOST)
    async with (
        _world(listening, answer_bytes, authority.server(HOST), opens=own) as (service, proxy),
        make_transport(service, **_options(proxy.url, authority.bundle)) as transport,
    ):
        with pytest.raises(CertificateRefused) as caught:
            await transport.exchange(POST)
    assert "AUDIENCEKIT_CA_BUNDLE" in caught.value.hint
    assert proxy.heads
    assert proxy.tunnelled == b""
    assert service.requests == []
    assert_clean(caught.value)


@pytest.mark.parametrize(("status", "error"), [(407, CredentialsRefused), (403, TransportFailed)])
async def test_a_proxy_that_refuses_is_named(
    authority: Authority, listening: Any, answer_bytes: Any, make_transport: Any, status: int,
    error: type[CredentialsRefused | TransportFailed],
) -> None:  # fmt: skip
    """With what to do; nothing reached the service, and the password is in no frame."""
    async with _world(listening, answer_bytes, authority.server(HOST), refusal=status) as (service, proxy):
        address = proxy.url.replace("//", "//ann:invented-word@")
        async with make_transport(service, **_options(address, authority.bundle)) as transport:
            for request in (GET, POST):
                with pytest.raises(error, match="proxy") as caught:
                    await transport.exchange(request)
                assert not getattr(caught.value, "sent", False)
                assert "AUDIENCEKIT_PROXY" in caught.value.hint
                assert_clean(caught.value)
    assert service.connections == 0


async def test_a_proxy_that_is_away_is_said(authority: Authority, listening: Any, make_transport: Any) -> None:
    """It is not taken for the host, and the host is not called straight."""
    async with listening(None) as gone:
        address = gone.url
    async with make_transport(gone, **_options(address, authority.bundle)) as transport:
        with pytest.raises(TransportFailed, match=r"the proxy could not be reached \(ECONNREFUSED\)") as caught:
            await transport.exchange(GET)
    assert not caught.value.sent
    assert "the proxy of AUDIENCEKIT_PROXY" in caught.value.hint


async def test_this_machine_is_called_straight(answering: Any, answer_bytes: Any, make_transport: Any) -> None:
    """At the proxy, loopback would be another machine."""
    async with answering(answer_bytes()) as service, proxying(ConnectProxy({})) as proxy:
        connections = Connections(proxy=Secret(proxy.url))
        async with make_transport(service, connections=connections) as transport:
            assert (await transport.exchange(GET)).status == 200
    assert proxy.heads == []


async def test_only_the_bundle_is_believed(
    authority: Authority, listening: Any, answer_bytes: Any, make_transport: Any, tmp_path: Path
) -> None:
    """Not the authorities of the machine, nor another bundle; and a name must be that of the certificate."""
    other = Authority(tmp_path, "other").bundle
    for host, bundle in ((HOST, other), (HOST, None), ("else.example.com", authority.bundle)):
        async with _world(listening, answer_bytes, authority.server(host)) as (service, proxy):
            async with make_transport(service, **_options(proxy.url, bundle)) as transport:
                with pytest.raises(CertificateRefused):
                    await transport.exchange(POST)
            assert service.requests == []
    assert len(open_tls(authority.bundle).get_ca_certs()) == 1


@pytest.mark.parametrize(
    ("content", "fault"),
    [(None, "cannot be read: No such file"), (b"", "no certificate"), (b"no certificate\n", "no certificate"),
     (b"\x30\x82\x01\x0a", "no certificate"),
     (b"-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n", "damaged one")],
)  # fmt: skip
def test_a_wrong_bundle_is_said_at_once(
    tmp_path: Path, credentials: Credentials, content: bytes | None, fault: str
) -> None:
    """Which file, and what to do; before anything is sent."""
    bundle = tmp_path / "com\x1bpany.pem"
    if content is not None:
        bundle.write_bytes(content)
    with pytest.raises(UsageError, match="AUDIENCEKIT_CA_BUNDLE") as caught:
        HttpTransport(credentials=credentials, **_options(None, bundle))
    assert fault in str(caught.value)
    assert "com\\x1bpany.pem" in str(caught.value)
    assert caught.value.hint
