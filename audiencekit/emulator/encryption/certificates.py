"""Certificates: who holds one, who signs it, and the server that shows it."""

from __future__ import annotations

import ipaddress
import ssl
import tempfile
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Final

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

from audiencekit.machine.privatefiles import replace_file

AUTHORITY_NAME: Final = "audiencekit emulator authority"
SERVER_NAME: Final = "audiencekit emulator"
LOOPBACK_HOSTS: Final = ("localhost", "127.0.0.1", "::1")
DAY: Final = timedelta(days=1)


@dataclass(frozen=True, slots=True)
class Holder:
    """A name and its key."""

    name: x509.Name
    key: ec.EllipticCurvePrivateKey


def make_holder(name: str) -> Holder:
    """Return a holder with a fresh key."""
    return Holder(x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)]), ec.generate_private_key(ec.SECP256R1()))


def today() -> datetime:
    """Return the time of the machine: clients judge certificates by it, whatever the emulator's clock says."""
    return datetime.now(UTC)


def sign_authority(authority: Holder, since: datetime, until: datetime, only: Iterable[str] = ()) -> x509.Certificate:
    """Return the authority's own certificate. With `only` it can vouch for these hosts and no others."""
    builder = _begin(authority, authority, since, until)
    builder = builder.add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
    builder = builder.add_extension(_signs_certificates(), critical=True)
    permitted = [_network(name) for name in name_hosts(only)]
    if permitted:
        limits = x509.NameConstraints(permitted_subtrees=permitted, excluded_subtrees=None)
        builder = builder.add_extension(limits, critical=True)
    return builder.sign(authority.key, hashes.SHA256())


def sign_server(
    server: Holder, issuer: Holder, hosts: Iterable[str], since: datetime, until: datetime
) -> x509.Certificate:
    """Return a certificate that names `hosts`, and is signed by `issuer`."""
    builder = _begin(server, issuer, since, until)
    builder = builder.add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
    builder = builder.add_extension(x509.SubjectAlternativeName(name_hosts(hosts)), critical=False)
    builder = builder.add_extension(x509.ExtendedKeyUsage([ExtendedKeyUsageOID.SERVER_AUTH]), critical=False)
    return builder.sign(issuer.key, hashes.SHA256())


def _begin(subject: Holder, issuer: Holder, since: datetime, until: datetime) -> x509.CertificateBuilder:
    return (
        x509.CertificateBuilder()
        .subject_name(subject.name)
        .issuer_name(issuer.name)
        .public_key(subject.key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(since)
        .not_valid_after(until)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(subject.key.public_key()), critical=False)
        .add_extension(x509.AuthorityKeyIdentifier.from_issuer_public_key(issuer.key.public_key()), critical=False)
    )


def _signs_certificates() -> x509.KeyUsage:
    others = dict.fromkeys(
        (
            "digital_signature",
            "content_commitment",
            "key_encipherment",
            "data_encipherment",
            "key_agreement",
            "crl_sign",
            "encipher_only",
            "decipher_only",
        ),
        False,
    )
    return x509.KeyUsage(key_cert_sign=True, **others)


def name_hosts(hosts: Iterable[str]) -> list[x509.GeneralName]:
    """Return host names and IP addresses in the form that certificates have for each."""
    return [_name(host) for host in hosts]


def _name(host: str) -> x509.GeneralName:
    try:
        return x509.IPAddress(ipaddress.ip_address(host))
    except ValueError:
        return x509.DNSName(host)


def _network(name: x509.GeneralName) -> x509.GeneralName:
    """Return the name as a limit: that of an IP address is a network."""
    return x509.IPAddress(ipaddress.ip_network(name.value)) if isinstance(name, x509.IPAddress) else name


def write_pem(certificate: x509.Certificate) -> bytes:
    """Return the certificate as text."""
    return certificate.public_bytes(serialization.Encoding.PEM)


def write_key(key: ec.EllipticCurvePrivateKey) -> bytes:
    """Return the key as text, in the clear."""
    return key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )


def make_context(certificate: x509.Certificate, key: ec.EllipticCurvePrivateKey) -> ssl.SSLContext:
    """Return the context of a server that shows `certificate`."""
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.set_alpn_protocols(["http/1.1"])
    # The standard library loads chains from files only. The key is worth nothing beyond this process.
    with tempfile.TemporaryDirectory() as directory:
        chain = Path(directory, "chain.pem")
        replace_file(chain, write_pem(certificate) + write_key(key))
        context.load_cert_chain(chain)
    return context
