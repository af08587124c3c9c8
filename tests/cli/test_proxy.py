"""Commands behind the proxy of a company, as real processes; the service behind it speaks TLS from end to end."""

from __future__ import annotations

import asyncio
import json
import ssl
import subprocess
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from tests.authorities import Authority
from tests.cli.conftest import Run, Service
from tests.connectproxy import ConnectProxy, copying, proxying

HOST = "ads.example.com"
Command = Callable[..., Awaitable[subprocess.CompletedProcess[str]]]


@asynccontextmanager
async def _front(service: Service, authority: Authority) -> AsyncIterator[int]:
    """The emulator under a name and a certificate that the authority signed; its port."""
    service.order({"fault": 32, "nth": 1_000_000})  # which opens its https address, and never strikes
    shown = json.loads(service.get("/__faults"))
    trusted = ssl.create_default_context(cadata=shown["authority"])
    port = int(shown["https_url"].rpartition(":")[2])

    async def forward(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await copying(reader, writer, await asyncio.open_connection("127.0.0.1", port, ssl=trusted))

    server = await asyncio.start_server(forward, "127.0.0.1", 0, ssl=authority.server(HOST))
    try:
        yield server.sockets[0].getsockname()[1]
    finally:
        server.close()


@pytest.fixture
def command(run_process: Run, service: Service) -> Command:
    """Runs a command for the service by its name, while this process is the network."""

    async def call(*arguments: str, **more: str) -> subprocess.CompletedProcess[str]:
        named = {"AUDIENCEKIT_ADS_URL": f"https://{HOST}", "AUDIENCEKIT_ALLOW_HOST": HOST}
        return await asyncio.to_thread(run_process, *arguments, **{**service.env, **named, **more})

    return call


async def test_an_upload_goes_by_the_named_proxy_alone(command: Command, service: Service, tmp_path: Path) -> None:
    """Not by those that other programs are told of; the proxy has seen neither a person nor a credential."""
    (tmp_path / "list.csv").write_text("email\nada@example.com\nbo@example.com\n")
    authority = Authority(tmp_path)
    async with (
        _front(service, authority) as port,
        proxying(ConnectProxy({f"{HOST}:443": port})) as proxy,
        proxying(ConnectProxy({f"{HOST}:443": port})) as other,
    ):
        given = {
            "AUDIENCEKIT_PROXY": proxy.url.replace("//", "//ann:invented-word@"),
            "AUDIENCEKIT_CA_BUNDLE": str(authority.bundle),
            **dict.fromkeys(("HTTPS_PROXY", "https_proxy", "HTTP_PROXY", "ALL_PROXY"), other.url),
        }
        done = await command("upload", "list.csv", "--audience", service.audience_id, "--json", **given)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["rows"]["sent"] == 2
    assert other.heads == []
    assert {head.partition("\r\n")[0] for head in proxy.heads} == {f"CONNECT {HOST}:443 HTTP/1.1"}
    seen = bytes(proxy.tunnelled) + "".join(proxy.heads).encode()
    secrets = [text for name, text in service.env.items() if name.endswith(("_SECRET", "_TOKEN", "_KEY"))]
    assert [word for word in (*secrets, "oauth", "audiences", "Update") if word.encode() in seen] == []
    assert "invented-word" not in done.stdout + done.stderr


async def test_faults_of_the_proxy_are_said(command: Command, tmp_path: Path) -> None:
    """An address that is none, a proxy that is away, one that wants a name: each with its code, and no password."""
    bundle = {"AUDIENCEKIT_CA_BUNDLE": str(Authority(tmp_path).bundle)}
    async with proxying(ConnectProxy({}, refusal=407)) as proxy:
        wanting = proxy.url
        asked = await command("whoami", AUDIENCEKIT_PROXY=wanting.replace("//", "//ann:invented-word@"), **bundle)
    gone = await command("whoami", AUDIENCEKIT_PROXY=wanting, **bundle)
    wrong = await command("whoami", AUDIENCEKIT_PROXY="https://ann:invented-word@proxy.example.com", **bundle)
    assert (asked.returncode, "user name and password" in asked.stderr) == (77, True), asked.stderr
    assert (gone.returncode, "the proxy could not be reached" in gone.stderr) == (69, True), gone.stderr
    assert (wrong.returncode, "give it as http://host:port" in wrong.stderr) == (2, True), wrong.stderr
    assert "invented-word" not in asked.stderr + gone.stderr + wrong.stderr


async def test_a_wrong_bundle_names_the_file(command: Command, tmp_path: Path) -> None:
    """Before anything is sent; a relative path is none."""
    (tmp_path / "empty.pem").write_text("")
    for path, words in ((str(tmp_path / "empty.pem"), "empty.pem holds no certificate"), ("empty.pem", "absolute")):
        done = await command("whoami", AUDIENCEKIT_CA_BUNDLE=path, AUDIENCEKIT_PROXY="http://127.0.0.1:9")
        assert (done.returncode, words in done.stderr) == (2, True), done.stderr
