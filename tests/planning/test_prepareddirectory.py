"""Records and bodies are written side by side: when one of the two fails, the other ends, too."""

from __future__ import annotations

import errno
import io
import signal
import threading
from collections.abc import Iterator
from pathlib import Path
from threading import Event
from typing import Any

import pyarrow.parquet as pq
import pytest

import audiencekit
from audiencekit.errors import InputOutputFailed
from audiencekit.planning import prepareddirectory as prepared, recordsfile
from tests.moments import PATIENCE_SECONDS


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

    monkeypatch.setattr(recordsfile, "open_new", lambda path: FullDisk())
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

    def write_beside_another(path: Path, planned: Any, halted: Event) -> None:
        with pytest.raises(InputOutputFailed, match="another `prepare` is writing"):
            audiencekit.prepare(contacts, out=out)
        write(path, planned, halted)

    monkeypatch.setattr(prepared, "write_records", write_beside_another)
    audiencekit.prepare(contacts, out=out)
    assert {path.name for path in out.iterdir()} == {"manifest.json", "records.parquet", "rejections.csv"}
