"""The address of a remote file: its form, and the part that is shown and stored."""

from __future__ import annotations

import fnmatch
import hashlib
import os
import re
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Any, Final, Self
from urllib.parse import quote, unquote

from audiencekit.errors import SourceRefused, UsageError
from audiencekit.sources.bytes.files import RawFile

if TYPE_CHECKING:
    from audiencekit.sources.remote.remote_file import Patience


BUCKETS: Final = ("s3", "gs", "az")
SCHEMES: Final = (*BUCKETS, "https", "sftp")
UNKEPT: Final = "?…"  # in the place of a query, which may be a signature and is never kept
_ADDRESS: Final = re.compile(r"([A-Za-z][A-Za-z0-9+.-]+)://")
_PLAIN: Final = "http"
_FORM: Final = re.compile(
    r"(?:(?P<user>[^/?#@]*)@)?(?P<host>\[[0-9A-Fa-f:.]+\]|[^/?#@:\s]*)(?::(?P<port>[0-9]{1,5}))?(?P<path>/.*)?"
)
_LOOPBACK: Final = re.compile(r"localhost|127(?:\.[0-9]{1,3}){3}|\[?::1\]?")
_MOST_PORTS: Final = 65_535


def is_address(path: object) -> bool:
    """Whether `path` is an address and no path of this machine."""
    return isinstance(path, str) and _ADDRESS.match(path) is not None


def is_loopback(host: str) -> bool:
    """Whether `host` is this machine."""
    return _LOOPBACK.fullmatch(host) is not None


@dataclass(frozen=True, slots=True)
class SourceAddress:
    """An address in its parts. `host` is a bucket in the schemes of BUCKETS; `path` has no slash at its front there.

    The query may be a signature: it is not shown, and not kept.
    """

    scheme: str
    host: str
    port: int | None
    path: str
    user: str = ""
    query: str = field(default="", repr=False)

    @classmethod
    def read(cls, text: str) -> Self:
        """The parts of `text`. Raises UsageError, which does not quote it, for an address that is not taken."""
        scheme, _, rest = text.partition("://")
        scheme = scheme.lower()
        if scheme not in (*SCHEMES, _PLAIN):
            raise UsageError(
                f"{scheme}:// is no place that lists are read from", hint=f"there are {_listed(SCHEMES)}, and paths"
            )
        rest, query = _without_query(scheme, rest)
        match = _FORM.fullmatch(rest)
        if match is None or not match["host"] or int(match["port"] or 0) > _MOST_PORTS or not rest.isprintable():
            raise UsageError(f"this is no address of a file: {scheme}:// and then {_form_of(scheme)} is")
        _refuse_user(scheme, match["user"])
        if scheme == _PLAIN and not is_loopback(match["host"]):
            raise UsageError("http:// is not taken: others on the way could read the list", hint="give it as https://")
        path = match["path"] or ""
        address = cls(
            scheme,
            match["host"],
            int(match["port"]) if match["port"] else None,
            path.removeprefix("/") if scheme in BUCKETS else path,
            match["user"] or "",
            query,
        )
        if scheme in BUCKETS and address.port is not None:
            raise UsageError(f"a {scheme}:// address has the name of a bucket, and no port")
        return address

    @property
    def authority(self) -> str:
        """Host and port."""
        return self.host if self.port is None else f"{self.host}:{self.port}"

    @property
    def text(self) -> str:
        """The address without its query."""
        user = f"{self.user}@" if self.user else ""
        return f"{self.scheme}://{user}{self.authority}/{self.path.removeprefix('/')}"

    @property
    def full(self) -> str:
        """The address with its query."""
        return f"{self.text}?{self.query}" if self.query else self.text

    @property
    def identity(self) -> str:
        """The address in full, as a digest: it is the same for the same file, and can be shown."""
        return hashlib.sha256(self.full.encode()).hexdigest()

    @property
    def stored(self) -> str:
        """The address as journals and receipts keep it."""
        return self.text + UNKEPT if self.query else self.text

    @property
    def name(self) -> str:
        """The last part of its path, as people know the file; the host where there is none."""
        last = self.path.rstrip("/").rpartition("/")[2]
        return (last if self.scheme in BUCKETS else unquote(last)) or self.host

    @property
    def asks_for_several(self) -> bool:
        """Whether it names a directory, or has a star in it, where such can be listed."""
        return self.scheme not in ("https", _PLAIN) and (self.path.endswith("/") or "*" in self.path or not self.path)


def stored_address(path: str | os.PathLike[str]) -> str:
    """An address as it is kept; any other path as it is."""
    text = os.fspath(path)
    return SourceAddress.read(text).stored if is_address(text) else text


def is_stored_whole(path: str) -> bool:
    """Whether what was kept of a source still names it."""
    return not (is_address(path) and path.endswith(UNKEPT))


def _without_query(scheme: str, rest: str) -> tuple[str, str]:
    """The rest of an address without its fragment, and its query. A bucket's key may hold any sign."""
    if scheme not in ("https", _PLAIN):
        return rest, ""
    before, _, query = rest.partition("#")[0].partition("?")
    return before, query


def _refuse_user(scheme: str, user: str | None) -> None:
    if user is None:
        return
    if ":" in user:
        raise UsageError(
            "an address holds a password, which is not taken", hint="every user of the machine can see it; change it"
        )
    if scheme != "sftp" or not user:
        raise UsageError(f"a {scheme}:// address has no user name", hint="remove everything before @")


def _form_of(scheme: str) -> str:
    return "BUCKET/KEY" if scheme in BUCKETS else "HOST/PATH"


def _listed(schemes: tuple[str, ...]) -> str:
    return ", ".join(f"{scheme}://" for scheme in schemes)


_STAR: Final = "*"
KEPT_BEGINNINGS: Final = 4


class SharedByFiles:
    """Connections to buckets for all files of one source, and the beginnings of the files that were opened last.

    A look at a file begins there several times. They are few, however many files a source has: its memory does not grow
    with them.
    """

    def __init__(self) -> None:
        self._beginnings: OrderedDict[str, bytes] = OrderedDict()
        self._buckets: dict[tuple[str, str], Any] = {}

    def __repr__(self) -> str:
        return f"<SharedByFiles: {len(self._beginnings)} beginnings, {len(self._buckets)} buckets>"

    def keep_beginning(self, version: str, data: bytes) -> None:
        """Keep the beginning of one more file, in the place of the oldest; `version` is its identity and its mark."""
        self._beginnings[version] = data
        if len(self._beginnings) > KEPT_BEGINNINGS:
            self._beginnings.popitem(last=False)

    def beginning_of(self, version: str) -> bytes:
        """The first bytes of a file; none when they are not kept any more."""
        return self._beginnings.get(version, b"")

    def bucket_of(self, address: SourceAddress, opened: Callable[[SourceAddress], Any]) -> Any:
        """The bucket of `address`, an obstore.store.ObjectStore, as `opened` gives it the first time."""
        key = (address.scheme, address.host)
        if key not in self._buckets:
            self._buckets[key] = opened(address)
        return self._buckets[key]


def open_address(
    address: SourceAddress, patience: Patience | None = None, shared: SharedByFiles | None = None
) -> RawFile:
    """The file at `address`, of which one version is read. The files of one source are opened with the same `shared`.

    Raises SourceRefused where there is none, or a change of it could not be seen, InputOutputFailed where it cannot be
    reached, UsageError where the package is missing.
    """
    # Most sources are files on disk.
    from audiencekit.sources.remote.remote_file import RemoteFile

    shared = shared or SharedByFiles()
    if address.scheme in BUCKETS:
        from audiencekit.sources.remote.buckets import BucketConnection, open_bucket

        bucket = shared.bucket_of(address, open_bucket)
        return RemoteFile(address, partial(BucketConnection, bucket, address.path), shared, patience)
    if address.scheme == "sftp":
        from audiencekit.sources.remote.sftp import SftpConnection

        return RemoteFile(address, partial(SftpConnection, address), shared, patience)
    from audiencekit.sources.remote.web import Way, WebConnection, WebStream

    way = Way.to(address)
    file = RemoteFile(address, partial(WebConnection, address, way), shared, patience)
    return file if file.is_pinned else WebStream(address, way, patience)


def addresses_at(address: SourceAddress) -> list[str]:
    """The files that fit an address with a star in its last part, by name.

    Raises SourceRefused for a star elsewhere or one that nothing fits, InputOutputFailed where they cannot be listed.
    """
    before, _, last = address.path.rpartition("/")
    if _STAR in before:
        raise SourceRefused("only the last part of an address may have a star", hint="give one directory at a time")
    directory = RemoteDirectory(replace(address, path=f"{before}/" if before or address.path.startswith("/") else ""))
    pattern = last.replace("[", "[[]")
    if not (fitting := sorted(name for name in directory.names() if fnmatch.fnmatchcase(name, pattern))):
        raise SourceRefused("there is no file with such a name")
    return [directory.path_of(name) for name in fitting]


@dataclass(frozen=True, slots=True)
class RemoteDirectory:
    """A directory in a bucket, or on a server with SFTP. The path of its address is empty, or ends with a slash."""

    address: SourceAddress

    def names(self) -> list[str]:
        """The names in it. Raises SourceRefused, and InputOutputFailed where it cannot be listed."""
        return [name for name in _names(self.address) if name]

    def path_of(self, name: str) -> str:
        """The address of the file called `name` in it."""
        return self._at(name).text

    def below(self, name: str) -> RemoteDirectory:
        """The directory called `name` in it."""
        return RemoteDirectory(self._at(f"{name}/"))

    def _at(self, name: str) -> SourceAddress:
        path = name if self.address.scheme in BUCKETS else quote(name)
        return replace(self.address, path=self.address.path + path)


def _names(directory: SourceAddress) -> list[str]:
    if directory.scheme in BUCKETS:
        from audiencekit.sources.remote.buckets import names_in_bucket

        return names_in_bucket(directory)
    from audiencekit.sources.remote.remote_file import LoopThread, Patience
    from audiencekit.sources.remote.sftp import SftpConnection

    async def listed() -> list[str]:
        connection = await loop.stack.enter_async_context(SftpConnection(directory))
        return await Patience().again(connection.names)

    loop = LoopThread()
    try:
        return loop.run(listed())
    finally:
        loop.close()
