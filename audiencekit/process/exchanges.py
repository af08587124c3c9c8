"""One request to an address that a person named, such as a receiver or a collector. It ends in time, whatever is there.

An address is called over https, or at loopback. No redirect is followed, and of proxies only the named one is used.
"""

from __future__ import annotations

import contextlib
import http.client
import ipaddress
import os
import re
import ssl
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from audiencekit.errors import AudiencekitError, UsageError
from audiencekit.personal import Secret
from audiencekit.process.connections import Connections, check_authorities, open_tls, read_proxy

# Only what every reader of an address takes for the same host; and no user, password or fragment.
_ADDRESS: Final = re.compile(
    r"(?P<scheme>https?)://(?P<host>\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9_.-]+)(?::(?P<port>[1-9][0-9]{0,4}))?"
    r"(?P<path>/[!$%&'()*+,./0-9:;=?@A-Z_a-z~-]*)?",
    re.ASCII,
)
_PORTS: Final = {"http": 80, "https": 443}
_MOST_PORT: Final = 65_535


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Address:
    """An address that is called. All of it is a secret: a path or a query of a webhook is its password."""

    is_encrypted: bool
    is_loopback: bool
    host: str
    port: int
    path: Secret

    @classmethod
    def read(cls, text: Secret, name: str) -> Address:
        """Return the address; `name` is said in its place in messages. Raises UsageError, which never shows it."""
        match = _ADDRESS.fullmatch(text.unwrap())
        if match is None or int(match["port"] or 1) > _MOST_PORT:
            raise UsageError(
                f"{name} is not an address", hint="give https://HOST/…, without user, password and fragment"
            )
        host = match["host"].strip("[]")
        is_loopback = is_loopback_host(host)
        if match["scheme"] == "http" and not is_loopback:
            hint = "give https://…; http only to 127.0.0.1, such as that of a sidecar that passes it on"
            raise UsageError(f"{name} is an address without encryption", hint=hint)
        path, port = match["path"] or "/", int(match["port"] or _PORTS[match["scheme"]])
        return cls(
            is_encrypted=match["scheme"] == "https", is_loopback=is_loopback, host=host, port=port, path=Secret(path)
        )


class Deadline:
    """The end of the time that exchanges may take."""

    def __init__(self, seconds: float) -> None:
        self._seconds, self._end = seconds, time.monotonic() + seconds

    @property
    def left(self) -> float:
        """The seconds that are left; 0 after the end."""
        return max(self._end - time.monotonic(), 0.0)

    @property
    def in_words(self) -> str:
        """Why something did not end in time."""
        return f"no answer within {self._seconds:g} seconds"


class Exchange:
    """One request under way. A redirect is not followed, and of the answer only the status counts.

    It has a thread that is left behind when time is over: neither a lookup of a name nor an answer that comes byte by
    byte can be ended otherwise.
    """

    def __init__(
        self,
        address: Address,
        *,
        connections: Connections,
        deadline: Deadline,
        body: bytes | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        self._address, self._connections, self._deadline = address, connections, deadline
        self._body, self._headers = body, {"User-Agent": "audiencekit", **(headers or {})}
        self._failure: str | None = None
        self._thread = threading.Thread(target=self._run, name="audiencekit-exchange", daemon=True)
        self._thread.start()

    def wait(self) -> str:
        """Return an empty text after an answer with a status of success, else why there is none."""
        self._thread.join(self._deadline.left)
        return self._deadline.in_words if self._failure is None else self._failure

    def _run(self) -> None:
        # No message of a library is passed on: it may quote the address.
        try:
            failure = self._exchanged()
        except TimeoutError:
            failure = self._deadline.in_words
        except ssl.SSLCertVerificationError:
            failure = "the receiver could not prove who it is: its certificate is not valid here"
        except OSError as error:
            is_refused = error.errno is None and self._connections.proxy is not None  # CONNECT, with no number
            failure = f"no connection: {error.strerror or ('the proxy refuses it' if is_refused else 'no reason')}"
        except http.client.HTTPException:
            failure = "the answer is not HTTP"
        except AudiencekitError as error:
            failure = str(error)
        except Exception as error:
            failure = f"{type(error).__name__}"
        self._failure = failure

    def _exchanged(self) -> str:
        with contextlib.closing(self._connection()) as connection:
            method = "GET" if self._body is None else "POST"
            connection.request(method, self._address.path.unwrap(), self._body, self._headers)
            status = connection.getresponse().status
        if 200 <= status < 300:
            return ""
        if 300 <= status < 400:
            return f"the receiver answered with status {status}: a redirect, which is not followed"
        return f"the receiver answered with status {status}"

    def _connection(self) -> http.client.HTTPConnection:
        address, seconds = self._address, max(self._deadline.left, 0.001)
        if not address.is_encrypted:
            return http.client.HTTPConnection(address.host, address.port, timeout=seconds)
        check_authorities(os.environ)
        tls = open_tls(self._connections.ca_bundle)
        if self._connections.proxy is None or address.is_loopback:
            return http.client.HTTPSConnection(address.host, address.port, timeout=seconds, context=tls)
        proxy = read_proxy(self._connections.proxy)
        host, port = proxy.url.host or "", proxy.url.port or 80
        connection = http.client.HTTPSConnection(host, port, timeout=seconds, context=tls)
        connection.set_tunnel(address.host, address.port, headers=proxy.headers)
        return connection


def is_loopback_host(host: str) -> bool:
    """Return whether `host`, a name or a number without brackets, is this machine."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
