"""Lists behind SFTP, from a real server on loopback whose keys, files and connections are as each test wants them."""

from __future__ import annotations

import asyncio
import importlib.util
import os
import threading
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from audiencekit.errors import InputOutputFailed, SourceRefused, UsageError
from audiencekit.sources.bytes.files import RawFile
from audiencekit.sources.files import parts_of
from audiencekit.sources.remote.addresses import SourceAddress, open_address
from audiencekit.sources.remote.remote_file import PIECE_BYTES, Patience
from audiencekit.sources.remote.sftp import KNOWN_HOSTS
from tests.sources.remote.conftest import Waits
from tests.sources.remote.reading import read_whole

asyncssh: Any = pytest.importorskip("asyncssh", reason="asyncssh is not installed")
LARGE = b"".join(b"person%07d@example.com\n" % number for number in range(3 * PIECE_BYTES // 26 + 1))


class SftpServer:
    """A server of the files in a directory. `drop` ends all connections that there are."""

    def __init__(self, files: Path, user_key: Any) -> None:
        self.host_key = asyncssh.generate_private_key("ssh-ed25519")
        self._files, self._user_key = files, user_key
        self._connections: list[Any] = []
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever)
        self._thread.start()
        self._acceptor = self._run(self._listen())
        self.port: int = self._acceptor.get_port()
        self.reads_until_drop: int | None = None

    def drop(self) -> None:
        """End all connections, without a word."""
        for connection in self._connections:
            connection.abort()
        self._connections.clear()

    def close(self) -> None:
        """End it."""
        self._run(self._end())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    @property
    def known_hosts(self) -> str:
        """The line of a file of known hosts."""
        return f"[127.0.0.1]:{self.port} {self.host_key.export_public_key().decode().strip()}\n"

    async def _listen(self) -> Any:
        outer = self

        class Gate(asyncssh.SSHServer):  # type: ignore[misc]
            def connection_made(self, connection: Any) -> None:
                outer._connections.append(connection)

            def begin_auth(self, username: str) -> bool:
                return True

            def public_key_auth_supported(self) -> bool:
                return True

            def validate_public_key(self, username: str, key: Any) -> bool:
                return username == "ann" and key.export_public_key() == outer._user_key.export_public_key()

        class Files(asyncssh.SFTPServer):  # type: ignore[misc]
            def __init__(self, channel: Any) -> None:
                super().__init__(channel, chroot=os.fsencode(outer._files))

            def read(self, file: Any, offset: int, size: int) -> Any:
                if outer.reads_until_drop is not None:
                    outer.reads_until_drop -= 1
                    if outer.reads_until_drop < 0:
                        outer.reads_until_drop = None
                        outer.drop()
                return super().read(file, offset, size)

        return await asyncssh.listen(
            "127.0.0.1", 0, server_factory=Gate, server_host_keys=[self.host_key], sftp_factory=Files
        )

    async def _end(self) -> None:
        self._acceptor.close()
        self.drop()
        await self._acceptor.wait_closed()
        await asyncio.sleep(0)
        await self._loop.shutdown_default_executor()

    def _run(self, work: Any) -> Any:
        return asyncio.run_coroutine_threadsafe(work, self._loop).result()


@pytest.fixture
def files(tmp_path: Path) -> Path:
    """The directory that is served, with a large list."""
    (tmp_path / "served").mkdir()
    (tmp_path / "served" / "people.csv").write_bytes(LARGE)
    return tmp_path / "served"


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The home of a user, with a key in it and no agent."""
    monkeypatch.setenv("HOME", str(tmp_path))
    for name in ("SSH_AUTH_SOCK", KNOWN_HOSTS):
        monkeypatch.delenv(name, raising=False)
    (tmp_path / ".ssh").mkdir(mode=0o700)
    key = asyncssh.generate_private_key("ssh-ed25519")
    key.write_private_key(str(tmp_path / ".ssh" / "id_ed25519"))
    (tmp_path / ".ssh" / "id_ed25519").chmod(0o600)
    return tmp_path


@pytest.fixture
def server(files: Path, home: Path) -> Iterator[SftpServer]:
    """The server, which the user does not know yet."""
    running = SftpServer(files, asyncssh.read_private_key(str(home / ".ssh" / "id_ed25519")))
    yield running
    running.close()


@pytest.fixture
def known(server: SftpServer, home: Path) -> SftpServer:
    """The server, whose key the user knows."""
    (home / ".ssh" / "known_hosts").write_text(server.known_hosts)
    return server


Open = Callable[..., RawFile]


@pytest.fixture
def opened(patience: Patience) -> Open:
    """A file of the server."""

    def open_file(server: SftpServer, path: str = "/people.csv", user: str = "ann") -> RawFile:
        return open_address(SourceAddress.read(f"sftp://{user}@127.0.0.1:{server.port}{path}"), patience)

    return open_file


def test_a_file_is_read_in_pieces(known: SftpServer, opened: Open) -> None:
    """By a key of the user, from a host that the user knows."""
    file = opened(known)
    assert (file.seekable, file.repeatable, file.size_bytes) == (True, True, len(LARGE))
    assert read_whole(file) == LARGE
    with closing(file.open()) as handle:
        handle.seek(len(LARGE) - 5)
        assert handle.read() == LARGE[-5:]


def test_the_file_of_known_hosts_may_be_named(
    server: SftpServer, opened: Open, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By its whole path."""
    (tmp_path / "hosts").write_text(server.known_hosts)
    monkeypatch.setenv(KNOWN_HOSTS, str(tmp_path / "hosts"))
    assert read_whole(opened(server)) == LARGE
    monkeypatch.setenv(KNOWN_HOSTS, "hosts")
    with pytest.raises(UsageError, match="not an absolute path"):
        opened(server)
    monkeypatch.setenv(KNOWN_HOSTS, str(tmp_path / "none"))
    with pytest.raises(InputOutputFailed, match="not there"):
        opened(server)


def test_an_unknown_host_is_refused(server: SftpServer, opened: Open) -> None:
    """With the fingerprint that is to be compared; nothing is accepted, and nothing written."""
    with pytest.raises(SourceRefused, match=r"is not in ~/\.ssh/known_hosts") as caught:
        opened(server)
    assert server.host_key.get_fingerprint() in str(caught.value)
    assert f"ssh-keyscan -p {server.port} 127.0.0.1" in caught.value.hint


def test_a_host_with_another_key_is_refused(known: SftpServer, opened: Open, home: Path) -> None:
    """It may be another host in its place."""
    other = asyncssh.generate_private_key("ssh-ed25519").export_public_key().decode()
    (home / ".ssh" / "known_hosts").write_text(f"[127.0.0.1]:{known.port} {other}")
    with pytest.raises(SourceRefused, match="another key") as caught:
        opened(known)
    assert known.host_key.get_fingerprint() in str(caught.value)


def test_a_configuration_that_lets_every_host_pass(server: SftpServer, opened: Open, home: Path) -> None:
    """It is not followed."""
    (home / ".ssh" / "config").write_text("Host *\n  UserKnownHostsFile none\n  StrictHostKeyChecking no\n")
    with pytest.raises(SourceRefused, match="is not in"):
        opened(server)


def test_a_user_who_is_not_let_in(known: SftpServer, opened: Open) -> None:
    """No password is asked for."""
    with pytest.raises(InputOutputFailed, match="takes none of your keys"):
        opened(known, user="bob")


@pytest.mark.parametrize(("path", "why"), [("/none.csv", "no such file"), ("/dir", "a directory")])
def test_a_path_that_is_no_file_is_refused(known: SftpServer, opened: Open, files: Path, path: str, why: str) -> None:
    """It is refused in the words of files on disk."""
    (files / "dir").mkdir()
    with pytest.raises(SourceRefused, match=why):
        opened(known, path)


@pytest.mark.parametrize("change", ["append", "touch", "replace", "remove"])
def test_a_file_that_changes_while_it_is_read(known: SftpServer, opened: Open, files: Path, change: str) -> None:
    """Its size and its time of change are looked at again in the end."""
    file, path = opened(known), files / "people.csv"
    with closing(file.open()) as handle:
        assert handle.read() == LARGE
        if change == "append":
            path.write_bytes(LARGE + b"x")
        elif change == "touch":
            os.utime(path, (1, 1))
        else:
            path.unlink()
            if change == "replace":
                path.write_bytes(LARGE.swapcase())
                os.utime(path, (1, 1))
        with pytest.raises(SourceRefused, match="no such file" if change == "remove" else "changed"):
            file.check_unchanged(handle)


def test_a_connection_that_is_cut(known: SftpServer, opened: Open, waits: Waits) -> None:
    """A new one goes on where the last one ended."""
    file = opened(known)
    known.reads_until_drop = 3
    assert read_whole(file) == LARGE
    assert waits


def test_a_server_that_is_gone(known: SftpServer, opened: Open, home: Path) -> None:
    """It is given up after a while."""
    address = f"sftp://ann@127.0.0.1:{known.port}/people.csv"
    file = opened(known)
    known._acceptor.get_loop().call_soon_threadsafe(known._acceptor.close)
    known._loop.call_soon_threadsafe(known.drop)
    with pytest.raises(InputOutputFailed, match=r"127\.0\.0\.1: no connection was made"):
        read_whole(file)
    assert SourceAddress.read(address).port == known.port


def test_directories_and_stars(known: SftpServer, files: Path) -> None:
    """As on disk; the names of files are escaped in addresses."""
    (files / "d").mkdir()
    for name in ("b.parquet", "a b%20.parquet", "_SUCCESS"):
        (files / "d" / name).write_bytes(b"x")
    at = f"sftp://ann@127.0.0.1:{known.port}"
    assert [part.path for part in parts_of(f"{at}/d/")] == [f"{at}/d/a%20b%2520.parquet", f"{at}/d/b.parquet"]
    assert [part.path for part in parts_of(f"{at}/*.csv")] == [f"{at}/people.csv"]
    with pytest.raises(SourceRefused, match="no file with such a name"):
        parts_of(f"{at}/d/*.csv")


def test_a_missing_package_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """With what installs it."""
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(UsageError, match="asyncssh") as caught:
        open_address(SourceAddress.read("sftp://example.com/people.csv"))
    assert "pip install '.[sftp]'" in caught.value.hint
