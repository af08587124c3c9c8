"""A bucket of S3 (moto's server) and a server of SFTP (asyncssh) on loopback, each in a thread of its own."""

from __future__ import annotations

import asyncio
import threading
import urllib.request
from collections.abc import Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.moments import PATIENCE_SECONDS

BUCKET = "lists"
CREDENTIALS = {"AWS_ACCESS_KEY_ID": "invented", "AWS_SECRET_ACCESS_KEY": "invented", "AWS_REGION": "us-east-1"}


@dataclass(frozen=True)
class Bucket:
    """A bucket; `env` leads to it."""

    client: Any
    env: dict[str, str]

    def put(self, name: str, data: bytes) -> str:
        """The address of an object with these bytes."""
        self.client.put_object(Bucket=BUCKET, Key=name, Body=data)
        return f"s3://{BUCKET}/{name}"

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Let in only users that there are, and there are none; otherwise moto lets all in."""
        self._check_users_after("0")
        try:
            yield
        finally:
            self._check_users_after("inf")

    def _check_users_after(self, requests: str) -> None:
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        door = f"{self.env['AWS_ENDPOINT_URL_S3']}/moto-api/reset-auth"
        opener.open(urllib.request.Request(door, requests.encode(), {"Content-Type": "text/plain"})).close()


@contextmanager
def s3() -> Iterator[Bucket]:
    """An empty bucket. Skips the test where moto or the extra cloud is missing."""
    server = pytest.importorskip("moto.server", reason="moto's server is not installed")
    boto3 = pytest.importorskip("boto3", reason="the extra cloud is not installed")
    pytest.importorskip("obstore", reason="the extra cloud is not installed")
    serving = server.ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    serving.start()
    url = "http://{}:{}".format(*serving.get_host_and_port())
    try:
        keys = {name.lower(): value for name, value in CREDENTIALS.items() if name != "AWS_REGION"}
        client = boto3.client("s3", endpoint_url=url, region_name=CREDENTIALS["AWS_REGION"], **keys)
        client.create_bucket(Bucket=BUCKET)
        yield Bucket(client, {**CREDENTIALS, "AWS_ENDPOINT_URL_S3": url})
        client.close()
    finally:
        serving.stop()


@dataclass(frozen=True)
class Sftp:
    """A directory behind SFTP. `home` has the key of the user, and `known_hosts` that of the host."""

    directory: Path
    home: Path
    known_hosts: Path
    port: int

    def put(self, name: str, data: bytes) -> str:
        """The address of a file with these bytes."""
        (self.directory / name).write_bytes(data)
        return f"sftp://lists@127.0.0.1:{self.port}/{name}"


@contextmanager
def sftp(directory: Path) -> Iterator[Sftp]:
    """A server of SFTP. Skips the test where the extra sftp is missing."""
    asyncssh = pytest.importorskip("asyncssh", reason="the extra sftp is not installed")
    host_key, user_key = (asyncssh.generate_private_key("ssh-ed25519") for _ in range(2))
    (directory / "home" / ".ssh").mkdir(parents=True)
    (directory / "served").mkdir()
    user_key.write_private_key(str(directory / "home" / ".ssh" / "id_ed25519"))
    authorized = asyncssh.import_authorized_keys(user_key.export_public_key().decode())
    started, end = Future[int](), Future[None]()

    async def serve() -> None:
        server = await asyncssh.listen(
            "127.0.0.1", 0, server_host_keys=[host_key], authorized_client_keys=authorized,
            sftp_factory=lambda channel: asyncssh.SFTPServer(channel, chroot=str(directory / "served").encode()),
        )  # fmt: skip
        async with server:
            started.set_result(server.get_port())
            await asyncio.wrap_future(end)

    thread = threading.Thread(target=lambda: asyncio.run(serve()), daemon=True)
    thread.start()
    port = started.result(PATIENCE_SECONDS)
    known_hosts = directory / "known_hosts"
    known_hosts.write_text(f"[127.0.0.1]:{port} {host_key.export_public_key().decode()}")
    try:
        yield Sftp(directory / "served", directory / "home", known_hosts, port)
    finally:
        end.set_result(None)
        thread.join()
