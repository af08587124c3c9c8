"""The people of a source: every identifier of every row, in every form."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

import pyarrow as pa

from audiencekit.audiences.erasure.forms import Forms, keys_of, keys_of_hash
from audiencekit.audiences.erasure.subjects import Asked
from audiencekit.errors import MappingRefused
from audiencekit.identifiers.countries import find_country
from audiencekit.identifiers.kinds import Reason
from audiencekit.personal import guarded
from audiencekit.preparation.batches import COUNTRY, ROW, ColumnMapping, MappedColumn, TextBatch
from audiencekit.reporting.progress import Progress, ReadingProgress
from audiencekit.sources.files import AnySource
from audiencekit.sources.options import SourceOptions
from audiencekit.sources.sourceopening import open_source

# A cell with one of these reasons holds no identifier of a person, so that none is missed.
_NO_PERSON: Final = frozenset({Reason.EMPTY, Reason.PLACEHOLDER, Reason.ZEROED, Reason.HASH_OF_PLACEHOLDER})


def read_rows(source: AnySource, options: SourceOptions, progress: Progress) -> Asked:
    """All people that the source names, read to its end.

    Raises what `open_source` raises, and MappingRefused when no column holds identifiers.
    """
    opened, asked = open_source(source, options), Asked()
    if not opened.mapping.columns:
        raise MappingRefused(
            "no column with identifiers was recognised", hint="name one with `columns={'KIND': 'COLUMN'}`"
        )
    reading = ReadingProgress(progress, opened)
    for batch in opened.batches():
        _read_batch(batch, opened.mapping, options.country, asked)
        reading.step(opened.rows_read)
    return asked


@guarded
def _read_batch(batch: TextBatch, mapping: ColumnMapping, default_country: str | None, asked: Asked) -> None:
    columns = batch.columns.unwrap()
    for fault in batch.faults.to_pylist():
        asked.reject(fault["row"], fault["column"], fault["reason"])
    rows = columns.column(ROW).to_pylist()
    named = columns.column(COUNTRY).to_pylist() if mapping.country is not None else [None] * len(rows)
    cells = [(column, columns.column(mapping.field_name(column))) for column in mapping.columns]
    for place, (row, country) in enumerate(zip(rows, named, strict=True)):
        _read_row(row, find_country(country or ""), default_country, [(one, each[place]) for one, each in cells], asked)


def _read_row(
    row: int, country: str | None, default_country: str | None, cells: list[tuple[MappedColumn, Any]], asked: Asked
) -> None:
    found = wrong = 0
    for column, cell in cells:
        for text in _texts(cell):
            forms = _forms(column, text, country, default_country)
            if not isinstance(forms, Reason):
                found += 1
                asked.add(column.kind, forms)
            elif forms not in _NO_PERSON:
                wrong += 1
                asked.reject(row, column.name, forms)
    asked.rows += bool(found)
    if not found and not wrong:
        asked.reject(row, None, Reason.NO_IDENTIFIER)


def _forms(column: MappedColumn, text: str, country: str | None, default_country: str | None) -> Forms | Reason:
    if column.hashed:
        return keys_of_hash(text)
    return keys_of(column.kind, text, country=country, default_country=default_country)


def _texts(cell: Any) -> Iterator[str]:
    """The values of one cell: one, several, or none."""
    value = cell.as_py()
    if isinstance(cell, pa.ListScalar | pa.LargeListScalar):
        yield from (text for text in value or () if text is not None)
    elif value is not None:
        yield value
