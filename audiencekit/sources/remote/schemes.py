"""The door of this room: an address in, its bytes out; and the files in a directory elsewhere."""

from __future__ import annotations

import fnmatch
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Final
from urllib.parse import quote

from audiencekit.errors import SourceRefused
from audiencekit.sources.bytes.rawbytes import RawFile
from audiencekit.sources.remote.address import BUCKETS, SourceAddress

if TYPE_CHECKING:
    from audiencekit.sources.remote.retries import Patience

_STAR: Final = "*"


def open_address(address: SourceAddress, patience: Patience | None = None) -> RawFile:
    """The file at `address`, of which one version is read.

    Raises SourceRefused where there is none, or a change of it could not be seen, InputOutputFailed where it cannot be
    reached, UsageError where the package is missing.
    """
    # Most sources are files on disk.
    from audiencekit.sources.remote.remotefile import RemoteFile

    if address.scheme in BUCKETS:
        from audiencekit.sources.remote.buckets import BucketConnection, open_bucket

        open_bucket(address)  # what is missing is told at once
        return RemoteFile(address, partial(BucketConnection, address), patience)
    if address.scheme == "sftp":
        from audiencekit.sources.remote.sftp import SftpConnection

        return RemoteFile(address, partial(SftpConnection, address), patience)
    from audiencekit.sources.remote.web import Way, WebConnection
    from audiencekit.sources.remote.webstream import WebStream

    way = Way.to(address)
    file = RemoteFile(address, partial(WebConnection, address, way), patience)
    return file if file.is_pinned else WebStream(address, way, patience)


def names_at(address: SourceAddress) -> tuple[SourceAddress, list[str]]:
    """The directory that `address` names, and the names in it; those that fit where its last part has a star.

    Raises SourceRefused for a star elsewhere or one that nothing fits, InputOutputFailed where it cannot be listed.
    """
    before, _, last = address.path.rpartition("/")
    if _STAR in before:
        raise SourceRefused("a star stands in the last part of an address only", hint="give one directory at a time")
    directory = replace(address, path=f"{before}/" if before or address.path.startswith("/") else "")
    names = sorted(name for name in _names(directory) if name)
    if not last:
        return directory, names
    if not (fitting := [name for name in names if fnmatch.fnmatchcase(name, last.replace("[", "[[]"))]):
        raise SourceRefused("there is no file with such a name")
    return directory, fitting


def in_directory(directory: SourceAddress, name: str) -> SourceAddress:
    """The address of the file called `name` in it."""
    return replace(directory, path=directory.path + (name if directory.scheme in BUCKETS else quote(name)))


def _names(directory: SourceAddress) -> list[str]:
    if directory.scheme in BUCKETS:
        from audiencekit.sources.remote.buckets import names_in_bucket

        return names_in_bucket(directory)
    from audiencekit.sources.remote.loopthread import LoopThread
    from audiencekit.sources.remote.retries import Patience
    from audiencekit.sources.remote.sftp import SftpConnection

    async def listed() -> list[str]:
        connection = await loop.stack.enter_async_context(SftpConnection(directory))
        return await Patience().again(connection.names)

    loop = LoopThread()
    try:
        return loop.run(listed())
    finally:
        loop.close()
