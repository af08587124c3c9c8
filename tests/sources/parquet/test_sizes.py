"""A few bytes of Parquet that stand for very many rows, or for very large ones, are refused before they are held."""

from __future__ import annotations

import io
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from audiencekit.errors import SourceRefused
from audiencekit.limits import BATCH_ROWS
from audiencekit.sources.options import SourceOptions
from audiencekit.sources.parquet import sizes as parquetsizes
from audiencekit.sources.parquet.sizes import BATCH_BYTES, Inflation, batch_rows, first_rows
from audiencekit.sources.sourceopening import open_source

EMAIL = "ada@canarymail.com"


def _file(**columns: pa.Array) -> pq.ParquetFile:
    sink = io.BytesIO()
    pq.write_table(pa.table(columns), sink, store_schema=False)  # dictionaries are read as texts
    return pq.ParquetFile(sink)


def test_rows_without_a_value_count() -> None:
    """The file says that they unpack to less than they are; in memory each takes four bytes."""
    metadata = _file(email=pa.nulls(30_000_000, pa.string())).metadata
    assert metadata.row_group(0).total_byte_size < 10_000
    with pytest.raises(SourceRefused, match="200 times its size"):
        Inflation(metadata, {"email"})


def test_empty_columns_beside_full_ones_are_no_bomb() -> None:
    """Nor is a file whose wanted columns are full, whatever the others are."""
    emails = pa.array([f"zz.m{number}@canarymail.com" for number in range(200_000)])
    Inflation(_file(email=emails, phone=pa.nulls(200_000, pa.string())).metadata, {"email", "phone"})
    few = _file(notes=pa.nulls(30_000_000, pa.string()), email=pa.array([EMAIL] * 30_000_000)).metadata
    with pytest.raises(SourceRefused):
        Inflation(few, {"email"})


def test_unpacked_bytes_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    """One value for all rows: the file says that it unpacks to that value."""
    file = _file(email=pa.array([f"{'x' * 1_000}@canarymail.com"] * 50_000))
    monkeypatch.setattr(parquetsizes, "INFLATION_GRACE_BYTES", 1_000_000)
    inflation = Inflation(file.metadata, {"email"})
    batches = file.iter_batches(100)
    with pytest.raises(SourceRefused, match="200 times its size"):
        list(map(inflation.add, batches))
    assert next(batches).num_rows == 100  # long before the end


def test_rows_that_repeat_a_large_value_are_read_few_at_a_time() -> None:
    """A batch of average rows would not fit into memory."""
    places = pa.array([0] * 200_000, pa.int32())
    repeated = _file(email=pa.DictionaryArray.from_arrays(places, pa.array(["x" * 1_000_000])))
    rows = batch_rows(repeated.metadata, {"email"})
    assert rows * 1_000_000 <= BATCH_BYTES * 1.1
    usual = _file(email=pa.array([f"zz.m{number}@canarymail.com" for number in range(200_000)]))
    assert batch_rows(usual.metadata, {"email"}) == BATCH_ROWS
    assert sum(batch.num_rows for batch in first_rows(repeated.iter_batches(64), 1_000)) <= 128
    assert sum(batch.num_rows for batch in first_rows(usual.iter_batches(64), 1_000)) == 1_000


def test_a_bomb_is_refused_at_the_door(tmp_path: Path) -> None:
    """A million times its size, and nothing of it was read."""
    sink = tmp_path / "people.parquet"
    pq.write_table(pa.table({"email": pa.nulls(30_000_000, pa.string())}), sink)
    source = open_source(sink, SourceOptions(columns=(("email", "email"),)))
    with pytest.raises(SourceRefused, match="unpacks to more than 200 times its size"):
        next(iter(source.batches()))
    assert source.rows_read == 0
