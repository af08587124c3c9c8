"""The only module in this room that awaits the network: one request, one answer, no redirects."""

from __future__ import annotations

import asyncio
import os
import secrets
import ssl
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterable
from dataclasses import dataclass
from functools import cached_property
from types import TracebackType
from typing import Any, Final, NoReturn, Protocol, Self, runtime_checkable

import aiohttp
from aiohttp.abc import AbstractStreamWriter
from aiohttp.payload import Payload
from yarl import URL

from audiencekit.api.answers import read_date
from audiencekit.api.exchange import FORM, ApiRequest, ApiResponse, Body, Pairs
from audiencekit.api.failures import describe_failure, proxy_hint
from audiencekit.api.hosts import HostAddress, ServiceAddresses
from audiencekit.api.oauth import Credentials, ServiceClock, authorization, encode_pairs
from audiencekit.api.proven_answer import ProvenAnswer
from audiencekit.errors import AudiencekitError, Bug, MalformedAnswer, TransportFailed
from audiencekit.limits import (
    CONNECT_TIMEOUT_SECONDS,
    EXCHANGE_TIMEOUT_SECONDS,
    MAX_ANSWER_BYTES,
    MAX_EVENT_BYTES,
    READ_TIMEOUT_SECONDS,
)
from audiencekit.process.connections import Connections, check_authorities, open_tls, read_proxy
from audiencekit.state.durability import store_changes

# --- One exchange: one request is sent, one answer is received, redirects are not followed ---

_READ_BYTES: Final = 65_536
_AT_HOME: Final = (
    "see that it runs: an emulator that is started again has new addresses, so paste its `export` lines once more"
)


class Transport(Protocol):
    """The protocol of one exchange: the answer, with any status, or TransportFailed."""

    async def exchange(self, request: ApiRequest) -> ApiResponse: ...


@runtime_checkable
class StreamTransport(Protocol):
    """The protocol of a stream: the head of an answer that is read as it comes, or TransportFailed."""

    async def open_stream(self, request: ApiRequest, *, silence_seconds: float) -> AnswerStream: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Timeouts:
    """Timeouts in seconds: to connect, between two reads, and for one whole attempt."""

    connect: float = CONNECT_TIMEOUT_SECONDS
    read: float = READ_TIMEOUT_SECONDS
    total: float = EXCHANGE_TIMEOUT_SECONDS


class HttpTransport:
    """Signed exchanges over HTTP/1.1, as an async context manager. Each exchange has a new connection.

    Loopback addresses are called directly, all others through the proxy of `connections`, if it names one. Raises
    UsageError for an invalid proxy or bundle of authorities. Each attempt is signed anew. Redirects are not followed,
    proxies and netrc of the environment not read, cookies not stored.
    """

    def __init__(
        self,
        *,
        addresses: ServiceAddresses,
        credentials: Credentials,
        clock: ServiceClock | None = None,
        nonce: Callable[[], str] = secrets.token_hex,
        timeouts: Timeouts | None = None,
        connections: Connections | None = None,
        max_answer_bytes: int = MAX_ANSWER_BYTES,
    ) -> None:
        self._addresses, self._credentials = addresses, credentials
        self._clock, self._nonce = clock or ServiceClock(), nonce
        self._timeouts = timeouts or Timeouts()
        self._connections, self._max_answer_bytes = connections or Connections(), max_answer_bytes
        self._proxy = read_proxy(self._connections.proxy) if self._connections.proxy else None
        if addresses.has_tls:
            check_authorities(os.environ)
            if self._connections.ca_bundle:
                _ = self._tls  # a wrong one is refused before anything else is done
        self._session: aiohttp.ClientSession | None = None
        self._depth = 0

    async def __aenter__(self) -> Self:
        if self._session is None:
            self._session = self._open_session()
        self._depth += 1
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._depth -= 1
        if self._depth == 0 and self._session is not None:
            session, self._session = self._session, None
            await session.close()

    async def open_stream(self, request: ApiRequest, *, silence_seconds: float) -> AnswerStream:
        """Return an answer whose body is read as it comes, without a time limit; it is lost after so much silence.

        Close it. Raises as `exchange` does.
        """
        address = self._addresses.find(request.base)
        failed: AudiencekitError
        try:
            timeout = aiohttp.ClientTimeout(total=None, sock_connect=self._timeouts.connect, sock_read=silence_seconds)
            answer = await self._send(request, address, None, timeout=timeout)
            return AnswerStream(answer, self._receive(answer), host=address.authority)
        except asyncio.CancelledError as cancelled:
            cancelled.__context__ = None
            raise cancelled.with_traceback(None) from None
        except Exception as failure:
            failed = self._describe(failure, address, None)
        raise failed

    async def exchange(self, request: ApiRequest) -> ApiResponse:
        """Return the answer to one attempt. Raises TransportFailed, HostRefused, and UsageError for an unset base."""
        address = self._addresses.find(request.base)
        body = encode_form(request.form) if request.form else request.body
        payload = BodyPayload(body) if body is not None else None
        if request.method != "GET":
            await store_changes()
        failed: AudiencekitError
        try:
            return await self._attempt(request, address, payload)
        except asyncio.CancelledError as cancelled:
            # Its traceback runs through frames that hold the signed header.
            cancelled.__context__ = None
            raise cancelled.with_traceback(None) from None
        except Exception as failure:
            failed = self._describe(failure, address, payload)
        # Raised outside the handler: a context would be the library's exception, with the signed header.
        raise failed

    def _describe(self, failure: Exception, address: HostAddress, payload: BodyPayload | None) -> AudiencekitError:
        return describe_failure(
            failure,
            host=address.authority,
            body_started=payload.started if payload is not None else None,
            way=_AT_HOME if address.is_loopback else proxy_hint(os.environ, by_proxy=self._proxy is not None),
        )

    async def _attempt(self, request: ApiRequest, address: HostAddress, payload: BodyPayload | None) -> ApiResponse:
        answer = await self._send(request, address, payload)
        async with answer:
            has_left = not answer.unsent_bytes and (payload is None or payload.is_handed_over)
            if not has_left and answer.status < 300:
                raise _unproven(address, "began before the request had left whole")
            body = await self._read_decisive_body(answer, address)
            if not answer.is_alone:
                raise _unproven(address, "did not come alone, or before its request")
            return self._receive(answer, body)

    def _receive(self, answer: aiohttp.ClientResponse, body: bytes = b"") -> ApiResponse:
        headers = _plain(answer.raw_headers)
        self._clock.learn(status=answer.status, answered_at=read_date(headers))
        return ApiResponse(status=answer.status, headers=headers, body=body, received_at=self._clock.now())

    def _send(
        self,
        request: ApiRequest,
        address: HostAddress,
        payload: BodyPayload | None,
        **more: Any,
    ) -> Awaitable[ProvenAnswer]:
        if self._session is None:
            raise Bug("the transport is not open: use it in `async with`")
        url = address.prefix + request.path
        given = {"Authorization": self._sign(request, url)}
        if payload is not None:
            given["Content-Type"] = payload.content_type
        proxy = None if address.is_loopback else self._proxy
        sending: Awaitable[Any] = self._session.request(
            request.method,
            _wire_url(url, request.query),
            data=payload,
            headers=given,
            allow_redirects=False,
            ssl=self._tls if address.scheme == "https" else True,
            proxy=proxy.url if proxy else None,
            proxy_headers=proxy.headers if proxy else None,
            **more,
        )
        return sending

    def _sign(self, request: ApiRequest, url: str) -> str:
        nonce, timestamp = self._nonce(), int(self._clock.now())
        return authorization(request, self._credentials, url=url, nonce=nonce, timestamp=timestamp).unwrap()

    async def _read_decisive_body(self, answer: aiohttp.ClientResponse, address: HostAddress) -> bytes:
        """Return the whole body; b"" when it cannot be read and the status is enough: all but 2xx and 400."""
        try:
            return await self._read_body(answer, address)
        except Exception:
            if answer.status < 300 or answer.status == 400:
                raise
            return b""

    async def _read_body(self, answer: aiohttp.ClientResponse, address: HostAddress) -> bytes:
        body = bytearray()
        async for piece in answer.content.iter_chunked(_READ_BYTES):
            body += piece
            if len(body) > self._max_answer_bytes:
                answer.close()
                raise TransportFailed(
                    f"the answer of {address.authority} is longer than {self._max_answer_bytes} bytes",
                    sent=True,
                )
        return bytes(body)

    def _open_session(self) -> aiohttp.ClientSession:
        return aiohttp.ClientSession(
            # HTTP/1.1 knows answers by their order alone (RFC 9112, section 9.3): on a connection that was used before,
            # an answer to no request may be waiting. On a new one nothing can be.
            connector=aiohttp.TCPConnector(limit=self._connections.concurrency, force_close=True),
            response_class=ProvenAnswer,
            cookie_jar=aiohttp.DummyCookieJar(),
            timeout=aiohttp.ClientTimeout(
                total=self._timeouts.total, sock_connect=self._timeouts.connect, sock_read=self._timeouts.read
            ),
            # Answers are small: packing them gains nothing, and what is not asked for cannot be a bomb.
            headers={
                "Accept": "application/json",
                "Accept-Encoding": "identity",
                "User-Agent": "audiencekit",
            },
            # Else aiohttp calls the missing body of a POST an octet stream.
            skip_auto_headers=("Content-Type",),
            trust_env=False,
            auto_decompress=True,
            middlewares=(_send_once,),
        )

    @cached_property
    def _tls(self) -> ssl.SSLContext:
        # Reading the authorities takes longer than a run against a local service: only for who needs them.
        return open_tls(self._connections.ca_bundle)


def _unproven(address: HostAddress, why: str) -> TransportFailed:
    """Return the error of an answer that may belong to another request, so that the outcome is unknown."""
    return TransportFailed(f"no answer from {address.authority} that can be believed: it {why}", sent=True)


async def _send_once(request: aiohttp.ClientRequest, handler: aiohttp.ClientHandlerType) -> aiohttp.ClientResponse:
    """Keep aiohttp from repeating a GET or DELETE, with the same nonce, after a lost connection."""
    try:
        return await handler(request)
    except aiohttp.ClientConnectorError:
        raise
    except (aiohttp.ClientOSError, aiohttp.ServerDisconnectedError):
        pass
    raise aiohttp.ClientConnectionError


def _wire_url(url: str, query: tuple[tuple[str, str], ...]) -> URL:
    # Encoded as it was signed, and marked as such: yarl would decode and encode it once more in its own way.
    return URL(f"{url}?{encode_pairs(query)}" if query else url, encoded=True)


def _plain(raw_headers: Iterable[tuple[bytes, bytes]]) -> dict[str, str]:
    """Return names in lower case; values of a repeated name are joined by commas (RFC 9110, section 5.3)."""
    headers: dict[str, str] = {}
    for raw_name, raw_value in raw_headers:
        name, value = raw_name.decode("latin-1").lower(), raw_value.decode("latin-1")
        headers[name] = f"{headers[name]}, {value}" if name in headers else value
    return headers


# --- A body as it is sent: views of its buffers, a slice at a time, with a length that is known before ---

# Some event loops copy what they cannot write at once; and between two slices other requests get their turn.
SLICE_BYTES: Final = 131_072


def encode_form(pairs: Pairs) -> Body:
    """The body of a form, escaped as it is signed."""
    return Body([encode_pairs(pairs).encode()], content_type=FORM)


class BodyPayload(Payload):
    """One attempt's view of a body; the body is unchanged and can be sent again.

    `started` is False as long as certainly no byte was handed to the connection, `is_handed_over` until all were: a
    service that has read the last byte can answer only after that.
    """

    def __init__(self, body: Body) -> None:
        super().__init__(body, content_type=body.content_type)
        self._body = body
        self._size = body.size
        self.started = self.is_handed_over = False

    async def write(self, writer: AbstractStreamWriter) -> None:
        """Write everything."""
        left = self._body.size
        for piece in self._body.slices(SLICE_BYTES):
            left -= piece.nbytes
            # Before the wait in `write`: the answer may come sooner than this goes on.
            self.started, self.is_handed_over = True, not left
            await writer.write(piece)

    async def write_with_length(self, writer: AbstractStreamWriter, content_length: int | None) -> None:
        """Write everything; raise Bug when another length was announced."""
        if content_length is not None and content_length != self._size:
            raise Bug("the length announced for a body is not its size")
        await self.write(writer)

    def decode(self, encoding: str = "utf-8", errors: str = "strict") -> NoReturn:
        """Raises Bug: a body is never made text."""
        raise Bug("a body is not to be decoded")


# --- A streamed answer: its head at once, its lines as they come ---


class AnswerStream:
    """One open answer. `head` has status and headers, and no body."""

    def __init__(self, answer: aiohttp.ClientResponse, head: ApiResponse, *, host: str) -> None:
        self._answer, self._host = answer, host
        self.head = head

    async def lines(self) -> AsyncGenerator[bytes]:
        """Yield each line as it comes, without its end; an empty one keeps the stream alive.

        Raises TransportFailed when it is lost, MalformedAnswer for a line of more than MAX_EVENT_BYTES.
        """
        rest = b""
        while piece := await self._read():
            *whole, rest = (rest + piece).split(b"\n")
            for line in whole:
                yield line.rstrip(b"\r")
            if len(rest) > MAX_EVENT_BYTES:
                status = self.head.status
                raise MalformedAnswer(f"a line of the stream has more than {MAX_EVENT_BYTES} bytes", status=status)
        if rest:
            yield rest

    async def whole(self) -> bytes:
        """Return the whole body of a refusal, which has an end; b"" when it cannot be read."""
        body = b""
        try:
            while len(body) <= MAX_ANSWER_BYTES and (piece := await self._read()):
                body += piece
        except AudiencekitError:
            return b""
        return body

    def close(self) -> None:
        """Close the answer."""
        self._answer.close()

    async def _read(self) -> bytes:
        failed: AudiencekitError
        try:
            return await self._answer.content.readany()
        except asyncio.CancelledError as cancelled:
            # Its traceback runs through frames that hold the signed header.
            cancelled.__context__ = None
            raise cancelled.with_traceback(None) from None
        except Exception as failure:
            failed = describe_failure(failure, host=self._host, body_started=None)
        raise failed
