"""Files of invented people, and the rows that a source makes of them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from audiencekit.sources.options import SourceOptions
from audiencekit.sources.source import Source, open_source

PEOPLE = b"email,phone\nann@example.com,+493012345601\nbob@example.com,+493012345602\n"


@pytest.fixture
def people() -> bytes:
    """A small file without any trouble."""
    return PEOPLE


@pytest.fixture
def write(tmp_path: Path) -> Callable[..., Path]:
    """Writes bytes to a file and gives its path."""

    def make(data: bytes, name: str = "people.csv") -> Path:
        path = tmp_path / name
        path.write_bytes(data)
        return path

    return make


@pytest.fixture
def open_bytes(write: Callable[..., Path]) -> Callable[..., Source]:
    """Opens bytes as a source; keywords are options."""

    def make(data: bytes, **options: Any) -> Source:
        return open_source(write(data), SourceOptions(**options))

    return make


def _rows_of(source: Source) -> list[dict[str, Any]]:
    return [row for batch in source.batches() for row in batch.columns.unwrap().to_pylist()]


def _faults_of(source: Source) -> list[tuple[int, str | None, str]]:
    names = {column.position: column.name for column in source.mapping.columns}
    found: list[tuple[int, str | None, str]] = []
    for batch in source.batches():
        of_rows = [(fault["row"], fault["column"], fault["reason"]) for fault in batch.faults.to_pylist()]
        cells = batch.cell_faults.to_pylist()
        of_cells = [(fault["row"], names[fault["position"]], fault["reason"]) for fault in cells]
        found += sorted(of_rows + of_cells, key=lambda fault: fault[0])
    return found


@pytest.fixture
def rows_of() -> Callable[[Source], list[dict[str, Any]]]:
    """All sound rows of a source."""
    return _rows_of


@pytest.fixture
def faults_of() -> Callable[[Source], list[tuple[int, str | None, str]]]:
    """All faults of a source as (row, column, reason)."""
    return _faults_of
