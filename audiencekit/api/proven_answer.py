"""An answer, and whether its connection proves that it belongs to the request that was sent on it.

HTTP/1.1 assigns answers to requests by their order alone (RFC 9112, section 9.3). So each request has a new connection,
and this module records what was received on it: before the request was sent completely, and after the answer.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Sized
from typing import Final

import aiohttp
from aiohttp.connector import Connection

_MAX_HEAD_BYTES: Final = 262_144
_END_OF_HEAD: Final = b"\r\n\r\n"
_END_BYTES: Final = 8_192
# The last chunk and its trailers (RFC 9112, section 7.1), with nothing behind them; also that of an empty body.
_LAST_CHUNK: Final = re.compile(rb"\r\n0+(?:;[^\r\n]*)?\r\n(?:[!-9;-~]+:[^\r\n]*\r\n)*\r\n\Z")
_WITHOUT_BODY: Final = (204, 304)  # RFC 9110, section 6.4.1


class ProvenAnswer(aiohttp.ClientResponse):
    """An answer. `unsent_bytes` of the request were not sent yet when the head of the answer came.

    If there are any, the sender of the answer cannot have read the request.
    """

    unsent_bytes = 0
    _answers: Sized | None = None  # those of the connection that were not read yet
    _received: Received | None = None

    async def start(self, connection: Connection) -> aiohttp.ClientResponse:
        """Read the head."""
        wire, self._answers = connection.transport, connection.protocol
        if isinstance(wire, asyncio.Transport):
            reader = wire.get_protocol()
            if isinstance(reader, asyncio.Protocol):
                self._received = Received(reader)
                wire.set_protocol(self._received)
        await super().start(connection)
        if isinstance(wire, asyncio.WriteTransport) and not wire.is_closing():  # it is, once all of the answer came
            self.unsent_bytes = wire.get_write_buffer_size()
        return self

    @property
    def is_alone(self) -> bool:
        """Whether everything received since the first byte of the request was sent is this answer, or its beginning.

        Known once its body was read. Later bytes find the connection closed.
        """
        received = self._received
        if received is None or not received.head_bytes or (self._answers is not None and len(self._answers)):
            return False
        if self.status in _WITHOUT_BODY:
            return received.all_bytes == received.head_bytes
        if not self.content.is_eof():  # it broke off
            return True
        if "chunked" in self.headers.get("Transfer-Encoding", "").lower():
            return _LAST_CHUNK.search(received.end) is not None
        length = self.headers.get("Content-Length")
        if length is None:  # it ends with the connection
            return True
        return received.all_bytes == received.head_bytes + int(length)


class Received(asyncio.Protocol):
    """Pass the received bytes on to `reader`, and measure them.

    `all_bytes` were received, `end` are the last 8,192 of them; `head_bytes` are those of the head and of interim
    answers (RFC 9110, section 15.2) before it, 0 until the head is complete.
    """

    def __init__(self, reader: asyncio.Protocol) -> None:
        self._reader = reader
        self._start = bytearray()
        self.all_bytes = self.head_bytes = 0
        self.end = b""

    def data_received(self, data: bytes) -> None:
        """Called by the connection, like the other methods."""
        self.all_bytes += len(data)
        self.end = (self.end + data[-_END_BYTES:])[-_END_BYTES:]
        if not self.head_bytes and len(self._start) <= _MAX_HEAD_BYTES:
            self._start += data
            self.head_bytes = _head_bytes(self._start)
            if self.head_bytes:
                self._start.clear()
        self._reader.data_received(data)

    def eof_received(self) -> bool | None:
        return self._reader.eof_received()

    def connection_lost(self, exc: Exception | None) -> None:
        self._reader.connection_lost(exc)

    def pause_writing(self) -> None:
        self._reader.pause_writing()

    def resume_writing(self) -> None:
        self._reader.resume_writing()


def _head_bytes(start: bytearray) -> int:
    """Return the length of interim answers and of the head after them; 0 until the head is complete."""
    head = 0
    while (end := start.find(_END_OF_HEAD, head)) >= 0:
        words = bytes(start[head:end].split(b"\r\n", 1)[0]).split(b" ", 2)
        is_interim = len(words) > 1 and words[1].startswith(b"1") and words[1] != b"101"
        head = end + len(_END_OF_HEAD)
        if not is_interim:
            return head
    return 0
