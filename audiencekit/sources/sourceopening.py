"""The door of this room: paths, data frames and options in, text columns with row numbers out."""

from __future__ import annotations

from collections.abc import Sequence

from audiencekit.personal import guarded
from audiencekit.records.batches import ColumnMapping
from audiencekit.sources.columns.mapping import Mapper
from audiencekit.sources.columns.nestedfields import nested_notes
from audiencekit.sources.files import AnySource, Item, LookedAtFile, items_of, look_at_files, naming
from audiencekit.sources.joining import JoinedSource
from audiencekit.sources.options import SourceOptions
from audiencekit.sources.source import FoundColumns, Source


def open_source(source: AnySource, options: SourceOptions) -> Source:
    """The files ("-" is standard input) and frames of `source`, looked at and mapped; only then the first is read.

    Without a column of identifiers the mapping is empty. Raises SourceRefused for what cannot be read, MappingRefused
    for columns that are missing or ambiguous, InputOutputFailed when the system says no, UsageError for an option that
    no file heeds.
    """
    return guarded(_open)(items_of(source), options)


def _open(items: Sequence[Item], options: SourceOptions) -> Source:
    files = [_mapped(file, options) for file in look_at_files(items, options)]
    if len(files) == 1:
        return files[0]
    return JoinedSource(files)


def _mapped(file: LookedAtFile, options: SourceOptions) -> Source:
    if file.look.mapping is not None:
        return _self_explained(file, file.look.mapping, options)
    mapper = Mapper(file.look.header, file.look.sample, options)
    with naming(file.name):
        mapping = mapper.map()
        file.look.table.check(mapping)
    # A user who names columns is told of no others.
    is_told = options.every_form or not options.columns
    nested = nested_notes(mapper.header, file.look.sample, options) if is_told else ()
    notes = (*mapper.notes, *nested, *file.look.notes)
    return _source_of(file, FoundColumns(mapping, notes, mapper.operation_hint, frozenset(mapper.missing)))


def _self_explained(file: LookedAtFile, mapping: ColumnMapping, options: SourceOptions) -> Source:
    """A file that says what its columns are."""
    return _source_of(
        file, FoundColumns(mapping, file.look.notes, missing=frozenset(name for _, name in options.columns))
    )


def _source_of(file: LookedAtFile, columns: FoundColumns) -> Source:
    return Source(
        file.name,
        file.look.table,
        columns,
        bytes_total=file.size_bytes,
        repeatable=file.repeatable,
        later_notes=file.look.later_notes,
    )
