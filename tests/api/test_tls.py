"""TLS: who cannot prove who he is gets nothing."""

from __future__ import annotations

import ssl
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

from audiencekit.api.oauth import Credentials
from audiencekit.api.transport import Timeouts
from audiencekit.errors import TransportFailed
from audiencekit.process.connections import open_tls
from tests.api.cleanliness import assert_clean
from tests.api.exchanges import GET, POST, Reader, Writer


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
    """A certificate from no known authority gets no byte of HTTP; the failure names the reason."""
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
    assert_clean(caught.value)


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
    monkeypatch.setenv("SSLKEYLOGFILE", str(tmp_path / "keys"))
    context = open_tls()
    assert not context.keylog_filename
    assert context.minimum_version is ssl.TLSVersion.TLSv1_2
    assert context.verify_mode is ssl.CERT_REQUIRED
    assert context.check_hostname


async def test_authorities_are_read_only_for_tls(
    answering: Any, answer_bytes: Any, make_transport: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Plain HTTP on loopback does without."""
    monkeypatch.setattr(ssl.SSLContext, "load_default_certs", lambda self: pytest.fail("authorities were read"))
    async with answering(answer_bytes()) as listener, make_transport(listener) as transport:
        assert (await transport.exchange(GET)).status == 200
