"""Files kept between runs are used only when they are whole and only their owner can write them."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable
from pathlib import Path

import pytest

from audiencekit.machine.caches import Cache


def _shortened(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-1])


def _changed(path: Path) -> None:
    content = path.read_bytes()
    path.write_bytes(content[:-1] + bytes([content[-1] ^ 1]))


def _emptied(path: Path) -> None:
    path.write_bytes(b"")


def _readable(path: Path) -> None:
    path.chmod(0o644)


def _behind_a_link(path: Path) -> None:
    path.rename(path.with_name("other"))
    path.symlink_to("other")


def _a_pipe(path: Path) -> None:
    path.unlink()
    os.mkfifo(path, 0o600)


def _in_an_open_directory(path: Path) -> None:
    path.parent.chmod(0o777)


def _given_away(path: Path) -> None:
    os.chown(path, 12345, -1)


def _in_a_directory_given_away(path: Path) -> None:
    os.chown(path.parent, 12345, -1)


DOUBTS = [
    _shortened, _changed, _emptied, _readable, _behind_a_link, _a_pipe, _in_an_open_directory, _given_away,
    _in_a_directory_given_away,
]  # fmt: skip


def test_content_comes_back(tmp_path: Path) -> None:
    """The last content of a name, in a file for its owner only, and nothing beside it."""
    cache = Cache(tmp_path / "new" / "cache")
    assert cache.read("name") is None
    cache.write("name", b"first")
    cache.write("name", b"second")
    assert cache.read("name") == b"second"
    (kept,) = (tmp_path / "new" / "cache").iterdir()
    assert stat.S_IMODE(kept.stat().st_mode) == 0o600
    assert stat.S_IMODE(kept.parent.stat().st_mode) == 0o700


def _doubtful_cache(tmp_path: Path, doubt: Callable[[Path], None]) -> Cache:
    """One that kept a content under `name`, whose file there is a doubt about."""
    cache = Cache(tmp_path / "cache")
    cache.write("name", b"content")
    try:
        doubt(tmp_path / "cache" / "name")
    except PermissionError:
        pytest.skip("only the superuser can give files away")
    return cache


@pytest.mark.parametrize("doubt", DOUBTS, ids=[doubt.__name__ for doubt in DOUBTS])
def test_a_doubtful_file_is_ignored(tmp_path: Path, doubt: Callable[[Path], None]) -> None:
    """A file that is damaged, or that another user may have changed, is ignored."""
    assert _doubtful_cache(tmp_path, doubt).read("name") is None


@pytest.mark.parametrize("doubt", DOUBTS[:-1], ids=[doubt.__name__ for doubt in DOUBTS[:-1]])
def test_a_doubtful_file_is_replaced(tmp_path: Path, doubt: Callable[[Path], None]) -> None:
    """The next content is used again."""
    cache = _doubtful_cache(tmp_path, doubt)
    cache.write("name", b"anew")
    assert cache.read("name") == b"anew"


@pytest.mark.parametrize("place", ["file", "link", "/proc/none"])
def test_a_place_that_takes_no_file_is_no_failure(tmp_path: Path, place: str) -> None:
    """No failure is told: the caller can do without the file."""
    (tmp_path / "file").write_bytes(b"")
    (tmp_path / "directory").mkdir()
    (tmp_path / "link").symlink_to("directory")
    cache = Cache(tmp_path / place)
    cache.write("name", b"content")
    assert cache.read("name") is None
    assert not list((tmp_path / "directory").iterdir())


def test_a_failing_disk_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file that cannot be put in its place is removed; the earlier content stays."""
    cache = Cache(tmp_path / "cache")
    cache.write("name", b"before")

    def fail(*_: object) -> None:
        raise OSError

    with monkeypatch.context() as patched:
        patched.setattr(os, "replace", fail)
        cache.write("name", b"after")
    assert cache.read("name") == b"before"
    assert [path.name for path in (tmp_path / "cache").iterdir()] == ["name"]


def test_the_users_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is where the system wants such files."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    Cache.of_user().write("name", b"content")
    assert (tmp_path / "audiencekit" / "name").is_file()
