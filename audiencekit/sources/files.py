"""The place of an item: on disk, in a bucket or on a server, or an open handle; and the files in a directory there."""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, Final, TypeAlias

from audiencekit.errors import InputOutputFailed, MappingRefused, SourceRefused, UsageError
from audiencekit.records.chunks import PREPARED_FORMAT
from audiencekit.sources.bytes.byte_stream import BLOCK_BYTES, ByteStream
from audiencekit.sources.bytes.files import (
    SHOWN_NAME,
    STANDARD_INPUT,
    ByteReader,
    HeldFile,
    Identity,
    RawFile,
    RegularFile,
    StandardInput,
    shown_path,
)
from audiencekit.sources.bytes.unwrapping import unwrapped
from audiencekit.sources.formats import open_bytes, refuse_misnamed, refuse_unheeded
from audiencekit.sources.frames import Frame, OpenFile, Rows, is_in_memory, wrapped
from audiencekit.sources.manifest import SPARK_FORMAT, ProvenFile
from audiencekit.sources.options import EVERY_SHEET, SourceOptions
from audiencekit.sources.part_files import LocalDirectory, Part, parts_in
from audiencekit.sources.remote.addresses import (
    RemoteDirectory,
    SharedByFiles,
    SourceAddress,
    addresses_at,
    is_address,
    open_address,
    stored_address,
)
from audiencekit.sources.table import Look
from audiencekit.text import option, shown

FilePath = str | os.PathLike[str]


def shown_name(path: FilePath) -> str:
    """The last part of a path or an address, with everything that does not print escaped."""
    return shown(SourceAddress.read(os.fspath(path)).name) if is_address(path) else shown_path(path)


def parts_of(path: FilePath) -> list[Part]:
    """The files that a path or an address names: itself, the Parquet files of a directory, or those that fit a star.

    Raises SourceRefused for a directory without them, or with others than its manifest names; InputOutputFailed when it
    cannot be listed.
    """
    if not is_address(path):
        return parts_in(LocalDirectory(path), _content) if os.path.isdir(path) else [Part(path)]
    address = SourceAddress.read(os.fspath(path))
    if not address.asks_for_several:
        return [Part(path)]
    if "*" in address.path:
        return [Part(found) for found in addresses_at(address)]
    return parts_in(RemoteDirectory(address), _content)


def _content(path: FilePath) -> bytes:
    """The bytes of a manifest. Raises SourceRefused for one that is too large to be held."""
    with naming(shown_name(path)):
        file = _as_it_lies(path)
        with closing(file.open()) as handle:
            content = HeldFile(file, ByteReader(handle).blocks(BLOCK_BYTES))
            file.check_unchanged(handle)
    return content.open().read()


def _as_it_lies(path: FilePath, shared: SharedByFiles | None = None) -> RawFile:
    if is_address(path):
        return open_address(SourceAddress.read(os.fspath(path)), shared=shared)
    return RegularFile(path)


Item: TypeAlias = FilePath | Frame
AnySource: TypeAlias = FilePath | Rows | Sequence[FilePath | Rows | Mapping[str, Any]]  # dicts are rows, all or none
# Lines of a file; or without a directory an address, a handle, a number as people write it, a hash or a device id.
_VALUE: Final = re.compile(
    r"[^/](?s:.*)\n(?s:.*)"
    r"|[^/\\]*@[^/\\]+|\+?[\d (). -]{7,}|[0-9A-Fa-f]{64}|[0-9A-Fa-f]{8}(?:-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}"
)
_ROWS: Final = (
    "rows are those of Arrow, pandas, Polars, DuckDB, a cursor, dicts in a list, or a file open as bytes;"
    " collect a lazy frame first"
)


@dataclass(frozen=True, slots=True)
class LookedAtFile:
    """One file, or frame, of a source. `identity` is the same for two paths to one file.

    `size_bytes` is 0 when unknown.
    """

    name: str
    look: Look = field(repr=False)
    size_bytes: int
    identity: Identity
    repeatable: bool = True


def items_of(source: AnySource) -> tuple[Item, ...]:
    """The paths and frames that `source` is or lists, frames wrapped. Raises UsageError when it is or lists neither."""
    one = _item_of(source)
    several = source if isinstance(source, Sequence) and one is None else ()
    listed = tuple(map(_item_of, several)) if one is None else (one,)
    items = tuple(item for item in listed if item is not None)
    if not items or len(items) < len(listed):
        raise UsageError("the source must be a path, rows, or a list of these", hint=_ROWS)
    for number, item in enumerate(items, 1):
        _refuse_value(number, item)
    return items


def _refuse_value(number: int, item: Item) -> None:
    """Raises UsageError for an identifier in the place of a path: as a path it would be shown, and kept in journals."""
    if isinstance(item, Frame) or not _VALUE.fullmatch(os.fspath(item)) or os.path.lexists(item):
        return
    raise UsageError(
        f"source {number} is no file, and looks like identifiers of people",
        hint="put identifiers into a file with a header, or in Python into rows: [{'email': …}, …]",
    )


def _item_of(source: object) -> Item | None:
    return source if isinstance(source, str | os.PathLike) else wrapped(source)


def paths_among(source: AnySource) -> tuple[FilePath, ...]:
    """The paths among `items_of(source)`."""
    return tuple(item for item in items_of(source) if not isinstance(item, Frame))


def paths_of(source: AnySource) -> tuple[FilePath, ...]:
    """The paths that `source` is or lists. Raises UsageError when it is or lists anything else."""
    items = items_of(source)
    paths = paths_among(source)
    if len(paths) != len(items):
        raise UsageError(
            "rows that come once are not taken here, such as a data frame or a query to a database",
            hint="write them to a Parquet file, and give its path",
        )
    return paths


def comes_once(item: Item) -> bool:
    """Whether an item can be read only once, even by this process."""
    return not is_in_memory(item) if isinstance(item, Frame) else os.fspath(item) == STANDARD_INPUT


def is_path(path: FilePath) -> bool:
    """Whether it names a file of this machine, and neither standard input nor an address."""
    return os.fspath(path) != STANDARD_INPUT and not is_address(path)


def absolute_path(path: FilePath) -> str:
    """Return `path` as an absolute path; standard input and addresses are returned unchanged.

    Raises InputOutputFailed for a relative path when the working directory is gone.
    """
    text = os.fspath(path)
    try:
        return os.path.abspath(text) if is_path(text) else text
    except FileNotFoundError:
        pass
    raise InputOutputFailed(f"{shown_path(text)}: the working directory is gone", hint="change to one that exists")


def stored_path(path: FilePath) -> str:
    """`absolute_path` as journals keep it: of an address without its query, which may be a signature."""
    return stored_address(absolute_path(path))


def names_of(items: Iterable[Item]) -> tuple[str, ...]:
    """The names of files and frames for people, without directories, of which no run is to be told again and again."""
    return tuple(map(_name_of, items))


def _name_of(item: Item) -> str:
    if isinstance(item, Frame):
        return item.mark
    path = os.fspath(item)
    if is_address(path):
        return SourceAddress.read(path).name
    return SHOWN_NAME if path == STANDARD_INPUT else shown(os.path.basename(path.rstrip(os.sep)) or path)


def look_at_files(items: Sequence[Item], options: SourceOptions) -> list[LookedAtFile]:
    """Every file and frame, looked at. Raises SourceRefused for one that cannot be read or stands there twice.

    A directory is its Parquet files. Raises UsageError for an option that nothing heeds.
    """
    files: dict[Identity, LookedAtFile] = {}
    shared = SharedByFiles()
    for name, item in _named_items(items):
        with naming(name):
            look = partial(_look_at, name, item, shared)
            looked = [look(options)]
            if sheets := _other_sheets(looked[0], options):
                looked = _look_at_sheets(looked[0], look, sheets, options)
        for file in looked:
            if file.identity in files:
                raise SourceRefused(f"{name}: this file is given twice", source=name, hint="give it once")
            files[file.identity] = file
    if not options.every_form:
        refuse_unheeded([str(file.look.table.description["format"]) for file in files.values()], options)
    return list(files.values())


def _other_sheets(first: LookedAtFile, options: SourceOptions) -> tuple[str, ...]:
    """The sheets of a workbook to read behind the first, all of them one list."""
    if "sheet" not in first.look.table.description:
        return ()
    return first.look.sheets[1:] if EVERY_SHEET in options.sheets else options.sheets[1:]


def _look_at_sheets(
    first: LookedAtFile, look: Callable[[SourceOptions], LookedAtFile], others: Sequence[str], options: SourceOptions
) -> list[LookedAtFile]:
    """Each sheet as a file, named after it. Raises SourceRefused for sheets that have not the header of the first."""
    if not first.repeatable:
        raise SourceRefused("several sheets are read from a file only", hint="save the workbook, and give its path")
    looked = [first, *(look(replace(options, sheet=sheet)) for sheet in others)]
    shown_sheets = [str(file.look.table.description["sheet"]) for file in looked]
    headers = [file.look.header.keys for file in looked]
    if unlike := [sheet for sheet, header in zip(shown_sheets, headers, strict=True) if header != headers[0]]:
        raise SourceRefused(
            f"the header of sheet {' and '.join(map(repr, unlike))} is not that of sheet {shown_sheets[0]!r}",
            hint=f"name the sheets of one list, each with {option('sheet', shown_sheets[0])}",
        )
    return [
        replace(file, name=f"{file.name}, sheet {sheet}", identity=f"{file.identity} sheet {sheet}")
        for file, sheet in zip(looked, shown_sheets, strict=True)
    ]


def _named_items(items: Iterable[Item]) -> Iterator[tuple[str, Frame | Part]]:
    """Each item with what people are told that it is, the files of a directory one by one."""
    seen: Counter[str] = Counter()
    for item in items:
        if isinstance(item, Frame):
            seen[item.mark] += 1
            yield item.mark if seen[item.mark] == 1 else f"{item.mark} {seen[item.mark]}", item
        elif os.fspath(item) == STANDARD_INPUT:
            yield SHOWN_NAME, Part(item)
        else:
            with naming(shown_name(item)):
                parts = parts_of(item)
            yield from ((shown_name(part.path), part) for part in parts)


def _look_at(name: str, item: Frame | Part, shared: SharedByFiles, options: SourceOptions) -> LookedAtFile:
    if isinstance(item, Frame) and not isinstance(item, OpenFile):
        # Arrow's types are heavy, and most sources are text.
        from audiencekit.sources.frames import open_frame

        return LookedAtFile(name, open_frame(item, options), 0, f"frame {id(item.unwrap())}", repeatable=False)
    file = unwrapped(_opened(item, shared))
    refuse_misnamed(name, file)
    look = open_bytes(name, ByteStream(file, options.encoding), options)
    if isinstance(item, Part) and item.is_listed and item.named is None and look.manifest:
        raise SourceRefused(
            "its directory has no whole manifest, which is written last: the writing has not finished, or has failed",
            hint=_INCOMPLETE[look.manifest],
        )
    return LookedAtFile(name, look, file.size_bytes, file.identity, file.repeatable)


# By the format of the manifest that names such a file.
_INCOMPLETE: Final = {
    PREPARED_FORMAT: "run `prepare` again; a file of records is whole in itself, and can be given by its name",
    SPARK_FORMAT: "give the directory above, that the Spark job was to write; when it has none, run the job again",
}


def _opened(item: Frame | Part, shared: SharedByFiles) -> RawFile:
    """The bytes of an item as they lie: still packed and encrypted."""
    if isinstance(item, Frame):
        return StandardInput(item.unwrap())
    if os.fspath(item.path) == STANDARD_INPUT:
        return StandardInput()
    file = _as_it_lies(item.path, shared)
    return file if item.named is None else ProvenFile(file, item.named)


@contextmanager
def naming(name: str, rows_read: Callable[[], int | None] = lambda: None) -> Iterator[None]:
    """Have refusals within the block say which source they are about, and how far it was read."""
    try:
        yield
    except SourceRefused as error:
        failure = SourceRefused(
            f"{name}: {error}",
            source=name,
            row=error.row,
            column=error.column,
            rows_read=error.rows_read if error.rows_read is not None else rows_read(),
            hint=error.hint,
        )
        error.bare()  # it becomes the context, and its frames hold values
        raise failure from None
    except (MappingRefused, InputOutputFailed) as error:
        raise type(error)(f"{name}: {error.bare()}", hint=error.hint) from None
