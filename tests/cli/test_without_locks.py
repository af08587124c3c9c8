"""Locks that another process holds, and file systems that have none: 75 or 74, in words that name them."""

from __future__ import annotations

import errno
import os
import shutil
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from audiencekit.delivery.limiter import host
from audiencekit.delivery.limiter.host import WaitingLineFile
from audiencekit.errors import FileHeld, InputOutputFailed
from audiencekit.runs.journal import file as schema
from audiencekit.runs.journal.file import JournalFile
from audiencekit.state import locks as filelocks
from audiencekit.state.locks import check_locks, locked
from tests.cli.conftest import Service
from tests.moments import PATIENCE_SECONDS
from tests.processes import environment
from tests.runs.journal.conftest import FACTS, KEY

NO_LOCKS = [errno.ENOLCK, errno.EOPNOTSUPP, errno.ENOSYS]
# As `fcntl` and `flock` of a mount without locks answer.
SHIM = r"""
#define _GNU_SOURCE
#include <errno.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdlib.h>
static int no(void) { errno = atoi(getenv("NO_LOCKS")); return -1; }
static int is_lock(int c) { return c == F_SETLK || c == F_SETLKW || c == F_OFD_SETLK || c == F_OFD_SETLKW; }
int flock(int file, int how) { return no(); }
int fcntl(int file, int c, ...) {
    va_list list; va_start(list, c); void *p = va_arg(list, void *); va_end(list);
    return is_lock(c) ? no() : ((int (*)(int, int, ...)) dlsym(RTLD_NEXT, "fcntl"))(file, c, p);
}
int fcntl64(int file, int c, ...) {
    va_list list; va_start(list, c); void *p = va_arg(list, void *); va_end(list);
    return is_lock(c) ? no() : ((int (*)(int, int, ...)) dlsym(RTLD_NEXT, "fcntl64"))(file, c, p);
}
"""


def _refuse(monkeypatch: pytest.MonkeyPatch, code: int) -> None:
    """Locks of this process fail with `code` from now on."""

    def fail(*_: object, **__: object) -> None:
        raise OSError(code, os.strerror(code))

    monkeypatch.setattr(filelocks, "lock", fail)
    monkeypatch.setattr(filelocks, "try_locks", fail)


@pytest.mark.parametrize("code", NO_LOCKS, ids=errno.errorcode.get)
def test_a_file_system_without_locks_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, code: int) -> None:
    """By every lock, and by the look of `doctor`."""
    _refuse(monkeypatch, code)
    with pytest.raises(InputOutputFailed, match="has no file locks") as caught, locked(tmp_path / "one.lock"):
        pass
    assert "NFS" in caught.value.hint
    with pytest.raises(InputOutputFailed, match="has no file locks"):
        check_locks(tmp_path)


def test_other_failures_of_a_lock_stay_what_they_are(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Such as a disk that fails."""
    _refuse(monkeypatch, errno.EIO)
    with pytest.raises(OSError, match=os.strerror(errno.EIO)), locked(tmp_path / "one.lock"):
        pass


@pytest.fixture
def held_limiter(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The state directory of a limiter's file that a stopped process holds."""
    monkeypatch.setattr(host, "OPENING_SECONDS", 0.01)
    WaitingLineFile(tmp_path, "boot").close()
    return tmp_path


def test_a_limiter_file_that_is_held_is_75(held_limiter: Path) -> None:
    """It is held when it is opened: no bug, and not the disk."""
    with closing(sqlite3.connect(held_limiter / "limiter" / "boot.sqlite", isolation_level=None)) as holder:
        holder.execute("BEGIN EXCLUSIVE")
        with pytest.raises(FileHeld, match="another process holds the limiter's file") as caught:
            WaitingLineFile(held_limiter, "boot")
    assert (caught.value.exit_code, caught.value.state) == (75, "incomplete")
    WaitingLineFile(held_limiter, "boot").close()


def test_sqlite_that_is_busy_for_want_of_locks_is_74(held_limiter: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It says the same of ENOLCK as of a file that is held."""
    _refuse(monkeypatch, errno.ENOLCK)
    with closing(sqlite3.connect(held_limiter / "limiter" / "boot.sqlite", isolation_level=None)) as holder:
        holder.execute("BEGIN EXCLUSIVE")
        with pytest.raises(InputOutputFailed, match=r"has no file locks \(ENOLCK\)") as caught:
            WaitingLineFile(held_limiter, "boot")
    assert caught.value.exit_code == 74


def test_a_journal_that_is_held_is_75(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """When it is opened, and when it is written."""
    monkeypatch.setattr(schema, "BUSY_SECONDS", 0.01)
    path = tmp_path / "journal.sqlite"
    with closing(JournalFile.begin(path, FACTS, KEY)) as journal, closing(sqlite3.connect(path)) as holder:
        holder.execute("BEGIN EXCLUSIVE")
        with pytest.raises(FileHeld, match="another process holds the journal of the run"):
            journal.write([])
        with pytest.raises(FileHeld, match="another process holds the journal of the run"):
            JournalFile.open(path)


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="the shim is for the loader of Linux")
def test_commands_on_a_file_system_without_locks(service: Service, tmp_path: Path) -> None:
    """74 with the word; `doctor` finds it, too."""
    if (compiler := shutil.which("cc")) is None:
        pytest.skip("there is no C compiler")
    (tmp_path / "shim.c").write_text(SHIM)
    build = [compiler, "-shared", "-fPIC", "-o", "shim.so", "shim.c", "-ldl"]
    subprocess.run(build, cwd=tmp_path, check=True, capture_output=True)
    (tmp_path / "list.csv").write_text("email\nada@example.com\n")
    env = environment(tmp_path / "state", service.env)
    env |= {"LD_PRELOAD": str(tmp_path / "shim.so"), "NO_LOCKS": str(errno.ENOLCK)}
    for command in (("upload", "list.csv", "--audience", service.audience_id), ("doctor",)):
        run = [sys.executable, "-m", "audiencekit", *command]
        done = subprocess.run(run, env=env, cwd=tmp_path, capture_output=True, text=True, timeout=PATIENCE_SECONDS)
        assert done.returncode == 74, done.stderr
        assert "no file locks" in done.stderr + done.stdout
        assert "bug:" not in done.stderr
