"""A file of a server that gives no pieces of one version: one answer, read once and in a stream."""

from __future__ import annotations

import asyncio
import io
import os
import re
import ssl
import string
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from types import TracebackType
from typing import BinaryIO, Final, Self
from urllib.parse import quote

import aiohttp
from yarl import URL

from audiencekit.errors import AudiencekitError, InputOutputFailed, SourceRefused
from audiencekit.limits import CONNECT_TIMEOUT_SECONDS, REMOTE_SILENCE_SECONDS
from audiencekit.process.connections import Proxy, check_authorities, open_tls, read_proxy
from audiencekit.settings import load_settings
from audiencekit.sources.bytes.files import StandardInput
from audiencekit.sources.remote.addresses import SourceAddress
from audiencekit.sources.remote.remote_file import LoopThread, Lost, Patience, Version, changed, missing


class WebStream(StandardInput):
    """The file at `address`, which comes as standard input does: once, its beginning kept."""

    def __init__(self, address: SourceAddress, way: Way, patience: Patience | None) -> None:
        live = Streaming(address, way, patience or Patience())
        super().__init__(live)
        self.size_bytes = live.size_bytes
        self.identity = address.identity
        self.repeatable = not address.query


class Streaming(io.RawIOBase, BinaryIO):
    """The answer as it comes. `size_bytes` is 0 when the server does not say it."""

    def __init__(self, address: SourceAddress, way: Way, patience: Patience) -> None:
        super().__init__()
        self._loop = LoopThread()
        self._connection = WebConnection(address, way)
        self._rest = b""
        try:
            self._answer = self._loop.run(patience.again(self._begin))
        except BaseException:
            self.close()
            raise
        self.size_bytes = self._answer.content_length or 0

    def read(self, size: int = -1, /) -> bytes:
        """`size` bytes, fewer only at the end. Raises InputOutputFailed for an answer that ends early."""
        failure: AudiencekitError
        try:
            return self._loop.run(self._take(size))
        except Lost as lost:
            hint = "run again: the server gives no parts of a file, so that the reading cannot go on where it ended"
            failure = InputOutputFailed(f"cannot be read: {lost}", hint=hint)
        raise failure

    def close(self) -> None:
        """Give up the connection."""
        self._loop.close()
        super().close()

    async def _begin(self) -> aiohttp.ClientResponse:
        await self._loop.stack.aclose()  # of an attempt before
        connection = await self._loop.stack.enter_async_context(self._connection)
        return await connection.begin_whole(self._loop.stack)

    async def _take(self, size: int) -> bytes:
        parts, missing = [], size
        while missing:
            part = self._rest or await self._connection.next_part(self._answer)
            if not part:
                break
            taken = part if missing < 0 else part[:missing]
            self._rest = part[len(taken) :]
            parts.append(taken)
            missing -= len(taken) if missing > 0 else 0
        return b"".join(parts)


_READ_BYTES: Final = 262_144
_CONTENT_RANGE: Final = re.compile(r"bytes ([0-9]+)-([0-9]+)/([0-9]+)")
_PARTIAL, _EMPTY, _MISSING, _REFUSED = 206, 416, (404, 410), (401, 403, 407)
_OTHER_VERSION: Final = (412, _EMPTY)
_BUSY: Final = (408, 425, 429)
_BROKEN: Final = (aiohttp.ClientError, OSError, asyncio.TimeoutError)


@dataclass(frozen=True, slots=True)
class Way:
    """How a server is reached: by which proxy, whose certificates are believed, and the patience in seconds."""

    proxy: Proxy | None = None
    tls: ssl.SSLContext | bool = True
    connect_seconds: float = CONNECT_TIMEOUT_SECONDS
    silence_seconds: float = REMOTE_SILENCE_SECONDS

    @classmethod
    def to(cls, address: SourceAddress) -> Self:
        """The way that the environment names. Raises UsageError for a proxy or authorities that are none."""
        if address.scheme != "https":  # of this machine only
            return cls()
        check_authorities(os.environ)
        settings = load_settings(directory=None)
        return cls(read_proxy(settings.proxy) if settings.proxy else None, open_tls(settings.ca_bundle))


class WebConnection:
    """Connections to one server, for the file at `address`."""

    def __init__(self, address: SourceAddress, way: Way) -> None:
        # Escaped where it must be, and else as it was given: a signature is one of these very signs.
        self._url = URL(quote(address.full, safe=string.punctuation), encoded=True)
        self._host, self._way = address.authority, way
        self._session: aiohttp.ClientSession | None = None

    async def __aenter__(self) -> Self:
        self._session = aiohttp.ClientSession(
            cookie_jar=aiohttp.DummyCookieJar(),
            timeout=aiohttp.ClientTimeout(
                total=None, sock_connect=self._way.connect_seconds, sock_read=self._way.silence_seconds
            ),
            # Places in a file that is packed on the way would be other places in each answer.
            headers={"Accept": "*/*", "Accept-Encoding": "identity", "User-Agent": "audiencekit"},
            trust_env=False,
            auto_decompress=False,
        )
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._session is not None:
            await self._session.close()

    async def look(self) -> Version:
        """Return the present version. Its mark is empty if the server gives no pieces of one version."""
        # Not HEAD: an address that is signed is so for GET.
        async with self._answer({"Range": "bytes=0-0"}, also=_EMPTY) as answer:
            tag = _strong_tag(answer)
            if answer.status != _PARTIAL or tag is None:
                return Version(0, "")
            return Version(_range_of(answer)[2], tag)

    async def read(self, offset: int, length: int, version: Version, into: bytearray) -> None:
        """Add `length` bytes of `version` from `offset` on. Raises Lost, and SourceRefused for another version."""
        wanted = {"Range": f"bytes={offset}-{offset + length - 1}", "If-Match": version.mark}
        async with self._answer(wanted) as answer:
            if answer.status != _PARTIAL or _strong_tag(answer) != version.mark:
                raise changed()
            if _range_of(answer) != (offset, offset + length - 1, version.size_bytes):
                raise SourceRefused(f"{self._host} answers with another part of the file than it was asked for")
            async for part in answer.content.iter_chunked(_READ_BYTES):
                into += part
                if (length := length - len(part)) < 0:
                    return

    async def begin_whole(self, stack: AsyncExitStack) -> aiohttp.ClientResponse:
        """Return an answer with the whole file, closed by `stack`. Raises SourceRefused if its length is unknown."""
        answer = await stack.enter_async_context(self._answer({}))
        chunked = "chunked" in answer.headers.get("Transfer-Encoding", "").lower()
        if answer.content_length is None and not chunked:
            raise SourceRefused(
                f"{self._host} does not say how long the file is: a cut one would look whole",
                hint="download it, and give its path",
            )
        return answer

    async def next_part(self, answer: aiohttp.ClientResponse) -> bytes:
        """Return the next bytes, none at the end. Raises Lost when the answer ends early."""
        try:
            return await answer.content.read(_READ_BYTES)
        except _BROKEN as error:
            why = _in_words(error)
        raise Lost(f"{self._host}: {why}")

    @asynccontextmanager
    async def _answer(self, headers: dict[str, str], *, also: int = 200) -> AsyncIterator[aiohttp.ClientResponse]:
        """An answer of status 200, 206 or `also`. Raises Lost for a connection that broke."""
        if self._session is None:
            raise Lost("there was no connection")
        proxy = self._way.proxy
        why: str
        try:
            async with self._session.get(
                self._url,
                headers=headers,
                allow_redirects=False,
                ssl=self._way.tls,
                proxy=proxy.url if proxy else None,
                proxy_headers=proxy.headers if proxy else None,
            ) as answer:
                if answer.status not in (200, _PARTIAL, also):
                    raise self._refusal(answer)
                yield answer
                return
        except aiohttp.ClientConnectorCertificateError:
            why = ""
        except _BROKEN as error:
            why = _in_words(error)
        # Raised outside the handler: the library's exceptions hold the whole address.
        if not why:
            raise InputOutputFailed(
                f"cannot be read: the certificate of {self._host} is not valid for this name or not trusted",
                hint="those of your own authorities belong into the file of AUDIENCEKIT_CA_BUNDLE",
            )
        raise Lost(f"{self._host}: {why}")

    def _refusal(self, answer: aiohttp.ClientResponse) -> Exception:
        status = answer.status
        if 300 <= status < 400:
            message = f"{self._host} answers with a redirect ({status}), which is not followed"
            return SourceRefused(message, hint=_where_to(answer))
        if status in _MISSING:
            return missing()
        if status in _REFUSED:
            return InputOutputFailed(
                f"cannot be read: {self._host} does not allow it ({status})",
                hint="an address that is signed is good for a while only: ask for another one",
            )
        if status in _OTHER_VERSION:
            return changed()
        if status in _BUSY or status >= 500:
            return Lost(f"{self._host} answers with status {status}")
        return InputOutputFailed(f"cannot be read: {self._host} answers with status {status}")


def _strong_tag(answer: aiohttp.ClientResponse) -> str | None:
    """Return the ETag if it is a strong one (RFC 9110, section 8.8.1)."""
    tag = answer.headers.get("ETag", "")
    return tag if tag.startswith('"') and tag.endswith('"') and len(tag) > 2 else None


def _range_of(answer: aiohttp.ClientResponse) -> tuple[int, int, int]:
    """First byte, last byte and size of the file, as Content-Range has them."""
    match = _CONTENT_RANGE.fullmatch(answer.headers.get("Content-Range", ""))
    if match is None:
        raise SourceRefused("the server answers with a part of the file, and does not say which")
    first, last, size = map(int, match.groups())
    return first, last, size


def _where_to(answer: aiohttp.ClientResponse) -> str:
    """Where a redirect leads: without what may be a signature."""
    try:
        target = answer.url.join(URL(answer.headers.get("Location", "")))
        return f"if you trust {target.origin()}{target.raw_path}, give that address"
    except ValueError:
        return "give the address that it leads to"


def _in_words(error: Exception) -> str:
    if isinstance(error, aiohttp.ClientConnectorDNSError):
        return "the name was not resolved"
    if isinstance(error, aiohttp.ClientConnectorError):
        return "the connection could not be opened"
    if isinstance(error, asyncio.TimeoutError):
        return "no answer came in time"
    if isinstance(error, aiohttp.ClientPayloadError):
        return "the answer ended early"
    return "the connection broke"
