"""The place where an item lies: on disk, elsewhere, or behind a handle; and the files in a directory there."""

from __future__ import annotations

import os

from audiencekit.shown import shown
from audiencekit.sources.bytes.rawbytes import RawFile
from audiencekit.sources.bytes.regularfile import RegularFile, shown_path
from audiencekit.sources.bytes.standardinput import STANDARD_INPUT, StandardInput
from audiencekit.sources.bytes.unwrapping import unwrapped
from audiencekit.sources.frames.frames import OpenFile
from audiencekit.sources.parquet.partfiles import part_files, part_names
from audiencekit.sources.remote.address import SourceAddress, is_address
from audiencekit.sources.remote.schemes import in_directory, names_at, open_address

FilePath = str | os.PathLike[str]


def shown_name(path: FilePath) -> str:
    """The last part of a path or an address, with everything that does not print escaped."""
    return shown(SourceAddress.read(os.fspath(path)).name) if is_address(path) else shown_path(path)


def parts_of(path: FilePath) -> list[FilePath]:
    """The files that a path or an address names: itself, the Parquet files of a directory, or those that fit a star.

    Raises SourceRefused for a directory without them, InputOutputFailed when it cannot be listed.
    """
    if not is_address(path):
        return list(part_files(path)) if os.path.isdir(path) else [path]
    address = SourceAddress.read(os.fspath(path))
    if not address.asks_for_several:
        return [path]
    directory, names = names_at(address)
    return [in_directory(directory, name).text for name in (names if "*" in address.path else part_names(names))]


def raw_file(item: FilePath | OpenFile) -> RawFile:
    """The bytes of an item, without what they are wrapped in."""
    return unwrapped(_as_they_lie(item))


def _as_they_lie(item: FilePath | OpenFile) -> RawFile:
    if isinstance(item, OpenFile):
        return StandardInput(item.unwrap())
    if os.fspath(item) == STANDARD_INPUT:
        return StandardInput()
    return open_address(SourceAddress.read(os.fspath(item))) if is_address(item) else RegularFile(item)
