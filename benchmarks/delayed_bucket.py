"""moto's server of S3, with an empty bucket, which answers each call some time later; until standard input ends.

python -m benchmarks.delayed_bucket SECONDS
"""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Iterable
from importlib import import_module
from typing import Any, Final

import boto3
from werkzeug.serving import WSGIRequestHandler, make_server

BUCKET: Final = "states"
KEYS: Final = {"AWS_ACCESS_KEY_ID": "invented", "AWS_SECRET_ACCESS_KEY": "invented", "AWS_REGION": "us-east-1"}


class _Silent(WSGIRequestHandler):
    def log(self, *_: Any) -> None:
        """Nothing."""


class _Delayed:
    """moto's application. It compares and writes in two steps, so that one call is in it at a time."""

    def __init__(self, seconds: float) -> None:
        self._seconds, self._turn = seconds, threading.Lock()
        moto: Any = import_module("moto.server")
        self._application = moto.DomainDispatcherApplication(moto.create_backend_app)

    def __call__(self, environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
        time.sleep(self._seconds)
        with self._turn:
            return [b"".join(self._application(environ, start_response))]


def main(seconds: float) -> None:
    """Serve at the port that is printed."""
    application = _Delayed(0.0)
    server = make_server("127.0.0.1", 0, application, threaded=True, request_handler=_Silent)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    keys = {name.lower(): value for name, value in KEYS.items() if name != "AWS_REGION"}
    endpoint = f"http://127.0.0.1:{server.port}"
    client = boto3.client("s3", endpoint_url=endpoint, region_name=KEYS["AWS_REGION"], **keys)
    client.create_bucket(Bucket=BUCKET)
    application._seconds = seconds
    print(server.port, flush=True)
    sys.stdin.read()


if __name__ == "__main__":
    main(float(sys.argv[1]))
