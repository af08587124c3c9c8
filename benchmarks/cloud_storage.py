"""Google Cloud Storage on loopback, as its XML API describes it: generations, and writes that depend on them.

    python -m benchmarks.cloud_storage SECONDS

serves an empty bucket until standard input ends, each answer so many seconds later, and prints the environment that
leads there, as JSON. Of a call it takes far less processor time than moto's server of S3, which would be measured
more than its caller.

https://cloud.google.com/storage/docs/xml-api/reference-headers (x-goog-generation, x-goog-if-generation-match) and
https://cloud.google.com/storage/docs/xml-api/get-bucket-list (list-type=2).
"""

from __future__ import annotations

import json
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Final
from urllib.parse import parse_qs, unquote, urlsplit
from xml.sax.saxutils import escape

BUCKET: Final = "lists"
_ERROR = b"<?xml version='1.0' encoding='UTF-8'?><Error><Code>%s</Code></Error>"


@dataclass
class CloudStorage:
    """The objects by name, each with its generation; and the environment that leads to them."""

    delay_seconds: float = 0.0  # of each answer
    url: str = ""
    objects: dict[str, tuple[bytes, int]] = field(default_factory=dict)
    generation: int = 1_795_000_000_000_000  # of all objects, in microseconds at the service
    turn: threading.Lock = field(default_factory=threading.Lock)

    @property
    def env(self) -> dict[str, str]:
        """Return it; the key of a service account that needs no token, as other emulators give it."""
        key = {
            "gcs_base_url": self.url,
            "disable_oauth": True,
            "client_email": "",
            "private_key": "",
            "private_key_id": "",
        }
        return {"GOOGLE_BASE_URL": self.url, "GOOGLE_SERVICE_ACCOUNT_KEY": json.dumps(key)}


class _Handler(BaseHTTPRequestHandler):
    storage: CloudStorage
    protocol_version = "HTTP/1.1"

    def do_PUT(self) -> None:
        data, name = self.rfile.read(int(self.headers["Content-Length"])), self._name()
        if name.startswith("/"):
            return self._answer(404, _ERROR % b"NoSuchBucket")
        expected = self.headers.get("x-goog-if-generation-match")
        with self.storage.turn:
            there = self.storage.objects.get(name, (b"", 0))[1]  # 0: there is none
            if is_met := expected is None or int(expected) == there:
                self.storage.generation += 1
                generation = self.storage.generation
                self.storage.objects[name] = data, generation
        if is_met:
            return self._answer(200, b"", generation)
        return self._answer(412, _ERROR % b"PreconditionFailed")

    def do_GET(self) -> None:
        query = parse_qs(urlsplit(self.path).query)
        if "list-type" in query:
            return self._list(query["prefix"][0])
        found = self.storage.objects.get(self._name())
        return self._answer(404, _ERROR % b"NoSuchKey") if found is None else self._answer(200, *found)

    def do_DELETE(self) -> None:
        is_there = self.storage.objects.pop(self._name(), None) is not None
        self._answer(204 if is_there else 404, b"" if is_there else _ERROR % b"NoSuchKey")

    def _list(self, prefix: str) -> None:
        lines = [
            f"<Contents><Key>{escape(name)}</Key><Generation>{generation}</Generation><ETag>{generation}</ETag>"
            f"<Size>{len(data)}</Size><LastModified>2026-11-21T00:00:00.000Z</LastModified></Contents>"
            for name, (data, generation) in sorted(self.storage.objects.items())
            if name.startswith(prefix)
        ]
        text = f"<ListBucketResult><Prefix>{escape(prefix)}</Prefix>{''.join(lines)}</ListBucketResult>"
        self._answer(200, text.encode())

    def _name(self) -> str:
        return unquote(urlsplit(self.path).path).removeprefix(f"/{BUCKET}/")

    def _answer(self, status: int, body: bytes, generation: int | None = None) -> None:
        time.sleep(self.storage.delay_seconds)
        self.send_response(status)
        if generation is not None:
            self.send_header("x-goog-generation", str(generation))
            self.send_header("ETag", f'"{generation}"')
            self.send_header("Last-Modified", "Sat, 21 Nov 2026 00:00:00 GMT")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: Any) -> None:
        """Nothing is logged."""


@contextmanager
def cloud_storage(delay_seconds: float = 0.0) -> Iterator[CloudStorage]:
    """An empty bucket."""
    storage = CloudStorage(delay_seconds)
    with ThreadingHTTPServer(("127.0.0.1", 0), type("Handler", (_Handler,), {"storage": storage})) as server:
        storage.url = f"http://127.0.0.1:{server.server_port}"
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        yield storage
        server.shutdown()
        thread.join()


if __name__ == "__main__":
    with cloud_storage(float(sys.argv[1])) as storage:
        print(json.dumps(storage.env), flush=True)
        sys.stdin.read()
