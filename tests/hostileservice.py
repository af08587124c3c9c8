"""A service between a client and an emulator that puts hostile text into the strings of every answer."""

from __future__ import annotations

import http.client
import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, Final, Self
from urllib.parse import parse_qsl, urlencode

# A title, a cleared screen, colours in one byte (C1), text from right to left, an isolate, forged lines, half of a
# character; FORGED must never begin a line.
FORGED: Final = "FORGED state: complete"
HOSTILE: Final = (
    f"\x1b]0;owned\x07\x1b[2J\x1b[1;31m\x9b31m\x85\u202e\u2066\u200b\u2028{FORGED}\r\n{FORGED}\r{FORGED}\x08\x7f\ud83d"
)
# What a client puts into its next call, or a number must be read from: with these whole, commands come further.
_NEEDED: Final = (
    "id",
    "ids",
    "cursor",
    "oauth_token",
    "oauth_token_secret",
    "oauth_callback_confirmed",
    "access_token",
)


class HostileService:
    """Passes calls on to `upstream` (host, port). `sparing`: what the client needs for its next call stays as it is."""

    def __init__(self, upstream: tuple[str, int], *, sparing: bool) -> None:
        service = self
        self.upstream, self.sparing = upstream, sparing

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, *_: Any) -> None:
                """Nothing."""

            def handle_one_call(self) -> None:
                service.pass_on(self)

            do_GET = do_POST = do_PUT = do_DELETE = handle_one_call  # noqa: N815

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self.address = f"http://127.0.0.1:{self._server.server_address[1]}"

    def __enter__(self) -> Self:
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None) -> None:
        self._server.shutdown()
        self._server.server_close()

    def pass_on(self, call: BaseHTTPRequestHandler) -> None:
        """One call, and its answer in other words."""
        body = call.rfile.read(int(call.headers.get("Content-Length") or 0))
        connection = http.client.HTTPConnection(*self.upstream, timeout=60)
        headers = {name: value for name, value in call.headers.items() if name.lower() != "connection"}
        connection.request(call.command, call.path, body, headers)
        answer = connection.getresponse()
        content = self._spoilt(answer.read(), answer.headers.get("Content-Type") or "")
        connection.close()
        call.send_response(answer.status)
        for name, value in answer.headers.items():
            if name.lower() not in ("content-length", "transfer-encoding", "connection", "date", "server"):
                call.send_header(name, value)
        call.send_header("Content-Length", str(len(content)))
        call.end_headers()
        call.wfile.write(content)

    def _spoilt(self, content: bytes, content_type: str) -> bytes:
        if "json" in content_type and content:
            return json.dumps(self.spoil(json.loads(content))).encode()
        if content.startswith(b"oauth_token"):
            spoilt = ((name, self.spoil(text, name)) for name, text in parse_qsl(content.decode()))
            return urlencode(list(spoilt), errors="replace").encode()
        return content

    def spoil(self, found: Any, name: str = "") -> Any:
        """`found` with hostile text behind every string of it, and in lists that are empty."""
        if isinstance(found, dict):
            return {key: self.spoil(value, key) for key, value in found.items()}
        if isinstance(found, list):
            return [self.spoil(each, name) for each in found] or ([HOSTILE] if name.startswith("reasons") else [])
        if not isinstance(found, str) or (self.sparing and _is_needed(name)):
            return found
        return found + HOSTILE


def _is_needed(name: str) -> bool:
    return name in _NEEDED or name.rpartition("_")[2] in _NEEDED
