"""Leads clients to an emulator that know nothing of it: they call the hosts that are built into them, over https."""

from __future__ import annotations

import contextlib
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from audiencekit.emulator import EmulatorOptions
from audiencekit.testing import RunningEmulator, run_emulator

HOSTS = (
    "ads-api.twitter.com",
    "ads-api-sandbox.twitter.com",
    "api.twitter.com",
    "ads-api.x.com",
    "api.x.com",
)
OPTIONS = EmulatorOptions(profile="x", tls=True, hosts=HOSTS)
_resolve = socket.getaddrinfo


@contextlib.contextmanager
def run_in_their_place(patch: pytest.MonkeyPatch) -> Iterator[RunningEmulator]:
    """An emulator to which those hosts lead in this process, as with an entry in /etc/hosts, and which is trusted."""
    with run_emulator(OPTIONS) as emulator:
        port, authority = urlsplit(emulator.ads_url).port, emulator.authority
        assert isinstance(authority, Path)

        def resolve(host: Any, service: Any, *rest: Any, **more: Any) -> Any:
            is_ours = host in HOSTS and service == 443
            return _resolve("127.0.0.1", port, *rest, **more) if is_ours else _resolve(host, service, *rest, **more)

        patch.setattr(socket, "getaddrinfo", resolve)
        patch.setenv("REQUESTS_CA_BUNDLE", str(authority))
        yield emulator


def environment_of(emulator: RunningEmulator) -> dict[str, str]:
    """The variables of a process in another language: credentials, the port, and the authority by its usual names."""
    authority, port = str(emulator.authority), str(urlsplit(emulator.ads_url).port)
    trust = {"NODE_EXTRA_CA_CERTS": authority, "SSL_CERT_FILE": authority}
    return {**emulator.env, **trust, "EMULATOR_PORT": port}
