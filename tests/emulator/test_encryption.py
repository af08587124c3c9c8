"""The authority: kept, made anew, and limited to the hosts that were named."""

from __future__ import annotations

import shutil
import ssl
import stat
import subprocess
from datetime import timedelta
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import aiohttp
import pytest
from cryptography import x509

import audiencekit
from audiencekit.api.opening import open_client
from audiencekit.emulator import Emulator, EmulatorOptions, encryption as module
from audiencekit.emulator.encryption import (
    CERTIFICATE_FILE,
    KEY_FILE,
    VALID_DAYS,
    AuthorityError,
    Encryption,
    make_certificates,
    make_context,
    make_holder,
    sign_server,
    today,
)
from audiencekit.testing import run_emulator
from tests.cases import each_case
from tests.emulator.conftest import Caller
from tests.moments import PATIENCE_SECONDS

# --- The authority: kept, made anew, and limited to the hosts that were named ---

HOSTS = ("ads-api.example.com", "192.0.2.7")


def shake_hands(server: ssl.SSLContext, authority: Path, host: str) -> x509.Certificate:
    """The certificate that a client is shown which trusts `authority` and calls `host`. Raises ssl.SSLError."""
    context = ssl.create_default_context(cafile=str(authority))
    to_client, to_server = ssl.MemoryBIO(), ssl.MemoryBIO()
    client = context.wrap_bio(to_client, to_server, server_hostname=host)
    serving = server.wrap_bio(to_server, to_client, server_side=True)
    for _ in range(4):
        for end in (client, serving):
            try:
                end.do_handshake()
            except ssl.SSLWantReadError:
                continue
    return x509.load_der_x509_certificate(client.getpeercert(binary_form=True) or b"")


@each_case("host", ["localhost", "127.0.0.1", "::1", *HOSTS])
def test_a_client_believes_every_name(host: str) -> None:
    """Those that were named, and loopback always."""
    encryption = Encryption(HOSTS, None)
    try:
        shown = shake_hands(encryption.context, encryption.authority, host)
    finally:
        encryption.close()
    assert shown.not_valid_after_utc - today() < timedelta(days=VALID_DAYS)
    assert not encryption.authority.exists()


def test_other_names_are_not_believed() -> None:
    """Neither by the server's certificate, nor by any that the authority could sign."""
    encryption = Encryption(HOSTS, None)
    try:
        with pytest.raises(ssl.SSLCertVerificationError, match="Hostname mismatch"):
            shake_hands(encryption.context, encryption.authority, "api.example.com")
    finally:
        encryption.close()


def test_a_lost_key_opens_nothing_else(tmp_path: Path) -> None:
    """A certificate for a bank, signed with it, is refused."""
    encryption = Encryption(HOSTS, tmp_path)
    found = module._read(tmp_path, ("localhost",))
    assert found is not None
    server, now = make_holder("bank"), today()
    # A day earlier: OpenSSL reads a coarser clock, which may still stand in the second before `now`.
    forged = sign_server(server, found.holder, ("bank.example.org",), now - timedelta(days=1), now + timedelta(days=1))
    with pytest.raises(ssl.SSLCertVerificationError, match="permitted subtree violation"):
        shake_hands(make_context(forged, server.key), encryption.authority, "bank.example.org")


def test_a_kept_authority_is_trusted_once(tmp_path: Path) -> None:
    """Its key is for the owner alone; a second start shows another certificate of the same authority."""
    place = tmp_path / "new" / "authority"
    first = Encryption(HOSTS, place)
    assert {each.name: stat.S_IMODE(each.stat().st_mode) for each in place.iterdir()} == {
        CERTIFICATE_FILE: 0o644,
        KEY_FILE: 0o600,
    }
    before = (place / CERTIFICATE_FILE).read_bytes()
    second = Encryption(HOSTS[:1], place)
    second.close()
    assert (place / CERTIFICATE_FILE).read_bytes() == before
    shown = [shake_hands(each.context, place / CERTIFICATE_FILE, HOSTS[0]) for each in (first, second)]
    assert shown[0].serial_number != shown[1].serial_number


def test_an_authority_that_is_no_longer_good_is_made_anew(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """For other hosts, near its end, or where its key is lost or another's."""
    Encryption(HOSTS, tmp_path)
    seen = {(tmp_path / CERTIFICATE_FILE).read_bytes()}

    def is_new() -> bool:
        Encryption((*HOSTS, "more.example.com"), tmp_path)
        content = (tmp_path / CERTIFICATE_FILE).read_bytes()
        before = len(seen)
        seen.add(content)
        return len(seen) > before

    assert is_new()
    assert not is_new()
    later = today() + timedelta(days=VALID_DAYS - 6)
    with monkeypatch.context() as patch:
        patch.setattr(module, "today", lambda: later)
        assert is_new()
    (tmp_path / KEY_FILE).unlink()
    assert is_new()
    Encryption(HOSTS, tmp_path / "other")
    (tmp_path / "other" / KEY_FILE).replace(tmp_path / KEY_FILE)
    assert is_new()


@pytest.mark.parametrize("name", [CERTIFICATE_FILE, KEY_FILE])
def test_files_of_others_are_left_alone(tmp_path: Path, name: str) -> None:
    """They are not an emulator's to overwrite."""
    Encryption(HOSTS, tmp_path)
    (tmp_path / name).write_text("notes")
    with pytest.raises(AuthorityError, match="not an emulator's"):
        Encryption(HOSTS, tmp_path)
    assert (tmp_path / name).read_text() == "notes"


def test_a_directory_that_cannot_be_made_is_named(tmp_path: Path) -> None:
    """With the reason of the system."""
    (tmp_path / "file").write_text("")
    with pytest.raises(AuthorityError, match=r"the authority cannot be kept in .*file/directory': Not a directory"):
        Encryption(HOSTS, tmp_path / "file" / "directory")


# --- Options of https: hosts by name or address ---


@each_case("host", ["ads-api.example.com", "localhost", "a", "192.0.2.7", "::1", "xn--bcher-kva.example"])
def test_a_host_is_a_name_or_an_address(host: str) -> None:
    """Of version 4 or 6."""
    assert EmulatorOptions(tls=True, hosts=(host,)).hosts == (host,)


@each_case(
    "host",
    [
        "",
        "*.example.com",
        "https://example.com",
        "example.com:443",
        "Example.com",
        "-a.example",
        "a..b",
        "bücher.example",
        "a" * 64,
        "a.example\n",
    ],
)
def test_another_text_is_no_host(host: str) -> None:
    """The message shows what one looks like."""
    with pytest.raises(ValueError, match=r"such as ads-api\.example\.com"):
        EmulatorOptions(tls=True, hosts=(host,))


@each_case("settings", [{"hosts": ("a.example",)}, {"authority": Path("here")}])
def test_without_tls_they_mean_nothing(settings: dict[str, Any]) -> None:
    """So they are refused."""
    with pytest.raises(ValueError, match="need tls"):
        EmulatorOptions(**settings)


# --- https at all addresses, and hosts that are called by name at one port ---

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


# --- Certificates of the https address ---


def test_each_kind_has_a_context_and_the_authority_is_one() -> None:
    """Made afresh each time: nothing that could be trusted by mistake lies about."""
    made, again = make_certificates(), make_certificates()
    assert set(made.contexts) == {"good", "expired", "wrong_host", "self_signed"}
    assert all(isinstance(context, ssl.SSLContext) for context in made.contexts.values())
    authority = x509.load_pem_x509_certificate(made.authority.encode())
    assert authority.extensions.get_extension_for_class(x509.BasicConstraints).value.ca
    assert made.authority != again.authority
    assert "PRIVATE" not in made.authority
