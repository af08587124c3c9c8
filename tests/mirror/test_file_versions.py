"""A file is known only while it has the content that was read of it."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings, strategies as st

from audiencekit.mirror.file_versions import FileVersions
from tests.examples import examples

CHANGES = {
    "in place": lambda path: path.write_bytes(b"two"),
    "replaced": lambda path: _replace(path, b"two"),
    "replaced by the same": lambda path: _replace(path, b"one"),
    "longer": lambda path: path.write_bytes(b"longer"),
    "removed": lambda path: path.unlink(),
}


def _replace(path: Path, content: bytes) -> None:
    path.with_suffix(".new").write_bytes(content)
    path.with_suffix(".new").replace(path)


def _later(versions: FileVersions, path: Path) -> int:
    """A time at which the clock of the file system has passed the last change of a file."""
    while (now := versions.now()) <= path.stat().st_ctime_ns:
        pass
    return now


@pytest.mark.parametrize("name", CHANGES)
def test_a_changed_file_is_not_known(tmp_path: Path, name: str) -> None:
    """Also one whose time of change was put back."""
    versions, path = FileVersions(tmp_path), tmp_path / "file"
    path.write_bytes(b"one")
    times = path.stat()
    with versions.reading("file", _later(versions, path)):
        path.read_bytes()
    assert versions.is_known("file")
    CHANGES[name](path)
    if path.exists():
        os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))
    assert not versions.is_known("file")


def test_a_file_of_this_tick_is_not_known(tmp_path: Path) -> None:
    """A second write of the tick would not be seen."""
    versions, path = FileVersions(tmp_path), tmp_path / "file"
    path.write_bytes(b"one")
    now = path.stat().st_ctime_ns
    with versions.reading("file", now):
        path.read_bytes()
    assert not versions.is_known("file")
    versions.learn(["file"], now)
    assert not versions.is_known("file")


def test_a_file_that_is_changed_while_it_is_read_is_not_known(tmp_path: Path) -> None:
    versions, path = FileVersions(tmp_path), tmp_path / "file"
    path.write_bytes(b"one")
    with versions.reading("file", _later(versions, path)):
        path.write_bytes(b"two")
    assert not versions.is_known("file")


def test_nothing_is_known_where_there_is_no_clock(tmp_path: Path) -> None:
    """Nor is a missing file."""
    versions = FileVersions(tmp_path / "missing")
    assert versions.now() == 0
    versions.learn(["file"], versions.now())
    assert not versions.is_known("file")


STEPS = st.lists(st.sampled_from(["in place", "replaced", "read", "learn"]), max_size=30)


@settings(max_examples=examples(100), deadline=None)
@given(STEPS)
def test_a_known_file_has_the_content_that_was_read(steps: list[str]) -> None:
    """However fast changes and readings follow each other, within the ticks of a real file system."""
    with tempfile.TemporaryDirectory() as directory:
        versions, path = FileVersions(Path(directory)), Path(directory, "file")
        path.write_bytes(content := b"0000")
        seen = b""
        for number, step in enumerate(steps):
            if step in CHANGES:
                content = f"{number:04}".encode()
                path.write_bytes(content) if step == "in place" else _replace(path, content)
            elif step == "read":
                with versions.reading("file", versions.now()):
                    seen = path.read_bytes()
            else:
                seen = content
                versions.learn(["file"], versions.now())
            assert not versions.is_known("file") or seen == content
