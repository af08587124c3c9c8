"""Hosts that the emulator plays under `--tls`, by name or IP address."""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Collection
from pathlib import Path
from typing import Final

_LABEL: Final = "[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?"
_NAME: Final = re.compile(rf"(?=.{{1,253}}$){_LABEL}(\.{_LABEL})*")


class AuthorityError(Exception):
    """The files of the authority cannot be used; the message says why."""


def check_encryption(tls: bool, hosts: Collection[str], authority: Path | None) -> None:
    """Check the options of https. Raises ValueError for one without `tls`, or a host that is no host."""
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
