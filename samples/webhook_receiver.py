"""Receives events of a webhook, on this machine, and prints each that is proven to come from the service.

AUDIENCEKIT_CONSUMER_SECRET=… python samples/webhook_receiver.py [PORT]

The first line says where it listens. `audiencekit emulator --webhook ID=ADDRESS` delivers to it once the webhook is
linked; in front of the real service put a server that speaks TLS.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import os
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, urlsplit

MAX_BODY_BYTES = 1_000_000
PATIENCE_SECONDS = 10.0


def sign(content: bytes) -> str:
    """HMAC-SHA256 under the secret that only the service and this application have."""
    secret = os.environ["AUDIENCEKIT_CONSUMER_SECRET"].encode()
    return "sha256=" + base64.b64encode(hmac.new(secret, content, hashlib.sha256).digest()).decode()


class Receiver(BaseHTTPRequestHandler):
    """Answers the challenge of the service, and takes its events."""

    timeout = PATIENCE_SECONDS  # of a peer that says nothing

    def do_GET(self) -> None:
        """The challenge: only who has the secret can answer it."""
        tokens = parse_qs(urlsplit(self.path).query).get("crc_token", [])
        if len(tokens) != 1:
            self._answer(400, {})
        else:
            self._answer(200, {"response_token": sign(tokens[0].encode())})

    def do_POST(self) -> None:
        """An event. The signature is compared before anything of the body is believed."""
        length = self.headers.get("Content-Length", "")
        if not length.isdecimal() or int(length) > MAX_BODY_BYTES:
            self._answer(413, {})
            return
        body = self.rfile.read(int(length))
        given = self.headers.get("x-twitter-webhooks-signature", "")
        if not hmac.compare_digest(given.encode(), sign(body).encode()):
            self._answer(401, {})
            return
        # Answered at once: a service that waits too long delivers again.
        self._answer(200, {})
        sys.stdout.write(json.dumps(json.loads(body)) + "\n")
        sys.stdout.flush()

    def _answer(self, status: int, document: dict[str, str]) -> None:
        content = json.dumps(document).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *_: object) -> None:
        """Say nothing: an address may hold a token."""


def main(arguments: list[str]) -> None:
    """Listen until Ctrl-C."""
    server = ThreadingHTTPServer(("127.0.0.1", int(arguments[0]) if arguments else 0), Receiver)
    sys.stdout.write(f"http://127.0.0.1:{server.server_port}/\n")
    sys.stdout.flush()
    try:
        server.serve_forever()
    except KeyboardInterrupt:
        server.server_close()


if __name__ == "__main__":
    main(sys.argv[1:])
