"""A directory of Parquet files as one source: what engines write that work in parts, and what `prepare` writes."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final, Protocol

from audiencekit.errors import InputOutputFailed, SourceRefused
from audiencekit.sources.manifest import NamedPart, read_manifest
from audiencekit.text import shown

if TYPE_CHECKING:
    from audiencekit.sources.files import FilePath

SUFFIX: Final = ".parquet"
UNFINISHED: Final = "_temporary"  # Hadoop's name for what a job has not committed
MANIFEST_FILE: Final = "manifest.json"  # of `prepare`
MANIFEST, RECORDS, REJECTIONS, OUTCOMES = "manifest", "records", "rejections", "outcomes"  # directories of a Spark job
_HIDDEN: Final = re.compile(r"[._].*")
_NO_ROWS: Final = re.compile(r"[._].*|manifest\.json|rejections\.csv|requests")  # markers, and the rest of a `prepare`
_MOST_TOLD: Final = 3  # names in one message


@dataclass(frozen=True, slots=True)
class Part:
    """A file of a source: `is_listed` if a directory led to it, whose manifest has the entry `named`."""

    path: FilePath
    named: NamedPart | None = None
    is_listed: bool = False


class Directory(Protocol):
    """A directory on a disk, in a bucket or on a server."""

    def names(self) -> list[str]:
        """The names in it. Raises SourceRefused and InputOutputFailed."""

    def path_of(self, name: str) -> FilePath:
        """The path or address of a file in it."""

    def below(self, name: str) -> Directory:
        """A directory in it."""


@dataclass(frozen=True, slots=True)
class LocalDirectory:
    """A directory of this machine, or of a volume."""

    path: FilePath

    def names(self) -> list[str]:
        """The names in it. Raises InputOutputFailed when it cannot be listed."""
        failure = ""
        try:
            return os.listdir(self.path)
        except OSError as error:
            failure = error.strerror or "unknown reason"
        raise InputOutputFailed(f"cannot be read: {failure}")

    def path_of(self, name: str) -> FilePath:
        """The path of a file in it."""
        return Path(self.path) / name

    def below(self, name: str) -> LocalDirectory:
        """A directory in it."""
        return LocalDirectory(Path(self.path) / name)


def parts_in(directory: Directory, read: Callable[[FilePath], bytes]) -> list[Part]:
    """The Parquet files of a directory, by name; `read` gives the content of a manifest.

    Where a manifest of ours is, they are the parts that it names. Raises SourceRefused for a directory that holds none,
    or other things, or what is still being written, or not what its manifest names; InputOutputFailed when it cannot be
    listed.
    """
    names = directory.names()
    if MANIFEST_FILE in names and (named := read_manifest(read(directory.path_of(MANIFEST_FILE)))) is not None:
        return _named_parts(directory, names, named)
    if _is_place(names):
        return _parts_of_place(directory, names, read)
    return [Part(directory.path_of(name), is_listed=True) for name in part_names(names)]


def part_names(names: list[str]) -> list[str]:
    """The Parquet files among the `names` in a directory; markers (`_SUCCESS`) and hidden files are left out.

    Raises SourceRefused as above.
    """
    if UNFINISHED in names:
        raise SourceRefused(
            "the job that writes this directory has not finished, or has failed",
            hint=f"wait for it; when it has ended, remove {UNFINISHED} or run it again",
        )
    rows = sorted(name for name in names if not _NO_ROWS.fullmatch(name))
    alien = sum(not name.endswith(SUFFIX) for name in rows)
    if not rows or alien == len(rows):
        pattern = "*/*.parquet" if any("=" in name for name in rows) else "*.csv"
        raise SourceRefused(
            "this is a directory without Parquet files",
            hint=f"give the files in it; the shell lists them for DIRECTORY/{pattern}",
        )
    if alien:
        others = "1 other entry" if alien == 1 else f"{alien} other entries"
        raise SourceRefused(
            f"this is a directory, and beside Parquet files it holds {others}",
            hint=f"give the files that are meant; the shell lists them for DIRECTORY/*{SUFFIX}",
        )
    return rows


def _named_parts(directory: Directory, names: Collection[str], named: Iterable[NamedPart]) -> list[Part]:
    """The parts that a manifest names. Raises SourceRefused when files are missing, or others are there."""
    parts = {part.name: part for part in named}
    if absent := sorted(set(parts) - set(names)):
        raise SourceRefused(
            f"{_told(absent)}: the manifest names {_it(absent)}, and {_it(absent)} {_is(absent)} not there",
            hint="copy the whole directory again, or prepare the list again into another one",
        )
    if others := sorted(name for name in set(names) - set(parts) if not _NO_ROWS.fullmatch(name)):
        raise SourceRefused(
            f"{_told(others)}: the manifest does not name {_it(others)}, so its rows may be those of another list",
            hint="remove what is not of this list, or prepare the list again into another directory",
        )
    if not parts:
        raise SourceRefused("the manifest of this directory names no part", hint="prepare the list again")
    return [Part(directory.path_of(name), parts[name], is_listed=True) for name in sorted(parts)]


def _is_place(names: Iterable[str]) -> bool:
    """Whether a Spark job may have written the entries: their manifest decides."""
    seen = {name for name in names if not _HIDDEN.fullmatch(name)}
    return bool(seen - {RECORDS}) and seen <= {MANIFEST, RECORDS, REJECTIONS, OUTCOMES}


def _parts_of_place(directory: Directory, names: Collection[str], read: Callable[[FilePath], bytes]) -> list[Part]:
    """The parts of the records that a Spark job wrote. Raises SourceRefused for a place without a manifest."""
    below = directory.below(MANIFEST)
    written = below.names() if MANIFEST in names else []
    files = [name for name in written if not _HIDDEN.fullmatch(name)]
    named = read_manifest(read(below.path_of(files[0]))) if len(files) == 1 and UNFINISHED not in written else None
    if named is None:
        raise SourceRefused(
            "this directory has no whole manifest, which a Spark job writes last: it has not finished, or has failed",
            hint="wait for it, or run it again: it writes the directory anew",
        )
    records = directory.below(RECORDS)
    return _named_parts(records, records.names(), named)


def _told(names: list[str]) -> str:
    told = ", ".join(map(shown, names[:_MOST_TOLD]))
    return told if len(names) <= _MOST_TOLD else f"{told} and {len(names) - _MOST_TOLD:,} more"


def _it(names: list[str]) -> str:
    return "it" if len(names) == 1 else "them"


def _is(names: list[str]) -> str:
    return "is" if len(names) == 1 else "are"
