"""Answers that are cut, slow, unusual or repeated, and requests that are applied later than they are answered."""

from __future__ import annotations

import asyncio
import gzip
import heapq
import zlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from http import HTTPStatus
from typing import Final

from audiencekit.emulator.answers import Chunk, Delivery
from audiencekit.emulator.faults.effects import Injection, Reply
from audiencekit.emulator.faults.replies import genuine
from audiencekit.emulator.store import Clock

# --- Faults of the transfer of an answer: right content, broken HTTP ---

_CLOSE: Final = {"Connection": "close"}
_HUGE_LINE: Final = 4_096
_ENDLESS_PAUSE_SECONDS: Final = 0.01
_OPEN_SECONDS: Final = 5.0  # in which a client may use the connection again
_UNASKED: Final = b'{"errors":[{"code":"BAD_REQUEST","message":"The connection was idle."}]}'
_BLOCK: Final = b" " * 1_000_000  # behind a JSON document spaces mean nothing: it is an answer still


def _head(status: int, headers: Mapping[str, str], version: str = "1.1") -> bytes:
    lines = [f"HTTP/{version} {status} {HTTPStatus(status).phrase}"]
    return "\r\n".join([*lines, *(f"{name}: {text}" for name, text in headers.items()), "", ""]).encode("latin-1")


def _with_length(headers: Mapping[str, str], length: int) -> dict[str, str]:
    return {**headers, "Content-Length": str(length)}


def _deliver(injection: Injection, delivery: Delivery) -> Reply:
    return Reply(replace(genuine(injection.situation), delivery=delivery))


def mutilate(injection: Injection) -> Reply:
    """15: fewer bytes than announced, or other content."""
    kind = injection["kind"]

    def deliver(status: int, headers: Mapping[str, str], body: bytes) -> Iterator[Chunk]:
        if kind == "truncated":
            content, more = body[: len(body) // 2], {"Content-Length": str(len(body))}
        elif kind == "content_length_long":
            content, more = body, {"Content-Length": str(len(body) + 10)}
        elif kind == "content_length_short":
            content, more = body, {"Content-Length": str(len(body) - 5)}
        elif kind == "chunk":
            content, more = b"%x\r\n%s\r\nzz\r\n" % (len(body), body), {"Transfer-Encoding": "chunked"}
        else:
            packed = gzip.compress(body, mtime=0)
            content = packed[:-12] + bytes(12)
            more = {"Content-Encoding": "gzip", "Content-Length": str(len(content))}
        yield Chunk(_head(status, {**headers, **more}) + content)

    return _deliver(injection, deliver)


def drip(injection: Injection) -> Reply:
    """29: the answer at `bytes_per_second`."""
    pause_seconds = 1 / injection["bytes_per_second"]

    def deliver(status: int, headers: Mapping[str, str], body: bytes) -> Iterator[Chunk]:
        whole = _head(status, {**_with_length(headers, len(body)), **_CLOSE}) + body
        for place in range(len(whole)):
            yield Chunk(whole[place : place + 1], pause_seconds)

    return _deliver(injection, deliver)


def speak_oddly(injection: Injection) -> Reply:
    """31: HTTP that is valid and rare, or that never ends."""
    return _deliver(injection, {"http_1_0": _old, "extra_1xx": _chatty}.get(injection["kind"]) or _padded(injection))


def _old(status: int, headers: Mapping[str, str], body: bytes) -> Iterator[Chunk]:
    yield Chunk(_head(status, headers, "1.0") + body)


def _chatty(status: int, headers: Mapping[str, str], body: bytes) -> Iterator[Chunk]:
    yield Chunk(3 * _head(102, {}) + _head(103, {"Link": "</style.css>; rel=preload"}))
    yield Chunk(_head(status, {**_with_length(headers, len(body)), **_CLOSE}) + body)


def _padded(injection: Injection) -> Delivery:
    endless, size = injection["kind"] == "endless_headers", injection["bytes"]

    def deliver(status: int, headers: Mapping[str, str], body: bytes) -> Iterator[Chunk]:
        head = _head(status, {**_with_length(headers, len(body)), **_CLOSE}).removesuffix(b"\r\n")
        yield Chunk(head)
        number = 0
        while endless or number * _HUGE_LINE < size:
            number += 1
            line = b"x-padding-%d: " % number
            yield Chunk(line.ljust(_HUGE_LINE - 2, b"a") + b"\r\n", _ENDLESS_PAUSE_SECONDS if endless else 0.0)
        yield Chunk(b"\r\n" + body)

    return deliver


def bomb(injection: Injection) -> Reply:
    """38: a valid answer, followed by more bytes than a machine has memory for."""
    return _deliver(injection, _packed(injection["bytes"] // len(_BLOCK)) if injection["kind"] == "gzip" else _endless)


def _endless(status: int, headers: Mapping[str, str], body: bytes) -> Iterator[Chunk]:
    yield Chunk(_head(status, {**headers, **_CLOSE}) + body)
    while True:
        yield Chunk(_BLOCK)


def _packed(blocks: int) -> Delivery:
    def deliver(status: int, headers: Mapping[str, str], body: bytes) -> Iterator[Chunk]:
        yield Chunk(_head(status, {**headers, "Content-Encoding": "gzip", **_CLOSE}))
        packer = zlib.compressobj(wbits=31)
        yield Chunk(packer.compress(body) + packer.flush(zlib.Z_FULL_FLUSH))
        # After a full flush each block stands for itself: one is packed, and sent again and again.
        alone = zlib.compressobj(wbits=-15)
        block, check = alone.compress(_BLOCK) + alone.flush(zlib.Z_FULL_FLUSH), zlib.crc32(body)
        for _ in range(blocks):
            yield Chunk(block)
            check = zlib.crc32(_BLOCK, check)
        size = (len(body) + blocks * len(_BLOCK)) % 2**32
        yield Chunk(b"\x03\x00" + check.to_bytes(4, "little") + size.to_bytes(4, "little"))

    return deliver


def close_idle(injection: Injection) -> Reply:
    """14, after the answer: it is complete, and announces a kept connection that is then closed."""

    def deliver(status: int, headers: Mapping[str, str], body: bytes) -> Iterator[Chunk]:
        yield Chunk(_head(status, _with_length(headers, len(body))) + body)
        yield Chunk(b"", injection["delay_seconds"])

    return _deliver(injection, deliver)


def answer_again(injection: Injection) -> Reply:
    """41: more answers than requests, on a connection that stays open for a while."""
    kind = injection["kind"]

    def deliver(status: int, headers: Mapping[str, str], body: bytes) -> Iterator[Chunk]:
        own = _head(status, _with_length(headers, len(body))) + body
        late = _head(504, {"Content-Length": "0"})
        unasked = _head(injection["status"], _with_length(headers, len(_UNASKED))) + _UNASKED
        pairs = {"twice": (own, own), "late": (late, own), "unasked": (own, unasked), "packet": (own + own, b"")}
        first, second = pairs[kind]
        yield Chunk(first)
        yield Chunk(second, injection["delay_seconds"])
        yield Chunk(b"", _OPEN_SECONDS)

    return _deliver(injection, deliver)


# --- Requests that are applied later than they came, by the clock of the emulator ---


class LateApplies:
    """Bodies that are applied later: after some time, or when the clock is moved and `run_due` is called."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._waiting: list[tuple[float, int, Callable[[], None]]] = []
        self._timer: asyncio.TimerHandle | None = None
        self._serial = 0

    def add(self, seconds: float, apply: Callable[[], None]) -> None:
        """Call `apply` after so many seconds."""
        self._serial += 1
        heapq.heappush(self._waiting, (self._clock.now() + seconds, self._serial, apply))
        self._set_timer()

    def run_due(self) -> None:
        """Apply all that are due, in the order of their times."""
        while self._waiting and self._waiting[0][0] <= self._clock.now():
            heapq.heappop(self._waiting)[2]()
        self._set_timer()

    def close(self) -> None:
        """Apply nothing any more."""
        self._waiting.clear()
        self._set_timer()

    def _set_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if self._waiting:
            # A clock that stands still would else be asked again and again.
            delay_seconds = max(0.01, self._waiting[0][0] - self._clock.now())
            self._timer = asyncio.get_running_loop().call_later(delay_seconds, self.run_due)
