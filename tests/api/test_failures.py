"""Failures below HTTP: what is known of them, and nothing of the library's exceptions."""

from __future__ import annotations

import asyncio
import socket
import ssl
from typing import Any

import aiohttp
import pytest
from aiohttp.client_reqrep import ConnectionKey
from aiohttp.http_exceptions import BadStatusLine
from multidict import CIMultiDict, CIMultiDictProxy
from yarl import URL

from audiencekit.api.failures import describe_failure, hint_of_way
from audiencekit.errors import Bug, CredentialsRefused, Outcome, TransportFailed, UsageError

KEY = ConnectionKey("ads.example.com", 443, True, True, None, None, None)
REFUSED = ConnectionRefusedError(111, "refused")
CERTIFICATE = ssl.SSLCertVerificationError(1, "canary")

NOT_CONNECTED: list[tuple[Exception, str]] = [
    (aiohttp.ClientConnectorError(KEY, REFUSED), "ECONNREFUSED"),
    (aiohttp.ClientConnectorDNSError(KEY, socket.gaierror(-2, "canary")), "name was not resolved"),
    (aiohttp.ClientConnectorCertificateError(KEY, CERTIFICATE), "certificate"),
    (aiohttp.ClientConnectorSSLError(KEY, ssl.SSLError(1, "canary")), "TLS handshake"),
    (aiohttp.ConnectionTimeoutError("canary"), "not opened in time"),
]
CONNECTED: list[tuple[Exception, str]] = [
    (aiohttp.ServerDisconnectedError("canary"), "connection broke"),
    (aiohttp.ClientOSError(104, "canary"), "ECONNRESET"),
    (aiohttp.ClientConnectionError("canary"), "connection broke"),
    (aiohttp.SocketTimeoutError("canary"), "in time"),
    (TimeoutError("canary"), "in time"),
    (aiohttp.ClientPayloadError("canary"), "ended early"),
    (BadStatusLine("canary"), "not HTTP"),
    (ConnectionResetError(104, "canary"), "ECONNRESET"),
    (ssl.SSLError(1, "canary"), "TLS handshake"),
    (OSError("canary"), "connection broke"),
]


@pytest.mark.parametrize(("failure", "words"), NOT_CONNECTED, ids=lambda value: type(value).__name__)
@pytest.mark.parametrize("body_started", [None, False])
def test_no_connection_means_nothing_was_sent(failure: Exception, words: str, body_started: bool | None) -> None:
    """Without a connection not a byte left: refused, safe to try again."""
    described = describe_failure(failure, host="ads.example.com", body_started=body_started)
    assert isinstance(described, TransportFailed)
    assert (described.sent, described.outcome) == (False, Outcome.REFUSED)
    assert words in str(described)
    assert "ads.example.com" in str(described)
    assert "canary" not in str(described)


@pytest.mark.parametrize(("failure", "words"), CONNECTED, ids=lambda value: type(value).__name__)
@pytest.mark.parametrize(("body_started", "sent"), [(None, True), (True, True), (False, False)])
def test_after_a_connection_the_body_decides(
    failure: Exception, words: str, body_started: bool | None, sent: bool
) -> None:
    """With a connection the outcome is unknown, unless the request has a body and none of it was handed over."""
    described = describe_failure(failure, host="ads.example.com", body_started=body_started)
    assert isinstance(described, TransportFailed)
    assert described.sent is sent
    assert described.outcome is (Outcome.UNKNOWN if sent else Outcome.REFUSED)
    assert words in str(described)
    assert "canary" not in str(described)


@pytest.mark.parametrize(("failure", "words"), NOT_CONNECTED, ids=lambda value: type(value).__name__)
def test_a_proxy_that_is_not_used_is_named_where_no_connection_was_made(failure: Exception, words: str) -> None:
    """By its variables, never by what they hold. It is not why a certificate is refused."""
    environment = {"https_proxy": "http://canary@10.0.0.1", "ALL_PROXY": "canary", "HTTP_PROXY": "", "PATH": "x"}
    way = hint_of_way(environment, by_proxy=False)
    described = describe_failure(failure, host="ads.example.com", body_started=False, way=way)
    assert ("https_proxy, ALL_PROXY: set" in described.hint) == (words != "certificate")
    assert "canary" not in described.hint


def test_a_proxy_is_no_reason_once_there_was_a_connection() -> None:
    """Then the way to the host is open."""
    failure = aiohttp.ServerDisconnectedError("canary")
    way = hint_of_way({"ALL_PROXY": "canary"}, by_proxy=False)
    assert describe_failure(failure, host="ads.example.com", body_started=True, way=way).hint == ""


def _refusal_of_a_proxy(status: int) -> aiohttp.ClientHttpProxyError:
    url = URL("https://ads.example.com/")
    info = aiohttp.RequestInfo(url, "CONNECT", CIMultiDictProxy(CIMultiDict()), url)
    return aiohttp.ClientHttpProxyError(info, (), status=status, message="canary")


@pytest.mark.parametrize("status", [403, 502])
def test_a_proxy_that_does_not_connect_is_named(status: int) -> None:
    """By its status, with who can help; nothing was sent, also of a request without a body."""
    way = hint_of_way({"HTTPS_PROXY": "canary"}, by_proxy=True)
    described = describe_failure(_refusal_of_a_proxy(status), host="ads.example.com", body_started=None, way=way)
    assert isinstance(described, TransportFailed)
    assert not described.sent
    assert f"the proxy does not connect to it (status {status})" in str(described)
    assert "AUDIENCEKIT_PROXY" in described.hint
    assert "canary" not in f"{described}{described.hint}"


def test_a_proxy_that_wants_a_name_is_about_credentials() -> None:
    """It says where they belong; trying again does not help."""
    described = describe_failure(_refusal_of_a_proxy(407), host="ads.example.com", body_started=None)
    assert isinstance(described, CredentialsRefused)
    assert "http://user:password@host:port" in described.hint


def test_a_proxy_that_is_away_is_told_from_the_host() -> None:
    """Both are connections that were not made."""
    failure = aiohttp.ClientProxyConnectionError(KEY, REFUSED)
    described = describe_failure(failure, host="ads.example.com", body_started=None)
    assert "the proxy could not be reached (ECONNREFUSED)" in str(described)


def test_certificates_are_explained() -> None:
    """A certificate that is not valid comes with advice, since trying again does not help."""
    failure = aiohttp.ClientConnectorCertificateError(KEY, CERTIFICATE)
    assert "does not help" in describe_failure(failure, host="ads.example.com", body_started=False).hint


@pytest.mark.parametrize("failure", [ValueError("canary"), KeyError("canary"), RuntimeError("canary")])
def test_the_unforeseen_is_a_bug_without_values(failure: Exception) -> None:
    """An exception that no network raises is a fault of ours, named by type alone."""
    described = describe_failure(failure, host="ads.example.com", body_started=None)
    assert isinstance(described, Bug)
    assert type(failure).__name__ in str(described)
    assert "canary" not in str(described)


def test_errors_of_ours_pass_bare() -> None:
    """An error of this project stays itself, without traceback and context."""
    caught: Any = None
    try:
        try:
            raise ValueError("canary")
        except ValueError:
            raise UsageError("ours")  # noqa: B904
    except UsageError as error:
        caught = describe_failure(error, host="ads.example.com", body_started=None)
    assert isinstance(caught, UsageError)
    assert (caught.__traceback__, caught.__context__, caught.__cause__) == (None, None, None)


def test_timeouts_are_one_class() -> None:
    """asyncio's timeout is the built-in one in every Python that is supported."""
    assert asyncio.TimeoutError is TimeoutError
