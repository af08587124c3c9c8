"""records.parquet as others see it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

import audiencekit
from audiencekit.identifiers.kinds import Kind
from audiencekit.preparation.textrecords import PREPARED_SCHEMA


def _rows_of_duckdb(path: Path) -> list[dict[str, Any]]:
    # Not with the module: what is imported when tests are collected is kept to the end, and it complains of that.
    import duckdb

    relation = duckdb.sql(f"select * from '{path}'")
    return [dict(zip(relation.columns, row, strict=True)) for row in relation.fetchall()]


READERS = {
    "arrow": lambda path: pq.read_table(path).to_pylist(),
    "duckdb": _rows_of_duckdb,
}


@pytest.fixture
def records(tmp_path: Path) -> Path:
    """Those of people with an address each, half of them with a phone number, and some with a name of the partner's."""
    lines = [
        f"p{number}@example.com,{f'+1415555{2_000 + number}' if number % 2 else ''},{number if number % 3 else ''}"
        for number in range(3_000)
    ]
    path = tmp_path / "contacts.csv"
    path.write_text("\n".join(["email,phone,partner_user_id", *lines, ""]))
    audiencekit.prepare(path, out=tmp_path / "out")
    return tmp_path / "out" / "records.parquet"


@pytest.mark.parametrize("engine", READERS)
def test_every_engine_reads_the_same(records: Path, engine: str) -> None:
    """The hashes of each person, in row order, and null for kinds that no person has."""
    rows = READERS[engine](records)
    assert [row["row"] for row in rows] == list(range(1, 3_001))
    for number in (0, 1, 2, 2_999):
        phone = f"+1415555{2_000 + number}" if number % 2 else None
        assert rows[number] == {
            **dict.fromkeys(PREPARED_SCHEMA.names),
            "row": number + 1,
            "operation": "Update",
            "email": [audiencekit.hash_identifier("email", f"p{number}@example.com")],
            "phone_number": phone and [audiencekit.hash_identifier("phone_number", phone)],
            "partner_user_id": [str(number)] if number % 3 else None,
        }


def test_the_file_is_readable_by_old_readers_and_small(records: Path) -> None:
    """A format that the oldest readers know, no dictionary of hashes, and little more than half of their digits."""
    metadata = pq.read_metadata(records)
    group = metadata.row_group(0)
    columns = {column.path_in_schema.split(".")[0]: column for column in map(group.column, range(group.num_columns))}
    assert list(columns) == PREPARED_SCHEMA.names
    assert {column.compression for column in columns.values()} == {"ZSTD"}
    assert all(set(columns[kind.value].encodings) == {"RLE", "PLAIN"} for kind in Kind)
    assert columns["email"].total_compressed_size < 35 * metadata.num_rows
