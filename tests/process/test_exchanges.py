"""Exchanges with real receivers that drop, delay, redirect and lie, and the addresses that they may have."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from audiencekit.errors import UsageError
from audiencekit.personal import Secret
from audiencekit.process.connections import Connections
from audiencekit.process.exchanges import Address, Deadline, Exchange
from tests.authorities import Authority
from tests.cases import each_case
from tests.connectproxy import ConnectProxy, proxying
from tests.moments import PATIENCE_SECONDS
from tests.notifications.localreceiver import WAYS, LocalReceiver, local_receiver

SHORT = 0.3
WHY = {
    "well": "",
    "redirect": "the receiver answered with status 307: a redirect, which is not followed",
    "error": "the receiver answered with status 500",
    "dribble": "no answer within 0.3 seconds",
    "nonsense": "the answer is not HTTP",
    "drop": None,  # in the system's words
    "silence": "no answer within 0.3 seconds",
}


@pytest.fixture
def receiver() -> Iterator[LocalReceiver]:
    with local_receiver() as found:
        yield found


@each_case(
    "text, facts",
    [
        ("https://hooks.example.com/services/T0/B0/x", (True, False, "hooks.example.com", 443)),
        ("https://hooks.example.com:8443?sig=x", None),
        ("https://hooks.example.com:8443/?sig=a%2Fb&v=1", (True, False, "hooks.example.com", 8443)),
        ("https://hooks.example.com", (True, False, "hooks.example.com", 443)),
        ("http://127.0.0.1:8000/x", (False, True, "127.0.0.1", 8000)),
        ("http://localhost/x", (False, True, "localhost", 80)),
        ("http://[::1]:8000/x", (False, True, "::1", 8000)),
        ("http://hooks.example.com/x", None),
        ("http://127.1/x", None),
        ("http://localhost.example.com/x", None),
        ("https://user:password@hooks.example.com/x", None),
        ("https://hooks.example.com/x#part", None),
        ("https://hooks.example.com/x y", None),
        ("https://hooks.example.com/x\r\nHost: a", None),
        ("https://hooks.example.com:65536/x", None),
        ("ftp://hooks.example.com/x", None),
        ("hooks.example.com/x", None),
        ("", None),
    ],
)
def test_an_address_is_encrypted_or_on_this_machine(text: str, facts: tuple[Any, ...] | None) -> None:
    """And of one reading; no message shows it."""
    if facts is None:
        with pytest.raises(UsageError) as caught:
            Address.read(Secret(text), "AUDIENCEKIT_NOTIFY_URL")
        assert "example.com" not in f"{caught.value}{caught.value.hint}"
        return
    found = Address.read(Secret(text), "AUDIENCEKIT_NOTIFY_URL")
    assert (found.is_encrypted, found.is_loopback, found.host, found.port) == facts
    assert "example" not in repr(found)


def _deliver(url: str, seconds: float = PATIENCE_SECONDS, connections: Connections | None = None) -> str:
    address = Address.read(Secret(url), "AUDIENCEKIT_NOTIFY_URL")
    return Exchange(
        address, connections=connections or Connections(), deadline=Deadline(seconds), body=b"{}", headers={"X": "1"}
    ).wait()


@pytest.mark.parametrize("way", WAYS)
def test_a_receiver_may_do_what_it_likes(receiver: LocalReceiver, way: str) -> None:
    """It is asked once, at one address, and for no longer than it may take; no reason shows the address."""
    receiver.way = way
    why = _deliver(receiver.url, SHORT if way in ("dribble", "silence") else PATIENCE_SECONDS)
    assert bool(why) == (way != "well")
    assert WHY[way] in (why, None)
    assert "s3cret" not in why
    assert receiver.bodies == [b"{}"]
    assert receiver.paths == ["POST /hook/s3cret-path?sig=s3cret-query"]


def test_no_receiver_is_no_delivery() -> None:
    with socket.socket() as door:
        door.bind(("127.0.0.1", 0))
        why = _deliver(f"http://127.0.0.1:{door.getsockname()[1]}/s3cret")
    assert why.startswith("no connection: ")
    assert "s3cret" not in why


def test_proxies_of_other_programs_are_not_used(receiver: LocalReceiver, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("http_proxy", "http://192.0.2.1:3128")
    monkeypatch.setenv("https_proxy", "http://192.0.2.1:3128")
    assert _deliver(receiver.url) == ""


async def test_a_receiver_proves_who_it_is_also_behind_a_proxy(tmp_path: Path) -> None:
    """By the authorities of the settings; the proxy learns its host and port, and nothing that is told."""
    authority, other = Authority(tmp_path), Authority(tmp_path, "other")
    host = "hooks.example.com"
    with local_receiver(authority.server(host)) as receiver:
        async with proxying(ConnectProxy({f"{host}:443": receiver.port})) as proxy:

            async def deliver(bundle: Path, address: str = f"https://{host}/s3cret") -> str:
                connections = Connections(proxy=Secret(proxy.url), ca_bundle=bundle)
                return await asyncio.to_thread(_deliver, address, PATIENCE_SECONDS, connections)

            assert await deliver(authority.bundle) == ""
            assert "its certificate is not valid here" in await deliver(other.bundle)
            refused = await deliver(authority.bundle, "https://elsewhere.example.com/s3cret")
            assert refused == "no connection: the proxy refuses it"
    assert receiver.bodies == [b"{}"]
    assert proxy.heads[0].startswith(f"CONNECT {host}:443 ")
    assert b"s3cret" not in proxy.tunnelled
