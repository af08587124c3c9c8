"""An answer without end: its head at once, its lines as they come."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator

import aiohttp

from audiencekit.api.exchange import ApiResponse
from audiencekit.api.failures import describe_failure
from audiencekit.errors import AudiencekitError, MalformedAnswer
from audiencekit.limits import MAX_ANSWER_BYTES, MAX_EVENT_BYTES


class AnswerStream:
    """One open answer. `head` has status and headers, and no body."""

    def __init__(self, answer: aiohttp.ClientResponse, head: ApiResponse, *, host: str) -> None:
        self._answer, self._host = answer, host
        self.head = head

    async def lines(self) -> AsyncGenerator[bytes]:
        """Each line as it comes, without its end; an empty one keeps the stream alive.

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
        """All of it, where it is a refusal and has an end; b"" when it cannot be read."""
        body = b""
        try:
            while len(body) <= MAX_ANSWER_BYTES and (piece := await self._read()):
                body += piece
        except AudiencekitError:
            return b""
        return body

    def close(self) -> None:
        """Leave it."""
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
