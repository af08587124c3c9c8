"""Fields of objects within cells: none is read, and those that look like identifiers are told."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from audiencekit.sources.columns.header import Header, compare_key
from audiencekit.sources.columns.mapping import Mapper
from audiencekit.sources.options import SourceOptions
from audiencekit.sources.sampling import Sample

_MAX_FIELDS: Final = 200
_MAX_DEPTH: Final = 4
_MAX_VALUES: Final = 3  # of a list within a cell


def nested_notes(header: Header, sample: Sample, options: SourceOptions) -> Iterator[str]:
    """One on each field that would be mapped if it were a column."""
    fields, owners = _fields(sample)
    names = tuple(owners)
    own = Header.of(names, len(names), ())
    ignored = {header.find(name) for name in options.ignore}
    for column in Mapper(own, fields, SourceOptions(country=options.country)).map().columns if names else ():
        owner = owners[names[column.position]]
        if owner not in ignored:
            shown = own.shown(column.position)  # a key may be a person's name
            if compare_key(shown) != own.key(column.position):
                shown = f"a field in {header.shown(owner)}"
            told = f"{column.kind}, but within an object; not read, write it as a column of its own if it is one"
            yield f"{shown}: {told}"


def _fields(sample: Sample) -> tuple[Sample, dict[str, int]]:
    """The fields of the sampled objects as columns called by their paths, and the position of the column of each."""
    names = sample.names or ()
    rows: list[dict[str, str]] = []
    owners: dict[str, int] = {}
    paths: dict[str, str] = {}  # two fields that are called the same but for case are one
    for position, cells in sample.objects.items():
        for at, cell in enumerate(cells):
            if at == len(rows):
                rows.append({})
            for path, text in _values(cell, names[position], 0) if isinstance(cell, Mapping | list) else ():
                if len(owners) < _MAX_FIELDS or path in owners:
                    first = paths.setdefault(compare_key(path), path)
                    owners.setdefault(first, position)
                    rows[at].setdefault(first, text)
    return Sample(tuple(owners), tuple(tuple(row.get(path, "") for row in rows) for path in owners)), owners


def _values(cell: object, path: str, depth: int) -> Iterator[tuple[str, str]]:
    """Path and text of each value in the objects of `cell`; the values of a list have the path of the list."""
    if isinstance(cell, Mapping):
        for key, value in cell.items() if depth < _MAX_DEPTH else ():
            yield from _values(value, f"{path}.{key}", depth + 1)
    elif isinstance(cell, tuple) and len(cell) == 2:  # an entry of a map, as Arrow gives it
        yield from _values({cell[0]: cell[1]}, path, depth)
    elif isinstance(cell, list):
        for value in cell[:_MAX_VALUES]:
            yield from _values(value, path, depth)
    elif depth and isinstance(cell, str | int):
        yield path, str(cell)
