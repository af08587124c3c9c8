"""A server of Azure's blobs on a free port, for tests: Azurite, of npm. It keeps all in memory."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import IO, Any

import pytest

CONTAINER = "exports"
# Those of Azurite, which are in its documentation, and of no account.
ACCOUNT = "devstoreaccount1"
ACCOUNT_KEY = "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw=="


@dataclass(frozen=True)
class Container:
    """A container of blobs, by Azure's own client. `url` is that of the server."""

    url: str
    client: Any

    @property
    def env(self) -> dict[str, str]:
        """Return the environment that leads to it."""
        return {
            "AZURE_STORAGE_ENDPOINT": f"{self.url}/{ACCOUNT}",
            "AZURE_STORAGE_ACCOUNT_NAME": ACCOUNT,
            "AZURE_STORAGE_ACCOUNT_KEY": ACCOUNT_KEY,
        }

    def put(self, name: str, data: bytes) -> str:
        """The address of a blob with these bytes."""
        self.client.upload_blob(name, data, overwrite=True)
        return f"az://{CONTAINER}/{name}"


@contextmanager
def azurite() -> Iterator[Container]:
    """An empty container. Skips the test where Azurite, its client or the extra cloud is missing."""
    pytest.importorskip("obstore", reason="the extra cloud is not installed")
    blobs = pytest.importorskip("azure.storage.blob", reason="azure-storage-blob is not installed")
    program = shutil.which(os.environ.get("AZURITE", "azurite-blob"))
    if program is None:
        pytest.skip("AZURITE names no azurite-blob, and there is none in the search path")
    command = [program, "--blobHost", "127.0.0.1", "--blobPort", "0", "--inMemoryPersistence", "--silent"]
    with (
        tempfile.TemporaryDirectory() as directory,
        subprocess.Popen(
            [*command, "--skipApiVersionCheck", "--disableTelemetry"],
            cwd=directory, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
        ) as process,
    ):  # fmt: skip
        try:
            assert process.stdout is not None
            url = _announced(process.stdout)
            key = {"account_name": ACCOUNT, "account_key": ACCOUNT_KEY}
            with blobs.ContainerClient(f"{url}/{ACCOUNT}", CONTAINER, credential=key) as client:
                client.create_container()
                yield Container(url, client)
        finally:
            process.terminate()


def _announced(output: IO[str]) -> str:
    """The address that the server tells when it listens."""
    lines = []
    for line in output:
        if "successfully listens on" in line:
            return line.split()[-1]
        lines.append(line)
    raise AssertionError(f"Azurite ended: {''.join(lines)}")
