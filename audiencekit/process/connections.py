"""How connections are made: straight, or by a proxy that was named on purpose; and whose certificates are believed.

Variables that other programs read for proxies are not heeded: they may have been set for another purpose, or by another
person. A proxy gets the name and port of a host, and then carries TLS that it cannot read.
"""

from __future__ import annotations

import base64
import os
import re
import ssl
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final
from urllib.parse import unquote

from yarl import URL

from audiencekit.errors import UsageError
from audiencekit.limits import DEFAULT_CONCURRENCY
from audiencekit.personal import Secret
from audiencekit.text import shown

_PROXY: Final = re.compile(
    r"http://(?:(?P<user>[^\s:/?#@]+):(?P<password>[^\s:/?#@]*)@)?"
    r"(?P<place>(?:\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9_.-]+):[1-9][0-9]{0,4})/?"
)
_PROXY_FORM: Final = "http://host:port, or http://user:password@host:port with %XX for signs such as @ and :"


@dataclass(frozen=True, slots=True, kw_only=True)
class Connections:
    """How many connections at once, by which proxy, and the file of the authorities that alone are believed.

    Without `proxy` they are made straight, without `ca_bundle` the authorities are those of the machine.
    """

    concurrency: int = DEFAULT_CONCURRENCY
    proxy: Secret | None = None
    ca_bundle: Path | None = None


@dataclass(frozen=True, slots=True)
class Proxy:
    """A proxy: its address without the password, and the header by which it knows us, where it has to."""

    url: URL
    authorization: Secret | None

    @property
    def headers(self) -> dict[str, str]:
        """The header that the proxy gets, and the service does not."""
        return {} if self.authorization is None else {"Proxy-Authorization": self.authorization.unwrap()}


def read_proxy(address: Secret) -> Proxy:
    """Return the proxy at `address`. Raises UsageError for any other text, and shows nothing of it."""
    match = _PROXY.fullmatch(address.unwrap())
    url = None if match is None else _url(match["place"])
    if match is None or url is None:
        raise UsageError("AUDIENCEKIT_PROXY is no address of a proxy", hint=f"give it as {_PROXY_FORM}")
    if match["user"] is None:
        return Proxy(url, None)
    pair = f"{unquote(match['user'])}:{unquote(match['password'])}"
    return Proxy(url, Secret(f"Basic {base64.b64encode(pair.encode()).decode()}"))  # RFC 7617, in UTF-8


def _url(place: str) -> URL | None:
    try:
        return URL(f"http://{place}")
    except ValueError:  # a port above 65535, or brackets around what is no IPv6 address
        return None


def check_authorities(environment: Mapping[str, str]) -> None:
    """Raises UsageError when the working directory would say which authorities are trusted."""
    for name in ("SSL_CERT_FILE", "SSL_CERT_DIR"):
        paths = environment.get(name, "").split(os.pathsep)
        if not all(os.path.isabs(path) for path in paths if path):
            raise UsageError(
                f"{name} is not an absolute path: its authorities would depend on the working directory",
                hint="give the full path",
            )


def open_tls(ca_bundle: Path | None = None) -> ssl.SSLContext:
    """A context that asks every host to prove who it is, by the authorities of `ca_bundle`, else of this machine.

    Raises UsageError for a bundle that cannot be read, or has no certificate in it.
    """
    # Built by hand because `create_default_context` writes session keys to the file that SSLKEYLOGFILE names.
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    if ca_bundle is None:
        context.load_default_certs()
    else:
        _believe_only(context, ca_bundle)
    return context


def _believe_only(context: ssl.SSLContext, bundle: Path) -> None:
    try:
        context.load_verify_locations(cafile=bundle)
        return
    except ssl.SSLError:
        fault = "holds no certificate in PEM form, or a damaged one"
        hint = "it must be a text with -----BEGIN CERTIFICATE-----; of DER `openssl x509 -inform der` makes one"
    except OSError as error:
        fault, hint = f"cannot be read: {error.strerror}", "give the path of the file with your authorities"
    raise UsageError(f"AUDIENCEKIT_CA_BUNDLE: {shown(bundle)} {fault}", hint=hint)
