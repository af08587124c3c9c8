"""The https address and the proxy, with real handshakes."""

from __future__ import annotations

import ssl
from typing import Any

import aiohttp
import pytest

from tests.cases import each_case

LIST = "/12/accounts/"


def _trusting(shown: Any) -> ssl.SSLContext:
    return ssl.create_default_context(cadata=shown["authority"])


async def _get(url: str, shown: Any, *, headers: Any = None, proxy: str | None = None, fresh: bool = True) -> int:
    connector = aiohttp.TCPConnector(ssl=_trusting(shown), force_close=fresh)
    async with (
        aiohttp.ClientSession(connector=connector) as session,
        session.get(url, headers=headers, proxy=proxy) as answer,
    ):
        await answer.read()
        return answer.status


@pytest.fixture
async def https(bench: Any) -> Any:
    """A bench with an https address at which nothing strikes before the thousandth connection."""
    bench.shown = await bench.order(32, nth=1000)
    return bench


async def test_the_https_address_is_good_when_nothing_strikes(https: Any) -> None:
    """A client that trusts the authority is let in; calls signed for https are taken."""
    url = https.shown["https_url"] + https.caller.audiences
    assert await _get(url, https.shown, headers=https.caller.sign("GET", url)) == 200


@pytest.mark.parametrize(
    ("kind", "reason"),
    [
        ("expired", "certificate has expired"),
        ("wrong_host", "IP address mismatch"),
        ("self_signed", "self.signed certificate"),
    ],
)
async def test_a_bad_certificate_fails_for_its_own_reason(bench: Any, kind: str, reason: str) -> None:
    """The second connection is struck; the first and the third see the good one."""
    shown = await bench.order(32, kind=kind, nth=2, times=1)
    url = shown["https_url"] + "/__log"
    assert await _get(url, shown) == 200
    with pytest.raises(aiohttp.ClientConnectorCertificateError, match=reason):
        await _get(url, shown)
    assert await _get(url, shown) == 200
    assert await bench.fired() == [(32, "connect", None, False)]


@each_case(
    "order, reason",
    [({"fault": 32, "kind": "old_tls"}, "PROTOCOL_VERSION"), ({"fault": 12, "kind": "tls"}, "INTERNAL_ERROR")],
)
async def test_a_handshake_fails(bench: Any, order: dict[str, Any], reason: str) -> None:
    """With the alert of a server that is too old, or of one that has a bad moment."""
    shown = await bench.order(order["fault"], **{**order, "times": 1})
    url = shown["https_url"] + "/__log"
    with pytest.raises(aiohttp.ClientConnectorSSLError, match=reason):
        await _get(url, shown)
    assert await _get(url, shown) == 200


async def test_other_faults_strike_at_https_too(https: Any) -> None:
    """The connection below the encryption is reset."""
    # A client may try again once of its own accord.
    await https.order(13, where="headers", times=2)
    url = https.shown["https_url"] + https.caller.audiences
    with pytest.raises((aiohttp.ClientOSError, aiohttp.ServerDisconnectedError)):
        await _get(url, https.shown, headers=https.caller.sign("GET", url))
    assert await _get(url, https.shown, headers=https.caller.sign("GET", url)) == 200


async def test_the_addresses_stay(https: Any) -> None:
    """They are opened once, and shown from then on."""
    again = await https.door("GET")
    assert again["https_url"] == https.shown["https_url"]
    assert "proxy_url" not in again


@pytest.fixture
async def proxied(bench: Any) -> Any:
    """A bench with a proxy that lets the first calls through, and an https address."""
    await bench.order(32, nth=1000)
    bench.shown = await bench.order(35, nth=1000)
    return bench


async def test_the_proxy_leads_to_the_emulator(proxied: Any) -> None:
    """Plain calls are forwarded, those of https tunnelled."""
    shown = proxied.shown
    for base in (proxied.emulator.ads_url, shown["https_url"]):
        url = base + proxied.caller.audiences + "?count=1"
        assert await _get(url, shown, headers=proxied.caller.sign("GET", url), proxy=shown["proxy_url"]) == 200


async def test_the_proxy_leads_nowhere_else(proxied: Any) -> None:
    """It is no way out of the machine, nor to what else listens on it."""
    for url in ("http://127.0.0.1:9/", "http://ads.example.com/"):
        assert await _get(url, proxied.shown, proxy=proxied.shown["proxy_url"]) == 403
    with pytest.raises(aiohttp.ClientHttpProxyError):
        await _get("https://ads.example.com/", proxied.shown, proxy=proxied.shown["proxy_url"])


@pytest.mark.parametrize(("kind", "status"), [("auth", 407), ("refused", 403), ("unreachable", 502)])
async def test_the_proxy_refuses(proxied: Any, kind: str, status: int) -> None:
    """Plain calls and tunnels alike; nothing comes through."""
    shown = proxied.shown
    await proxied.door("POST", [{"fault": 35, "kind": kind}, {"fault": 32, "nth": 1000}])
    assert await _get(proxied.emulator.ads_url + "/12", shown, proxy=shown["proxy_url"]) == status
    with pytest.raises(aiohttp.ClientHttpProxyError) as caught:
        await _get(shown["https_url"], shown, proxy=shown["proxy_url"])
    assert caught.value.status == status
    reply = await proxied.caller.send("GET", "/__requests")
    assert reply.body == []
    assert await proxied.fired() == [(35, "connect", None, False)] * 2


async def test_the_proxy_reads_along(proxied: Any) -> None:
    """It shows a certificate that no authority has signed."""
    shown = proxied.shown
    await proxied.door("POST", [{"fault": 35, "kind": "mitm"}, {"fault": 32, "nth": 1000}])
    with pytest.raises(aiohttp.ClientConnectorCertificateError, match=r"self.signed"):
        await _get(shown["https_url"], shown, proxy=shown["proxy_url"])
