"""Records and bodies are written side by side: when one of the two fails, the other ends, too."""

from __future__ import annotations

import errno
import io
import re
import signal
import threading
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from threading import Event
from types import SimpleNamespace
from typing import Any

import pyarrow.parquet as pq
import pytest

import audiencekit
from audiencekit.destinations.requests import operations
from audiencekit.errors import AudiencekitError, InputOutputFailed
from audiencekit.identifiers.kinds import Kind
from audiencekit.packed_request import RequestBody
from audiencekit.planning import prepared
from audiencekit.records.chunks import PREPARED_SCHEMA
from audiencekit.reporting.progress import NoProgress
from audiencekit.sources.manifest import NamedPart
from tests.canary.witnesses import frames_of
from tests.moments import PATIENCE_SECONDS, TODAY

# --- Bodies on disk, whether it is busy or not ---


# --- Records and bodies are written side by side: when one of the two fails, the other ends, too ---


@pytest.fixture
def contacts(tmp_path: Path) -> Path:
    """A list of three people."""
    path = tmp_path / "contacts.csv"
    path.write_text("email\n" + "".join(f"p{number}@example.com\n" for number in range(3)))
    return path


def test_records_end_when_a_body_cannot_be_written(
    contacts: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The error is that of the body, and nothing is left of the directory."""
    seen: list[bool] = []

    def fail(directory: Path, planned: Any, progress: Any) -> Iterator[None]:
        yield
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(prepared, "write_bodies", fail)
    monkeypatch.setattr(
        prepared, "write_records", lambda path, planned, halted: seen.append(halted.wait(PATIENCE_SECONDS))
    )
    with pytest.raises(InputOutputFailed, match="No space left"):
        audiencekit.prepare(contacts, out=tmp_path / "out", requests=True)
    assert seen == [True]
    assert list((tmp_path / "out").iterdir()) == []


def test_bodies_end_when_the_records_cannot_be_written(
    contacts: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """However many there are."""

    def fail(path: Path, planned: Any, halted: Event) -> None:
        raise InputOutputFailed("the records cannot be written")

    def endless(directory: Path, planned: Any, progress: Any) -> Iterator[None]:
        while True:
            yield

    monkeypatch.setattr(prepared, "write_records", fail)
    monkeypatch.setattr(prepared, "write_bodies", endless)
    with pytest.raises(InputOutputFailed, match="the records cannot be written"):
        audiencekit.prepare(contacts, out=tmp_path / "out", requests=True)
    assert list((tmp_path / "out").iterdir()) == []


@pytest.mark.parametrize("requests", [False, True])
def test_records_that_have_no_room(
    contacts: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, requests: bool
) -> None:
    """They are no fault of the program: the file and the reason are told, and nothing is left."""

    class FullDisk(io.BytesIO):
        def write(self, content: Any) -> int:
            raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(prepared, "open_new", lambda path: FullDisk())
    with pytest.raises(InputOutputFailed, match=r"records\.parquet.*No space left"):
        audiencekit.prepare(contacts, out=tmp_path / "out", requests=requests)
    assert list((tmp_path / "out").iterdir()) == []


def test_records_end_when_waiting_for_them_is_interrupted(
    contacts: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All bodies are there by then, and the command would wait for the rest of the records."""
    seen: list[bool] = []
    written = Event()

    def write(path: Path, planned: Any, halted: Event) -> None:
        assert written.wait(PATIENCE_SECONDS)
        for _ in range(int(PATIENCE_SECONDS)):  # one that comes just before the main thread sleeps does not wake it
            signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGINT)
            if halted.wait(1):
                break
        seen.append(halted.is_set())

    def write_none(directory: Path, planned: Any, progress: Any) -> Iterator[None]:
        written.set()
        yield from ()

    monkeypatch.setattr(prepared, "write_records", write)
    monkeypatch.setattr(prepared, "write_bodies", write_none)
    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell may have had it ignored
    try:
        with pytest.raises(KeyboardInterrupt):
            audiencekit.prepare(contacts, out=tmp_path / "out", requests=True)
    finally:
        signal.signal(signal.SIGINT, before)
    assert seen == [True]
    assert list((tmp_path / "out").iterdir()) == []


@pytest.mark.parametrize(("is_halted", "rows"), [(False, 3), (True, 0)])
def test_halted_records_are_left(
    contacts: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, is_halted: bool, rows: int
) -> None:
    """Between two batches."""
    write, halted = prepared.write_records, Event()
    if is_halted:
        halted.set()
    monkeypatch.setattr(prepared, "write_records", lambda path, planned, _: write(path, planned, halted))
    audiencekit.prepare(contacts, out=tmp_path / "out")
    assert pq.read_metadata(tmp_path / "out" / "records.parquet").num_rows == rows


def test_two_do_not_write_to_one_directory(contacts: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The second is told so, and takes nothing from the first; what a killed one left goes."""
    out = tmp_path / "out"
    (out / f"{prepared.STAGING}killed").mkdir(parents=True)
    write = prepared.write_records

    def write_beside_another(path: Path, planned: Any, halted: Event) -> NamedPart:
        with pytest.raises(InputOutputFailed, match="another `prepare` is writing"):
            audiencekit.prepare(contacts, out=out)
        return write(path, planned, halted)

    monkeypatch.setattr(prepared, "write_records", write_beside_another)
    audiencekit.prepare(contacts, out=out)
    assert {path.name for path in out.iterdir()} == {"manifest.json", "records.parquet", "rejections.csv"}


@pytest.fixture
def many_contacts(tmp_path: Path) -> Path:
    """A list that makes several bodies."""
    path = tmp_path / "contacts.csv"
    path.write_text("email\n" + "".join(f"p{number}@example.com\n" for number in range(150_000)))
    return path


def _bodies(many_contacts: Path, out: Path) -> dict[str, bytes]:
    audiencekit.prepare(many_contacts, out=out, requests=True, plan_time=TODAY)
    return {path.name: path.read_bytes() for path in sorted((out / "requests").iterdir())}


def test_a_busy_disk_changes_nothing(many_contacts: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """While it still has the first body, the others go through the cache, each as it would be."""
    quiet = _bodies(many_contacts, tmp_path / "quiet")
    assert len(quiet) >= 3
    write, others_are_written, seen = prepared.write_file, threading.Event(), []

    def write_slowly(path: Path, content: Any, *, past_cache: bool) -> None:
        if past_cache:
            assert others_are_written.wait(PATIENCE_SECONDS)
        write(path, content, past_cache=past_cache)
        seen.append(past_cache)
        if len(seen) == len(quiet) - 1:
            others_are_written.set()

    monkeypatch.setattr(prepared, "write_file", write_slowly)
    assert _bodies(many_contacts, tmp_path / "busy") == quiet
    assert seen == [False] * (len(quiet) - 1) + [True]


@pytest.mark.parametrize("failing", [True, False])
def test_a_body_that_cannot_be_written(
    many_contacts: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, failing: bool
) -> None:
    """The one that the disk fetches, or one that goes through the cache: nothing is left."""
    write, failed = prepared.write_file, threading.Event()

    def fail(path: Path, content: Any, *, past_cache: bool) -> None:
        if past_cache is failing:
            failed.set()
            raise OSError(errno.ENOSPC, "No space left on device")
        if past_cache:
            assert failed.wait(PATIENCE_SECONDS)
        write(path, content, past_cache=past_cache)

    monkeypatch.setattr(prepared, "write_file", fail)
    with pytest.raises(InputOutputFailed, match="No space left"):
        audiencekit.prepare(many_contacts, out=tmp_path / "out", requests=True)
    assert list((tmp_path / "out").iterdir()) == []


@pytest.mark.parametrize("failing", ["write_file", "write_operations"])
def test_no_frame_shows_a_body(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, failing: str) -> None:
    """Neither of a body that cannot be written, nor of one that is made to its half."""
    many_contacts = tmp_path / "contacts.csv"
    many_contacts.write_text("email,verb\np1@example.com,update\np2@example.com,delete\n")
    module: Any = {"write_file": prepared, "write_operations": operations.ENTRY_LOOPS}[failing]
    work, calls = getattr(module, failing), iter(range(10))

    def fail(*args: Any, **keywords: Any) -> Any:
        if next(calls) == (0 if failing == "write_file" else 1):
            raise OSError(errno.ENOSPC, "No space left on device")
        return work(*args, **keywords)

    monkeypatch.setattr(module, failing, fail)
    with pytest.raises(AudiencekitError) as caught:
        audiencekit.prepare(many_contacts, out=tmp_path / "out", requests=True, operation_column="verb")
    frames = frames_of(caught.value).decode()
    assert "write_bodies" in frames or failing == "write_file"
    # An array shows its numbers, which are the characters of the body.
    shown = [bytes(map(int, numbers.split(","))) for numbers in re.findall(r"\[([\s0-9,]+)\]", frames)]
    assert [body for body in shown if b"email" in body] == []


def test_nothing_is_written_any_more_when_it_is_closed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A close waits for the body that the disk has, and the caller may then remove the directory."""
    leaving, written = threading.Event(), []

    def write_slowly(path: Path, content: Any, *, past_cache: bool) -> None:
        assert leaving.wait(PATIENCE_SECONDS)
        written.append(path.name)

    monkeypatch.setattr(prepared, "write_file", write_slowly)
    monkeypatch.setattr(prepared, "pack_request", lambda *_: SimpleNamespace(body=RequestBody(b"[]")))
    requests = [SimpleNamespace(number=number, body_bytes=2) for number in (1, 2)]
    planned: Any = SimpleNamespace(requests=requests, users_of=None, form=None)
    with closing(prepared.write_bodies(tmp_path / "requests", planned, NoProgress())) as bodies:
        next(bodies)
        assert written == []
        leaving.set()
    assert written == ["000001.json"]


# --- records.parquet as others see it ---


def _rows_of_duckdb(path: Path) -> list[dict[str, Any]]:
    # Not with the module: what is imported when tests are collected is kept to the end, and it complains of that.
    import duckdb

    relation = duckdb.sql(f"select * from '{path}'")
    return [dict(zip(relation.columns, row, strict=True)) for row in relation.fetchall()]


READERS = {
    "arrow": lambda path: pq.read_table(path).to_pylist(),
    "duckdb": _rows_of_duckdb,
}


@pytest.fixture
def records(tmp_path: Path) -> Path:
    """Those of people with an address each, half of them with a phone number, and some with a name of the partner's."""
    lines = [
        f"p{number}@example.com,{f'+1415555{2_000 + number}' if number % 2 else ''},{number if number % 3 else ''}"
        for number in range(3_000)
    ]
    path = tmp_path / "contacts.csv"
    path.write_text("\n".join(["email,phone,partner_user_id", *lines, ""]))
    audiencekit.prepare(path, out=tmp_path / "out")
    return tmp_path / "out" / "records.parquet"


@pytest.mark.parametrize("engine", READERS)
def test_every_engine_reads_the_same(records: Path, engine: str) -> None:
    """The hashes of each person, in row order, and null for kinds that no person has."""
    rows = READERS[engine](records)
    assert [row["row"] for row in rows] == list(range(1, 3_001))
    for number in (0, 1, 2, 2_999):
        phone = f"+1415555{2_000 + number}" if number % 2 else None
        assert rows[number] == {
            **dict.fromkeys(PREPARED_SCHEMA.names),
            "row": number + 1,
            "operation": "Update",
            "email": [audiencekit.hash_identifier("email", f"p{number}@example.com")],
            "phone_number": phone and [audiencekit.hash_identifier("phone_number", phone)],
            "partner_user_id": [str(number)] if number % 3 else None,
        }


def test_the_file_is_readable_by_old_readers_and_small(records: Path) -> None:
    """A format that the oldest readers know, no dictionary of hashes, and little more than half of their digits."""
    metadata = pq.read_metadata(records)
    group = metadata.row_group(0)
    columns = {column.path_in_schema.split(".")[0]: column for column in map(group.column, range(group.num_columns))}
    assert list(columns) == PREPARED_SCHEMA.names
    assert {column.compression for column in columns.values()} == {"ZSTD"}
    assert all(set(columns[kind.value].encodings) == {"RLE", "PLAIN"} for kind in Kind)
    assert columns["email"].total_compressed_size < 35 * metadata.num_rows
