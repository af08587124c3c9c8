"""A web server on loopback that serves one file, as well or as badly as its `Manner` says."""

from __future__ import annotations

import gzip
import threading
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

PATH = "/lists/people.csv"
# Behind the beginning that is kept of each file: what is asked for here comes in the pass and not in the look.
_WHOLE_LOOK = "bytes=0-0"


@dataclass
class Manner:
    """How a file is served. Counters go down with each request that they spoil."""

    body: bytes = b""
    tag: str | None = "own"  # of the body; None: no ETag
    ranges: bool = True
    status: int | None = None
    location: str | None = None
    busy: int = 0  # answers of 503
    cut: int = 0  # answers that end in their middle
    short: int = 0  # answers of fewer bytes than the range, whose length says so
    silent: int = 0  # requests that are never answered
    excess: bytes = b""  # behind the range
    other_range: bool = False
    ignores_match: bool = False
    packs: bool = False
    length: bool = True
    chunked: bool = False
    changes_at: int | None = None  # the number of the request from which on another file lies there
    requests: list[tuple[str, dict[str, str]]] = field(default_factory=list)
    lock: threading.Lock = field(default_factory=threading.Lock)

    @property
    def etag(self) -> str | None:
        """The ETag of the body."""
        return f'"{zlib.crc32(self.body):08x}"' if self.tag == "own" else self.tag

    def takes(self, counter: str) -> bool:
        """Whether this answer is to be spoiled so."""
        with self.lock:
            left: int = getattr(self, counter)
            setattr(self, counter, max(left - 1, 0))
            return left > 0


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: Any

    def log_message(self, *_: Any) -> None:
        """Nothing."""

    def do_GET(self) -> None:
        manner: Manner = self.server.manner
        manner.requests.append((self.path, {name.lower(): value for name, value in self.headers.items()}))
        if manner.changes_at is not None and len(manner.requests) >= manner.changes_at:
            manner.body, manner.changes_at = manner.body.swapcase(), None
        spoiled = next((name for name in ("silent", "busy") if manner.takes(name)), "")
        if spoiled == "silent":
            self.server.closing.wait()
            self.close_connection = True
        elif spoiled == "busy":
            self._answer(503, {}, b"")
        elif manner.status is not None:
            self._answer(manner.status, {"Location": manner.location} if manner.location else {}, b"")
        else:
            self._serve(manner)

    do_HEAD = do_GET  # noqa: N815  # the name that http.server wants

    def _serve(self, manner: Manner) -> None:
        asked, match = self.headers.get("Range"), self.headers.get("If-Match")
        headers = {"ETag": manner.etag} if manner.etag else {}
        body = manner.body
        if match is not None and match != manner.etag and not manner.ignores_match:
            self._answer(412, headers, b"")
            return
        if manner.packs:
            body, headers["Content-Encoding"] = gzip.compress(body, mtime=0), "gzip"
        headers["Last-Modified"] = "Tue, 24 Nov 2026 11:00:00 GMT"
        if asked is None or not manner.ranges:
            self._answer(200, headers, body)
            return
        first, last = (int(part) for part in asked.removeprefix("bytes=").split("-"))
        if first >= len(body):
            self._answer(416, {"Content-Range": f"bytes */{len(body)}"}, b"")
            return
        part = body[first : last + 1]
        if asked != _WHOLE_LOOK and manner.takes("short"):
            part = part[: len(part) // 2]
        shift = int(manner.other_range and asked != _WHOLE_LOOK)
        headers["Content-Range"] = f"bytes {first + shift}-{min(last, len(body) - 1) + shift}/{len(body)}"
        self._answer(206, headers, part + (manner.excess if asked != _WHOLE_LOOK else b""))

    def _answer(self, status: int, headers: dict[str, str], body: bytes) -> None:
        manner: Manner = self.server.manner
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        has_body = self.command != "HEAD"
        is_cut = has_body and len(body) > 1 and manner.takes("cut")
        if manner.chunked:
            self.send_header("Transfer-Encoding", "chunked")
        elif manner.length:
            self.send_header("Content-Length", str(len(body)))
        else:
            self.close_connection = True
            self.send_header("Connection", "close")
        self.end_headers()
        if not has_body:
            return
        sent = body[: len(body) // 2] if is_cut else body
        if manner.chunked:
            self.wfile.write(b"%x\r\n%s\r\n" % (len(sent), sent) + (b"" if is_cut else b"0\r\n\r\n"))
        else:
            self.wfile.write(sent)
        if is_cut:
            self.close_connection = True


class WebServer(ThreadingHTTPServer):
    """The server; `url` is the address of its file."""

    daemon_threads = True

    def __init__(self, manner: Manner) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.manner, self.closing = manner, threading.Event()

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Nothing: peers go away."""

    @property
    def url(self) -> str:
        """The address of the file."""
        return f"http://127.0.0.1:{self.server_port}{PATH}"


@contextmanager
def serving(manner: Manner) -> Iterator[WebServer]:
    """A server, closed behind."""
    server = WebServer(manner)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield server
    finally:
        server.closing.set()
        server.shutdown()
        thread.join()
        server.server_close()
