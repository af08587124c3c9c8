"""Certificates of the https address, made when it is opened: a good one, and bad ones.

All are signed by an authority that lives as long as the emulator, so that a client that trusts it sees each
certificate fail for its own reason.
"""

from __future__ import annotations

import ipaddress
import ssl
import tempfile
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Final

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

_LOOPBACK: Final = (x509.DNSName("localhost"), x509.IPAddress(ipaddress.IPv4Address("127.0.0.1")))
_ELSEWHERE: Final = (x509.DNSName("ads.example.com"),)
_DAY: Final = timedelta(days=1)


@dataclass(frozen=True, slots=True)
class _Holder:
    name: x509.Name
    key: ec.EllipticCurvePrivateKey


@dataclass(frozen=True, slots=True)
class Certificates:
    """Server contexts by kind (`good`, `expired`, `wrong_host`, `self_signed`), and the authority as PEM."""

    authority: str
    contexts: dict[str, ssl.SSLContext]


def make_certificates() -> Certificates:
    """Fresh certificates. Their days are those of the machine's clock: a client checks them by its own."""
    now, authority = datetime.now(UTC), _make_holder("audiencekit emulator authority")
    root = _sign(authority, authority, (), now - _DAY, now + 365 * _DAY)
    server = _make_holder("audiencekit emulator")
    chosen = {
        "good": _sign(server, authority, _LOOPBACK, now - _DAY, now + 365 * _DAY),
        "expired": _sign(server, authority, _LOOPBACK, now - 30 * _DAY, now - _DAY),
        "wrong_host": _sign(server, authority, _ELSEWHERE, now - _DAY, now + 365 * _DAY),
        "self_signed": _sign(server, server, _LOOPBACK, now - _DAY, now + 365 * _DAY),
    }
    contexts = {kind: _make_context(certificate, server.key) for kind, certificate in chosen.items()}
    return Certificates(_pem(root).decode(), contexts)


def _make_holder(name: str) -> _Holder:
    return _Holder(x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)]), ec.generate_private_key(ec.SECP256R1()))


def _sign(
    subject: _Holder, issuer: _Holder, names: tuple[x509.GeneralName, ...], since: datetime, until: datetime
) -> x509.Certificate:
    builder = (
        x509.CertificateBuilder()
        .subject_name(subject.name)
        .issuer_name(issuer.name)
        .public_key(subject.key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(since)
        .not_valid_after(until)
        .add_extension(x509.BasicConstraints(ca=not names, path_length=None), critical=True)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(subject.key.public_key()), critical=False)
        .add_extension(x509.AuthorityKeyIdentifier.from_issuer_public_key(issuer.key.public_key()), critical=False)
    )
    if names:
        builder = builder.add_extension(x509.SubjectAlternativeName(names), critical=False)
    return builder.sign(issuer.key, hashes.SHA256())


def _pem(certificate: x509.Certificate) -> bytes:
    return certificate.public_bytes(serialization.Encoding.PEM)


def _make_context(certificate: x509.Certificate, key: ec.EllipticCurvePrivateKey) -> ssl.SSLContext:
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    secret = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    # The standard library loads chains from files only. The key is worth nothing beyond this process.
    with tempfile.TemporaryDirectory() as directory:
        chain = Path(directory, "chain.pem")
        chain.write_bytes(_pem(certificate) + secret)
        context.load_cert_chain(chain)
    return context
