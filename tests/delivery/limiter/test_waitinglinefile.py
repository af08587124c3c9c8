"""One small private file that all processes of a host change, one after the other."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest

from audiencekit.delivery.limiter.waitingline import Waiter, WaitingLine
from audiencekit.delivery.limiter.waitinglinefile import SECONDS_PER_DAY, BusyError, WaitingLineFile
from audiencekit.errors import InputOutputFailed

LINE = WaitingLine(free_at=1.5, paused_until=2.5, share=0.5, share_at=3.5, waiting=(Waiter("a", 4.5), Waiter("b", 5.5)))


@pytest.fixture
def file(tmp_path: Path) -> Iterator[WaitingLineFile]:
    """A new file."""
    opened = WaitingLineFile(tmp_path / "state", "boot")
    yield opened
    opened.close()


def path_in(tmp_path: Path) -> Path:
    return tmp_path / "state/limiter/boot.sqlite"


def test_a_line_comes_back_as_it_was_written(tmp_path: Path, file: WaitingLineFile) -> None:
    """To every process, and each quota has its own."""
    assert file.change("quota", lambda line: (LINE, line)) is None
    other = WaitingLineFile(tmp_path / "state", "boot")
    assert other.change("quota", lambda line: (LINE, line)) == LINE
    assert other.change("another", lambda line: (LINE, line)) is None
    other.close()


def test_only_its_owner_sees_the_file(tmp_path: Path, file: WaitingLineFile) -> None:
    """Neither file nor folder, whatever the umask is."""
    path = path_in(tmp_path)
    assert (path.stat().st_mode & 0o777, path.parent.stat().st_mode & 0o777) == (0o600, 0o700)


def test_a_change_that_fails_changes_nothing(file: WaitingLineFile) -> None:
    """And the file can be used again."""

    def fail(line: WaitingLine | None) -> tuple[WaitingLine, None]:
        raise RuntimeError

    file.change("quota", lambda line: (LINE, None))
    with pytest.raises(RuntimeError):
        file.change("quota", fail)
    assert file.change("quota", lambda line: (LINE, line)) == LINE


def test_a_held_file_is_busy(tmp_path: Path, file: WaitingLineFile) -> None:
    """Not broken: the caller may try again."""
    holder = sqlite3.connect(path_in(tmp_path), isolation_level=None)
    holder.execute("BEGIN IMMEDIATE")
    with pytest.raises(BusyError):
        file.change("quota", lambda line: (LINE, None))
    holder.execute("ROLLBACK")
    holder.close()
    file.change("quota", lambda line: (LINE, None))


@pytest.mark.parametrize(
    "content", [b"[]", b"{}", b'{"waiting": [7], "free_at": 1}', b'{"waiting": [], "free_at": null}', b"\xff"]
)
def test_a_damaged_line_stops_every_sender(tmp_path: Path, file: WaitingLineFile, content: bytes) -> None:
    """It is not taken for an empty one."""
    writer = sqlite3.connect(path_in(tmp_path), isolation_level=None)
    writer.execute("INSERT INTO lines VALUES ('quota', ?)", (content,))
    writer.close()
    with pytest.raises(InputOutputFailed, match="damaged"):
        file.change("quota", lambda line: (LINE, None))


def test_a_file_that_is_no_database_is_refused(tmp_path: Path) -> None:
    """And left as it is."""
    path = path_in(tmp_path)
    path.parent.mkdir(parents=True)
    path.write_bytes(b"not a database, and longer than its header would be" * 40)
    with pytest.raises(InputOutputFailed, match=r"cannot be opened.*boot\.sqlite") as caught:
        WaitingLineFile(tmp_path / "state", "boot")
    assert "delete a damaged file" in caught.value.hint
    assert path.read_bytes().startswith(b"not a database")


@pytest.mark.parametrize("place", ["state/limiter", "state/limiter/boot.sqlite"])
def test_links_are_not_followed(tmp_path: Path, place: str) -> None:
    """Another user may have put them there."""
    (tmp_path / "elsewhere").mkdir()
    link = tmp_path / place
    link.parent.mkdir(parents=True)
    link.symlink_to(tmp_path / "elsewhere")
    with pytest.raises(InputOutputFailed, match="link"):
        WaitingLineFile(tmp_path / "state", "boot")
    assert list((tmp_path / "elsewhere").iterdir()) == []


def test_no_state_directory_no_limiter(tmp_path: Path) -> None:
    """It is said at once, with the path."""
    (tmp_path / "state").write_text("a file")
    with pytest.raises(InputOutputFailed, match="state"):
        WaitingLineFile(tmp_path / "state", "boot")


def test_files_of_earlier_starts_are_removed(tmp_path: Path) -> None:
    """When they were not touched for a week; a younger one may be that of another host."""
    folder = tmp_path / "state/limiter"
    folder.mkdir(parents=True)
    for name, days in (("old", 8), ("young", 6), ("boot", 9)):
        (folder / f"{name}.sqlite").touch()
        moment = (folder / f"{name}.sqlite").stat().st_mtime - days * SECONDS_PER_DAY
        os.utime(folder / f"{name}.sqlite", (moment, moment))
    WaitingLineFile(tmp_path / "state", "boot").close()
    assert {path.stem for path in folder.glob("*.sqlite")} == {"young", "boot"}
