"""Bodies on disk, whether it is busy or not."""

from __future__ import annotations

import errno
import re
import threading
from contextlib import closing
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import audiencekit
from audiencekit.destinations.requests import operations
from audiencekit.errors import AudiencekitError, InputOutputFailed
from audiencekit.packedrequest import RequestBody
from audiencekit.planning import bodyfiles
from audiencekit.reporting.progress import NoProgress
from tests.canary.witnesses import frames_of
from tests.moments import PATIENCE_SECONDS, TODAY


@pytest.fixture
def contacts(tmp_path: Path) -> Path:
    """A list that makes several bodies."""
    path = tmp_path / "contacts.csv"
    path.write_text("email\n" + "".join(f"p{number}@example.com\n" for number in range(150_000)))
    return path


def _bodies(contacts: Path, out: Path) -> dict[str, bytes]:
    audiencekit.prepare(contacts, out=out, requests=True, plan_time=TODAY)
    return {path.name: path.read_bytes() for path in sorted((out / "requests").iterdir())}


def test_a_busy_disk_changes_nothing(contacts: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """While it still has the first body, the others go through the cache, each as it would be."""
    quiet = _bodies(contacts, tmp_path / "quiet")
    assert len(quiet) >= 3
    write, others_are_written, seen = bodyfiles.write_file, threading.Event(), []

    def write_slowly(path: Path, content: Any, *, past_cache: bool) -> None:
        if past_cache:
            assert others_are_written.wait(PATIENCE_SECONDS)
        write(path, content, past_cache=past_cache)
        seen.append(past_cache)
        if len(seen) == len(quiet) - 1:
            others_are_written.set()

    monkeypatch.setattr(bodyfiles, "write_file", write_slowly)
    assert _bodies(contacts, tmp_path / "busy") == quiet
    assert seen == [False] * (len(quiet) - 1) + [True]


@pytest.mark.parametrize("failing", [True, False])
def test_a_body_that_cannot_be_written(
    contacts: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, failing: bool
) -> None:
    """The one that the disk fetches, or one that goes through the cache: nothing is left."""
    write, failed = bodyfiles.write_file, threading.Event()

    def fail(path: Path, content: Any, *, past_cache: bool) -> None:
        if past_cache is failing:
            failed.set()
            raise OSError(errno.ENOSPC, "No space left on device")
        if past_cache:
            assert failed.wait(PATIENCE_SECONDS)
        write(path, content, past_cache=past_cache)

    monkeypatch.setattr(bodyfiles, "write_file", fail)
    with pytest.raises(InputOutputFailed, match="No space left"):
        audiencekit.prepare(contacts, out=tmp_path / "out", requests=True)
    assert list((tmp_path / "out").iterdir()) == []


@pytest.mark.parametrize("failing", ["write_file", "write_operations"])
def test_no_frame_shows_a_body(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, failing: str) -> None:
    """Neither of a body that cannot be written, nor of one that is made to its half."""
    contacts = tmp_path / "contacts.csv"
    contacts.write_text("email,verb\np1@example.com,update\np2@example.com,delete\n")
    module: Any = {"write_file": bodyfiles, "write_operations": operations}[failing]
    work, calls = getattr(module, failing), iter(range(10))

    def fail(*args: Any, **keywords: Any) -> Any:
        if next(calls) == (0 if failing == "write_file" else 1):
            raise OSError(errno.ENOSPC, "No space left on device")
        return work(*args, **keywords)

    monkeypatch.setattr(module, failing, fail)
    with pytest.raises(AudiencekitError) as caught:
        audiencekit.prepare(contacts, out=tmp_path / "out", requests=True, operation_column="verb")
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

    monkeypatch.setattr(bodyfiles, "write_file", write_slowly)
    monkeypatch.setattr(bodyfiles, "pack_request", lambda *_: SimpleNamespace(body=RequestBody(b"[]")))
    requests = [SimpleNamespace(number=number, body_bytes=2) for number in (1, 2)]
    planned: Any = SimpleNamespace(requests=requests, users_of=None, form=None)
    with closing(bodyfiles.write_bodies(tmp_path / "requests", planned, NoProgress())) as bodies:
        next(bodies)
        assert written == []
        leaving.set()
    assert written == ["000001.json"]
