"""The door of this room: a path and options in, text columns with row numbers out."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from typing import TypeVar

from audiencekit.errors import AudiencekitError, InputOutputFailed, MappingRefused, SourceRefused
from audiencekit.personal import guarded
from audiencekit.preparation.batches import ColumnMapping, TextBatch
from audiencekit.sources.bytestream import ByteStream, SourceFormat
from audiencekit.sources.delimited import open_delimited
from audiencekit.sources.mapping import Mapper
from audiencekit.sources.options import SourceOptions
from audiencekit.sources.regularfile import RegularFile, shown_path
from audiencekit.sources.table import Description, Look, Table

T = TypeVar("T")


class Source:
    """One opened source. `rows_read` is final when `batches()` is exhausted: sound rows and faulty ones."""

    def __init__(self, name: str, table: Table, mapper: Mapper, *, bytes_total: int) -> None:
        self.name, self.bytes_total = name, bytes_total
        self.mapping: ColumnMapping = mapper.map()
        self.notes: tuple[str, ...] = tuple(mapper.notes)
        # A column that says update or delete for each row, and that no option names.
        self.operation_hint: str | None = mapper.operation_hint
        table.check(self.mapping)
        self._table = table

    def __repr__(self) -> str:
        return f"<Source {self.name}>"

    @property
    def rows_read(self) -> int:
        """Rows of the pass so far."""
        return self._table.rows_read

    @property
    def bytes_read(self) -> int:
        """Bytes of the file of the pass so far, of `bytes_total`."""
        return self._table.bytes_read

    @property
    def description(self) -> Description:
        """What the source was found to be, for people: format, encoding, delimiter, header and so on."""
        return self._table.description

    def batches(self) -> Iterator[TextBatch]:
        """All rows, in batches of up to limits.BATCH_ROWS; each call reads again from the beginning.

        Raises SourceRefused, at the latest after the last batch: until then nothing that was read may be sent.
        """
        rows = self._table.batches(self.mapping)
        step = guarded(lambda: _named(self.name, lambda: next(rows, None), lambda: self.rows_read))
        while (batch := step()) is not None:
            yield batch


def open_source(path: str | os.PathLike[str], options: SourceOptions) -> Source:
    """The source at `path`, looked at and mapped. Without a column of identifiers its mapping is empty.

    Raises SourceRefused for what cannot be read, MappingRefused for columns that are missing or ambiguous,
    InputOutputFailed when the system says no.
    """
    return guarded(_open)(path, options)


def _open(path: str | os.PathLike[str], options: SourceOptions) -> Source:
    name = shown_path(path)
    return _named(name, lambda: _open_named(name, path, options))


def _open_named(name: str, path: str | os.PathLike[str], options: SourceOptions) -> Source:
    file = RegularFile(path)
    stream = ByteStream(file, options.encoding)
    look = _look_at(stream, options)
    return Source(name, look.table, Mapper(look.header, look.sample, options), bytes_total=file.size_bytes)


def _look_at(stream: ByteStream, options: SourceOptions) -> Look:
    if stream.format is SourceFormat.DELIMITED:
        return open_delimited(stream, options)
    # Arrow's Parquet reader is heavy, and most sources are text.
    from audiencekit.sources.parquet import open_parquet

    return open_parquet(stream.file, options)


def _named(name: str, work: Callable[[], T], rows_read: Callable[[], int | None] = lambda: None) -> T:
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
