"""The files of a directory, whole or in ranges, and their names, as a bucket of S3 has them, until standard input ends.

python -m benchmarks.bucket_server DIRECTORY

They are read from the disk as they are asked for: the server holds one piece for each connection.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, Final
from urllib.parse import parse_qs, unquote, urlsplit
from xml.sax.saxutils import escape

WRITTEN: Final = "2026-11-24T11:00:00.000Z"


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: Any

    def log_message(self, *_: Any) -> None:
        """Nothing."""

    def do_GET(self) -> None:
        asked = urlsplit(self.path)
        key = unquote(asked.path).lstrip("/").partition("/")[2]  # behind the name of the bucket
        if not key:
            self._list(parse_qs(asked.query).get("prefix", [""])[0])
        elif (path := self.server.root / key).is_file():
            self._send(path)
        else:
            self._answer(404, b"", {})

    do_HEAD = do_GET  # noqa: N815  # the name that http.server wants

    def _send(self, path: Path) -> None:
        size = path.stat().st_size
        first, last = 0, size - 1
        headers = {"ETag": f'"{size}"', "Last-Modified": "Tue, 24 Nov 2026 11:00:00 GMT"}
        if asked := self.headers.get("Range"):
            begin, end = asked.removeprefix("bytes=").split("-")
            first, last = int(begin), min(int(end or last), last)
            headers["Content-Range"] = f"bytes {first}-{last}/{size}"
        with path.open("rb", buffering=0) as file:
            file.seek(first)
            content = file.read(last + 1 - first) if self.command != "HEAD" else b""
        self._answer(206 if asked else 200, content, headers, length=last + 1 - first)

    def _list(self, prefix: str) -> None:
        entries = "".join(_entries(self.server.root, prefix))
        text = f"<ListBucketResult><IsTruncated>false</IsTruncated>{entries}</ListBucketResult>"
        self._answer(200, text.encode(), {"Content-Type": "application/xml"})

    def _answer(self, status: int, content: bytes, headers: dict[str, str], *, length: int | None = None) -> None:
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(content) if length is None else length))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(content)


def _entries(root: Path, prefix: str) -> Iterator[str]:
    for path in sorted((root / prefix).iterdir()) if (root / prefix).is_dir() else []:
        key = escape(path.relative_to(root).as_posix())
        if path.is_dir():
            yield f"<CommonPrefixes><Prefix>{key}/</Prefix></CommonPrefixes>"
        else:
            size = path.stat().st_size
            tag, times = f"<ETag>&quot;{size}&quot;</ETag>", f"<LastModified>{WRITTEN}</LastModified>"
            yield f"<Contents><Key>{key}</Key>{times}{tag}<Size>{size}</Size></Contents>"


def main(path: str) -> None:
    """Serve the files in `path`, at the port that is printed."""
    server: Any = ThreadingHTTPServer(("127.0.0.1", 0), _Handler)
    server.root = Path(path)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    print(server.server_port, flush=True)
    sys.stdin.read()


if __name__ == "__main__":
    main(sys.argv[1])
