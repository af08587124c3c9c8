"""Batches of invented people, lists of made-up texts, and the comparison with the definition."""

from __future__ import annotations

import hashlib
import json
import random
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from audiencekit.identifiers.kinds import Kind, Reason
from audiencekit.personal import HashedRecords, RawColumns
from audiencekit.records.batches import REJECTION_SCHEMA, ColumnMapping, MappedColumn, TextBatch
from audiencekit.records.columns.arrays import Decisions
from audiencekit.records.records import RECORD_SCHEMA
from benchmarks.differential import compare
from benchmarks.values.kinds import AROUND


def _sha256(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


@pytest.fixture
def sha256() -> Callable[[str], str]:
    """Lower-case hex of the UTF-8 bytes."""
    return _sha256


@pytest.fixture
def text_batch() -> Callable[..., tuple[TextBatch, ColumnMapping]]:
    """A batch and its mapping from lists of cells: kinds by column, `country` and `operation` when given."""

    def make(
        *columns: tuple[Kind, list[object]],
        country: list[str | None] | None = None,
        operation: list[str | None] | None = None,
        hashed: frozenset[Kind] = frozenset(),
        faults: list[tuple[int, str | None, str]] | None = None,
        first_row: int = 1,
    ) -> tuple[TextBatch, ColumnMapping]:
        rows = len(columns[0][1])
        mapped = tuple(
            MappedColumn(kind=kind, position=position, name=f"{kind.value}{position}", hashed=kind in hashed)
            for position, (kind, _) in enumerate(columns)
        )
        mapping = ColumnMapping(
            columns=mapped,
            country=90 if country is not None else None,
            country_name="country",
            operation=91 if operation is not None else None,
            operation_name="what",
        )
        arrays: dict[str, pa.Array] = {"row": pa.array(np.arange(first_row, first_row + rows), pa.int64())}
        if country is not None:
            arrays["country"] = pa.array(country, pa.string())
        if operation is not None:
            arrays["operation"] = pa.array(operation, pa.string())
        for column, (_, cells) in zip(mapped, columns, strict=True):
            nested = any(isinstance(cell, list) for cell in cells)
            arrays[mapping.field_name(column)] = pa.array(cells, pa.list_(pa.string()) if nested else pa.string())
        listed = list(zip(*faults, strict=True)) if faults else [[], [], []]
        fault_batch = pa.record_batch([list(part) for part in listed], schema=REJECTION_SCHEMA)
        return TextBatch(RawColumns(pa.record_batch(arrays)), fault_batch), mapping

    return make


class MemoryChunks:
    """Chunks as a spool keeps them, in a list."""

    def __init__(self) -> None:
        self.chunks: list[bytes] = []

    def append_all(self, chunks: Sequence[memoryview]) -> list[int]:
        first = len(self.chunks)
        self.chunks += map(bytes, chunks)
        return list(range(first, len(self.chunks)))

    def read_all(self, numbers: Sequence[int]) -> bytes:
        return b"".join(self.chunks[number] for number in numbers)


@pytest.fixture
def memory_chunks() -> Callable[[], MemoryChunks]:
    """A new store of chunks at each call."""
    return MemoryChunks


@pytest.fixture
def hashed_records() -> Callable[..., HashedRecords]:
    """Records of (operation, {kind: texts}); each text is hashed, partner user ids are not."""

    def make(*records: tuple[str, dict[Kind, list[str]]]) -> HashedRecords:
        columns: dict[str, list[object]] = {name: [] for name in RECORD_SCHEMA.names}
        for row, (operation, identifiers) in enumerate(records, start=1):
            columns["row"].append(row)
            columns["is_delete"].append(operation == "Delete")
            for kind in Kind:
                texts = identifiers.get(kind)
                values = [bytes.fromhex(_sha256(text)) if kind.is_hashed else text for text in texts or ()]
                columns[kind.value].append(sorted(values) if texts else None)  # type: ignore[type-var]
        arrays = [pa.array(column, field.type) for column, field in zip(columns.values(), RECORD_SCHEMA, strict=True)]
        return HashedRecords(pa.record_batch(arrays, schema=RECORD_SCHEMA))

    return make


@pytest.fixture(scope="session")
def corpus_texts() -> list[str]:
    """Every input of the public corpora of values, whatever its kind; skips where they are not at hand."""
    folder = Path(__file__).resolve().parents[2].parent / "shared" / "corpora"
    if not folder.exists():
        pytest.skip("the corpora are not at hand")
    paths = (path for part in ("emails", "hash", "ids", "phones") for path in sorted((folder / part).glob("*.json")))
    return sorted({text for path in paths for text in _inputs(json.loads(path.read_text(encoding="utf-8")))})


def _inputs(document: Any) -> Iterable[str]:
    if isinstance(document, list):
        for member in document:
            yield from _inputs(member)
    elif isinstance(document, dict):
        for name, member in document.items():
            if name in {"input", "normalized", "sha256"} and isinstance(member, str) and _is_utf8(member):
                yield member
            else:
                yield from _inputs(member)


def _is_utf8(text: str) -> bool:
    return text.encode(errors="ignore").decode() == text


Answers = Sequence[str | Reason]


@pytest.fixture(scope="session")
def assembled() -> Callable[[Sequence[str], int], list[str]]:
    """Texts made of the given fragments by a seeded generator, some with white space or in capitals, none twice."""

    def make(fragments: Sequence[str], count: int) -> list[str]:
        chance = random.Random(len(fragments) + count)
        made = ["".join(chance.choices(fragments, k=chance.choice((1, 2, 2, 3, 3, 4, 5, 7)))) for _ in range(count)]
        framed = [chance.choice(AROUND) + text + chance.choice(AROUND) for text in made[: count // 10]]
        return sorted({*made, *framed, *(text.upper() for text in made[: count // 4])})

    return make


@pytest.fixture(scope="session")
def differing() -> Callable[[Decisions, Answers], list[int]]:
    """Where decisions say another thing than the definition: indices, never values. EMPTY must be decided."""
    return compare
