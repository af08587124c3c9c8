"""A cell that cannot be read costs itself, in each format alike; where people are kept or taken out it is a fault."""

from __future__ import annotations

import datetime
import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import openpyxl
import pandas
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from audiencekit.errors import AudiencekitError, SourceRefused
from audiencekit.pipeline import check
from audiencekit.settings import Settings, load_settings
from audiencekit.sources.options import SourceOptions
from audiencekit.sources.source import open_source

DAY = datetime.date(1990, 1, 5)
ROWS: list[dict[str, Any]] = [
    {"email": f"p{n}@example.com", "phone": phone, "is_vip": n != 1}
    for n, phone in enumerate([False, True, DAY, "+4930234560", None, *[f"+49302345{n:02}" for n in range(10, 30)]])
]


def _workbook(rows: list[dict[str, Any]], path: Path) -> Path:
    book = openpyxl.Workbook()
    book.active.append(list(rows[0]))
    for row in rows:
        book.active.append(list(row.values()))
    book.save(path / "list.xlsx")
    return path / "list.xlsx"


def _ndjson(rows: list[dict[str, Any]], path: Path) -> Path:
    lines = [json.dumps({key: {"day": 1} if cell == DAY else cell for key, cell in row.items()}) for row in rows]
    (path / "list.ndjson").write_text("\n".join(lines))
    return path / "list.ndjson"


FORMS: dict[str, Callable[[list[dict[str, Any]], Path], Any]] = {
    "xlsx": _workbook,
    "ndjson": _ndjson,
    "dicts": lambda rows, _: rows,
    "pandas": lambda rows, _: pandas.DataFrame(rows),
}


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    """Nothing but a state directory."""
    return load_settings({}, directory=tmp_path)


@pytest.mark.parametrize("form", FORMS)
def test_it_costs_itself(tmp_path: Path, settings: Settings, form: str) -> None:
    """False, which Odoo writes for a missing value, is a placeholder; true and a day have a reason of their own."""
    plan = check(FORMS[form](ROWS, tmp_path), settings=settings)
    assert (plan.records, plan.rejections) == (len(ROWS), {"placeholder": 1, "not_text": 2})
    assert [(loss.code, loss.column, loss.count) for loss in plan.warnings] == [("not_text", "phone", 2)]
    assert "a date, true" in plan.warnings[0].message


@pytest.mark.parametrize("form", FORMS)
def test_a_row_of_it_alone_is_rejected_for_it(tmp_path: Path, settings: Settings, form: str) -> None:
    """And for nothing else."""
    rows = [{**ROWS[1], "email": None}, *ROWS[5:]]
    plan = check(FORMS[form](rows, tmp_path), settings=settings)
    assert (plan.rows.rejected, plan.rejections) == (1, {"not_text": 1})


@pytest.mark.parametrize("form", FORMS)
def test_truths_are_words_of_consent(tmp_path: Path, settings: Settings, form: str) -> None:
    """Not faults."""
    plan = check(FORMS[form](ROWS[5:] + ROWS[1:2], tmp_path), consent_column="is_vip=true", settings=settings)
    assert plan.records == len(ROWS) - 5


@pytest.mark.parametrize("form", ["xlsx", "ndjson"])
def test_a_suppression_source_with_it_is_refused(tmp_path: Path, settings: Settings, form: str) -> None:
    """The person in its row could be sent; so is a list of people to take out, where there are many."""
    path = FORMS[form](ROWS, tmp_path)
    with pytest.raises(AudiencekitError, match="2 of 25 rows have a value that cannot be read") as caught:
        check([{"email": "x@example.com"}], suppress=path, settings=settings)
    assert "row 2, column phone: not_text" in str(caught.value)
    many = FORMS[form]([{**row, "phone": True if n < 12 else row["phone"]} for n, row in enumerate(ROWS)], tmp_path)
    for options in (SourceOptions(), SourceOptions(puts_in=True, operation_column="is_vip")):
        with pytest.raises(SourceRefused, match="where an identifier belongs"):
            list(open_source(many, options).batches())
    assert list(open_source(many, SourceOptions(puts_in=True)).batches())


def test_bytes_that_are_no_text_cost_themselves(settings: Settings) -> None:
    """In Parquet."""
    table = pa.table({"email": [f"p{n}@example.com" for n in range(40)], "phone": [b"\xff", *[b"+4930234560"] * 39]})
    written = io.BytesIO()
    pq.write_table(table, written)
    written.seek(0)
    plan = check(table, settings=settings, shared_values="keep")
    assert (plan.records, plan.rejections) == (40, {"encoding": 1})
    assert not any("encoding" in note for note in plan.notes)


def test_cells_of_several_files_keep_their_rows_and_columns(tmp_path: Path) -> None:
    """Positions and numbers are those of the whole source."""
    one = tmp_path / "a.ndjson"
    one.write_text('{"x":1,"email":"a@example.com","phone":"+4930234560"}\n{"email":true,"phone":"+4930234561"}\n')
    two = tmp_path / "b.ndjson"
    two.write_text('{"phone":true,"email":"b@example.com"}\n{"phone":"+4930234562","email":"c@example.com"}\n')
    source = open_source([one, two], SourceOptions(puts_in=True))
    names = {column.position: column.name for column in source.mapping.columns}
    cells = [cell for batch in source.batches() for cell in batch.cell_faults.to_pylist()]
    assert [(cell["row"], names[cell["position"]], cell["reason"]) for cell in cells] == [
        (2, "email", "not_text"),
        (3, "phone", "not_text"),
    ]
