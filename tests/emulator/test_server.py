"""The emulator as a server."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import socket
from typing import Any
from urllib.parse import urlsplit

import pytest

from audiencekit.emulator import Emulator, EmulatorOptions, serve
from tests.moments import PATIENCE_SECONDS
from tests.ports import kept_port


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


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
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
