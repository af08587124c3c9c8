"""A file behind SFTP, by asyncssh. The key of the host must be known before: none is accepted silently.

An agent, or the key files of the user's ssh configuration, prove the identity of the user; a password is never used.
"""

from __future__ import annotations

import asyncio
import importlib.util
import stat
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Final, Self
from urllib.parse import unquote

from audiencekit import settings
from audiencekit.errors import InputOutputFailed, SourceRefused, UsageError
from audiencekit.limits import CONNECT_TIMEOUT_SECONDS, REMOTE_SILENCE_SECONDS
from audiencekit.process.programs import own_environment, without_path
from audiencekit.sources.remote.addresses import SourceAddress
from audiencekit.sources.remote.remote_file import Lost, Version, missing
from audiencekit.text import install_extra

if TYPE_CHECKING:
    from asyncssh import SFTPAttrs, SFTPClient, SSHClientConnection, SSHClientConnectionOptions


KNOWN_HOSTS: Final = f"{settings.PREFIX}{settings.KNOWN_HOSTS.upper()}"
_PART_BYTES: Final = 262_144
_HOME: Final = "/~/"
_SSH_PORT: Final = 22
_OF_ALL_USERS: Final = Path("/etc/ssh/ssh_known_hosts")


class SftpConnection:
    """The file at `address`; a connection that was lost is made again with the next attempt."""

    def __init__(self, address: SourceAddress) -> None:
        if importlib.util.find_spec("asyncssh") is None:
            raise UsageError("a list behind SFTP needs the package asyncssh", hint=install_extra("sftp"))
        with without_path():
            importlib.import_module("asyncssh")
        self._address = address
        self._path = path_of(address)
        self._stack, self._opening = AsyncExitStack(), asyncio.Lock()
        self._client: SFTPClient | None = None
        self._file: Any = None

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._stack.aclose()

    async def look(self) -> Version:
        """Return the present version, by its size and time of change."""
        async with self._lost_in_words():
            client, _ = await self._opened()
            found = await client.stat(self._path)
        _refuse_what_is_no_file(found)
        if found.size is None or found.mtime is None:
            raise SourceRefused("its server tells no size or no time of change: a change could not be seen")
        return Version(found.size, f"{found.mtime}.{found.mtime_ns or 0}")

    async def read(self, offset: int, length: int, version: Version, into: bytearray) -> None:
        """Add `length` bytes from `offset` on; whether the version is the same is looked at in the end."""
        async with self._lost_in_words():
            _, file = await self._opened()
            for at in range(offset, offset + length, _PART_BYTES):
                async with asyncio.timeout(REMOTE_SILENCE_SECONDS):
                    part = await file.read(min(_PART_BYTES, offset + length - at), at)
                into += part
                if len(part) < min(_PART_BYTES, offset + length - at):
                    return

    async def names(self) -> list[str]:
        """Return the names of the entries of the directory at the address."""
        async with self._lost_in_words():
            client, _ = await self._opened(with_file=False)
            return [str(name) for name in await client.listdir(self._path) if name not in (".", "..")]

    async def _opened(self, *, with_file: bool = True) -> tuple[SFTPClient, Any]:
        async with self._opening:
            if self._client is None:
                connection = await self._stack.enter_async_context(await self._connecting())
                self._client = await self._stack.enter_async_context(connection.start_sftp_client())
                self._file = None
            if with_file and self._file is None:
                _refuse_what_is_no_file(await self._client.stat(self._path))
                opening = self._client.open(self._path, "rb", encoding=None)
                self._file = await self._stack.enter_async_context(opening)
            return self._client, self._file

    async def _connecting(self) -> SSHClientConnection:
        import asyncssh

        host, port = self._address.host.strip("[]"), self._address.port or ()
        options = _ssh_options(self._address)
        try:
            return await asyncssh.connect(host, port, options=options)
        except asyncssh.HostKeyNotVerifiable:
            pass
        raise await _unproved_host(host, port, options)

    @asynccontextmanager
    async def _lost_in_words(self) -> AsyncIterator[None]:
        """Errors of asyncssh in our words: it quotes paths, and answers of the server."""
        import asyncssh

        failure: Exception
        try:
            yield
            return
        except (asyncssh.SFTPNoSuchFile, asyncssh.SFTPNoSuchPath):
            failure = missing()
        except asyncssh.SFTPPermissionDenied:
            failure = InputOutputFailed("cannot be read: the server does not allow it")
        except asyncssh.PermissionDenied:
            failure = InputOutputFailed(
                f"cannot be read: {self._address.host} takes none of your keys",
                hint="give the user as sftp://USER@HOST/PATH; keys are those of an agent or of your ssh configuration",
            )
        except (
            asyncssh.SFTPConnectionLost,
            asyncssh.SFTPNoConnection,
            asyncssh.DisconnectError,
            OSError,
            TimeoutError,
        ):
            failure = Lost(f"{self._address.host}: no connection was made, or it broke, or no answer came")
        except asyncssh.Error as error:
            failure = InputOutputFailed(f"cannot be read: the server answers with {type(error).__name__}")
        if isinstance(failure, Lost):
            await self._forget()
        raise failure

    async def _forget(self) -> None:
        """Give up a connection that was lost, and the files that were open over it."""
        stack, self._stack, self._client, self._file = self._stack, AsyncExitStack(), None, None
        with suppress(Exception):  # of what is gone already
            await stack.aclose()


def path_of(address: SourceAddress) -> str:
    """The path on the server: from its root, or with `/~/` from the home of the user."""
    path = unquote(address.path)
    return path.removeprefix(_HOME) or "." if path.startswith(_HOME) else path


def _ssh_options(address: SourceAddress) -> SSHClientConnectionOptions:
    """The user's ssh configuration, without its list of known hosts, which may accept every host."""
    import asyncssh

    given: dict[str, Any] = {"host": address.host.strip("[]"), "known_hosts": _known_hosts() or b""}
    if address.port is not None:
        given["port"] = address.port
    if address.user:
        given["username"] = address.user
    failure = ""
    try:
        options = asyncssh.SSHClientConnectionOptions(
            preferred_auth=("publickey",),
            password=None,
            connect_timeout=CONNECT_TIMEOUT_SECONDS,
            login_timeout=REMOTE_SILENCE_SECONDS,
            keepalive_interval=REMOTE_SILENCE_SECONDS / 2,
            **given,
        )
    except (asyncssh.Error, OSError, ValueError) as error:
        failure = type(error).__name__
    if failure:
        raise UsageError(f"your ssh configuration, or a key that it names, cannot be read: {failure}")
    return options


def _known_hosts() -> list[str]:
    """The files of the hosts that are known. Raises UsageError and InputOutputFailed for one that is named in vain."""
    text = own_environment().get(KNOWN_HOSTS)
    if not text:
        return [str(file) for file in (Path("~/.ssh/known_hosts").expanduser(), _OF_ALL_USERS) if file.is_file()]
    path = Path(text).expanduser()
    if not path.is_absolute():
        raise UsageError(f"{KNOWN_HOSTS} is not an absolute path", hint="give the full path, from / or ~/")
    if not path.is_file():
        raise InputOutputFailed(f"the file that {KNOWN_HOSTS} names is not there")
    return [str(path)]


async def _unproved_host(host: str, port: Any, options: SSHClientConnectionOptions) -> SourceRefused:
    """The refusal of a host whose key is not known, with the key that it shows now."""
    import asyncssh

    shown = "a key that could not be asked for"
    with suppress(asyncssh.Error, OSError, TimeoutError):
        key = await asyncssh.get_server_host_key(host, port, options=options)
        shown = shown if key is None else key.get_fingerprint()
    file = own_environment().get(KNOWN_HOSTS) or "~/.ssh/known_hosts"
    if _knows(host, port or _SSH_PORT):
        return SourceRefused(
            f"{host} shows another key than {file} has for it: {shown}",
            hint="ask who runs it whether the key was changed: it may be another host in its place",
        )
    return SourceRefused(
        f"the key of {host} is not in {file}: it shows {shown}",
        hint=f"ask who runs it whether this is its key, and if it is, add it: ssh-keyscan{_port_words(port)} {host}",
    )


def _knows(host: str, port: int) -> bool:
    import asyncssh

    try:
        return any(asyncssh.match_known_hosts(_known_hosts() or b"", host, "", port)[:2])
    except (OSError, ValueError):
        return False


def _port_words(port: Any) -> str:
    return f" -p {port}" if port else ""


def _refuse_what_is_no_file(found: SFTPAttrs) -> None:
    if found.permissions is not None and not stat.S_ISREG(found.permissions):
        is_directory = stat.S_ISDIR(found.permissions)
        raise SourceRefused(
            f"this is {'a directory' if is_directory else 'a device or a pipe'}, not a regular file",
            hint="end the address with / to read the Parquet files in it" if is_directory else "",
        )
