"""Messages between this process and the one of a query, over two pipes: a letter, a length, and so many bytes."""

from __future__ import annotations

import struct
import threading
from contextlib import suppress
from typing import Any, BinaryIO, Final

import pyarrow as pa

# To the engine: what to plan; begin; the next rows. Then, of the table: a batch, its end, or that it failed.
PLAN, BEGIN, NEXT = b"P", b"X", b"N"
BATCH, END, FAILED = b"B", b"E", b"F"
# From the engine: the columns of the result, its rows, its end, why there are none; and what it wants of the table.
PLANNED, ROWS, DONE, REFUSED, WANTED = b"S", b"R", b"D", b"U", b"Q"

_HEAD: Final = struct.Struct("=cQ")


class Gone(Exception):
    """The other process has ended."""


class Pipes:
    """The two pipes, as one of the processes has them."""

    def __init__(self, incoming: BinaryIO, outgoing: BinaryIO) -> None:
        self._incoming, self._outgoing = incoming, outgoing
        self._one_at_a_time = threading.Lock()  # threads of the engine ask while others answer

    def say(self, kind: bytes, content: Any = b"") -> None:
        """Sends bytes, or a pa.Buffer. Raises Gone."""
        view = memoryview(content)
        gone = True
        with suppress(OSError, ValueError), self._one_at_a_time:
            self._outgoing.write(_HEAD.pack(kind, view.nbytes))
            self._outgoing.write(view)
            self._outgoing.flush()
            gone = False
        if gone:
            raise Gone

    def hear(self) -> tuple[bytes, pa.Buffer]:
        """The next message. Raises Gone."""
        kind, size_bytes = _HEAD.unpack(self._exactly(_HEAD.size))
        return kind, self._exactly(size_bytes)

    def _exactly(self, size_bytes: int) -> pa.Buffer:
        buffer = pa.allocate_buffer(size_bytes)
        view, filled = memoryview(buffer).cast("B"), 0
        while filled < size_bytes:
            got = self._incoming.readinto(view[filled:])  # type: ignore[attr-defined]
            if not got:
                raise Gone
            filled += got
        return buffer


def packed(batch: pa.RecordBatch) -> pa.Buffer:
    """A batch with its schema."""
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, batch.schema) as writer:
        writer.write_batch(batch)
    return sink.getvalue()


def unpacked_batch(content: pa.Buffer) -> pa.RecordBatch:
    """The batch that was packed."""
    with pa.ipc.open_stream(content) as reader:
        return reader.read_next_batch()
