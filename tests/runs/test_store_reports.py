"""Reports on disk: whole at every moment, and read only when they are those of their run."""

from __future__ import annotations

import errno
import json
import os
import re
import shutil
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from audiencekit.errors import Bug, InputOutputFailed
from audiencekit.runs.store import RunStore
from audiencekit.state.files import encode_checked
from tests.runs.storedruns import NEW, OLD, REPORT, store

__all__ = ["store"]


def test_report_comes_back(store: RunStore) -> None:
    """A report is read as it was written; a second writing replaces the first and leaves nothing beside it."""
    directory = store.create(NEW)
    store.write(NEW, {"state": "incomplete"})
    store.write(NEW, REPORT)
    assert store.read(NEW) == REPORT
    assert [path.name for path in directory.iterdir()] == ["report.json"]


@pytest.mark.parametrize("content", [b"", b"{", b"[1]", b"null", b'{"state": "complete"', b"\xff\xfe", b"{}x"])
def test_damaged_report_hides_no_other(store: RunStore, content: bytes) -> None:
    """A report that is no JSON object is `unreadable` in the list and a failure when read; nothing of it is quoted."""
    for run_id in (OLD, NEW):
        store.create(run_id)
    store.write(NEW, REPORT)
    (store.directory(OLD) / "report.json").write_bytes(content)
    assert [(run["run_id"], run["state"]) for run in store.list_runs()] == [(NEW, "complete"), (OLD, "unreadable")]
    with pytest.raises(InputOutputFailed, match="is not a report") as caught:
        store.read(OLD)
    assert caught.value.__cause__ is None


def _edited(content: bytes) -> Iterator[bytes]:
    """`content` with each of its digits one more."""
    for place, byte in enumerate(content):
        if chr(byte).isdigit():
            yield content[:place] + b"%d" % ((byte - 47) % 10) + content[place + 1 :]


def test_a_changed_number_is_no_report(store: RunStore) -> None:
    """A flipped bit makes no other count, and a report without its checksum and format is none."""
    path = store.create(NEW) / "report.json"
    store.write(NEW, REPORT)
    assert store.read(NEW) == REPORT
    edited = list(_edited(path.read_bytes()))
    assert len(edited) > 50
    for content in (*edited, json.dumps(REPORT).encode()):
        path.write_bytes(content)
        with pytest.raises(InputOutputFailed, match="damaged, or edited"):
            store.read(NEW)


def test_a_report_in_another_format_is_refused_as_such(store: RunStore) -> None:
    """It is neither damaged nor of another run; it stays as it is, and hides no other run."""
    content = encode_checked(REPORT, "audiencekit-report/2")
    path = store.create(NEW) / "report.json"
    path.write_bytes(content)
    with pytest.raises(
        InputOutputFailed, match="audiencekit-report/2, and this version of audiencekit reads audiencekit-report/1 only"
    ):
        store.read(NEW)
    assert [(run["run_id"], run["state"]) for run in store.list_runs()] == [(NEW, "unreadable")]
    assert path.read_bytes() == content


def test_the_report_of_another_run_is_no_report(store: RunStore) -> None:
    """A file that was restored into the wrong directory tells no counts."""
    first, second = (store.create(f"20261121-013000-0000000{number}").name for number in (1, 2))
    store.write(first, {"run_id": first, "state": "complete"})
    shutil.copy(store.directory(first) / "report.json", store.directory(second))
    with pytest.raises(InputOutputFailed, match="the report of another run"):
        store.read(second)
    assert {run["run_id"]: run["state"] for run in store.list_runs()} == {first: "complete", second: "unreadable"}


def test_run_without_report_says_so(store: RunStore) -> None:
    """Reading a report that was never written fails and names the file."""
    store.create(NEW)
    with pytest.raises(InputOutputFailed, match=re.escape("report.json")):
        store.read(NEW)


@pytest.mark.parametrize("call", ["fsync", "replace", "open"])
@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EIO])
def test_failed_writing_keeps_the_old_report(
    store: RunStore, monkeypatch: pytest.MonkeyPatch, call: str, code: int
) -> None:
    """Whatever step fails, the report is the old one, whole, and no temporary file stays."""
    directory = store.create(NEW)
    store.write(NEW, REPORT)

    def failing(*args: Any, **options: Any) -> Any:
        raise OSError(code, os.strerror(code))

    with monkeypatch.context() as patch:
        patch.setattr(os, call, failing)
        with pytest.raises(InputOutputFailed, match="the report cannot be written"):
            store.write(NEW, {"state": "refused"})
    assert store.read(NEW) == REPORT
    assert [path.name for path in directory.iterdir()] == ["report.json"]


def test_report_is_synced_before_it_is_renamed_and_its_directory_after(
    store: RunStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The order that survives a power loss: content, name, directory."""
    store.create(NEW)
    steps: list[str] = []
    sync, replace = os.fsync, os.replace

    def noting_sync(file: int) -> None:
        steps.append("directory" if stat.S_ISDIR(os.fstat(file).st_mode) else "content")
        sync(file)

    def noting_replace(source: Any, target: Any) -> None:
        steps.append("name")
        replace(source, target)

    monkeypatch.setattr(os, "fsync", noting_sync)
    monkeypatch.setattr(os, "replace", noting_replace)
    store.write(NEW, REPORT)
    assert steps == ["content", "name", "directory"]


def test_report_that_is_no_json_is_a_bug(store: RunStore) -> None:
    """Something that cannot be written, such as a type that must not be shown, is named without its value."""
    store.create(NEW)
    with pytest.raises(Bug, match="not JSON") as caught:
        store.write(NEW, {"state": object()})
    assert caught.value.__cause__ is None


@pytest.mark.parametrize("kind", ["link", "pipe", "directory"])
def test_planted_report_is_not_followed(store: RunStore, tmp_path: Path, kind: str) -> None:
    """A link, pipe or directory in the place of a report is a failure, at once."""
    place = store.create(NEW) / "report.json"
    (tmp_path / "other.json").write_text("{}")
    if kind == "link":
        place.symlink_to(tmp_path / "other.json")
    elif kind == "pipe":
        os.mkfifo(place)
    else:
        place.mkdir()
    with pytest.raises(InputOutputFailed):
        store.read(NEW)
    assert store.list_runs()[0]["state"] == "unreadable"
