"""A receiver of notifications on loopback, which answers as it is told."""

from __future__ import annotations

import json
import ssl
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from tests.moments import PATIENCE_SECONDS

# How it answers: well, with a redirect, with an error, byte by byte without an end, with no HTTP, not at all.
WAYS = ("well", "redirect", "error", "dribble", "nonsense", "drop", "silence")


class LocalReceiver:
    """A receiver, and the `bodies`, `headers` and `paths` that it got, in their order; `way` is one of WAYS.

    `ways` are those in which it answered the bodies.
    """

    def __init__(self) -> None:
        self.way = "well"
        self.bodies: list[bytes] = []
        self.ways: list[str] = []
        self.headers: list[dict[str, str]] = []
        self.paths: list[str] = []
        self.over = threading.Event()
        receiver = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                receiver.ways.append(receiver.way)
                receiver.bodies.append(self.rfile.read(int(self.headers["Content-Length"])))
                self.answer()

            def do_GET(self) -> None:
                self.answer()

            def answer(self) -> None:
                receiver.paths.append(f"{self.command} {self.path}")
                receiver.headers.append(dict(self.headers))
                receiver.answer(self)

            def log_message(self, *_: Any) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.port = self._server.server_address[1]
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}/hook/s3cret-path?sig=s3cret-query"

    def answer(self, handler: BaseHTTPRequestHandler) -> None:
        handler.close_connection = True
        if self.way in ("well", "redirect", "error"):
            handler.send_response({"well": 200, "redirect": 307, "error": 500}[self.way])
            handler.send_header("Location", self.url.replace("/hook", "/elsewhere"))
            handler.end_headers()
        elif self.way == "dribble":
            while not self.over.wait(0.05):
                handler.wfile.write(b"HTTP/1.1 100 Continue\r\n\r\n")
        elif self.way == "nonsense":
            handler.wfile.write(b"220 mail.example.com ESMTP\r\n")
        elif self.way == "silence":
            self.over.wait(PATIENCE_SECONDS)

    @property
    def notices(self) -> list[tuple[str, str]]:
        """The run and the rule of each notice that came."""
        found = [json.loads(body) for body in self.bodies]
        return [(each["run_id"], notice["rule"]) for each in found for notice in each["notices"]]

    @property
    def ids(self) -> list[str]:
        """The ids of all notices that came."""
        return [notice["id"] for body in self.bodies for notice in json.loads(body)["notices"]]


@contextmanager
def local_receiver(tls: ssl.SSLContext | None = None) -> Iterator[LocalReceiver]:
    """Yield a receiver that listens, over https with the certificate of `tls`."""
    receiver = LocalReceiver()
    server = receiver._server
    if tls is not None:
        server.socket = tls.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
    server.daemon_threads = True
    server.handle_error = lambda *_: None  # type: ignore[method-assign,assignment]  # the other side may have gone
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield receiver
    finally:
        receiver.over.set()
        server.shutdown()
        thread.join()
        server.server_close()
