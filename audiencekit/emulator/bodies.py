"""Bodies of requests: received up to the limit, and read as strict JSON."""

from __future__ import annotations

import gc
import json
from collections.abc import AsyncIterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Final

import orjson

from audiencekit.limits import MAX_BODY_BYTES

# Bytes beyond this are not even read and dropped: the connection is closed.
MAX_DRAINED_BYTES: Final = 4 * MAX_BODY_BYTES


@dataclass(frozen=True, slots=True)
class Received:
    """A body as received; beyond the limit only its size is stored. `drained` says whether all of it was read."""

    content: bytes = field(default=b"", repr=False)
    size: int = 0
    drained: bool = True

    @property
    def too_large(self) -> bool:
        """Whether it has more than 5,000,000 bytes, which the specification allows (part 2, section 8)."""
        return self.size > MAX_BODY_BYTES


async def receive(parts: AsyncIterable[bytes]) -> Received:
    """Read a whole body, and drop one that is too large, so that its sender can receive the answer."""
    kept: list[bytes] = []
    size = 0
    async for part in parts:
        size += len(part)
        if size <= MAX_BODY_BYTES:
            kept.append(part)
        elif size > MAX_DRAINED_BYTES:
            return Received(size=size, drained=False)
        else:
            kept.clear()
    return Received(b"".join(kept), size)


def parse_json(content: bytes) -> Any:
    """Return the value of a JSON text. Raises ValueError, without a quotation, for other texts and repeated keys."""
    try:
        document = orjson.loads(content)
        # A repeated key is lost on the way in, so a text that comes out again as it was has none.
        if _written(document) != content:
            json.loads(content, object_pairs_hook=_unrepeated)
    except (ValueError, RecursionError):
        document = None
    else:
        return document
    raise ValueError("not valid JSON, or a key is repeated")


def _written(document: object) -> bytes | None:
    try:
        return orjson.dumps(document)
    except TypeError:  # nested too deeply for writing
        return None


def _unrepeated(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) != len(pairs):
        raise ValueError
    return members


@contextmanager
def collector_paused() -> Iterator[None]:
    """Pause the garbage collector while many small objects are made: it takes half of the time of parsing."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()
