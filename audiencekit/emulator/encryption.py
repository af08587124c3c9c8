"""Certificates: their holder, their issuer, and the server that shows them."""

from __future__ import annotations

import ipaddress
import os
import re
import ssl
import tempfile
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Final

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

from audiencekit.state.files import replace_file

# --- The authority behind `--tls`: a client that trusts it believes the emulator to be the hosts that were named ---
#
# It can vouch for those hosts and for loopback alone (RFC 5280, section 4.2.1.10), so that a key which is lost opens
# nothing else. Its key stays in memory, unless a directory is given to keep it in.

CERTIFICATE_FILE: Final = "authority.pem"
KEY_FILE: Final = "authority-key.pem"
VALID_DAYS: Final = 30  # of every certificate
_LEAST_DAYS: Final = 7  # that a kept authority must have before it
_READABLE_BY_ALL: Final = 0o644


@dataclass(frozen=True, slots=True)
class _Authority:
    holder: Holder
    certificate: x509.Certificate


class Encryption:
    """The context of the https addresses, and the file with the authority's certificate."""

    def __init__(self, hosts: Sequence[str], directory: Path | None) -> None:
        """Read the authority from `directory`, or make one there; by default in a temporary directory.

        Raises AuthorityError for files that are not those of an emulator, and for a directory that cannot be written.
        """
        self._temporary = tempfile.TemporaryDirectory() if directory is None else None
        place = directory or Path(self._temporary.name if self._temporary else "")
        self.authority = place.absolute() / CERTIFICATE_FILE
        names = list(dict.fromkeys((*LOOPBACK_HOSTS, *hosts)))
        try:
            authority = _read(place, names) or _make(place, names, is_kept=directory is not None)
        except OSError as error:
            self.close()
            raise AuthorityError(f"the authority cannot be kept in {str(place)!r}: {error.strerror}") from None
        except BaseException:
            self.close()
            raise
        self.context = _open(authority, names)

    def close(self) -> None:
        """Remove a temporary directory; a given one stays."""
        if self._temporary is not None:
            self._temporary.cleanup()


def _open(authority: _Authority, names: Sequence[str]) -> ssl.SSLContext:
    server, found = make_holder(SERVER_NAME), authority.certificate
    since, until = found.not_valid_before_utc, found.not_valid_after_utc
    return make_context(sign_server(server, authority.holder, names, since, until), server.key)


def _make(place: Path, names: Sequence[str], *, is_kept: bool) -> _Authority:
    holder, now = make_holder(AUTHORITY_NAME), today()
    certificate = sign_authority(holder, now - DAY, now + VALID_DAYS * DAY, only=names)
    place.mkdir(parents=True, exist_ok=True)
    if is_kept:
        replace_file(place / KEY_FILE, write_key(holder.key))
    replace_file(place / CERTIFICATE_FILE, write_pem(certificate))
    os.chmod(place / CERTIFICATE_FILE, _READABLE_BY_ALL)
    return _Authority(holder, certificate)


def _read(place: Path, names: Sequence[str]) -> _Authority | None:
    """Return the stored authority; None if there is none, or it is no longer valid."""
    try:
        secret, text = (place / KEY_FILE).read_bytes(), (place / CERTIFICATE_FILE).read_bytes()
    except FileNotFoundError:
        return None
    try:
        key = serialization.load_pem_private_key(secret, None)
        certificate = x509.load_pem_x509_certificate(text)
    except (ValueError, TypeError):
        raise AuthorityError(_unfit(place)) from None
    if not isinstance(key, ec.EllipticCurvePrivateKey) or certificate.subject != make_holder(AUTHORITY_NAME).name:
        raise AuthorityError(_unfit(place))
    is_pair = certificate.public_key() == key.public_key()
    lasts = certificate.not_valid_after_utc - today() >= _LEAST_DAYS * DAY
    if not is_pair or not lasts or not _vouches_for(certificate, names):
        return None
    return _Authority(Holder(certificate.subject, key), certificate)


def _unfit(place: Path) -> str:
    return f"{str(place)!r} holds {CERTIFICATE_FILE} or {KEY_FILE}, and they are not an emulator's: name another"


def _vouches_for(certificate: x509.Certificate, names: Sequence[str]) -> bool:
    limits = certificate.extensions.get_extension_for_class(x509.NameConstraints).value
    permitted = {str(each.value).partition("/")[0] for each in limits.permitted_subtrees or ()}
    return {str(each.value) for each in name_hosts(names)} <= permitted


# --- Certificates: their holder, their issuer, and the server that shows them ---

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
    """Return the time of the machine: clients check certificates by it, whatever the emulator's clock shows."""
    return datetime.now(UTC)


def sign_authority(authority: Holder, since: datetime, until: datetime, only: Iterable[str] = ()) -> x509.Certificate:
    """Return the authority's own certificate. With `only` it is valid for these hosts and no others."""
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
    """Return host names and IP addresses in their forms for certificates."""
    return [_name(host) for host in hosts]


def _name(host: str) -> x509.GeneralName:
    try:
        return x509.IPAddress(ipaddress.ip_address(host))
    except ValueError:
        return x509.DNSName(host)


def _network(name: x509.GeneralName) -> x509.GeneralName:
    """Return the name for a constraint: that of an IP address is a network."""
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


# --- Hosts that the emulator stands for under `--tls`, by name or IP address ---

_LABEL: Final = "[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?"
_NAME: Final = re.compile(rf"(?=.{{1,253}}$){_LABEL}(\.{_LABEL})*")


class AuthorityError(Exception):
    """The files of the authority cannot be used; the message says why."""


def check_encryption(tls: bool, hosts: Collection[str], authority: Path | None) -> None:
    """Check the options of https. Raises ValueError for an option without `tls`, or an invalid host."""
    if not tls and (hosts or authority is not None):
        raise ValueError("hosts and an authority need tls")
    for host in hosts:
        if not _NAME.fullmatch(host) and not _is_ip_address(host):
            raise ValueError(
                f"a host is a name in small letters, such as ads-api.example.com, or an IP address: not {host!r}"
            )


def _is_ip_address(host: str) -> bool:
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return False
    return True


# --- Certificates of the https address of faults: a valid one, and invalid ones ---
#
# All are signed by an authority of the emulator, so that a client that trusts it refuses each certificate for another
# reason.

_ELSEWHERE = ("ads.example.com",)
_VALID = 365 * DAY


@dataclass(frozen=True, slots=True)
class Certificates:
    """Server contexts by kind (`good`, `expired`, `wrong_host`, `self_signed`), and the authority as PEM."""

    authority: str
    contexts: dict[str, ssl.SSLContext]


def make_certificates() -> Certificates:
    """Make new certificates. Their dates follow the machine's clock, by which clients check them."""
    now, authority, server = today(), make_holder(AUTHORITY_NAME), make_holder(SERVER_NAME)
    root = sign_authority(authority, now - DAY, now + _VALID)
    chosen = {
        "good": sign_server(server, authority, LOOPBACK_HOSTS, now - DAY, now + _VALID),
        "expired": sign_server(server, authority, LOOPBACK_HOSTS, now - 30 * DAY, now - DAY),
        "wrong_host": sign_server(server, authority, _ELSEWHERE, now - DAY, now + _VALID),
        "self_signed": sign_server(server, server, LOOPBACK_HOSTS, now - DAY, now + _VALID),
    }
    contexts = {kind: make_context(certificate, server.key) for kind, certificate in chosen.items()}
    return Certificates(write_pem(root).decode(), contexts)
