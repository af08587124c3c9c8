"""A server of PostgreSQL on a free port, for tests. It is not root's: the server refuses to be."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.moments import PATIENCE_SECONDS
from tests.ports import kept_port

_USERS = ("postgres", "nobody")


def _programs() -> Path:
    """The directory of initdb and postgres; Debian keeps it out of the search path."""
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"), reverse=True)
    if found:
        return found[0].parent
    if (initdb := shutil.which("initdb")) is not None:
        return Path(initdb).resolve().parent
    pytest.skip("PostgreSQL is not installed")


def _as_ordinary_user(directory: Path) -> list[str]:
    """The words before a command that take the rights of root from it; `directory` becomes that user's."""
    if os.geteuid() != 0:
        return []
    if shutil.which("setpriv") is None:
        pytest.skip("setpriv is not installed, and PostgreSQL does not run as root")
    user = next(user for user in _USERS if _exists(user))
    shutil.chown(directory, user)
    return ["setpriv", f"--reuid={user}", "--clear-groups"]


def _exists(user: str) -> bool:
    import pwd

    try:
        pwd.getpwnam(user)
    except KeyError:
        return False
    return True


@contextmanager
def postgresql() -> Iterator[str]:
    """The URL of a server with an empty database. Skips the test where PostgreSQL is missing."""
    programs = _programs()
    directory = Path(tempfile.mkdtemp(prefix="pg"))
    process = None
    try:
        before = _as_ordinary_user(directory)
        data = directory / "data"
        initdb = [*before, str(programs / "initdb"), "-D", str(data), "-A", "trust", "-U", "test", "-E", "UTF8"]
        subprocess.run([*initdb, "--locale=C", "--no-sync"], check=True, capture_output=True, cwd=directory)
        serve = [*before, str(programs / "postgres"), "-D", str(data)]
        with kept_port() as port:
            settings = ["listen_addresses=127.0.0.1", f"port={port}", "unix_socket_directories=", "fsync=off"]
            process = subprocess.Popen(
                [*serve, *(word for setting in settings for word in ("-c", setting))],
                cwd=directory, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            )  # fmt: skip
            _wait_for(port, process)
        yield f"postgresql://test@127.0.0.1:{port}/postgres"
    finally:
        if process is not None:
            process.terminate()
            process.wait()
        shutil.rmtree(directory, ignore_errors=True)


def _wait_for(port: int, process: subprocess.Popen[bytes]) -> None:
    """Until a client is let in."""
    import adbc_driver_postgresql.dbapi as driver

    until = time.monotonic() + PATIENCE_SECONDS
    while True:
        try:
            driver.connect(f"postgresql://test@127.0.0.1:{port}/postgres").close()
            return
        except driver.Error:
            if process.poll() is not None or time.monotonic() > until:
                raise
        time.sleep(0.05)


def execute(url: str, *statements: str) -> None:
    """Execute statements, each on its own."""
    import adbc_driver_postgresql.dbapi as driver

    with driver.connect(url, autocommit=True) as connection, connection.cursor() as cursor:
        for statement in statements:
            cursor.execute(statement)
