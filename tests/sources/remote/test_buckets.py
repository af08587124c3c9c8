"""Buckets: against moto's server, which is S3 for what is read here, and against a server that is hostile."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from audiencekit.errors import AudiencekitError, InputOutputFailed, SourceRefused, UsageError
from audiencekit.sources.bytes.files import RawFile
from audiencekit.sources.files import parts_of
from audiencekit.sources.remote.addresses import SourceAddress, open_address
from audiencekit.sources.remote.remote_file import Patience
from tests.cases import each_case
from tests.moments import PATIENCE_SECONDS
from tests.ports import kept_port
from tests.sources.remote.reading import LARGE, PIECE_BYTES, read_whole
from tests.sources.remote.webserver import Manner, serving

pytest.importorskip("obstore", reason="obstore is not installed")
pytestmark = pytest.mark.usefixtures("small_pieces")
BUCKET = "exports"
NO_ADDRESS = {"AWS_ENDPOINT_URL", "AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT", "AWS_PROFILE", "AWS_SESSION_TOKEN"}


@pytest.fixture(scope="module")
def endpoint() -> Iterator[str]:
    """The address of moto's server."""
    if importlib.util.find_spec("moto") is None or importlib.util.find_spec("flask") is None:
        pytest.skip("moto's server is not installed")
    with kept_port() as port:
        command = [sys.executable, "-W", "ignore", "-m", "moto.server", "-H", "127.0.0.1", "-p", str(port)]
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        url = f"http://127.0.0.1:{port}"
        try:
            _wait_for(url, process)
            yield url
        finally:
            process.kill()
            process.wait()


def _wait_for(url: str, process: subprocess.Popen[bytes]) -> None:
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    end = time.monotonic() + PATIENCE_SECONDS
    while True:
        try:
            opener.open(url, timeout=PATIENCE_SECONDS).close()
            return
        except OSError:
            assert process.poll() is None, "moto's server ended"
            assert time.monotonic() < end, "moto's server does not answer"
            time.sleep(0.1)


@pytest.fixture
def environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> pytest.MonkeyPatch:
    """An environment with invented credentials, and none of the machine's own."""
    for name in NO_ADDRESS:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    monkeypatch.setenv("AWS_REGION", "us-east-1")
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "invented")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "invented-secret")
    return monkeypatch


@pytest.fixture
def s3(endpoint: str, environment: pytest.MonkeyPatch) -> Any:
    """A client of S3, with an empty bucket."""
    import boto3

    environment.setenv("AWS_ENDPOINT_URL", endpoint)
    urllib.request.build_opener(urllib.request.ProxyHandler({})).open(
        urllib.request.Request(f"{endpoint}/moto-api/reset", method="POST")
    ).close()
    client = boto3.client("s3", endpoint_url=endpoint, region_name="us-east-1")
    client.create_bucket(Bucket=BUCKET)
    return client


@pytest.fixture
def opened(patience: Patience) -> Callable[[str], RawFile]:
    """The file with a key."""
    return lambda key: open_address(SourceAddress.read(f"s3://{BUCKET}/{key}"), patience)


Open = Callable[[str], RawFile]


@pytest.mark.services
@each_case("key", ["people.csv", "a/b c/päople+?#.csv", "a%20b.csv"])
def test_an_object_is_read_in_pieces(s3: Any, opened: Open, key: str) -> None:
    """Whatever signs its key has."""
    s3.put_object(Bucket=BUCKET, Key=key, Body=LARGE)
    file = opened(key)
    assert (file.seekable, file.repeatable, file.size_bytes) == (True, True, len(LARGE))
    assert read_whole(file) == LARGE


@pytest.mark.services
def test_an_empty_object(s3: Any, opened: Open) -> None:
    """It has no pieces."""
    s3.put_object(Bucket=BUCKET, Key="empty.csv", Body=b"")
    assert read_whole(opened("empty.csv")) == b""


@pytest.mark.services
@pytest.mark.parametrize("versioned", [False, True])
@pytest.mark.parametrize("when", ["before", "after"])
def test_an_object_that_is_overwritten(s3: Any, opened: Open, versioned: bool, when: str) -> None:
    """Before its last piece and after it, with the same size; in a bucket that keeps versions, too."""
    if versioned:
        s3.put_bucket_versioning(Bucket=BUCKET, VersioningConfiguration={"Status": "Enabled"})
    s3.put_object(Bucket=BUCKET, Key="people.csv", Body=LARGE)
    file = opened("people.csv")
    with closing(file.open()) as handle:
        if when == "after":
            assert handle.read() == LARGE
        s3.put_object(Bucket=BUCKET, Key="people.csv", Body=LARGE.swapcase())
        with pytest.raises(SourceRefused, match="changed"):
            file.check_unchanged(handle) if when == "after" else handle.read()


@pytest.mark.services
def test_an_object_that_is_removed(s3: Any, opened: Open) -> None:
    """It cannot be read on; and there is none any more."""
    s3.put_object(Bucket=BUCKET, Key="people.csv", Body=LARGE)
    file = opened("people.csv")
    s3.delete_object(Bucket=BUCKET, Key="people.csv")
    with pytest.raises(AudiencekitError):
        read_whole(file)
    with pytest.raises(SourceRefused, match="no such file"):
        opened("people.csv")


@pytest.mark.services
def test_directories_and_stars(s3: Any) -> None:
    """A directory is its Parquet files, a star whatever fits; neither looks into what lies below."""
    for key in ("d/b.parquet", "d/a.parquet", "d/_SUCCESS", "e/a.csv", "e/b.csv", "e/c.txt", "e/f/g.csv", "top.csv"):
        s3.put_object(Bucket=BUCKET, Key=key, Body=b"x")
    at = f"s3://{BUCKET}"
    assert [part.path for part in parts_of(f"{at}/d/")] == [f"{at}/d/a.parquet", f"{at}/d/b.parquet"]
    assert [part.path for part in parts_of(f"{at}/e/*.csv")] == [f"{at}/e/a.csv", f"{at}/e/b.csv"]
    assert [part.path for part in parts_of(f"{at}/*.csv")] == [f"{at}/top.csv"]
    for wrong, why in (("e/", "without Parquet"), ("e/*.zip", "no file with such a name"), ("*/a.csv", "last part")):
        with pytest.raises(SourceRefused, match=why):
            parts_of(f"{at}/{wrong}")


@pytest.mark.services
def test_a_bucket_that_is_not_there(s3: Any) -> None:
    """For a file, and for a list of files."""
    with pytest.raises(AudiencekitError, match="no such file"):
        open_address(SourceAddress.read("s3://elsewhere/people.csv"))
    with pytest.raises(AudiencekitError):
        parts_of("s3://elsewhere/")


@pytest.mark.services
def test_credentials_of_a_profile(s3: Any, environment: pytest.MonkeyPatch, opened: Open, tmp_path: Path) -> None:
    """As the command line of AWS keeps them."""
    s3.put_object(Bucket=BUCKET, Key="people.csv", Body=b"email\n")
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        environment.delenv(name)
    with pytest.raises(InputOutputFailed, match="no credentials"):
        opened("people.csv")
    (tmp_path / ".aws").mkdir()
    lines = "[of-the-test]\naws_access_key_id = invented\naws_secret_access_key = invented-secret\n"
    (tmp_path / ".aws" / "credentials").write_text(lines)
    environment.setenv("AWS_PROFILE", "of-the-test")
    assert read_whole(opened("people.csv")) == b"email\n"


# --- a server that stands in the place of a cloud ---

CLOUDS = {
    "s3": lambda url: {"AWS_ENDPOINT_URL": url},
    "gs": lambda url: {"GOOGLE_BASE_URL": url, "GOOGLE_SKIP_SIGNATURE": "true"},
    "az": lambda url: {
        "AZURE_STORAGE_ENDPOINT": url,
        "AZURE_STORAGE_ACCOUNT_NAME": "invented",
        "AZURE_SKIP_SIGNATURE": "true",
    },
}
ADDRESS = "lists/people.csv"  # as in the path of the server


@pytest.fixture(params=CLOUDS)
def cloud(
    request: pytest.FixtureRequest, environment: pytest.MonkeyPatch, patience: Patience
) -> Callable[..., RawFile]:
    """The list of a server that stands in the place of each cloud."""

    def opened(server: Any) -> RawFile:
        for name, value in CLOUDS[request.param](server.url.removesuffix("/lists/people.csv")).items():
            environment.setenv(name, value)
        return open_address(SourceAddress.read(f"{request.param}://{ADDRESS}"), patience)

    return opened


def test_each_cloud_is_read_in_pieces(cloud: Callable[..., RawFile]) -> None:
    """Under the ETag that was seen first."""
    with serving(Manner(body=LARGE)) as server:
        assert read_whole(cloud(server)) == LARGE
        parts = [headers for _, headers in server.manner.requests if "range" in headers]
        assert {headers["if-match"] for headers in parts} == {server.manner.etag}
        assert len(parts) >= len(LARGE) // PIECE_BYTES


@each_case("fault", ["cut", "busy"])
def test_a_reading_goes_on_where_it_was_cut(cloud: Callable[..., RawFile], fault: str) -> None:
    """Of the same version."""
    with serving(Manner(body=LARGE)) as server:
        file = cloud(server)
        setattr(server.manner, fault, 2)
        assert read_whole(file) == LARGE


@each_case(
    "wrong, why",
    [
        ({"tag": '"other"'}, "changed"),
        ({"tag": '"other"', "ignores_match": True}, "changed"),
        ({"body": LARGE.swapcase()}, "changed"),
        ({"ranges": False}, "gives no parts|changed|not reached"),
        ({"other_range": True}, "not reached|changed"),
        ({"excess": b"ann@example.com\n"}, "more bytes|not reached"),
        ({"status": 404}, "no such file"),
        ({"status": 403}, "does not allow"),
        ({"status": 500}, "not reached"),
    ],
)
def test_another_file_in_the_middle(cloud: Callable[..., RawFile], wrong: dict[str, object], why: str) -> None:
    """Nothing of it is taken for a part of the first."""
    with serving(Manner(body=LARGE)) as server:
        file = cloud(server)
        for name, value in wrong.items():
            setattr(server.manner, name, value)
        with pytest.raises(AudiencekitError, match=why):
            read_whole(file)


def test_redirects_reach_no_other_host(cloud: Callable[..., RawFile]) -> None:
    """obstore follows them: to a proxy that is not there. No signature is shown to another host."""
    with serving(Manner(body=LARGE)) as other, serving(Manner(body=LARGE)) as server:
        server.manner.status = 307
        server.manner.location = other.url.replace("127.0.0.1", "localhost")
        with pytest.raises(InputOutputFailed, match="sent to another host"):
            cloud(server)
        assert other.manner.requests == []


def test_an_object_without_an_etag(cloud: Callable[..., RawFile]) -> None:
    """A change of it could not be seen."""
    with serving(Manner(body=LARGE, tag=None)) as server, pytest.raises(AudiencekitError):
        cloud(server)


@each_case(
    "scheme, variable", [("s3", "AWS_ENDPOINT_URL"), ("gs", "GOOGLE_BASE_URL"), ("az", "AZURE_STORAGE_ENDPOINT")]
)
def test_an_endpoint_in_plain_http(environment: pytest.MonkeyPatch, scheme: str, variable: str) -> None:
    """It is for loopback only, whatever other variables allow."""
    environment.setenv(variable, "http://minio.example.com")
    environment.setenv("AWS_ALLOW_HTTP", "true")
    with pytest.raises(UsageError, match=f"{variable} names http"):
        open_address(SourceAddress.read(f"{scheme}://{ADDRESS}"))


def test_proxies_of_other_programs_are_not_heeded(
    cloud: Callable[..., RawFile], environment: pytest.MonkeyPatch
) -> None:
    """They may have been set for another purpose."""
    for name in ("HTTP_PROXY", "http_proxy", "HTTPS_PROXY", "ALL_PROXY"):
        environment.setenv(name, "http://127.0.0.1:2")
    with serving(Manner(body=LARGE)) as server:
        assert cloud(server).size_bytes == len(LARGE)


def test_a_missing_package_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """With what installs it."""
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(UsageError, match="obstore") as caught:
        open_address(SourceAddress.read("s3://exports/people.csv"))
    assert "pip install '.[cloud]'" in caught.value.hint
