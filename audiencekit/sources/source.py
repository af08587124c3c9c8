"""The door of this room: paths, data frames and options in, text columns with row numbers out."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

from audiencekit.personal import guarded
from audiencekit.preparation.batches import ColumnMapping, TextBatch
from audiencekit.sources.files import AnySource, Item, LookedAtFile, items_of, look_at_files, named
from audiencekit.sources.joining import JoinedTable, common_notes, join_mappings
from audiencekit.sources.mapping import Mapper
from audiencekit.sources.options import SourceOptions
from audiencekit.sources.table import Description, Part, Table


class Source:
    """An opened source: one file, several, or a query. `rows_read` is final when `batches()` is exhausted.

    `rows_read` counts sound rows and faulty ones. `operation_hint` is a column that says update or delete for each
    row, and that no option names. `missing` are the named columns that a list which is compared does not have.
    `repeatable` is False where standard input or a data frame takes part.
    """

    def __init__(
        self,
        name: str,
        table: Table,
        mapping: ColumnMapping,
        *,
        notes: tuple[str, ...] = (),
        operation_hint: str | None = None,
        missing: Iterable[str] = (),
        bytes_total: int = 0,
        repeatable: bool = True,
        later_notes: Callable[[], tuple[str, ...]] = tuple,
    ) -> None:
        self.name, self._mapping, self.bytes_total = name, mapping, bytes_total
        self.operation_hint, self.missing, self.repeatable = operation_hint, frozenset(missing), repeatable
        self._table, self._notes, self._later_notes = table, notes, later_notes

    def __repr__(self) -> str:
        return f"<Source {self.name}>"

    @property
    def mapping(self) -> ColumnMapping:
        """Which columns carry what."""
        return self._mapping

    @property
    def rows_read(self) -> int:
        """Rows of the pass so far."""
        return self._table.rows_read

    @property
    def bytes_read(self) -> int:
        """Bytes of the files of the pass so far, of `bytes_total`; that is 0 when nobody knows."""
        return self._table.bytes_read

    @property
    def description(self) -> Description:
        """What the source was found to be, for people: format, encoding, delimiter, header and so on."""
        return self._table.description

    @property
    def notes(self) -> tuple[str, ...]:
        """Which column was taken for what and why, and what the last pass of a query found."""
        return self._notes + self._later_notes()

    @property
    def parts(self) -> tuple[Part, ...]:
        """The files of the source, in order, each with its rows of the pass so far."""
        if isinstance(self._table, JoinedTable):
            return self._table.parts
        return (Part(self.name, self.repeatable, 1, self.rows_read, self.description),)

    def batches(self) -> Iterator[TextBatch]:
        """All rows, in batches of up to limits.BATCH_ROWS; each call reads again from the beginning.

        Raises SourceRefused, at the latest after the last batch: until then nothing that was read may be sent.
        """
        rows = self._table.batches(self.mapping)
        step = guarded(lambda: self._named(rows))
        while (batch := step()) is not None:
            yield batch

    def _named(self, rows: Iterator[TextBatch]) -> TextBatch | None:
        if isinstance(self._table, JoinedTable):
            return next(rows, None)  # whose files name themselves
        return named(self.name, lambda: next(rows, None), lambda: self.rows_read)


def open_source(source: AnySource, options: SourceOptions) -> Source:
    """The files ("-" is standard input) and frames of `source`, looked at and mapped; only then the first is read.

    Without a column of identifiers the mapping is empty. Raises SourceRefused for what cannot be read, MappingRefused
    for columns that are missing or ambiguous, InputOutputFailed when the system says no, UsageError for an option that
    no file heeds.
    """
    return guarded(_open)(items_of(source), options)


def _open(items: Sequence[Item], options: SourceOptions) -> Source:
    if options.sql is not None:
        return _open_query(items, options, options.sql)
    files = [_mapped(file, options) for file in look_at_files(items, options)]
    if len(files) == 1:
        return files[0]
    joined = join_mappings(files)
    return Source(
        f"{len(files)} files",
        JoinedTable(files, joined),
        joined.mapping,
        notes=common_notes(files),
        operation_hint=next((file.operation_hint for file in files if file.operation_hint), None),
        missing=frozenset.intersection(*(file.missing for file in files)),
        bytes_total=_total(file.bytes_total for file in files),
        repeatable=all(file.repeatable for file in files),
    )


def _mapped(file: LookedAtFile, options: SourceOptions, later_notes: Callable[[], tuple[str, ...]] = tuple) -> Source:
    if file.look.mapping is not None:
        return _self_explained(file, file.look.mapping, options)
    mapper = Mapper(file.look.header, file.look.sample, options)
    mapping = named(file.name, mapper.map)
    named(file.name, lambda: file.look.table.check(mapping))
    return Source(
        file.name,
        file.look.table,
        mapping,
        notes=tuple(mapper.notes),
        operation_hint=mapper.operation_hint,
        missing=mapper.missing,
        bytes_total=file.size_bytes,
        repeatable=file.repeatable,
        later_notes=later_notes,
    )


def _self_explained(file: LookedAtFile, mapping: ColumnMapping, options: SourceOptions) -> Source:
    """A file that says what its columns are."""
    return Source(
        file.name,
        file.look.table,
        mapping,
        notes=file.look.notes,
        missing=[name for _, name in options.columns],
        bytes_total=file.size_bytes,
        repeatable=file.repeatable,
    )


def _open_query(items: Sequence[Item], options: SourceOptions, sql: str) -> Source:
    # The engine is heavy, and most sources are no queries.
    from audiencekit.sources.query import open_query

    files = look_at_files(items, options.of_queried_files())
    name = f"the query over {files[0].name if len(files) == 1 else f'{len(files)} files'}"
    look, later_notes = open_query(sql, files, options)
    result = LookedAtFile(
        name, look, _total(file.size_bytes for file in files), name, all(file.repeatable for file in files)
    )
    return _mapped(result, options, later_notes)


def _total(sizes: Iterable[int]) -> int:
    """The sum; 0, unknown, when one is."""
    known = list(sizes)
    return sum(known) if all(known) else 0
