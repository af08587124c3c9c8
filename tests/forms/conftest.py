"""Places to write forms to, and an emulator that counts what is sent."""

from __future__ import annotations

import json
import os
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from audiencekit.testing import RunningEmulator, run_emulator
from tests.azurite import Container, azurite
from tests.forms.servers import Bucket, Sftp, s3, sftp
from tests.forms.table import FORMS, Form, Place, each
from tests.gpgkeyring import Keyring, new_keyring
from tests.postgresserver import postgresql


@pytest.fixture(scope="session")
def keyring() -> Iterator[Keyring]:
    """A keyring with the key that lists are encrypted for."""
    with new_keyring() as keyring:
        keyring.make_key("lists")
        yield keyring


@pytest.fixture(scope="session")
def server() -> Iterator[str]:
    """A server of PostgreSQL."""
    with postgresql() as url:
        yield url


@pytest.fixture(scope="session")
def bucket() -> Iterator[Bucket]:
    """A bucket of S3."""
    with s3() as bucket:
        yield bucket


@pytest.fixture(scope="session")
def container() -> Iterator[Container]:
    """A container of Azure."""
    with azurite() as container:
        yield container


@pytest.fixture(scope="session")
def sftp_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Sftp]:
    """A server of SFTP."""
    with sftp(tmp_path_factory.mktemp("sftp")) as server:
        yield server


@pytest.fixture
def place(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Place]:
    """A directory of its own; the environment is what it was when the test has ended."""
    directory = tmp_path / "lists"
    directory.mkdir()
    before = dict(os.environ)
    yield Place(directory, request.getfixturevalue)
    os.environ.clear()
    os.environ.update(before)


@pytest.fixture(params=each(FORMS))
def form(request: pytest.FixtureRequest) -> Form:
    """Each form."""
    found: Form = request.param
    return found


@pytest.fixture(scope="session")
def ads() -> Iterator[RunningEmulator]:
    """An emulator."""
    with run_emulator() as emulator:
        yield emulator


@pytest.fixture
def sent(ads: RunningEmulator) -> Callable[[], int]:
    """How many requests have arrived that change something, since the test began."""

    def count() -> int:
        with urllib.request.urlopen(f"{ads.ads_url}/__requests") as answer:
            requests: list[dict[str, Any]] = json.load(answer)
        return sum(request["method"] != "GET" for request in requests)

    before = count()
    return lambda: count() - before
