"""Fields of objects: none is read, and a note says which looks like an identifier, whatever the rows come as."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from audiencekit.sources.files import AnySource
from audiencekit.sources.frames.frames import Frame
from audiencekit.sources.options import SourceOptions
from audiencekit.sources.sourceopening import open_source

ROWS: list[dict[str, Any]] = [
    {
        "id": number,
        "contact": {"email": f"person{number}@example.com", "town": "Hull"},
        "customer": {"work": [{"tel": f"+1415555{number:04}"}]},
        "owner": {"email": "sales@example.com"},
    }
    for number in range(20)
]
TOLD = "but within an object; not read, write it as a column of its own if it is one"


def as_lines(directory: Path, rows: list[dict[str, Any]]) -> AnySource:
    """A file of NDJSON."""
    path = directory / "people.ndjson"
    path.write_text("\n".join(map(json.dumps, rows)))
    return path


def as_parquet(directory: Path, rows: list[dict[str, Any]]) -> AnySource:
    """A Parquet file with columns of structures."""
    path = directory / "people.parquet"
    pq.write_table(pa.Table.from_pylist(rows), path)
    return path


def as_table(_: Path, rows: list[dict[str, Any]]) -> AnySource:
    """A table of Arrow."""
    return Frame(pa.Table.from_pylist(rows))


def as_dicts(_: Path, rows: list[dict[str, Any]]) -> AnySource:
    """Objects of Python."""
    return rows


Form = Callable[[Path, list[dict[str, Any]]], AnySource]
FORMS = (as_lines, as_parquet, as_table, as_dicts)


def nested_notes(source: AnySource, **options: Any) -> list[str]:
    """The notes on nested fields."""
    return [note for note in open_source(source, SourceOptions(**options)).notes if "within an object" in note]


@pytest.mark.parametrize("form", FORMS)
def test_a_nested_field_that_looks_like_an_identifier_is_told(form: Form, tmp_path: Path) -> None:
    """By its path; that of another person is none, as in a column of that name."""
    found = nested_notes(form(tmp_path, ROWS))
    assert found == [f"contact.email: email, {TOLD}", f"customer.work.tel: phone_number, {TOLD}"]


@pytest.mark.parametrize("form", FORMS)
def test_nested_fields_of_a_column_that_is_ignored_are_not_told(form: Form, tmp_path: Path) -> None:
    """And those of all columns where the user says which columns are read."""
    source = form(tmp_path, ROWS)
    assert nested_notes(source, ignore=("contact", "customer")) == []
    mapped = form(tmp_path, [{**row, "mail": "ann@example.com"} for row in ROWS])
    assert nested_notes(mapped, columns=(("email", "mail"),)) == []


@pytest.mark.parametrize("form", FORMS)
def test_a_key_that_may_be_of_a_person_is_not_shown(form: Form, tmp_path: Path) -> None:
    """Though most other keys are words of headers: the note says in which column it is."""
    rows = [{**row, "contact": {**row["contact"], "Zoltan": {"mail": "z@example.com"}}} for row in ROWS]
    found = nested_notes(form(tmp_path, rows))
    assert f"a field in contact: email, {TOLD}" in found
    assert "Zoltan" not in str(found)


@pytest.mark.parametrize("form", FORMS)
def test_objects_without_an_identifier_are_not_told(form: Form, tmp_path: Path) -> None:
    """Two countries in objects do not matter."""
    rows = [
        {"email": f"person{number}@example.com", "a": {"country": "DE", "town": ""}, "b": {"country": "FR", "n": 1.5}}
        for number in range(20)
    ]
    assert nested_notes(form(tmp_path, rows)) == []


def test_objects_in_objects_without_end_are_looked_at_a_little(tmp_path: Path) -> None:
    """As deep as any export goes, so many fields, and so many values of a list."""
    deep: Any = {"email": "ann@example.com"}
    for _ in range(100):
        deep = {"a": deep}
    wide = {f"k{number}": {"email": "ann@example.com"} for number in range(2000)}
    long = [{"city": "Hull"}] * 10_000 + [{"phone": "+14155550132"}]
    found = nested_notes(as_lines(tmp_path, [{"id": "1", "x": deep, "y": long, "z": wide}]))
    assert len(found) < 300
    assert "phone_number" not in str(found)


def test_fields_that_are_called_the_same_but_for_case_are_one(tmp_path: Path) -> None:
    """Columns are not told apart by case, either."""
    rows = [{"id": "1", "contact": {"Email": None, "EMAIL": "ann@example.com", "email": "bo@example.com"}}]
    assert nested_notes(as_lines(tmp_path, rows)) == [f"contact.EMAIL: email, {TOLD}"]


def test_a_map_of_arrow_is_an_object(tmp_path: Path) -> None:
    """Its keys are fields."""
    kind = pa.map_(pa.string(), pa.string())
    table = pa.table({"id": ["1"], "contact": pa.array([[("email", "ann@example.com")]], kind)})
    assert nested_notes(Frame(table)) == [f"contact.email: email, {TOLD}"]
