"""Large files, past the cache and through it."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from audiencekit.machine import largefiles
from audiencekit.machine.largefiles import BLOCK_BYTES, make_room, write_file

SIZES = [0, 1, BLOCK_BYTES - 1, BLOCK_BYTES, BLOCK_BYTES + 1, 3 * BLOCK_BYTES, 5_000_000]
only_past = pytest.mark.skipif(not hasattr(os, "O_DIRECT"), reason="the system always has its cache between")


def _filled(size: int) -> Any:
    room = make_room(size)
    room[:] = memoryview(os.urandom(size))
    return room


@pytest.mark.parametrize("past_cache", [True, False])
@pytest.mark.parametrize("size", SIZES)
def test_files_hold_what_they_are_given(tmp_path: Path, size: int, past_cache: bool) -> None:
    """To the byte, and readable by their owner only."""
    content = _filled(size)
    write_file(tmp_path / "file", content.data.toreadonly(), past_cache=past_cache)
    assert (tmp_path / "file").read_bytes() == content.tobytes()
    assert (tmp_path / "file").stat().st_mode & 0o777 == 0o600


def test_content_from_anywhere(tmp_path: Path) -> None:
    """Content that is not aligned to a block goes through the cache."""
    content = _filled(3 * BLOCK_BYTES + 1)[1:]
    write_file(tmp_path / "file", content.data, past_cache=True)
    assert (tmp_path / "file").read_bytes() == content.tobytes()


def _record(monkeypatch: pytest.MonkeyPatch, fail: Callable[[bool], bool] = lambda past: False) -> list[bool]:
    """Of each write whether it goes past the cache; those for which `fail` is true are refused."""
    seen: list[bool] = []
    write = os.write
    import fcntl

    def record(file: int, content: Any) -> int:
        seen.append(bool(fcntl.fcntl(file, fcntl.F_GETFL) & os.O_DIRECT))
        if fail(seen[-1]):
            raise OSError(errno.EINVAL, "Invalid argument")
        return write(file, content)

    monkeypatch.setattr(largefiles.os, "write", record)
    return seen


@only_past
def test_whole_blocks_go_past_the_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """And what is less than a block through it."""
    seen = _record(monkeypatch)
    write_file(tmp_path / "file", _filled(2 * BLOCK_BYTES + 1).data, past_cache=True)
    assert seen == [True, False]


@only_past
def test_file_systems_that_refuse_to_write_past_the_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """They are given everything through it."""
    seen, content = _record(monkeypatch, fail=lambda past: past), _filled(3 * BLOCK_BYTES)
    write_file(tmp_path / "file", content.data, past_cache=True)
    assert seen == [True, False]
    assert (tmp_path / "file").read_bytes() == content.tobytes()


@only_past
def test_file_systems_that_refuse_to_open_past_the_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As memory did for long. Linux has made the file when it says so."""
    import fcntl

    opened, control = os.open, fcntl.fcntl

    def refuse(path: Path, flags: int, mode: int = 0o777, *, dir_fd: int | None = None) -> int:
        file = opened(path, flags & ~os.O_DIRECT, mode, dir_fd=dir_fd)
        if flags & os.O_DIRECT:
            os.close(file)
            raise OSError(errno.EINVAL, "Invalid argument")
        return file

    def refuse_later(file: int, command: int, argument: int = 0) -> int:
        if command == fcntl.F_SETFL and argument & os.O_DIRECT:
            raise OSError(errno.EINVAL, "Invalid argument")
        return control(file, command, argument)

    monkeypatch.setattr(largefiles.os, "open", refuse)
    monkeypatch.setattr(fcntl, "fcntl", refuse_later)
    content = _filled(3 * BLOCK_BYTES)
    write_file(tmp_path / "one", content.data, past_cache=True)
    assert (tmp_path / "one").read_bytes() == content.tobytes()


@only_past
def test_a_part_of_a_block_may_be_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The rest follows it."""
    write, sizes = os.write, iter([BLOCK_BYTES, 100])
    monkeypatch.setattr(largefiles.os, "write", lambda file, content: write(file, _shortened(file, content, sizes)))
    content = _filled(5 * BLOCK_BYTES)
    write_file(tmp_path / "file", content.data, past_cache=True)
    assert (tmp_path / "file").read_bytes() == content.tobytes()


def _shortened(file: int, content: Any, sizes: Any) -> Any:
    import fcntl

    size = next(sizes, len(content))
    if size % BLOCK_BYTES:  # no real disk takes a part of a block past the cache
        fcntl.fcntl(file, fcntl.F_SETFL, fcntl.fcntl(file, fcntl.F_GETFL) & ~os.O_DIRECT)
    return content[:size]


@pytest.mark.parametrize("there", ["file", "link"])
def test_nothing_is_written_over(tmp_path: Path, there: str) -> None:
    """Neither a file nor what a link points at."""
    target = tmp_path / "target"
    target.write_bytes(b"before")
    path = target if there == "file" else tmp_path / "link"
    if there == "link":
        path.symlink_to(target)
    with pytest.raises(FileExistsError):
        write_file(path, b"after", past_cache=True)
    assert target.read_bytes() == b"before"


def test_other_failures_are_raised(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A full disk is none that refuses."""

    def fail(file: int, content: Any) -> int:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(largefiles.os, "write", fail)
    with pytest.raises(OSError, match="No space left"):
        write_file(tmp_path / "one", _filled(BLOCK_BYTES).data, past_cache=True)


def test_a_closed_file_is_written_no_more(tmp_path: Path) -> None:
    """Its number may be that of another file."""
    with largefiles._NewFile(tmp_path / "file", past_cache=False) as file:
        pass
    with (tmp_path / "other").open("wb"), pytest.raises(OSError, match="Bad file"):
        file.write(memoryview(b"x"))
    assert (tmp_path / "other").read_bytes() == b""
