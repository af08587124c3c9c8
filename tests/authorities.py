"""Authorities of one's own, as companies have them, and servers that show a certificate of theirs."""

from __future__ import annotations

import ssl
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

_PEM = serialization.Encoding.PEM


class Authority:
    """`bundle` is the file of its certificate."""

    def __init__(self, directory: Path, name: str = "authority") -> None:
        self._directory, self._key = directory, ec.generate_private_key(ec.SECP256R1())
        self._name = _named(f"invented {name}")
        self._certificate = self._sign(self._name, self._key.public_key(), is_authority=True)
        self.bundle = directory / f"{name}.pem"
        self.bundle.write_bytes(self._certificate.public_bytes(_PEM))

    def server(self, host: str) -> ssl.SSLContext:
        """The context of a server that proves to be `host`."""
        key = ec.generate_private_key(ec.SECP256R1())
        certificate = self._sign(_named(host), key.public_key(), host=host)
        secret = key.private_bytes(_PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
        chain = self._directory / f"{host}.pem"
        chain.write_bytes(certificate.public_bytes(_PEM) + secret)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(chain)
        return context

    def _sign(self, subject: x509.Name, key: Any, *, host: str = "", is_authority: bool = False) -> x509.Certificate:
        now, day = datetime.now(UTC), timedelta(days=1)
        builder = x509.CertificateBuilder(self._name, subject, key, x509.random_serial_number(), now - day, now + day)
        builder = builder.add_extension(x509.BasicConstraints(ca=is_authority, path_length=None), critical=True)
        identifier = x509.SubjectKeyIdentifier.from_public_key(self._key.public_key())
        known = x509.AuthorityKeyIdentifier.from_issuer_subject_key_identifier(identifier)
        builder = builder.add_extension(identifier if is_authority else known, critical=False)
        if host:
            builder = builder.add_extension(x509.SubjectAlternativeName([x509.DNSName(host)]), critical=False)
        return builder.sign(self._key, hashes.SHA256())


def _named(name: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, name)])
