"""A body on its way into a socket: views of its buffers, a slice at a time, of a length known beforehand."""

from __future__ import annotations

from typing import Final, NoReturn

from aiohttp.abc import AbstractStreamWriter
from aiohttp.payload import Payload

from audiencekit.api.exchange import FORM, Body, Pairs
from audiencekit.api.oauth import encode_pairs
from audiencekit.errors import Bug

# Some event loops copy what they cannot write at once; and between two slices other requests get their turn.
SLICE_BYTES: Final = 131_072


def encode_form(pairs: Pairs) -> Body:
    """The body of a form, escaped as it is signed."""
    return Body([encode_pairs(pairs).encode()], content_type=FORM)


class BodyPayload(Payload):
    """One attempt's reading of a body; the body itself stays as it is and can be sent again.

    `started` is False as long as certainly no byte was handed to the connection, `is_handed_over` as long as some were
    not: what reads the last byte can answer only after that.
    """

    def __init__(self, body: Body) -> None:
        super().__init__(body, content_type=body.content_type)
        self._body = body
        self._size = body.size
        self.started = self.is_handed_over = False

    async def write(self, writer: AbstractStreamWriter) -> None:
        """Writes everything."""
        left = self._body.size
        for piece in self._body.slices(SLICE_BYTES):
            left -= piece.nbytes
            # Before the wait in `write`: the answer may come sooner than this goes on.
            self.started, self.is_handed_over = True, not left
            await writer.write(piece)

    async def write_with_length(self, writer: AbstractStreamWriter, content_length: int | None) -> None:
        """Writes everything; raises Bug when another length was announced."""
        if content_length is not None and content_length != self._size:
            raise Bug("the length announced for a body is not its size")
        await self.write(writer)

    def decode(self, encoding: str = "utf-8", errors: str = "strict") -> NoReturn:
        """Raises Bug: a body is never made text."""
        raise Bug("a body is not to be decoded")
