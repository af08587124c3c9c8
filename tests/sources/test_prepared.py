"""Prepared files: known by metadata or columns, read as hashes, refused when anything else is in them."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from audiencekit.errors import MappingRefused, SourceRefused
from audiencekit.identifiers.kinds import Kind
from audiencekit.records.chunks import PREPARED_FORMAT, PREPARED_SCHEMA
from audiencekit.sources.options import SourceOptions
from audiencekit.sources.source import Source, open_source
from tests.cases import each_case

Rows = Callable[[Source], list[dict[str, Any]]]
TEXTS = pa.list_(pa.string())
ANN_BYTES, BOB_BYTES = (hashlib.sha256(name).digest() for name in (b"ann", b"bob"))
ANN, BOB = ANN_BYTES.hex(), BOB_BYTES.hex()


def _columns(**others: Any) -> dict[str, Any]:
    """A sound prepared file of two records, with the columns that a test wants otherwise; None leaves one out."""
    sound = {"row": [3, 7], "operation": ["Update", "Delete"], "email": pa.array([[ANN], [BOB]], TEXTS)}
    return {name: column for name, column in {**sound, **others}.items() if column is not None}


def _write(path: Path, *, told: str | None = None, **others: Any) -> Path:
    table = pa.table(_columns(**others))
    pq.write_table(table.replace_schema_metadata({"format": told}) if told else table, path)
    return path


def _open(path: Path, **options: Any) -> Source:
    return open_source(path, SourceOptions(**options))


@each_case("told", [None, PREPARED_FORMAT])
def test_a_prepared_file_says_what_its_columns_are(tmp_path: Path, rows_of: Rows, told: str | None) -> None:
    """Ours by its metadata, others by their columns; rows are those of this file."""
    source = _open(_write(tmp_path / "records.parquet", told=told))
    assert source.description["format"] == "prepared"
    (column,) = source.mapping.columns
    assert (column.kind, column.hashed, source.mapping.operation_name) == (Kind.EMAIL, True, "operation")
    assert rows_of(source) == [
        {"row": 1, "operation": "Update", "c2": [ANN]},
        {"row": 2, "operation": "Delete", "c2": [BOB]},
    ]


@each_case(
    "column",
    [
        pa.array([ANN, BOB]),
        pa.array([ANN, BOB], pa.large_string()),
        pa.array([ANN, BOB]).dictionary_encode(),
        pa.array([[ANN], [BOB]], pa.large_list(pa.string())),
        pa.array([[ANN, None], [BOB]], TEXTS),
        pa.array([ANN_BYTES, BOB_BYTES]),
        pa.array([[ANN_BYTES], [BOB_BYTES]], pa.list_(pa.binary())),
        pa.array([ANN.encode(), BOB.encode()]),
    ],
)
def test_a_kind_is_text_or_bytes_or_lists_of_these(tmp_path: Path, rows_of: Rows, column: Any) -> None:
    """As engines write it."""
    rows = rows_of(_open(_write(tmp_path / "records.parquet", email=column)))
    values = [row["c2"] if isinstance(row["c2"], list) else [row["c2"]] for row in rows]
    assert [[value for value in cell if value] for cell in values] == [[ANN], [BOB]]


@each_case(
    "cells, row",
    [
        ([[ANN], ["ann@example.com"]], 2),
        ([[ANN.upper()], [BOB]], 1),
        ([[ANN], [ANN, BOB[:-1]]], 2),
        ([None, [""]], 2),
        ([[hashlib.md5(b"ann", usedforsecurity=False).hexdigest()], None], 1),
        ([[ANN], [f" {BOB}"]], 2),
    ],
)
def test_a_value_that_is_no_hash_refuses_the_file(tmp_path: Path, rows_of: Rows, cells: Any, row: int) -> None:
    """With its row and column, and without the value."""
    source = _open(_write(tmp_path / "records.parquet", email=pa.array(cells, TEXTS)))
    with pytest.raises(SourceRefused, match=rf"records.parquet: row {row}, column email: not a SHA-256") as caught:
        rows_of(source)
    assert (caught.value.row, caught.value.column) == (row, "email")
    values = [value for cell in cells for value in cell or () if value.strip()]
    assert not any(value in f"{caught.value} {caught.value.hint}" for value in values)


@each_case(
    "value, hint",
    [
        (ANN.upper(), "in lower case and without spaces"),
        (f"{ANN} ", "in lower case and without spaces"),
        (base64.b64encode(bytes.fromhex(ANN)).decode(), "base64: write hex digits, such as TO_HEX"),
        (hashlib.sha1(b"ann", usedforsecurity=False).hexdigest(), "another hash, such as MD5 or SHA-1"),
        ("", "write null"),
        ("ann@example.com", "hash the list with `audiencekit prepare`"),
    ],
)
def test_common_faults_of_engines_have_a_hint(tmp_path: Path, rows_of: Rows, value: str, hint: str) -> None:
    """The hint says how the query is to be corrected."""
    source = _open(_write(tmp_path / "records.parquet", email=[BOB, value]))
    with pytest.raises(SourceRefused, match="row 2, column email") as caught:
        rows_of(source)
    assert hint in caught.value.hint


@each_case(
    "value, hint",
    [
        (hashlib.md5(b"ann", usedforsecurity=False).digest(), "another hash, such as MD5 or SHA-1"),
        (hashlib.md5(b"ann", usedforsecurity=False).hexdigest().encode(), "another hash, such as MD5 or SHA-1"),
        (hashlib.sha512(b"ann").digest(), "another hash, such as MD5 or SHA-1"),
        (b"ann.of.the.mill.road@example.com", "hash the list with `audiencekit prepare`"),
        (ANN_BYTES[:-1], "hash the list with `audiencekit prepare`"),
        (b"", "write null"),
    ],
)
def test_bytes_that_are_no_hash_refuse_the_file(tmp_path: Path, rows_of: Rows, value: bytes, hint: str) -> None:
    """A raw value does not pass for a hash because it has as many letters as a hash has bytes."""
    source = _open(_write(tmp_path / "records.parquet", email=[BOB_BYTES, value]))
    with pytest.raises(SourceRefused, match="row 2, column email: not a SHA-256") as caught:
        rows_of(source)
    assert hint in caught.value.hint


def test_capitals_and_decimals_of_an_export_are_read(tmp_path: Path, rows_of: Rows) -> None:
    """As Snowflake unloads unquoted names and whole numbers."""
    rows = pa.array([Decimal(3), Decimal(7)], pa.decimal128(38, 0))
    path = tmp_path / "data_0_0_0.snappy.parquet"
    pq.write_table(pa.table({"ROW": rows, "OPERATION": ["UPDATE", "DELETE"], "EMAIL": [ANN, BOB]}), path)
    source = _open(path)
    assert source.description["format"] == "prepared"
    assert [(row["operation"], row["c2"]) for row in rows_of(source)] == [("UPDATE", ANN), ("DELETE", BOB)]
    pq.write_table(pa.table({"ROW": rows, "OPERATION": ["UPDATE"] * 2, "EMAIL": [ANN] * 2, "email": [BOB] * 2}), path)
    with pytest.raises(SourceRefused, match="it has several columns email"):
        _open(path)


def test_partner_ids_are_no_hashes(tmp_path: Path, rows_of: Rows) -> None:
    """They leave as they are, so they are read as they are."""
    source = _open(_write(tmp_path / "records.parquet", partner_user_id=pa.array([["crm-1"], None], TEXTS)))
    assert [row["c3"] for row in rows_of(source)] == [["crm-1"], None]


@each_case(
    "others, message",
    [
        ({"row": None}, "it has no column row"),
        ({"operation": None}, "it has no column operation"),
        ({"email": None}, "it has none of the columns email, phone_number"),
        ({"row": ["1", "2"]}, "column row holds no whole numbers"),
        ({"operation": [1, 2]}, "column operation holds no text"),
        ({"email": [1, 2]}, "column email holds no text and no bytes, nor lists of these"),
        ({"partner_user_id": [b"crm-1", None]}, "column partner_user_id holds no text, nor lists of texts"),
        ({"row": pa.array([Decimal("1.5"), None], pa.decimal128(9, 1))}, "column row holds no whole numbers"),
        ({"Ann Example": [1, 2]}, "column4 are called as no column of the format"),
        ({"told": "audiencekit-prepared/2"}, "its format is not audiencekit-prepared/1"),
    ],
)
def test_columns_that_are_wrong_are_all_told(tmp_path: Path, others: dict[str, Any], message: str) -> None:
    """And no name that the format does not know."""
    path = _write(tmp_path / "records.parquet", **({"told": PREPARED_FORMAT} | others))
    with pytest.raises(SourceRefused, match="no sound prepared file") as caught:
        _open(path)
    assert message in str(caught.value)
    assert "Ann Example" not in str(caught.value)


def test_kinds_without_a_value_are_left_out(tmp_path: Path) -> None:
    """As far as the file says that they have none."""
    nothing = {"phone_number": pa.nulls(2, TEXTS), "handle": pa.nulls(2, pa.string())}
    source = _open(_write(tmp_path / "records.parquet", **nothing))
    assert source.mapping.names_by_kind() == {"email": ["email"]}
    none = _open(_write(tmp_path / "none.parquet", email=pa.nulls(2, TEXTS)))
    assert none.mapping.names_by_kind() == {"email": ["email"]}


def test_options_about_columns_make_it_a_parquet_file_like_others(tmp_path: Path) -> None:
    """A user's own table may have these columns."""
    path = _write(tmp_path / "records.parquet")
    assert _open(path, columns=((Kind.EMAIL, "email"),)).description["format"] == "parquet"
    other = _write(tmp_path / "other.parquet", name=["Ann", "Bob"])
    assert _open(other, hashed=frozenset({Kind.EMAIL})).description["format"] == "parquet"


def test_one_operation_for_all_rows(tmp_path: Path) -> None:
    """The file's own is then not looked at, and that is told."""
    source = _open(_write(tmp_path / "records.parquet"), one_operation=True)
    assert source.mapping.operation is None
    assert any("`operation=` is for every row" in note for note in source.notes)


def test_parts_of_a_list_need_not_have_the_same_kinds(tmp_path: Path, rows_of: Rows) -> None:
    """A part may be without a value of some kind, or without a row; a raw file may not be among them."""
    nothing = PREPARED_SCHEMA.empty_table()
    pq.write_table(nothing, tmp_path / "part-0.parquet")
    _write(tmp_path / "part-1.parquet", phone_number=pa.nulls(2, TEXTS))
    _write(tmp_path / "part-2.parquet", phone_number=pa.array([[ANN], [BOB]], TEXTS))
    source = _open(tmp_path)
    assert source.mapping.names_by_kind() == {"email": ["email"], "phone_number": ["phone_number"]}
    assert [row["row"] for row in rows_of(source)] == [1, 2, 3, 4]
    (tmp_path / "raw.csv").write_text("email,phone_number\nann@example.com,+493012345601\n")
    with pytest.raises(MappingRefused, match="one is hashed and the other is not"):
        open_source([tmp_path / "part-2.parquet", tmp_path / "raw.csv"], SourceOptions())
