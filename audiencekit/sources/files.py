"""The files of a source, each opened and looked at before the first of them is read."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Final, TypeVar

from audiencekit.errors import AudiencekitError, InputOutputFailed, MappingRefused, SourceRefused, UsageError
from audiencekit.sources.bytestream import ByteStream, SourceFormat, take_sample
from audiencekit.sources.delimited import open_delimited
from audiencekit.sources.jsonlines import is_json_lines, open_json_lines
from audiencekit.sources.options import SourceOptions
from audiencekit.sources.regularfile import RegularFile, shown_path
from audiencekit.sources.standardinput import SHOWN_NAME, STANDARD_INPUT, StandardInput
from audiencekit.sources.table import Look

T = TypeVar("T")
FilePath = str | os.PathLike[str]
SNIFFED_BYTES: Final = 65_536


@dataclass(frozen=True, slots=True)
class LookedAtFile:
    """One file of a source. `identity` is the same for two paths to one file; `size_bytes` 0 when nobody knows."""

    name: str
    look: Look = field(repr=False)
    size_bytes: int
    identity: tuple[int, int] | str
    repeatable: bool = True


def paths_of(source: FilePath | Sequence[FilePath]) -> tuple[FilePath, ...]:
    """The paths that `source` is or lists. Raises UsageError when it is neither, or lists none."""
    if isinstance(source, str | os.PathLike):
        return (source,)
    paths = tuple(source) if isinstance(source, Sequence) else ()
    if not paths or not all(isinstance(path, str | os.PathLike) for path in paths):
        raise UsageError("the source must be a path, or a list of paths")
    return paths


def absolute_path(path: FilePath) -> str:
    """`path` as it means the same file from every directory; standard input stays what it is."""
    text = os.fspath(path)
    return text if text == STANDARD_INPUT else os.path.abspath(text)


def look_at_files(paths: Sequence[FilePath], options: SourceOptions) -> list[LookedAtFile]:
    """Every file, looked at. Raises SourceRefused for one that cannot be read or stands there twice.

    Raises UsageError for an option that no file heeds.
    """
    files: list[LookedAtFile] = []
    for path in paths:
        name = SHOWN_NAME if os.fspath(path) == STANDARD_INPUT else shown_path(path)
        file = named(name, partial(_look_at, name, path, options))
        if file.identity in [other.identity for other in files]:
            raise SourceRefused(f"{name}: this file is given twice", source=name, hint="give it once")
        files.append(file)
    _refuse_unheeded([str(file.look.table.description["format"]) for file in files], options)
    return files


def _look_at(name: str, path: FilePath, options: SourceOptions) -> LookedAtFile:
    if os.fspath(path) == STANDARD_INPUT:
        stream = ByteStream(StandardInput(), options.encoding)
        if stream.format is SourceFormat.PARQUET:
            raise SourceRefused("Parquet is read from its end, which a pipe does not have", hint="give it as a file")
        return LookedAtFile(name, _look_at_text(name, stream, options), 0, STANDARD_INPUT, repeatable=False)
    file = RegularFile(path)
    stream = ByteStream(file, options.encoding)
    identity = (file.identity.device, file.identity.inode)
    if stream.format is SourceFormat.TEXT:
        return LookedAtFile(name, _look_at_text(name, stream, options), file.size_bytes, identity)
    # Arrow's Parquet reader is heavy, and most sources are text.
    from audiencekit.sources.parquet import open_parquet

    return LookedAtFile(name, open_parquet(file, options), file.size_bytes, identity)


def _look_at_text(name: str, stream: ByteStream, options: SourceOptions) -> Look:
    if options.delimiter is None and is_json_lines(name, take_sample(stream.blocks(), SNIFFED_BYTES)):
        return open_json_lines(stream, options)
    return open_delimited(stream, options)


def _refuse_unheeded(formats: list[str], options: SourceOptions) -> None:
    """What only delimited text, or only text, has must not be said of other files and silently be of no use."""
    if "delimited" not in formats and (options.delimiter is not None or options.header is not None):
        option = "--delimiter" if options.delimiter is not None else "--no-header"
        raise UsageError(f"{option} is for delimited text, and the source is {' and '.join(sorted(set(formats)))}")
    if set(formats) == {"parquet"} and options.encoding is not None:
        raise UsageError("--encoding is for text, and the source is parquet")


def named(name: str, work: Callable[[], T], rows_read: Callable[[], int | None] = lambda: None) -> T:
    """What `work` returns; its refusals say which source they are about, and how far it was read."""
    failure: AudiencekitError
    try:
        return work()
    except SourceRefused as error:
        failure = SourceRefused(
            f"{name}: {error}",
            source=name,
            row=error.row,
            column=error.column,
            rows_read=error.rows_read if error.rows_read is not None else rows_read(),
            hint=error.hint,
        )
    except (MappingRefused, InputOutputFailed) as error:
        failure = type(error)(f"{name}: {error}", hint=error.hint)
    raise failure
