"""Certificates of the https address, made when it is opened: a valid one, and invalid ones.

All are signed by an authority of the emulator, so that a client that trusts it refuses each certificate for another
reason.
"""

from __future__ import annotations

import ssl
from dataclasses import dataclass

from audiencekit.emulator.encryption import (
    AUTHORITY_NAME,
    DAY,
    LOOPBACK_HOSTS,
    SERVER_NAME,
    make_context,
    make_holder,
    sign_authority,
    sign_server,
    today,
    write_pem,
)

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
