"""https at all addresses, and hosts that are called by name at one port."""

from __future__ import annotations

import shutil
import ssl
import subprocess
from pathlib import Path
from urllib.parse import urlsplit

import aiohttp
import pytest

import audiencekit
from audiencekit.api.opening import open_client
from audiencekit.emulator import Emulator, EmulatorOptions
from audiencekit.testing import run_emulator
from tests.emulator.conftest import Caller
from tests.moments import PATIENCE_SECONDS

ADS, SANDBOX, BASE = "ads-api.example.com", "ads-api-sandbox.example.com", "api.example.com"
OPTIONS = EmulatorOptions(tls=True, hosts=(ADS, SANDBOX, BASE))


def curl(*arguments: str, authority: Path | None, port: int, hosts: tuple[str, ...] = (ADS, SANDBOX, BASE)) -> str:
    """Return the output of curl, which reaches a port of loopback for each host."""
    led = [word for host in hosts for word in ("--connect-to", f"{host}:443:127.0.0.1:{port}")]
    trust = ["--cacert", str(authority)] if authority else []
    command = ["curl", "--silent", "--show-error", "--max-time", "20", *trust, *led, *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE_SECONDS, check=True).stdout


async def test_the_client_trusts_what_the_environment_names() -> None:
    """Its `env` leads to https addresses, and to the authority; without that nothing is sent."""
    with run_emulator(EmulatorOptions(tls=True)) as emulator:
        assert emulator.ads_url.startswith("https://127.0.0.1:")
        settings = audiencekit.load_settings(emulator.env)
        async with open_client(settings) as client:
            answer = await client.call("list_accounts")
        assert [account["id"] for account in answer.data] == [emulator.account_id]
        strangers = {name: text for name, text in emulator.env.items() if name != "AUDIENCEKIT_CA_BUNDLE"}
        async with open_client(audiencekit.load_settings(strangers)) as client:
            with pytest.raises(audiencekit.AudiencekitError, match="certificate"):
                await client.call("list_accounts")


@pytest.mark.skipif(shutil.which("curl") is None, reason="curl is missing")
def test_built_in_hosts_are_served_at_one_port() -> None:
    """The path tells the base address, the name the sandbox; a host that was not named is not believed."""
    with run_emulator(OPTIONS) as emulator:
        port, authority = urlsplit(emulator.ads_url).port or 0, emulator.authority
        statuses = {
            f"https://{ADS}/12/accounts": "401",
            f"https://{SANDBOX}/12/accounts": "401",
            f"https://{BASE}/2/tweets?ids=1": "401",
            f"https://{BASE}/oauth/authorize?oauth_token=none": "401",
            f"https://{BASE}/labs/2/tweets": "410",
            f"https://{ADS}/nowhere": "404",
            f"https://{ADS}/__users": "403",
        }
        for url, status in statuses.items():
            found = curl(url, "--output", "/dev/null", "--write-out", "%{http_code}", authority=authority, port=port)
            assert (url, found) == (url, status)
        with pytest.raises(subprocess.CalledProcessError, match="60"):
            curl(f"https://{ADS}/12/accounts", authority=None, port=port)
        with pytest.raises(subprocess.CalledProcessError, match="60"):
            curl("https://other.example.com/", authority=authority, port=port, hosts=("other.example.com",))


async def test_the_sandbox_is_told_by_its_name() -> None:
    """An account is made there, and nowhere else; signatures go by the host that was called."""
    async with Emulator(OPTIONS) as emulator:
        context = ssl.create_default_context(cafile=str(emulator.authority))
        connector = aiohttp.TCPConnector(ssl=context)
        async with aiohttp.ClientSession(connector=connector) as session:
            caller, statuses = Caller(emulator, session), []
            for host in (ADS, SANDBOX):
                signed = caller.sign("POST", f"https://{host}/12/accounts")
                reply = await caller.send("POST", "/12/accounts", headers={**signed, "Host": host})
                statuses.append(reply.status)
    assert statuses[1] == 200
    assert statuses[0] >= 400
