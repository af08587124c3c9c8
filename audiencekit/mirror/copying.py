"""A state as a whole, from a directory into a bucket, and back: what was written is read again and compared."""

from __future__ import annotations

import contextlib
import filecmp
import os
import shutil
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from audiencekit.errors import Bug, InputOutputFailed, UsageError
from audiencekit.mirror.mirror import JOURNAL, mirrored_files
from audiencekit.mirror.opening import begin_state, open_state, private_place
from audiencekit.state.directory import check_root, make_missing
from audiencekit.state.durability import is_bucket, working_copy
from audiencekit.state.files import explained, make_private_directory, sync_directory

_HOT: Final = "-journal"  # SQLite's own, which a kill left beside a journal


def copy_state(source: str, target: str) -> int:
    """Copy a state to a place without one, and return the number of its files. Each place is a bucket or a directory.

    The state key, credentials and locks stay where they are. The target appears at once, when all was compared; after a
    kill it has no state. Raises UsageError for a place that cannot be copied from or to, InputOutputFailed for files
    that changed meanwhile, and what `open_state` raises.
    """
    with private_place() as place, _root_of(source) as root:
        staged = place / "staged"
        _copy_files(root, staged)
        if is_bucket(target):
            begin_state(target, content=staged)
            with _root_of(target, hold=False) as written:
                return _compare(staged, written)
        path = Path(target).absolute()
        with explained("the state cannot be copied", path):
            return _put(staged, path)


@contextlib.contextmanager
def _root_of(place: str, *, hold: bool = True) -> Iterator[Path]:
    if is_bucket(place):
        with open_state(place, hold=hold):
            root = working_copy(place)
            if root is None:
                raise Bug("an open state has no working copy")
            yield root
        return
    path = Path(place).absolute()
    if not path.is_dir():
        raise UsageError(
            "there is no state directory to copy from", hint="name the one that AUDIENCEKIT_STATE_DIR names"
        )
    check_root(path)
    yield path


def _copy_files(source: Path, target: Path) -> None:
    make_private_directory(target)
    for relative, path in _files(source):
        copied = target / relative
        for parent in reversed(copied.relative_to(target).parents):
            make_private_directory(target / parent)
        with explained("the state cannot be copied", path):
            shutil.copyfile(path, copied)
            copied.chmod(0o600)
            if path.name == JOURNAL and (hot := path.with_name(path.name + _HOT)).exists():
                shutil.copyfile(hot, copied.with_name(hot.name))
                with contextlib.closing(sqlite3.connect(copied)) as connection:
                    connection.execute("PRAGMA schema_version").fetchone()  # SQLite rolls back what was cut short
            shutil.copystat(path, copied)


def _files(root: Path) -> Iterator[tuple[str, Path]]:
    for directory, _, _ in os.walk(root):
        yield from mirrored_files(Path(directory), root)


def _put(staged: Path, target: Path) -> int:
    if target.exists() and any(target.iterdir()):
        raise UsageError("the directory to copy to is not empty", hint="name a new one")
    make_missing(target.parent)
    new = target.with_name(f".{target.name}-new")
    shutil.rmtree(new, ignore_errors=True)
    _copy_files(staged, new)
    count = _compare(staged, new)
    for directory, _, names in os.walk(new):
        for name in names:
            with open(Path(directory) / name, "rb") as stream:
                os.fsync(stream.fileno())
        sync_directory(Path(directory))
    new.replace(target)
    sync_directory(target.parent)
    return count


def _compare(expected: Path, found: Path) -> int:
    """Return the number of files. Raises InputOutputFailed where two directories differ."""
    wanted, there = dict(_files(expected)), dict(_files(found))
    same = [path for path in wanted.keys() & there.keys() if filecmp.cmp(wanted[path], there[path], shallow=False)]
    if len(same) != len(wanted) or len(same) != len(there):
        raise InputOutputFailed(
            "the copy of the state is not equal to it", hint="copy it to another place, and compare again"
        )
    return len(same)
