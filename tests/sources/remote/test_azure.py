"""Containers of Azure: against Azurite, the emulator of its makers."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from audiencekit.errors import AudiencekitError, InputOutputFailed, SourceRefused, UsageError
from audiencekit.pipeline import check
from audiencekit.settings import Settings
from audiencekit.sources.bytes.files import RawFile
from audiencekit.sources.files import parts_of
from audiencekit.sources.remote.addresses import SourceAddress, open_address
from audiencekit.sources.remote.remote_file import Patience
from tests.azurite import Container, azurite
from tests.sources.remote.reading import LARGE, read_whole
from tests.sources.remote.webserver import Manner, serving

pytestmark = pytest.mark.usefixtures("small_pieces")
Open = Callable[[str], RawFile]


@pytest.fixture(scope="module")
def server() -> Iterator[Container]:
    """A container that all tests of this module put blobs into."""
    with azurite() as container:
        yield container


@pytest.fixture
def container(server: Container, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Container:
    """The container, and an environment that leads to it and to no other."""
    for name in [name for name in os.environ if name.startswith(("AZURE_", "AZURITE_"))]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(tmp_path))
    for name, value in server.env.items():
        monkeypatch.setenv(name, value)
    return server


@pytest.fixture
def opened(patience: Patience) -> Open:
    """The file at an address."""
    return lambda address: open_address(SourceAddress.read(address), patience)


@pytest.mark.services
@pytest.mark.parametrize("key", ["people.csv", "a/b c/päople+?#.csv", "a%20b.csv"])
def test_a_blob_is_read_in_pieces(container: Container, opened: Open, key: str) -> None:
    """Whatever signs its name has."""
    file = opened(container.put(key, LARGE))
    assert (file.seekable, file.repeatable, file.size_bytes) == (True, True, len(LARGE))
    assert read_whole(file) == LARGE


@pytest.mark.services
@pytest.mark.parametrize("when", ["before", "after"])
def test_a_blob_that_is_overwritten(container: Container, opened: Open, when: str) -> None:
    """Before its last piece and after it, with the same size."""
    file = opened(container.put("overwritten.csv", LARGE))
    with closing(file.open()) as handle:
        if when == "after":
            assert handle.read() == LARGE
        container.put("overwritten.csv", LARGE.swapcase())
        with pytest.raises(SourceRefused, match="changed"):
            file.check_unchanged(handle) if when == "after" else handle.read()


@pytest.mark.services
def test_a_blob_that_is_removed(container: Container, opened: Open) -> None:
    """It cannot be read on; and there is none any more."""
    address = container.put("removed.csv", LARGE)
    file = opened(address)
    container.client.delete_blob("removed.csv")
    with pytest.raises(AudiencekitError):
        read_whole(file)
    with pytest.raises(SourceRefused, match="no such file"):
        opened(address)


@pytest.mark.services
def test_a_container_that_is_not_there(container: Container, opened: Open) -> None:
    """For a file, and for a list of files."""
    with pytest.raises(SourceRefused, match="no such file"):
        opened("az://elsewhere/people.csv")
    with pytest.raises(AudiencekitError):
        parts_of("az://elsewhere/")


@pytest.mark.services
def test_a_directory_of_parquet_parts(container: Container, settings: Settings) -> None:
    """All its parts are one list."""
    for number in range(3):
        sink = pa.BufferOutputStream()
        pq.write_table(pa.table({"email": [f"person{number}{one}@example.com" for one in range(50)]}), sink)
        container.put(f"d/part-{number}.parquet", bytes(sink.getvalue()))
    container.put("d/_SUCCESS", b"")
    assert [part.path for part in parts_of("az://exports/d/")] == [
        f"az://exports/d/part-{number}.parquet" for number in range(3)
    ]
    assert check("az://exports/d/", settings=settings).rows.read == 150


@pytest.mark.services
@pytest.mark.parametrize("name", ["AZURE_STORAGE_ACCOUNT_KEY", "AZURE_STORAGE_ACCOUNT_NAME"])
def test_wrong_credentials(container: Container, opened: Open, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    """They are refused, and not quoted."""
    address = container.put("people.csv", b"email\n")
    monkeypatch.setenv(name, "aW52ZW50ZWQ=")
    with pytest.raises(InputOutputFailed, match="does not allow") as caught:
        opened(address)
    assert "aW52ZW50ZWQ" not in f"{caught.value} {caught.value.hint}"


@pytest.mark.services
@pytest.mark.parametrize("true", ["true", "YES"])
@pytest.mark.parametrize("host", ["127.0.0.1", "localhost"])
def test_the_variables_of_the_emulator(
    container: Container, opened: Open, monkeypatch: pytest.MonkeyPatch, host: str, true: str
) -> None:
    """They lead to it without credentials, whatever endpoint is named beside them."""
    address = container.put("people.csv", b"email\n")
    for name in container.env:
        monkeypatch.delenv(name)
    monkeypatch.setenv("AZURE_STORAGE_USE_EMULATOR", true)
    monkeypatch.setenv("AZURE_STORAGE_ENDPOINT", "https://elsewhere.example.com")
    monkeypatch.setenv("AZURITE_BLOB_STORAGE_URL", container.url.replace("127.0.0.1", host))
    assert read_whole(opened(address)) == b"email\n"


def test_an_emulator_in_plain_http(opened: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is for loopback only."""
    monkeypatch.setenv("AZURE_STORAGE_USE_EMULATOR", "1")
    monkeypatch.setenv("AZURITE_BLOB_STORAGE_URL", "http://azurite.example.com:10000")
    with pytest.raises(UsageError, match="AZURITE_BLOB_STORAGE_URL names http"):
        opened("az://exports/people.csv")


@pytest.mark.services
def test_a_host_that_is_not_named_is_not_asked(
    container: Container, opened: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An endpoint that sends elsewhere, with the credentials of the environment, gets nothing from there."""
    with serving(Manner(body=LARGE)) as other, serving(Manner(body=LARGE)) as first:
        first.manner.status = 307
        first.manner.location = other.url.replace("127.0.0.1", "localhost")
        monkeypatch.setenv("AZURE_STORAGE_ENDPOINT", first.url.removesuffix("/lists/people.csv"))
        with pytest.raises(InputOutputFailed, match="sent to another host"):
            opened("az://lists/people.csv")
        assert first.manner.requests
        assert other.manner.requests == []
