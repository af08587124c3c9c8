"""Bodies on their way into a writer."""

from __future__ import annotations

import hashlib
from typing import Any

import pytest

from audiencekit.api.exchange import Body
from audiencekit.api.payload import SLICE_BYTES, BodyPayload
from audiencekit.errors import Bug


class _Writer:
    """Keeps what is written; fails when told to."""

    def __init__(self, failure: Exception | None = None) -> None:
        self.pieces: list[bytes] = []
        self._failure = failure

    async def write(self, chunk: Any) -> None:
        if self._failure is not None:
            raise self._failure
        self.pieces.append(bytes(chunk))


async def test_writes_everything_in_slices() -> None:
    """Every byte is written once and in order, in slices, and a second attempt writes the same."""
    data = bytes(range(256)) * 4_000
    body = Body([memoryview(data)[:300_000], data[300_000:]])
    for _attempt in range(2):
        writer, payload = _Writer(), BodyPayload(body)
        assert payload.size == len(data)
        await payload.write_with_length(writer, payload.size)  # type: ignore[arg-type]
        assert hashlib.sha256(b"".join(writer.pieces)).digest() == hashlib.sha256(data).digest()
        assert max(map(len, writer.pieces)) == SLICE_BYTES
        assert payload.started


async def test_started_before_the_first_byte_could_leave() -> None:
    """A payload counts as started once a byte was handed over, even when that failed; not before."""
    payload = BodyPayload(Body([b"canary"]))
    assert not payload.started
    with pytest.raises(ConnectionResetError):
        await payload.write(_Writer(ConnectionResetError()))  # type: ignore[arg-type]
    assert payload.started


async def test_another_length_is_a_bug() -> None:
    """A length that was announced wrongly is noticed before a byte is written."""
    payload, writer = BodyPayload(Body([b"123"])), _Writer()
    with pytest.raises(Bug):
        await payload.write_with_length(writer, 2)  # type: ignore[arg-type]
    assert writer.pieces == []


def test_never_text_and_never_shown() -> None:
    """A payload does not decode, and its repr holds nothing of the body."""
    payload = BodyPayload(Body([b"canary"]))
    with pytest.raises(Bug):
        payload.decode()
    assert "canary" not in repr(payload)
