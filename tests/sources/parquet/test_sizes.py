"""A few bytes of Parquet that stand for very many rows, or for very large ones, are refused before they are held."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from audiencekit.errors import SourceRefused
from audiencekit.limits import BATCH_ROWS, INFLATION_GRACE_BYTES
from audiencekit.sources.options import SourceOptions
from audiencekit.sources.parquet import sizes as parquetsizes
from audiencekit.sources.parquet.sizes import (
    BATCH_BYTES,
    Inflation,
    batch_rows,
    first_rows,
    joined,
    look_rows,
    piece_rows,
)
from audiencekit.sources.sourceopening import open_source
from tests.shortened import shortened

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


@pytest.mark.slow
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
        list(map(inflation.counted, batches))
    assert next(batches).num_rows == 100  # long before the end


def _repeated(size: int, rows: int, values: int = 1) -> pa.Array:
    places = pa.array([row % values for row in range(rows)], pa.int32())
    return pa.DictionaryArray.from_arrays(places, pa.array([f"{number:08}" + "x" * size for number in range(values)]))


def _written(kind: str) -> io.BytesIO:
    """A file of a few kB, in each encoding by which the file counts a large value once."""
    sink, size, rows = io.BytesIO(), 1_000_000, 5_000
    if kind == "list":
        column = pa.ListArray.from_arrays(pa.array(range(rows + 1), pa.int32()), _repeated(size, rows))
    else:
        column = _repeated(size, rows, values=3 if kind == "several values" else 1)
    more: dict[str, Any] = {}
    if kind == "common beginnings":
        column = pa.array(["x" * 60_000] * rows)
        more = {"use_dictionary": False, "column_encoding": {"email": "DELTA_BYTE_ARRAY"}}
    groups = {"row_group_size": 1_000} if kind == "several groups" else {}
    pq.write_table(pa.table({"email": column}), sink, store_schema=False, compression="zstd", **groups, **more)
    assert len(sink.getvalue()) < 20_000
    return sink


@pytest.mark.parametrize(
    "kind", shortened(["one value", "several values", "several groups", "list", "common beginnings"], 1)
)
def test_a_value_that_the_file_counts_once_is_unpacked_in_small_pieces(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Arrow holds no more than one bound at once, and the file is refused long before its end."""
    path = tmp_path / "people.parquet"
    path.write_bytes(_written(kind).getvalue())
    unpacked: list[int] = []
    counted = Inflation.counted
    monkeypatch.setattr(Inflation, "counted", lambda self, batch: unpacked.append(batch.nbytes) or counted(self, batch))
    source = open_source(path, SourceOptions(columns=(("email", "email"),)))
    before = pa.total_allocated_bytes()
    with pytest.raises(SourceRefused, match="unpacks to more than 200 times its size"):
        list(source.batches())
    assert max(unpacked) <= BATCH_BYTES * 1.1
    assert sum(unpacked) <= INFLATION_GRACE_BYTES + BATCH_BYTES * 1.1
    assert pa.total_allocated_bytes() - before <= 2 * BATCH_BYTES


def test_a_look_at_rows_of_any_size_is_bounded() -> None:
    """A value of 90 MB is one row at a time."""
    file = _file(email=_repeated(90_000_000, 50))
    assert look_rows(file.metadata) == 1
    usual = _file(email=pa.array([f"zz.m{number}@canarymail.com" for number in range(200_000)]))
    assert next(usual.iter_batches(look_rows(usual.metadata))).num_rows >= 8
    assert sum(batch.num_rows for batch in first_rows(usual.iter_batches(64), 1_000)) == 1_000


def test_a_usual_file_is_read_in_large_batches() -> None:
    """Also one in which few values repeat; and one large value makes pieces small, and no batches."""
    for column in (
        pa.array([f"zz.m{number}@canarymail.com" for number in range(200_000)]),
        pa.array([EMAIL] * 200_000),
        _repeated(100, 200_000, values=50),
    ):
        sink = io.BytesIO()
        pq.write_table(pa.table({"email": column}), sink, store_schema=False)
        metadata = pq.ParquetFile(sink).metadata
        size = batch_rows(metadata)
        assert piece_rows(sink, metadata, {"email"}, size) == size == BATCH_ROWS
    pieces = iter(pa.table({"email": pa.array([EMAIL] * 10_000)}).to_batches(max_chunksize=64))
    assert [batch.num_rows for batch in joined(pieces, 1_000)] == [1_024] * 9 + [784]


def test_a_bomb_is_refused_at_the_door(tmp_path: Path) -> None:
    """A million times its size, and nothing of it was read."""
    sink = tmp_path / "people.parquet"
    pq.write_table(pa.table({"email": pa.nulls(30_000_000, pa.string())}), sink)
    source = open_source(sink, SourceOptions(columns=(("email", "email"),)))
    with pytest.raises(SourceRefused, match="unpacks to more than 200 times its size"):
        next(iter(source.batches()))
    assert source.rows_read == 0
