"""A prepared directory as a source, on a disk and in a bucket: the same people, and nothing of one that is cut."""

from __future__ import annotations

import gc
import json
import shutil
import tracemalloc
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from audiencekit.audiences.do_not_reach import do_not_reach_upload_async
from audiencekit.audiences.overlap import overlap
from audiencekit.audiences.sync.sync import sync_async
from audiencekit.emulator import Emulator
from audiencekit.errors import SourceRefused
from audiencekit.pipeline import check, prepare, upload_async
from audiencekit.settings import Settings
from audiencekit.sources.files import parts_of
from audiencekit.sources.options import SourceOptions
from audiencekit.sources.remote import buckets
from audiencekit.sources.remote.addresses import SourceAddress
from audiencekit.sources.remote.remote_file import Version
from audiencekit.sources.source import open_source
from benchmarks.places import write_place
from tests.audiences.members import members_of
from tests.crashes.killing import Driver
from tests.forms.servers import BUCKET, Bucket, s3
from tests.moments import TODAY
from tests.runs.begun import requests_received

ROWS, PART_ROWS = 200, 40
SAMPLES = Path(__file__).resolve().parents[2] / "samples"
Contents = dict[str, bytes]
Lay = Callable[[Contents], str]
DISK_AND_BUCKET = ["disk", pytest.param("bucket", marks=pytest.mark.services)]


@pytest.fixture(scope="module")
def bucket() -> Iterator[Bucket]:
    """A bucket of S3."""
    with s3() as bucket:
        yield bucket


@pytest.fixture
def in_bucket(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Lay:
    """Puts files into the bucket, in place of those that were there, and gives the address of their directory."""
    there: Bucket = request.getfixturevalue("bucket")
    for name in ("AWS_ENDPOINT_URL", "AWS_PROFILE", "AWS_SESSION_TOKEN"):
        monkeypatch.delenv(name, raising=False)
    for name, text in {**there.env, "HOME": str(tmp_path), "AWS_EC2_METADATA_DISABLED": "true"}.items():
        monkeypatch.setenv(name, text)

    def lay(contents: Contents) -> str:
        pages = there.client.get_paginator("list_objects_v2").paginate(Bucket=BUCKET)
        for key in [entry["Key"] for page in pages for entry in page.get("Contents", [])]:
            there.client.delete_object(Bucket=BUCKET, Key=key)
        for name, data in contents.items():
            there.put(f"lists/{name}", data)
        return f"s3://{BUCKET}/lists/"

    return lay


@pytest.fixture
def lay(request: pytest.FixtureRequest, tmp_path: Path) -> Lay:
    """Puts files where the parameter says, in place of those that were there, and gives the path or the address."""
    if request.param == "bucket":
        found: Lay = request.getfixturevalue("in_bucket")
        return found

    def lay(contents: Contents) -> str:
        shutil.rmtree(tmp_path / "laid", ignore_errors=True)
        for name, data in contents.items():
            (tmp_path / "laid" / name).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / "laid" / name).write_bytes(data)
        return str(tmp_path / "laid")

    return lay


def _contents(directory: Path) -> Contents:
    return {
        path.relative_to(directory).as_posix(): path.read_bytes() for path in directory.rglob("*") if path.is_file()
    }


def _place(tmp_path: Path, *, rows: int = ROWS, part_rows: int = PART_ROWS, seed: int = 1) -> Contents:
    """The files of a Spark job."""
    write_place(tmp_path / f"place-{seed}", rows, part_rows=part_rows, seed=seed)
    return _contents(tmp_path / f"place-{seed}")


def _prepared(tmp_path: Path) -> Contents:
    """The files of `prepare`."""
    prepare(SAMPLES / "contacts.csv", out=tmp_path / "prepared")
    return _contents(tmp_path / "prepared")


def _people(contents: Contents, tmp_path: Path) -> set[tuple[str, str]]:
    """The digests in the parts, as Arrow reads them."""
    found = set()
    for name in [name for name in contents if name.endswith(".parquet")]:
        (tmp_path / "part").write_bytes(contents[name])
        table = pq.read_table(tmp_path / "part", columns=["email", "phone_number"])
        found |= {(row["email"].hex(), row["phone_number"].hex()) for row in table.to_pylist()}
    return found


def _of_members(members: list[dict[str, Any]]) -> set[tuple[str, str]]:
    return {(*member["keys"]["email"], *member["keys"]["phone_number"]) for member in members}


@pytest.mark.parametrize("lay", DISK_AND_BUCKET, indirect=True)
@pytest.mark.parametrize("make", [_place, _prepared])
def test_the_requests_are_those_of_the_files(lay: Lay, tmp_path: Path, make: Callable[[Path], Contents]) -> None:
    """Byte for byte, as from the files given one by one, and every part is told in the report."""
    contents = make(tmp_path)
    parts = [name for name in sorted(contents) if name.endswith(".parquet")]
    (tmp_path / "parts").mkdir()
    for name in parts:
        (tmp_path / "parts" / Path(name).name).write_bytes(contents[name])
    files: list[Any] = sorted((tmp_path / "parts").iterdir())
    prepare(files, out=tmp_path / "alone", requests=True, plan_time=TODAY)
    plan = prepare(lay(contents), out=tmp_path / "there", requests=True, plan_time=TODAY)
    assert _contents(tmp_path / "there/requests") == _contents(tmp_path / "alone/requests")
    assert [source["name"] for source in plan.to_json()["sources"]] == [Path(name).name for name in parts]


@pytest.mark.parametrize("lay", DISK_AND_BUCKET, indirect=True)
async def test_every_command_takes_the_directory(
    lay: Lay, tmp_path: Path, emulator: Emulator, settings: Settings
) -> None:
    """An audience, a do-not-reach list, a sync and an overlap of all its people, and no other."""
    contents = _place(tmp_path)
    source, people = lay(contents), _people(contents, tmp_path)
    assert len(people) == ROWS
    assert check(source, settings=settings).rows.pending == ROWS
    write_place(tmp_path / "half", ROWS // 2, part_rows=PART_ROWS)
    found = overlap(source, tmp_path / "half", settings=settings).to_json()
    assert [found["lists"][place]["people"] for place in (0, 1)] == [ROWS, ROWS // 2]
    for send in (sync_async, upload_async):
        report = await send(source, audience=emulator.audience_id, settings=settings)
        assert (report.state, report.rows.sent) == ("complete", ROWS)
        assert _of_members(await members_of(emulator, emulator.audience_id)) == people
    report = await do_not_reach_upload_async(source, settings=settings)
    assert report.rows.sent == ROWS


def _flipped(data: bytes) -> bytes:
    """The same size, another person: a byte within the digests, which nothing in the file checks."""
    return data[: len(data) // 2] + bytes([data[len(data) // 2] ^ 1]) + data[len(data) // 2 + 1 :]


PART = "records/part-00002-invented.c000.snappy.parquet"
MANIFEST = "manifest/part-00000-invented.txt"
FAULTS: list[tuple[Any, Callable[[Contents], Any], str]] = [
    (_place, lambda files: files.update({PART: files[PART][:-1]}), r"part-00002.*and the manifest says"),
    (_place, lambda files: files.update({PART: files[PART] + b"x"}), r"part-00002.*and the manifest says"),
    (_place, lambda files: files.update({PART: _flipped(files[PART])}), r"part-00002.*other bytes than the manifest"),
    (_place, lambda files: files.pop(PART), r"part-00002.*the manifest names it, and it is not there"),
    (_place, lambda files: files.update({"records/part-9.parquet": files[PART]}), r"part-9.parquet: the manifest does"),
    (_place, lambda files: files.update({"records/people.csv": b"x"}), r"people.csv: the manifest does not name it"),
    (_place, lambda files: files.pop(MANIFEST), "no whole manifest, which a Spark job writes last"),
    (_place, lambda files: files.update({MANIFEST: files[MANIFEST][:-9]}), "no whole manifest"),
    (_place, lambda files: files.update({f"{MANIFEST}.txt": files[MANIFEST]}), "no whole manifest"),
    (_place, lambda files: files.update({"manifest/_temporary/0/x": b""}), "no whole manifest"),
    (_place, lambda files: files.update({MANIFEST: files[MANIFEST].replace(b"spark/1", b"spark/2")}), "another format"),
    (_prepared, lambda files: files.update({"records.parquet": files["records.parquet"][:-1]}), r"records.*says"),
    (_prepared, lambda files: files.update({"more.parquet": files["records.parquet"]}), "more.parquet: the manifest"),
    (_prepared, lambda files: files.pop("records.parquet"), "records.parquet: the manifest names it"),
    (_prepared, lambda files: files.pop("manifest.json"), "records.parquet: its directory has no whole manifest"),
    (_prepared, lambda files: files.update({"manifest.json": files["manifest.json"][:-9]}), "has no whole manifest"),
]


@pytest.mark.parametrize("lay", DISK_AND_BUCKET, indirect=True)
def test_a_directory_that_is_not_that_of_its_manifest_is_refused(lay: Lay, tmp_path: Path) -> None:
    """Whatever differs: the message names the file, and no row of the others is taken."""
    made = {make: make(tmp_path) for make in (_place, _prepared)}
    for make, change, message in FAULTS:
        contents = dict(made[make])
        assert check(lay(contents)).rows.read
        change(contents)
        with pytest.raises(SourceRefused, match=message) as caught:
            check(lay(contents))
        assert caught.value.hint
        with pytest.raises(SourceRefused, match=message):  # nor as a table of other columns
            check(lay(contents), hashed=["email"], columns={"email": "email"})


def test_parts_without_their_manifest_are_refused(tmp_path: Path) -> None:
    """The records of a Spark job are known by a mark in each part, under whatever name their directory is."""
    write_place(tmp_path / "place", ROWS, part_rows=PART_ROWS)
    shutil.copytree(tmp_path / "place/records", tmp_path / "elsewhere")
    for directory in ("place/records", "elsewhere"):
        with pytest.raises(SourceRefused, match="has no whole manifest") as caught:
            check(tmp_path / directory)
        assert "the directory above" in caught.value.hint
    assert check(sorted((tmp_path / "elsewhere").glob("*.parquet"))).rows.read == ROWS  # files that are meant


def test_the_manifest_of_another_program_is_no_manifest(tmp_path: Path) -> None:
    """Its directory is what its Parquet files are."""
    write_place(tmp_path / "place", ROWS)
    (part,) = (tmp_path / "place/records").glob("*.parquet")
    (tmp_path / "others").mkdir()
    pq.write_table(pq.read_table(part).replace_schema_metadata(None), tmp_path / "others/part.parquet")
    (tmp_path / "others/manifest.json").write_text(json.dumps({"files": ["part.parquet"]}))
    assert check(tmp_path / "others").rows.read == ROWS


@pytest.mark.services
def test_a_listing_of_many_pages(in_bucket: Lay, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Parts of all pages are read; the empty object that some programs write for a directory is no part."""
    contents = _place(tmp_path, rows=50, part_rows=2)
    monkeypatch.setenv("MOTO_S3_DEFAULT_MAX_KEYS", "3")
    source = in_bucket({**contents, "": b"", "records/": b"", "manifest/": b""})
    assert len(parts_of(source)) == 25
    assert check(source).rows.read == 50


class FakeBucket:
    """Objects as files of a directory; `pieces` are all that were read, of which those that were dropped are empty."""

    def __init__(self, root: Path) -> None:
        self.root, self.pieces, self.opened = root, list[bytearray](), 0
        self.most_held = 0

    def open(self, _: SourceAddress) -> FakeBucket:
        """The bucket, as `open_bucket` gives it."""
        self.opened += 1
        return self

    def names(self, directory: SourceAddress) -> list[str]:
        """The names in a directory."""
        return [path.name for path in (self.root / directory.path).iterdir()]


class FakeConnection:
    """The object `key` of a bucket."""

    def __init__(self, bucket: FakeBucket, key: str) -> None:
        self._bucket, self._path = bucket, bucket.root / key

    async def __aenter__(self) -> FakeConnection:
        return self

    async def __aexit__(self, *_: object) -> None:
        pass

    async def look(self) -> Version:
        return Version(self._path.stat().st_size, "1")

    async def read(self, offset: int, length: int, version: Version, into: bytearray) -> None:
        into += self._path.read_bytes()[offset : offset + length]
        self._bucket.pieces.append(into)
        self._bucket.most_held = max(self._bucket.most_held, sum(map(len, self._bucket.pieces)))


def test_memory_does_not_grow_with_the_parts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Pieces of one part are held at once, a few beginnings, no sample; and one connection is for all parts."""
    write_place(tmp_path / "place", 60_000, part_rows=2_000)
    part_bytes = max(path.stat().st_size for path in (tmp_path / "place/records").iterdir())
    bucket = FakeBucket(tmp_path)
    monkeypatch.setattr(buckets, "open_bucket", bucket.open)
    monkeypatch.setattr(buckets, "names_in_bucket", bucket.names)
    monkeypatch.setattr(buckets, "BucketConnection", FakeConnection)
    open_source("s3://bucket/place/", SourceOptions())  # what a process makes once
    gc.collect()
    tracemalloc.start()
    try:
        opened = open_source("s3://bucket/place/", SourceOptions())
        most = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert sum(batch.columns.unwrap().num_rows for batch in opened.batches()) == 60_000
    assert len(opened.parts) == 30
    assert bucket.most_held <= 2 * part_bytes
    assert most < 16 * part_bytes
    assert bucket.opened == 4  # for the manifest and for the parts, twice


@pytest.mark.services
async def test_a_killed_upload_goes_on_from_the_bucket(
    in_bucket: Lay, tmp_path: Path, emulator: Emulator, driver: Driver
) -> None:
    """It reads the directory again: with another list in its place it sends nothing, with its own the rest."""
    contents, others = _place(tmp_path), _place(tmp_path, seed=2)
    env = {**emulator.env, "AUDIENCEKIT_STATE_DIR": str(tmp_path / "state"), "AUDIENCEKIT_CONCURRENCY": "1"}
    command = ["upload", in_bucket(contents), "--audience", emulator.audience_id]
    killed = await driver.run(tmp_path, env, *command, kill={"point": "after acknowledgement", "nth": 2})
    assert killed.code == -9
    before = requests_received(emulator)
    assert 0 < before < ROWS / 5
    in_bucket(others)
    refused = await driver.run(tmp_path, env, "resume", "last")
    assert (refused.code, requests_received(emulator)) == (3, before), refused.err
    in_bucket(contents)
    resumed = await driver.run(tmp_path, env, "resume", "last")
    assert resumed.code == 0, resumed.err
    assert _of_members(await members_of(emulator, emulator.audience_id)) == _people(contents, tmp_path)
