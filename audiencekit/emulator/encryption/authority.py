"""The authority behind `--tls`: a client that trusts it believes the emulator to be the hosts that were named.

It can vouch for those hosts and for loopback alone (RFC 5280, section 4.2.1.10), so that a key which is lost opens
nothing else. Its key stays in memory, unless a directory is given to keep it in.
"""

from __future__ import annotations

import os
import ssl
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from cryptography import x509
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec

from audiencekit.emulator.encryption.certificates import (
    AUTHORITY_NAME,
    DAY,
    LOOPBACK_HOSTS,
    SERVER_NAME,
    Holder,
    make_context,
    make_holder,
    name_hosts,
    sign_authority,
    sign_server,
    today,
    write_key,
    write_pem,
)
from audiencekit.emulator.encryption.hosts import AuthorityError
from audiencekit.machine.privatefiles import replace_file

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
        """Read the authority from `directory`, or make one there; without a directory in a temporary one.

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
        """Remove a temporary directory; one that was given stays."""
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
    """Return the authority that is kept there; None where there is none, or one that is no longer good."""
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
