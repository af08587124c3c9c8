"""Messages between two processes, whole or not at all."""

from __future__ import annotations

import os
import threading
from typing import BinaryIO

import pyarrow as pa
import pytest

from audiencekit.sources.query.messages import BATCH, END, Gone, Pipes, packed, unpacked_batch


def _ends() -> tuple[BinaryIO, BinaryIO]:
    incoming, outgoing = os.pipe()
    return open(incoming, "rb"), open(outgoing, "wb")


def test_messages_of_several_threads_are_heard_one_after_the_other() -> None:
    """A batch is longer than a pipe holds."""
    incoming, outgoing = _ends()
    with incoming, outgoing:
        pipes = Pipes(incoming, outgoing)
        batch = pa.record_batch({"email": ["zz.a@canarymail.com"] * 10_000, "phones": [["1", None]] * 10_000})
        threads = [threading.Thread(target=pipes.say, args=(BATCH, packed(batch))) for _ in range(8)]
        for thread in threads:
            thread.start()
        for _ in threads:
            kind, content = pipes.hear()
            assert (kind, unpacked_batch(content).equals(batch)) == (BATCH, True)
        for thread in threads:
            thread.join()
        pipes.say(END)
        kind, content = pipes.hear()
        assert (kind, content.size) == (END, 0)


def test_rows_without_columns_are_counted() -> None:
    """A query may ask how many there are, and nothing else."""
    batch = pa.record_batch({"email": ["a", "b"]}).select([])
    assert unpacked_batch(packed(batch)).num_rows == 2


def test_half_a_message_is_none() -> None:
    """It means that the other process has ended; so does a pipe without a reader."""
    incoming, outgoing = _ends()
    with incoming:
        with outgoing:
            outgoing.write(BATCH + (100).to_bytes(8, "little") + b"half")
        with pytest.raises(Gone):
            Pipes(incoming, outgoing).hear()
    incoming, outgoing = _ends()
    incoming.close()
    with pytest.raises(Gone):
        Pipes(incoming, outgoing).say(END)
    with pytest.raises(BrokenPipeError):
        outgoing.close()
