"""Prepared files: Parquet with columns named for their kinds, and hashes as values (docs/prepared-format).

Ours are known by the `format` of their metadata. Other engines cannot write it: their files are known by their columns,
which are `row`, `operation`, kinds, and nothing else, in capitals or not.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.types as pt

from audiencekit.errors import SourceRefused
from audiencekit.identifiers.kinds import Kind
from audiencekit.personal import guarded
from audiencekit.records.batches import OPERATION, ROW, ColumnMapping, MappedColumn, TextBatch
from audiencekit.records.chunks import PREPARED_FORMAT, PREPARED_SCHEMA
from audiencekit.records.columns.hashes import are_hashes
from audiencekit.sources.arrow import is_bytes, is_list
from audiencekit.sources.manifest import SPARK_FORMAT
from audiencekit.sources.sampling import Sample
from audiencekit.sources.table import Description, Look, Table

if TYPE_CHECKING:
    import pyarrow.parquet as pq


_FORMAT_KEY: Final = b"format"
_SPARK_SCHEMA: Final = b"org.apache.spark.sql.parquet.row.metadata"  # of a file that Spark wrote, as JSON
_FAMILY: Final = PREPARED_FORMAT.partition("/")[0]
_KINDS: Final = frozenset(Kind)
_HASHED: Final = frozenset(kind for kind in Kind if kind.is_hashed)
PREPARED: Final = "prepared"
_NOT_HASHED: Final = "hash the list with `audiencekit prepare`, or correct what wrote this file"
# Values that engines write against their instructions.
_LIKELY: Final = (
    (re.compile(r"\s*"), "an empty text is no value: write null"),
    (re.compile(r"\s*[0-9A-Fa-f]{64}\s*"), "write its digits in lower case and without spaces: lower(trim(…))"),
    (re.compile(r"[0-9A-Za-z+/_-]{43}=?"), "it is base64: write hex digits, such as TO_HEX(SHA256(…)) in BigQuery"),
    (
        re.compile(r"[0-9A-Fa-f]{32}|[0-9A-Fa-f]{40}|[0-9A-Fa-f]{128}"),
        "it is another hash, such as MD5 or SHA-1: use SHA-256",
    ),
)
_HINT: Final = "docs/prepared-format.md says how one is written; with `columns=` it is read like any other Parquet file"


def is_prepared(schema: pa.Schema) -> bool:
    """Whether a Parquet file with this schema is a prepared one, sound or not."""
    if _format_of(schema).startswith(_FAMILY):
        return True
    names = set(_names_of(schema))
    return {ROW, OPERATION} <= names <= set(PREPARED_SCHEMA.names) and bool(names & _KINDS)


def manifest_of(schema: pa.Schema) -> str:
    """The format of the manifest beside a file with this schema, by the mark of its writer; empty without one.

    Spark writes no metadata but those of its columns: there, that of the rows has the mark.
    """
    if _format_of(schema) == PREPARED_FORMAT:
        return PREPARED_FORMAT
    try:
        fields = json.loads((schema.metadata or {}).get(_SPARK_SCHEMA, b""))["fields"]
        marks = [field["metadata"].get("format") for field in fields if field["name"] == ROW]
    except (ValueError, LookupError, TypeError, AttributeError):
        return ""
    return SPARK_FORMAT if marks == [SPARK_FORMAT] else ""


def as_prepared(look: Look, schema: pa.Schema, metadata: pq.FileMetaData, *, one_operation: bool) -> Look:
    """The look at a prepared file, mapped. Raises SourceRefused for columns that the format does not have or lacks.

    Kinds without a single value are left out, as far as the file says so. With `one_operation` the operations in it are
    not looked at. Its sample is dropped: there may be many files.
    """
    names = _names_of(schema)
    if problems := [*_problems_of_format(schema), *_problems_of_names(names), *_problems_of_types(schema)]:
        raise SourceRefused(f"this is no sound prepared file: {'; '.join(problems)}", hint=_HINT)
    kinds = {name: place for place, name in enumerate(names) if name in _KINDS}
    filled = _KINDS & _filled_columns(metadata) or _KINDS
    columns = tuple(
        MappedColumn(kind=Kind(name), position=place, name=name, hashed=Kind(name).is_hashed)
        for name, place in kinds.items()
        if name in filled
    )
    operation = None if one_operation else names.index(OPERATION)
    notes = ["prepared records: hashed already, they are sent as they are"]
    if one_operation:
        notes.append("`operation=` is for every row: the operations that the prepared file names are not looked at")
    return replace(
        look,
        table=PreparedTable(look.table, len(columns)),
        sample=Sample((), ()),
        mapping=ColumnMapping(
            columns=columns, operation=operation, operation_name=None if operation is None else OPERATION
        ),
        notes=tuple(notes),
    )


class PreparedTable:
    """The rows of a prepared file. One value that is no hash refuses the whole file: its writer did not hash."""

    def __init__(self, table: Table, kinds: int) -> None:
        self._table, self._kinds = table, kinds

    def __repr__(self) -> str:
        return f"<PreparedTable of {self._kinds} kinds>"

    @property
    def rows_read(self) -> int:
        """Rows of the last pass so far."""
        return self._table.rows_read

    @property
    def bytes_read(self) -> int:
        """Bytes of the file on disk, of the last pass."""
        return self._table.bytes_read

    @property
    def description(self) -> Description:
        """The format of the file, for people."""
        return {**self._table.description, "format": PREPARED}

    def check(self, mapping: ColumnMapping) -> None:
        """Nothing: the format says what its columns hold."""

    def batches(self, mapping: ColumnMapping) -> Iterator[TextBatch]:
        """All rows, from the first. Raises SourceRefused at the first value that is no hash."""
        for batch in self._table.batches(mapping):
            _refuse_others(batch, mapping)
            yield batch


@guarded
def _refuse_others(batch: TextBatch, mapping: ColumnMapping) -> None:
    columns = batch.columns.unwrap()
    for column in mapping.columns:
        if not column.hashed:
            continue
        found = _first_other(columns.column(mapping.field_name(column)))
        if found is not None:
            row, hint = columns.column(ROW)[found[0]].as_py(), found[1]
            raise SourceRefused(
                f"row {row}, column {column.name}: not a SHA-256 in 64 lower-case hex digits or 32 bytes, and a"
                " prepared file holds nothing else",
                row=row,
                column=column.name,
                hint=hint,
            )


def _first_other(cells: Any) -> tuple[int, str] | None:
    """The place of the first row with a value that is no hash, and what to do; None without one. Null is no value."""
    owners = pc.list_parent_indices(cells) if pt.is_list(cells.type) else None
    values = pc.list_flatten(cells) if owners is not None else cells
    present = values.is_valid()
    others = np.flatnonzero(~are_hashes(values.filter(present)))
    if not len(others):
        return None
    place = int(np.flatnonzero(present.to_numpy(zero_copy_only=False))[others[0]])
    hint = _hint_for(values[place].as_py())
    return (place if owners is None else int(owners[place].as_py())), hint


def _hint_for(text: str) -> str:
    """The remedy for a value that is no hash, by its looks."""
    return next((hint for form, hint in _LIKELY if form.fullmatch(text)), _NOT_HASHED)


def _filled_columns(metadata: pq.FileMetaData) -> set[str]:
    """The columns that may hold a value: those of which no statistics say that every one is null."""
    groups = map(metadata.row_group, range(metadata.num_row_groups))
    chunks = (group.column(place) for group in groups for place in range(group.num_columns))
    return {chunk.path_in_schema.partition(".")[0].lower() for chunk in chunks if not _is_all_null(chunk)}


def _is_all_null(chunk: pq.ColumnChunkMetaData) -> bool:
    statistics = chunk.statistics
    known = statistics is not None and statistics.has_null_count
    return known and statistics.null_count == chunk.num_values


def _format_of(schema: pa.Schema) -> str:
    told: bytes = (schema.metadata or {}).get(_FORMAT_KEY, b"")
    return told.decode("ascii", "replace")


def _names_of(schema: pa.Schema) -> list[str]:
    """The names of its columns as the format writes them: Snowflake has capitals by default."""
    return [name.lower() for name in schema.names]


def _problems_of_format(schema: pa.Schema) -> list[str]:
    told = _format_of(schema)
    return [f"its format is not {PREPARED_FORMAT}"] if told and told != PREPARED_FORMAT else []


def _problems_of_names(names: list[str]) -> list[str]:
    """The faults of the names of its columns. Those that the format does not know may be personal."""
    problems = [f"it has no column {name}" for name in (ROW, OPERATION) if name not in names]
    if not _KINDS & set(names):
        problems.append(f"it has none of the columns {', '.join(Kind)}")
    if alien := [f"column{place + 1}" for place, name in enumerate(names) if name not in PREPARED_SCHEMA.names]:
        problems.append(f"{', '.join(alien)} are called as no column of the format")
    twice = {name for name in names if names.count(name) > 1 and name in PREPARED_SCHEMA.names}
    return problems + [f"it has several columns {name}" for name in sorted(twice)]


def _problems_of_types(schema: pa.Schema) -> list[str]:
    return [
        f"column {name} holds no {wanted}"
        for name, field in zip(_names_of(schema), schema, strict=True)
        if name in PREPARED_SCHEMA.names and (wanted := _wanted(name, field.type))
    ]


def _wanted(name: str, kind: pa.DataType) -> str:
    """The type that a column should have; empty when it has it."""
    if name == ROW:
        return "" if pt.is_integer(kind) or (pt.is_decimal(kind) and kind.scale == 0) else "whole numbers"
    if name == OPERATION:
        return "" if _is_text(kind) else "text"
    inner = kind.value_type if is_list(kind) else kind
    if _is_text(inner) or pt.is_null(inner) or (name in _HASHED and is_bytes(kind)):
        return ""
    return "text and no bytes, nor lists of these" if name in _HASHED else "text, nor lists of texts"


def _is_text(kind: pa.DataType) -> bool:
    inner = kind.value_type if pt.is_dictionary(kind) else kind
    return bool(pt.is_string(inner) or pt.is_large_string(inner) or pt.is_string_view(inner))
