"""Several files as one table: row numbers continue from file to file, and columns of one kind and name are one
column."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

import pyarrow as pa
import pyarrow.compute as pc

from audiencekit.errors import MappingRefused, SourceRefused
from audiencekit.personal import RawColumns, guarded
from audiencekit.records.batches import ROW, ColumnMapping, ColumnUse, MappedColumn, TextBatch
from audiencekit.records.losses import Loss
from audiencekit.sources.columns.mapping import Mapper, nested_notes
from audiencekit.sources.files import AnySource, Item, LookedAtFile, items_of, look_at_files, naming
from audiencekit.sources.fill_down import FillDown
from audiencekit.sources.options import SourceOptions
from audiencekit.sources.prepared import PREPARED
from audiencekit.sources.table import Description, SourcePart, Table

Fill = Callable[[TextBatch], TextBatch]


@dataclass(frozen=True, slots=True)
class FoundColumns:
    """The columns of a source, and the notes of their mapping.

    `operation_hint` is a column that says update or delete for each row, and that no option names. `missing` are the
    named columns that a list which is compared does not have. `warnings` are of people who are lost by the mapping.
    `uses` are of all columns.
    """

    mapping: ColumnMapping
    notes: tuple[str, ...] = ()
    operation_hint: str | None = None
    missing: frozenset[str] = frozenset()
    warnings: tuple[Loss, ...] = ()
    uses: tuple[ColumnUse, ...] = ()


class Source:
    """An opened source: one file, or several. `rows_read` is final when `batches()` is exhausted.

    `rows_read` counts sound rows and faulty ones. `repeatable` is False where standard input or a data frame takes
    part.
    """

    def __init__(
        self,
        name: str,
        table: Table,
        columns: FoundColumns,
        *,
        bytes_total: int = 0,
        repeatable: bool = True,
        later_notes: Callable[[], tuple[str, ...]] = tuple,
    ) -> None:
        self.name, self.bytes_total, self.repeatable = name, bytes_total, repeatable
        self.operation_hint, self.missing, self.warnings = columns.operation_hint, columns.missing, columns.warnings
        self.uses = columns.uses
        self._table, self._columns, self._later_notes = table, columns, later_notes
        self._renumber: Fill | None = None

    def __repr__(self) -> str:
        return f"<Source {self.name}>"

    @property
    def mapping(self) -> ColumnMapping:
        """Which columns carry what."""
        return self._columns.mapping

    @property
    def rows_read(self) -> int:
        """Rows of the pass so far."""
        return self._table.rows_read

    @property
    def bytes_read(self) -> int:
        """Bytes of the files of the pass so far, of `bytes_total`; that is 0 when unknown."""
        return self._table.bytes_read

    @property
    def description(self) -> Description:
        """The facts of the source, for people: format, encoding, delimiter, header and so on."""
        return self._table.description

    @property
    def notes(self) -> tuple[str, ...]:
        """Which column was taken for what and why, and what the last pass found."""
        return self._columns.notes + self.later_notes

    @property
    def later_notes(self) -> tuple[str, ...]:
        """The notes on what the last pass found."""
        return self._later_notes()

    @property
    def parts(self) -> tuple[SourcePart, ...]:
        """The files of the source, in order, each with its rows of the pass so far."""
        return (SourcePart(self.name, self.repeatable, 1, self.rows_read, self.description),)

    def batches(self) -> Iterator[TextBatch]:
        """All rows, in batches of up to limits.BATCH_ROWS; each call reads again from the beginning.

        Raises SourceRefused, at the latest after the last batch: until then nothing that was read may be sent.
        """
        rows = self._table.batches(self.mapping)
        fill = FillDown(self.mapping).fill if self.mapping.filled_down else None
        step = guarded(lambda: self._next(rows, fill))
        while (batch := step()) is not None:
            yield batch

    def renumbered(self, renumber: Fill) -> Source:
        """This source, whose batches go through `renumber`, which gives their rows other numbers."""
        self._renumber = renumber
        return self

    def _next(self, rows: Iterator[TextBatch], fill: Fill | None) -> TextBatch | None:
        with naming(self.name, lambda: self.rows_read):
            batch = next(rows, None)
            for step in (fill, self._renumber):
                batch = batch if batch is None or step is None else step(batch)
        return batch


Key = tuple[str, str, int]  # kind, shown name, and which of those with the same two


@dataclass(frozen=True, slots=True)
class JoinedMapping:
    """The mapping of all files together, and for each file which of its columns are which of the joined ones.

    `fields` maps, file by file, the position of a joined column to that of the file's own.
    """

    mapping: ColumnMapping
    fields: tuple[dict[int, int], ...]


def join_mappings(files: Sequence[Source]) -> JoinedMapping:
    """The mappings of `files` as one.

    Raises MappingRefused unless all files carry the same kinds, hashed or not as one. The parts of a prepared list need
    not: a part may be without a value of some kind.
    """
    if all(file.description["format"] == PREPARED for file in files):
        some = [file for file in files if file.description["rows"]] or files
        keyed = [_keyed(file.mapping) if file in some else {} for file in files]
    else:
        _refuse_unlike(files)
        keyed = [_keyed(file.mapping) for file in files]
    keys = list(dict.fromkeys(key for columns in keyed for key in columns))
    found = {key: [columns[key] for columns in keyed if key in columns] for key in keys}
    columns = tuple(_as_one(found[key], place) for place, key in enumerate(keys))
    fields = tuple({keys.index(key): column.position for key, column in columns.items()} for columns in keyed)
    country, operation, consent = (_first(files, f"{single}_name") for single in ("country", "operation", "consent"))
    mapping = ColumnMapping(
        columns=columns,
        country=len(keys) if country is not None else None,
        country_name=country,
        operation=len(keys) + 1 if operation is not None else None,
        operation_name=operation,
        consent=len(keys) + 2 if consent is not None else None,
        consent_name=consent,
    )
    return JoinedMapping(mapping, fields)


def _as_one(columns: Sequence[MappedColumn], place: int) -> MappedColumn:
    """Return the column at `place` that joins `columns` of several files."""
    return replace(
        columns[0],
        position=place,
        is_guess=all(column.is_guess for column in columns),
        is_shared=all(column.is_shared for column in columns),
        area=None,
        area_name="",
    )


def _refuse_unlike(files: Sequence[Source]) -> None:
    first = files[0]
    for file in files[1:]:
        if _kinds(file) != _kinds(first):
            raise MappingRefused(
                f"{file.name} has {_told(file)}, and {first.name} has {_told(first)}",
                hint="say the columns with `columns=`, or give files of one kind at a time",
            )
        if _hashed_kinds(file) != _hashed_kinds(first):
            raise MappingRefused(
                f"of {file.name} and {first.name} one is hashed and the other is not", hint="give them one at a time"
            )


def common_notes(files: Sequence[Source]) -> tuple[str, ...]:
    """The notes of all files: once where they are the same for all, else with the name of the file."""
    common = set.intersection(*(set(file.notes) for file in files))
    own = [f"{file.name}: {note}" for file in files for note in file.notes if note not in common]
    return tuple(note for note in files[0].notes if note in common) + tuple(own)


def _common_uses(files: Sequence[Source]) -> tuple[ColumnUse, ...]:
    """The uses of the columns of all files: once where they are the same for all, else with the name of the file."""
    common = set.intersection(*(set(file.uses) for file in files))
    own = (
        replace(each, column=f"{file.name}: {each.column}")
        for file in files
        for each in file.uses
        if each not in common
    )
    return (*(each for each in files[0].uses if each in common), *own)


def _total_bytes(sizes: Iterable[int]) -> int:
    """The sum; 0, unknown, when one is."""
    known = list(sizes)
    return sum(known) if all(known) else 0


class JoinedSource(Source):
    """Several files as one source. Raises what `join_mappings` raises."""

    def __init__(self, files: Sequence[Source]) -> None:
        joined = join_mappings(files)
        self._files = JoinedTable(files, joined)
        super().__init__(
            _name_of(files),
            self._files,
            FoundColumns(
                joined.mapping,
                common_notes(files),
                operation_hint=next((file.operation_hint for file in files if file.operation_hint), None),
                missing=frozenset.intersection(*(file.missing for file in files)),
                warnings=tuple(
                    replace(each, message=f"{file.name}: {each.message}") for file in files for each in file.warnings
                ),
                uses=_common_uses(files),
            ),
            bytes_total=_total_bytes(file.bytes_total for file in files),
            repeatable=all(file.repeatable for file in files),
            later_notes=lambda: tuple(f"{file.name}: {note}" for file in files for note in file.later_notes),
        )

    @property
    def parts(self) -> tuple[SourcePart, ...]:
        """The files, in order, each with its rows of the pass so far."""
        return self._files.parts

    def _next(self, rows: Iterator[TextBatch], fill: Fill | None) -> TextBatch | None:
        return next(rows, None)  # the files name themselves, and fill their own cells


class JoinedTable:
    """The rows of several files, one file after the other."""

    def __init__(self, files: Sequence[Source], joined: JoinedMapping) -> None:
        self._files, self._joined = files, joined
        self._begun = 0  # files of this pass
        self._last_rows: list[int] = []  # of each file that was read to its end

    @property
    def rows_read(self) -> int:
        """Rows of the pass so far, of all files."""
        return sum(part.rows for part in self.parts)

    @property
    def bytes_read(self) -> int:
        """Bytes of the pass so far, of all files."""
        return sum(file.bytes_read for file in self._files[: self._begun])

    @property
    def parts(self) -> tuple[SourcePart, ...]:
        """Each file with its rows of the pass so far."""
        parts, first_row = [], 1
        for place, file in enumerate(self._files):
            rows = file.rows_read if place < self._begun else 0
            parts.append(SourcePart(file.name, file.repeatable, first_row, rows, file.description))
            first_row += self._last_rows[place] if place < len(self._last_rows) else rows
        return tuple(parts)

    @property
    def description(self) -> Description:
        """How many files, and of which formats."""
        formats = dict.fromkeys(str(file.description["format"]) for file in self._files)
        return {"files": len(self._files), "format": " and ".join(formats)}

    def check(self, mapping: ColumnMapping) -> None:
        """Nothing: each file checked its own."""

    def batches(self, mapping: ColumnMapping) -> Iterator[TextBatch]:
        """All rows, from the first of the first file. Refusals name the file and the row in that file."""
        self._begun = before = 0
        self._last_rows.clear()
        for file, fields in zip(self._files, self._joined.fields, strict=True):
            self._begun += 1
            batches = file.batches()
            last = 0  # blank rows of a sheet are numbered and not counted
            while (batch := _counted(batches, before)) is not None:
                last = max(last, _last_row(batch))
                yield _laid_over(batch, fields, mapping, before)
            self._last_rows.append(max(last, file.rows_read))
            before += self._last_rows[-1]


def _last_row(batch: TextBatch) -> int:
    rows = (batch.columns.unwrap().column(ROW), batch.faults.column(0))
    return max((numbers[-1].as_py() for numbers in rows if len(numbers)), default=0)


def _name_of(files: Sequence[Source]) -> str:
    """The workbook, where all are sheets of one; else how many files there are."""
    books = {file.name.removesuffix(f", sheet {file.description.get('sheet')}") for file in files}
    return f"{len(files)} files" if len(books) > 1 or books & {file.name for file in files} else books.pop()


def _counted(batches: Iterator[TextBatch], before: int) -> TextBatch | None:
    """The next batch; a refusal counts the rows of earlier files among those that were read."""
    try:
        return next(batches, None)
    except SourceRefused as error:
        if error.rows_read is not None:
            error.rows_read += before
        raise


@guarded
def _laid_over(batch: TextBatch, fields: dict[int, int], mapping: ColumnMapping, before: int) -> TextBatch:
    """The batch with the fields of the joined mapping, and rows that count on from `before`."""
    own = batch.columns.unwrap()
    nothing = pa.nulls(own.num_rows, pa.string())

    def column(name: str) -> pa.Array:
        return own.column(name) if name in own.schema.names else nothing

    arrays = {ROW: pc.add(own.column(ROW), before)}
    arrays |= {field: column(field) for field in mapping.single}
    for joined in mapping.columns:
        arrays[mapping.field_name(joined)] = column(f"c{fields.get(joined.position)}")
    faults = batch.faults
    if faults.num_rows:
        faults = faults.set_column(0, faults.schema.field(ROW), pc.add(faults.column(ROW), before))
    columns = pa.RecordBatch.from_arrays(list(arrays.values()), names=list(arrays))
    return TextBatch(RawColumns(columns), faults, _cells_laid_over(batch.cell_faults, fields, before))


def _cells_laid_over(cells: pa.RecordBatch, fields: dict[int, int], before: int) -> pa.RecordBatch:
    if not cells.num_rows:
        return cells
    joined = {own: position for position, own in fields.items()}
    positions = pa.array([joined[own] for own in cells.column(1).to_pylist()], pa.int64())
    return pa.RecordBatch.from_arrays(
        [pc.add(cells.column(0), before), positions, cells.column(2)], schema=cells.schema
    )


def _keyed(mapping: ColumnMapping) -> dict[Key, MappedColumn]:
    seen: Counter[tuple[str, str]] = Counter()
    keyed = {}
    for column in mapping.columns:
        pair = (column.kind.value, column.name)
        keyed[*pair, seen[pair]] = column
        seen[pair] += 1
    return keyed


def _first(files: Sequence[Source], attribute: str) -> str | None:
    names = (getattr(file.mapping, attribute) for file in files)
    return next((name for name in names if name is not None), None)


def _kinds(file: Source) -> set[str]:
    return set(file.mapping.names_by_kind())


def _hashed_kinds(file: Source) -> set[str]:
    return {column.kind.value for column in file.mapping.columns if column.hashed}


def _told(file: Source) -> str:
    return f"columns of the kinds {', '.join(sorted(_kinds(file)))}" if _kinds(file) else "no column of identifiers"


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
    return _source_of(
        file,
        FoundColumns(
            mapping, notes, mapper.operation_hint, frozenset(mapper.missing), tuple(mapper.warnings), mapper.uses
        ),
    )


def _self_explained(file: LookedAtFile, mapping: ColumnMapping, options: SourceOptions) -> Source:
    """A file that says what its columns are."""
    missing = frozenset(name for _, name in options.columns)
    uses = tuple(ColumnUse(column.name, column.use, "as the list itself says") for column in mapping.columns)
    return _source_of(file, FoundColumns(mapping, file.look.notes, missing=missing, uses=uses))


def _source_of(file: LookedAtFile, columns: FoundColumns) -> Source:
    return Source(
        file.name,
        file.look.table,
        columns,
        bytes_total=file.size_bytes,
        repeatable=file.repeatable,
        later_notes=file.look.later_notes,
    )
