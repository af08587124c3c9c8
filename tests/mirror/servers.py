"""Buckets of S3 on loopback: moto's server, behind a door that loses calls and answers, or drops their conditions."""

from __future__ import annotations

import contextlib
import random
import socket
import threading
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

import pytest

from tests.forms.servers import BUCKET, CREDENTIALS

CONDITIONS = ("HTTP_IF_MATCH", "HTTP_IF_NONE_MATCH")
KEY = "1f" * 32


@dataclass
class Door:
    """The network: each call, and each answer, is lost with the probability `losses`."""

    application: Callable[..., Iterable[bytes]]
    heeds_conditions: bool = True
    losses: float = 0.0
    chance: random.Random = field(default_factory=lambda: random.Random(0))
    calls: list[str] = field(default_factory=list)
    guard: threading.Lock = field(default_factory=threading.Lock)
    turn: threading.Lock = field(default_factory=threading.Lock)

    def __call__(self, environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
        self.calls.append(f"{environ['REQUEST_METHOD']} {environ['PATH_INFO']}")
        if not self.heeds_conditions:
            for name in CONDITIONS:
                environ.pop(name, None)
        if self._is_lost():
            return _hang_up(environ)
        with self.turn:  # moto compares and writes in two steps
            answer = b"".join(self.application(environ, start_response))
        return _hang_up(environ) if self._is_lost() else [answer]

    def _is_lost(self) -> bool:
        with self.guard:
            return self.chance.random() < self.losses


def _hang_up(environ: dict[str, Any]) -> Iterable[bytes]:
    with contextlib.suppress(OSError):
        environ["werkzeug.socket"].shutdown(socket.SHUT_RDWR)
    return []


@dataclass(frozen=True)
class StateBucket:
    """An empty bucket; `env` leads to a state in it, and has its key."""

    client: Any
    door: Door
    env: dict[str, str]

    def names(self) -> list[str]:
        """The names of all objects."""
        return [one["Key"] for one in self.client.list_objects_v2(Bucket=BUCKET).get("Contents", [])]

    def contents(self) -> dict[str, bytes]:
        """The bytes of all objects."""
        return {name: self.client.get_object(Bucket=BUCKET, Key=name)["Body"].read() for name in self.names()}


@contextlib.contextmanager
def state_bucket(**manner: Any) -> Iterator[StateBucket]:
    """An empty bucket. Skips the test where moto or the extra cloud is missing."""
    server = pytest.importorskip("moto.server", reason="moto's server is not installed")
    boto3 = pytest.importorskip("boto3", reason="the extra cloud is not installed")
    pytest.importorskip("obstore", reason="the extra cloud is not installed")
    from moto.core import DEFAULT_ACCOUNT_ID
    from moto.s3.models import s3_backends
    from werkzeug.serving import WSGIRequestHandler, make_server

    class Silent(WSGIRequestHandler):
        def log(self, *_: Any) -> None:
            pass

        def handle(self) -> None:
            with contextlib.suppress(OSError):  # of a connection that was hung up
                super().handle()

    s3_backends[DEFAULT_ACCOUNT_ID]["aws"].reset()
    door = Door(server.DomainDispatcherApplication(server.create_backend_app))
    serving = make_server("127.0.0.1", 0, door, threaded=True, request_handler=Silent)
    thread = threading.Thread(target=serving.serve_forever, daemon=True)
    thread.start()
    url = f"http://127.0.0.1:{serving.port}"
    try:
        keys = {name.lower(): value for name, value in CREDENTIALS.items() if name != "AWS_REGION"}
        client = boto3.client("s3", endpoint_url=url, region_name=CREDENTIALS["AWS_REGION"], **keys)
        client.create_bucket(Bucket=BUCKET)
        for name, value in manner.items():
            setattr(door, name, value)
        state = {"AUDIENCEKIT_STATE": f"s3://{BUCKET}/acme", "AUDIENCEKIT_KEY": KEY}
        yield StateBucket(client, door, {**CREDENTIALS, "AWS_ENDPOINT_URL_S3": url, **state})
        client.close()
    finally:
        serving.shutdown()
        thread.join()
        serving.server_close()
