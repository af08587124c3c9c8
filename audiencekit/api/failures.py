"""Failures below HTTP, in our words. The library's exceptions are dropped, since they hold headers."""

from __future__ import annotations

import asyncio
import errno
import ssl
from collections.abc import Mapping
from typing import Final

import aiohttp
from aiohttp.http_exceptions import HttpProcessingError

from audiencekit.errors import AudiencekitError, Bug, CertificateRefused, CredentialsRefused, TransportFailed
from audiencekit.personal import shortage_of

# Raised before the first byte of a request is written.
_NOT_CONNECTED: Final = (
    aiohttp.ClientConnectorError,
    aiohttp.ClientConnectorCertificateError,
    aiohttp.ClientConnectorSSLError,
    aiohttp.ConnectionTimeoutError,
    aiohttp.ClientHttpProxyError,
)
_BROKEN: Final = (aiohttp.ClientError, HttpProcessingError, OSError, asyncio.TimeoutError, ssl.SSLError)

_CERTIFICATE_HINT: Final = (
    "a retry does not help: check the address, the clock of this machine and its list of authorities; "
    "name a file of your own authorities with AUDIENCEKIT_CA_BUNDLE"
)
_PROXIES: Final = ("HTTPS_PROXY", "HTTP_PROXY", "ALL_PROXY")
_UNUSED_PROXY: Final = "{}: set and not used; to reach the host through a proxy, set AUDIENCEKIT_PROXY"
_USED_PROXY: Final = "the proxy of AUDIENCEKIT_PROXY leads to the host: check its address, and ask its operator"
_PROXY_NAME: Final = "give its user name and password in AUDIENCEKIT_PROXY, as http://user:password@host:port"
_WANTS_A_NAME: Final = 407


def proxy_hint(environment: Mapping[str, str], *, by_proxy: bool) -> str:
    """Return where to look when no connection is made: the proxy in use, or variables of a proxy that are not used.

    A variable is named without its value, which may contain a password.
    """
    if by_proxy:
        return _USED_PROXY
    unused = [name for upper in _PROXIES for name in (upper, upper.lower()) if environment.get(name)]
    return _UNUSED_PROXY.format(", ".join(unused)) if unused else ""


def describe_failure(
    failure: Exception,
    *,
    host: str,
    body_started: bool | None,
    way: str = "",
) -> AudiencekitError:
    """Return a TransportFailed with host and cause, or an error of ours unchanged.

    A lack of memory is InputOutputFailed, and anything unforeseen a Bug. `body_started` says whether a byte of the body
    was handed to the connection, None for a request without a body: such a request counts as sent as soon as there was
    a connection. `way` is the hint about proxies if no connection was made. A proxy that asks for another name and
    password is CredentialsRefused.
    """
    if isinstance(failure, AudiencekitError):
        return failure.bare()
    if not isinstance(failure, _BROKEN):
        message = f"{type(failure).__name__} in an exchange with {host}; no values are shown"
        return shortage_of(failure) or Bug(message)
    if refused := _permanent_error(failure, host):
        return refused
    sent = not isinstance(failure, _NOT_CONNECTED) and body_started is not False
    cause, hint = _describe(failure)
    if isinstance(failure, _NOT_CONNECTED):
        hint = "; ".join(filter(None, (hint, way)))
    return TransportFailed(f"no answer from {host}: {cause}", sent=sent, hint=hint)


def _permanent_error(failure: Exception, host: str) -> AudiencekitError | None:
    """Return the error of a failure that a retry does not help; None for any other."""
    if isinstance(failure, aiohttp.ClientConnectorCertificateError):
        cause = "its certificate is not valid for this name or not trusted"
        return CertificateRefused(f"no answer from {host}: {cause}", hint=_CERTIFICATE_HINT)
    if isinstance(failure, aiohttp.ClientHttpProxyError) and failure.status == _WANTS_A_NAME:
        cause = "the proxy wants another user name and password"
        return CredentialsRefused(f"no answer from {host}: {cause}", hint=_PROXY_NAME)
    return None


def _describe(failure: Exception) -> tuple[str, str]:
    if isinstance(failure, aiohttp.ClientSSLError | ssl.SSLError):
        return "the TLS handshake failed", ""
    if isinstance(failure, aiohttp.ClientConnectorDNSError):
        return "the name was not resolved", "check the name of the host and the network"
    if isinstance(failure, aiohttp.ClientHttpProxyError):
        return f"the proxy does not connect to it (status {failure.status})", ""
    if isinstance(failure, aiohttp.ClientProxyConnectionError):
        return f"the proxy could not be reached{_errno(failure)}", ""
    if isinstance(failure, aiohttp.ClientConnectorError):
        return f"the connection could not be opened{_errno(failure)}", ""
    if isinstance(failure, aiohttp.ConnectionTimeoutError):
        return "the connection was not opened in time", ""
    if isinstance(failure, asyncio.TimeoutError):
        return "no whole answer came in time", ""
    if isinstance(failure, aiohttp.ClientPayloadError):
        return "the answer ended early or could not be unpacked", ""
    if isinstance(failure, aiohttp.ClientResponseError | HttpProcessingError):
        return "what came back is not HTTP", ""
    return f"the connection broke{_errno(failure)}", ""


def _errno(failure: Exception) -> str:
    number = failure.errno if isinstance(failure, OSError) else None
    name = errno.errorcode.get(number) if number else None
    return f" ({name})" if name else ""
