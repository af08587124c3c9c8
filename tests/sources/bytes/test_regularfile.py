"""Only regular files, and only as long as they stay the same."""

from __future__ import annotations

import os
import socket
from collections.abc import Callable
from pathlib import Path

import pytest

from audiencekit.errors import InputOutputFailed, SourceRefused
from audiencekit.sources.bytes.regularfile import RegularFile, shown_path

Write = Callable[..., Path]


@pytest.mark.parametrize(
    ("path", "shown"),
    [
        ("/data/people.csv", "people.csv"),
        ("people\x1b[31m.csv", "people\\x1b[31m.csv"),
        ("a\nb.csv", "a\\nb.csv"),
        ("a\u202eb.csv", "a\\u202eb.csv"),
        ("kunden_\u00e4.csv", "kunden_\u00e4.csv"),
        (os.fsdecode(b"a\xff.csv"), "a\\xff.csv"),
        ("x" * 300, "x" * 200 + "..."),
    ],
)
def test_shown_paths_cannot_steer_a_terminal(path: str, shown: str) -> None:
    """Control characters, bidi marks and broken bytes are escaped; letters are not."""
    assert shown_path(path) == shown


def test_a_file_opens_more_than_once(write: Write) -> None:
    """Each opening starts at the first byte."""
    file = RegularFile(write(b"abc"))
    for _ in range(2):
        with file.open() as handle:
            assert handle.read() == b"abc"
            file.check_unchanged(handle)
    assert file.size_bytes == 3


def test_a_symbolic_link_to_a_file_is_a_file(write: Write, tmp_path: Path) -> None:
    """Links are followed."""
    link = tmp_path / "link.csv"
    link.symlink_to(write(b"abc"))
    with RegularFile(link).open() as handle:
        assert handle.read() == b"abc"


def test_a_missing_file_is_refused(tmp_path: Path) -> None:
    """Also below something that is no directory, and under a name that no path can have."""
    (tmp_path / "file").write_bytes(b"")
    for path in (tmp_path / "none", tmp_path / "file" / "none", "a\0b"):
        with pytest.raises(SourceRefused, match="no such file"):
            RegularFile(path)


def test_a_directory_is_refused(tmp_path: Path) -> None:
    """The message says what it is."""
    with pytest.raises(SourceRefused, match="a directory"):
        RegularFile(tmp_path)


def test_a_pipe_is_refused_without_waiting(tmp_path: Path) -> None:
    """Opening a pipe without a writer would never come back."""
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(SourceRefused, match="a pipe"):
        RegularFile(tmp_path / "pipe")


def test_a_device_is_refused() -> None:
    """It may have no end."""
    with pytest.raises(SourceRefused, match="a device"):
        RegularFile("/dev/zero")


def test_a_socket_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is ever read from one."""
    monkeypatch.chdir(tmp_path)
    with socket.socket(socket.AF_UNIX) as door:
        door.bind("door")
        with pytest.raises(SourceRefused, match="a socket"):
            RegularFile("door")


@pytest.mark.skipif(os.geteuid() == 0, reason="nothing is unreadable for root")
def test_an_unreadable_file_is_an_input_output_failure(write: Write) -> None:
    """The system's word on it is passed on."""
    path = write(b"abc")
    path.chmod(0)
    with pytest.raises(InputOutputFailed):
        RegularFile(path).open()


def test_a_system_error_at_opening_is_an_input_output_failure(write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without cause and context: only the system's word is kept."""

    def no(*_: object) -> int:
        raise OSError(5, "Input/output error")

    file = RegularFile(write(b"abc"))
    monkeypatch.setattr(os, "open", no)
    with pytest.raises(InputOutputFailed, match="Input/output error") as caught:
        file.open()
    assert caught.value.__context__ is None


def test_a_replaced_file_is_refused_at_opening(write: Write) -> None:
    """Another inode under the same path is another file."""
    path = write(b"abc")
    file = RegularFile(path)
    other = path.with_name("other")
    other.write_bytes(b"abc")
    other.replace(path)
    with pytest.raises(SourceRefused, match="changed"):
        file.open()


@pytest.mark.parametrize("change", ["append", "touch", "replace", "pipe"])
def test_a_change_while_reading_is_refused(write: Write, change: str) -> None:
    """Size, time, inode and being a regular file at all are looked at again."""
    path = write(b"abc")
    file = RegularFile(path)
    with file.open() as handle:
        if change == "append":
            path.write_bytes(b"abcd")
        elif change == "touch":
            os.utime(path, ns=(1, 1))
        else:
            path.unlink()
            os.mkfifo(path) if change == "pipe" else path.write_bytes(b"abc")
        with pytest.raises(SourceRefused):
            file.check_unchanged(handle)
