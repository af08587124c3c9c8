"""Rows that go on with the words of the row above them."""

from __future__ import annotations

import datetime
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import openpyxl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from audiencekit.errors import MappingRefused, UsageError
from audiencekit.pipeline import check
from audiencekit.settings import load_settings
from audiencekit.sources.csv import csv_file
from audiencekit.sources.options import SourceOptions
from audiencekit.sources.source import Source, open_source
from tests.cases import each_case

Open = Callable[..., Source]
CHILDREN = [
    ("Company 0", "Germany", "a"),
    ("", "", "b"),
    ("Company 1", "France", "c"),
    ("", "", "d"),
    ("", "", "e"),
    ("Company 2", "", "f"),
    ("", "", "g"),
    ("Company 3", "Spain", "h"),
]
EXPECTED = ["Germany", "Germany", "France", "France", "France", "", "", "Spain"]


def _lines(names: str, rows: list[tuple[str, str, str]]) -> bytes:
    return "\n".join(
        [names, *(f"{name},{country},{key}@example.com,030 234560{len(key)}" for name, country, key in rows)]
    ).encode()


def _countries(source: Source) -> list[str]:
    cells = [cell for batch in source.batches() for cell in batch.columns.unwrap().column("country").to_pylist()]
    return [cell or "" for cell in cells]


ODOO, FLAT = "Name,Country,Contacts/Email,Contacts/Phone", "Company,Country,Email,Phone"


def test_fields_of_a_list_are_of_their_group(open_bytes: Open) -> None:
    """Their names say so; a group without a country has none."""
    source = open_bytes(_lines(ODOO, CHILDREN), puts_in=True)
    assert _countries(source) == EXPECTED
    assert "Country: rows with a blank Name have the country of the row above them" in source.notes


def test_others_are_told_and_filled_on_demand(open_bytes: Open) -> None:
    """Such rows may be of people without a known country."""
    names, country = FLAT, "Country"
    source = open_bytes(_lines(names, CHILDREN), puts_in=True)
    assert _countries(source) == [country for _, country, _ in CHILDREN]
    (phones,) = (column for column in source.mapping.columns if column.kind == "phone_number")
    assert phones.country_remedy is not None
    assert f"`fill_down=['{country}']`" in phones.country_remedy
    assert _countries(open_bytes(_lines(names, CHILDREN), puts_in=True, fill_down=(country,))) == EXPECTED


@each_case(
    "rows",
    [
        [("A", "Germany", "a"), ("B", "", "b"), ("C", "", "c"), ("D", "France", "d")],
        [("", "", "a"), ("B", "Germany", "b"), ("", "", "c"), ("D", "France", "d")],
        [("A", "Germany", "a"), ("", "", "b"), ("C", "Spain", "c"), ("", "France", "d")],
    ],
)
def test_rows_that_stand_alone_are_not_filled(open_bytes: Open, rows: list[tuple[str, str, str]]) -> None:
    """Where names do not begin groups."""
    source = open_bytes(_lines(ODOO, rows), puts_in=True)
    assert _countries(source) == [country for _, country, _ in rows]
    assert not any("blank" in note for note in source.notes)


@pytest.mark.parametrize("size", [1, 2, 3, 32_768])
def test_a_row_that_cannot_be_read_ends_its_group(open_bytes: Open, monkeypatch: pytest.MonkeyPatch, size: int) -> None:
    """It may have begun another; whatever the batches."""
    monkeypatch.setattr(csv_file, "BATCH_ROWS", size)
    data = _lines(ODOO, CHILDREN).split(b"\n")
    source = open_bytes(b"\n".join([*data, data[2], b"too,few", *data[2:4]]) + b"\n", puts_in=True)
    assert _countries(source) == [*EXPECTED, "Spain", "", "France"]


@each_case("form", ["xlsx", "ndjson", "parquet"])
def test_groups_may_begin_with_a_day(tmp_path: Path, form: str) -> None:
    """Of the column that begins them it is only asked whether there is a cell."""
    day = datetime.date(2024, 2, 3)
    names = ODOO.split(",")
    rows = [
        [day if name else None, country or None, f"{key}@example.com", "030 2345600"] for name, country, key in CHILDREN
    ]
    path = tmp_path / f"list.{form}"
    if form == "xlsx":
        book = openpyxl.Workbook()
        for row in [names, *rows]:
            book.active.append(row)
        book.save(path)
    elif form == "parquet":
        pq.write_table(pa.table([pa.array(column) for column in zip(*rows, strict=True)], names=names), path)
    else:
        objects = [dict(zip(names, [str(row[0]) if row[0] else None, *row[1:]], strict=True)) for row in rows]
        path.write_text("\n".join(map(json.dumps, objects)))
    source = open_source(path, SourceOptions(puts_in=True))
    assert _countries(source) == EXPECTED
    assert not any(batch.faults.num_rows for batch in source.batches())


def test_consent_and_operation_are_filled_when_named(open_bytes: Open) -> None:
    """Nothing else is."""
    data = b"email,ok,verb\na@example.com,yes,update\nb@example.com,,\nc@example.com,no,delete\nd@example.com, ,\n"
    options: dict[str, Any] = {"consent_column": "ok", "operation_column": "verb"}
    source = open_bytes(data, fill_down=("ok", "verb"), **options)
    rows = [row for batch in source.batches() for row in batch.columns.unwrap().to_pylist()]
    assert [(row["consent"], row["operation"]) for row in rows] == [("yes", "update")] * 2 + [("no", "delete")] * 2
    with pytest.raises(MappingRefused, match="not the country, operation or consent"):
        open_bytes(data, fill_down=("email",))
    with pytest.raises(UsageError, match="names no column"):
        open_bytes(data, fill_down=(" ",))


def test_no_country_is_advised_where_a_column_says_it(tmp_path: Path) -> None:
    """Neither in a warning, nor in a note, nor by the doctor."""
    settings = load_settings({}, directory=tmp_path)
    for names, given in (
        (FLAT, "`fill_down=['Country']`"),
        ("Company,Origin,Email,Phone", "`country_column='Origin'`"),
    ):
        rows = [(f"C{n}", "DE", f"a{n}") for n in range(20)] if "Origin" in names else CHILDREN * 4
        path = tmp_path / "list.csv"
        path.write_bytes(_lines(names, rows))
        for doctor in (False, True):
            plan = check(path, settings=settings, shared_values="keep", doctor=doctor)
            losses = [loss for loss in (*plan.warnings, *plan.findings) if loss.code == "no_country"]
            told = [*plan.notes, *(loss.remedy or "" for loss in losses)]
            assert any(given in text for text in told)
            assert not any("`country=" in text for text in told)
