"""Where the browser comes back to: a server on loopback that takes one answer and shows a page without secrets."""

from __future__ import annotations

import asyncio
import hmac
import secrets
from dataclasses import dataclass
from types import TracebackType
from typing import Final, Self
from urllib.parse import parse_qsl, urlsplit

from audiencekit.errors import CredentialsRefused, InputOutputFailed
from audiencekit.limits import CALLBACK_READ_SECONDS, LOGIN_SECONDS, MAX_CALLBACK_BYTES
from audiencekit.personal import Secret, guarded

HOST: Final = "127.0.0.1"
PATH: Final = "/callback"
STATE_BYTES: Final = 32  # of the secret in the address
_HEADERS: Final = (
    "Content-Type: text/html; charset=utf-8",
    "Cache-Control: no-store",
    "Referrer-Policy: no-referrer",
    "Content-Security-Policy: default-src 'none'",
    "X-Content-Type-Options: nosniff",
    "Connection: close",
)
_DONE: Final = "audiencekit has its answer. You can close this window and go back to the terminal."
_NOT_HERE: Final = "There is nothing here."


@dataclass(frozen=True, slots=True)
class _Answer:
    """The answer of the browser: None when the person said no."""

    verifier: Secret | None


class Callback:
    """One answer of the browser, as an async context manager, which comes within `timeout_seconds`.

    `port` 0 lets the system choose.

    The answer must name the request token, and the state in the address to be called back at. The token stands in the
    address of the page, which others on the machine may come to see; the state is known to the service and the browser.
    """

    def __init__(self, *, port: int = 0, timeout_seconds: float = LOGIN_SECONDS) -> None:
        self._port, self._timeout_seconds = port, timeout_seconds
        self._server: asyncio.Server | None = None
        self._state = Secret(secrets.token_urlsafe(STATE_BYTES))
        self._expected: Secret | None = None
        self._answer: asyncio.Future[Secret | None]

    async def __aenter__(self) -> Self:
        self._answer = asyncio.get_running_loop().create_future()
        try:
            self._server = await asyncio.start_server(self._serve, HOST, self._port, limit=MAX_CALLBACK_BYTES)
        except OSError as error:
            raise InputOutputFailed(
                f"no callback can be received at port {self._port}: {error.strerror or type(error).__name__}",
                hint="choose another `callback_port=`, or log in with `pin=True`",
            ) from None
        self._port = self._server.sockets[0].getsockname()[1]
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._server is not None:
            self._server.close()

    @property
    @guarded
    def url(self) -> Secret:
        """The address to be called back at. The service adds its answer to it, and the browser brings it."""
        return Secret(f"http://{HOST}:{self._port}{PATH}?state={self._state.unwrap()}")

    def expect(self, request_token: Secret) -> None:
        """Take the answer for this token, and none before."""
        self._expected = request_token

    async def receive(self) -> Secret:
        """The verifier. Raises CredentialsRefused when the person said no, or nothing in time."""
        try:
            async with asyncio.timeout(self._timeout_seconds):
                verifier = await self._answer
        except TimeoutError:
            raise CredentialsRefused(
                f"access was not allowed within {self._timeout_seconds:.0f} seconds",
                hint="begin again, or log in with `pin=True`",
            ) from None
        if verifier is None:
            raise CredentialsRefused(
                "access was not given", hint="allow access in the browser, as the owner of the account"
            )
        return verifier

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            async with asyncio.timeout(CALLBACK_READ_SECONDS):
                head = Secret((await reader.readuntil(b"\r\n\r\n")).decode("latin-1"))
                answer = _read_answer(head, self._state, self._expected)
                if answer is not None and not self._answer.done():
                    self._answer.set_result(answer.verifier)
                writer.write(_page(_NOT_HERE, "404 Not Found") if answer is None else _page(_DONE, "200 OK"))
                await writer.drain()
        except (OSError, asyncio.IncompleteReadError, asyncio.LimitOverrunError, TimeoutError):
            # A client that is no browser, or one that left: the one with the answer can still come.
            pass
        finally:
            writer.close()


@guarded
def _read_answer(head: Secret, state: Secret, expected: Secret | None) -> _Answer | None:
    """The words of a request about the pending authorization; None for every other request."""
    method, _, rest = head.unwrap().partition(" ")
    try:
        target = urlsplit(rest.partition(" ")[0])
        pairs = parse_qsl(target.query, max_num_fields=10)
    except ValueError:
        return None
    query = dict(pairs)
    if len(query) < len(pairs):  # a name that stands there twice has two meanings
        return None
    if method != "GET" or target.path != PATH or expected is None or not _is_same(query.get("state"), state):
        return None
    if _is_same(query.get("denied"), expected):
        return _Answer(None)
    verifier = query.get("oauth_verifier")
    return _Answer(Secret(verifier)) if verifier and _is_same(query.get("oauth_token"), expected) else None


def _is_same(given: str | None, expected: Secret) -> bool:
    return given is not None and hmac.compare_digest(given.encode(), expected.unwrap().encode())


def _page(words: str, status: str) -> bytes:
    page = f'<!doctype html><html lang="en"><title>audiencekit</title><body><p>{words}</p></body></html>'.encode()
    lines = (f"HTTP/1.1 {status}", *_HEADERS, f"Content-Length: {len(page)}")
    return "\r\n".join(lines).encode() + b"\r\n\r\n" + page
