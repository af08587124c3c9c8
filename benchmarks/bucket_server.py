"""One file, whole or in ranges, as a bucket of S3 has it, until standard input ends.

python -m benchmarks.bucket_server FILE
"""

from __future__ import annotations

import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: Any

    def log_message(self, *_: Any) -> None:
        """Nothing."""

    def do_GET(self) -> None:
        content: memoryview = self.server.content
        first, last = 0, len(content) - 1
        if asked := self.headers.get("Range"):
            begin, end = asked.removeprefix("bytes=").split("-")
            first, last = int(begin), min(int(end or last), last)
        self.send_response(206 if asked else 200)
        if asked:
            self.send_header("Content-Range", f"bytes {first}-{last}/{len(content)}")
        self.send_header("Content-Length", str(last + 1 - first))
        self.send_header("ETag", '"1"')
        self.send_header("Last-Modified", "Tue, 24 Nov 2026 11:00:00 GMT")
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(content[first : last + 1])

    do_HEAD = do_GET  # noqa: N815  # the name that http.server wants


def main(path: str) -> None:
    """Serve the file at `path`, at the port that is printed."""
    server: Any = ThreadingHTTPServer(("127.0.0.1", 0), _Handler)
    server.content = memoryview(Path(path).read_bytes())
    threading.Thread(target=server.serve_forever, daemon=True).start()
    print(server.server_port, flush=True)
    sys.stdin.read()


if __name__ == "__main__":
    main(sys.argv[1])
