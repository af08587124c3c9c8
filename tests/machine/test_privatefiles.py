"""Files for one person, whole or not there."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from audiencekit.errors import InputOutputFailed
from audiencekit.machine.privatefiles import (
    create_file,
    explained,
    make_private_directory,
    open_new,
    overwrite_file,
    read_file,
    replace_file,
)


def test_a_file_is_made_only_once(tmp_path: Path) -> None:
    """A later process leaves it as it is, and nothing beside it."""
    path = tmp_path / "file"
    assert create_file(path, b"first")
    assert not create_file(path, b"second")
    assert path.read_bytes() == b"first"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert list(tmp_path.iterdir()) == [path]


def test_a_file_is_replaced_whole(tmp_path: Path) -> None:
    """By a new one: who reads the old one reads on."""
    path = tmp_path / "file"
    replace_file(path, b"old")
    with path.open("rb") as reader:
        replace_file(path, b"new one")
        assert reader.read() == b"old"
    assert path.read_bytes() == b"new one"


@pytest.mark.parametrize("call", ["open", "fsync", "link", "replace"])
@pytest.mark.parametrize("write", [create_file, replace_file])
def test_a_failure_leaves_nothing_behind(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, call: str, write: Any
) -> None:
    """Neither half a file nor what was written aside."""

    def failing(*args: Any, **options: Any) -> Any:
        raise OSError(errno.EIO, os.strerror(errno.EIO))

    if (call, write) in (("link", replace_file), ("replace", create_file)):
        pytest.skip("it is not called")
    with monkeypatch.context() as patch:
        patch.setattr(os, call, failing)
        with pytest.raises(OSError, match="Input/output error"):
            write(tmp_path / "file", b"content")
    assert list(tmp_path.iterdir()) == []


def test_no_link_is_followed_when_reading(tmp_path: Path) -> None:
    """And a pipe delays no reader."""
    (tmp_path / "other").write_bytes(b"secret")
    (tmp_path / "link").symlink_to(tmp_path / "other")
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(OSError, match="symbolic links"):
        read_file(tmp_path / "link", 10)
    assert read_file(tmp_path / "pipe", 10) == b""
    assert read_file(tmp_path / "other", 3) == b"sec"


def test_a_directory_is_taken_from_others(tmp_path: Path) -> None:
    """A link in its place is refused."""
    (tmp_path / "open").mkdir(mode=0o755)
    make_private_directory(tmp_path / "open")
    make_private_directory(tmp_path / "new")
    assert {stat.S_IMODE(path.stat().st_mode) for path in tmp_path.iterdir()} == {0o700}
    (tmp_path / "link").symlink_to(tmp_path / "new")
    with pytest.raises(InputOutputFailed, match="is a link") as caught:
        make_private_directory(tmp_path / "link")
    assert "`chown -R`" in caught.value.hint


def test_a_refusal_of_the_system_is_said(tmp_path: Path) -> None:
    """The message says the file, the fault, the place and the remedy."""
    with (
        pytest.raises(InputOutputFailed, match=r"the key cannot be read: .*nowhere.*No such file") as caught,
        explained("the key cannot be read", tmp_path / "nowhere"),
    ):
        read_file(tmp_path / "nowhere", 1)
    assert "AUDIENCEKIT_STATE_DIR" in caught.value.hint
    assert caught.value.__cause__ is None


def test_a_new_file_takes_the_place_of_none(tmp_path: Path) -> None:
    """Nor of what a link points at; its owner alone may read it."""
    (tmp_path / "target").write_bytes(b"before")
    (tmp_path / "link").symlink_to(tmp_path / "target")
    for there in ("target", "link"):
        with pytest.raises(FileExistsError):
            open_new(tmp_path / there)
    with open_new(tmp_path / "new") as file:
        file.write(b"after")
    assert (tmp_path / "target").read_bytes() == b"before"
    assert (tmp_path / "new").read_bytes() == b"after"
    assert (tmp_path / "new").stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize(
    ("make", "hint"),
    [
        (lambda path: path.mkdir(), "a directory stands in the place of a file"),
        (lambda path: path.symlink_to("other"), "this is a link"),
    ],
    ids=["directory", "link"],
)
def test_the_hint_fits_what_stands_in_the_way(tmp_path: Path, make: Callable[[Path], None], hint: str) -> None:
    """Neither a full disk nor another state directory is the matter."""
    make(tmp_path / "key")
    with pytest.raises(InputOutputFailed) as caught, explained("the key cannot be read", tmp_path / "key"):
        read_file(tmp_path / "key", 10)
    assert caught.value.hint.startswith(hint)


@pytest.mark.parametrize("size", [0, 1, 1_000, (1 << 20) + 3])
def test_a_file_is_overwritten_in_its_place(tmp_path: Path, size: int) -> None:
    """With as many zeros: another name of it reads them, too; no link is followed."""
    (tmp_path / "file").write_bytes(b"x" * size)
    os.link(tmp_path / "file", tmp_path / "other")
    overwrite_file(tmp_path / "file")
    assert (tmp_path / "other").read_bytes() == bytes(size)
    (tmp_path / "link").symlink_to(tmp_path / "file")
    with pytest.raises(OSError, match="symbolic links"):
        overwrite_file(tmp_path / "link")
