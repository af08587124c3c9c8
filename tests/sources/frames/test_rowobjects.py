"""Rows in whatever else Python has: series, batches one by one, cursors, open files."""

from __future__ import annotations

import gzip
import io
import sqlite3
import tempfile
from collections.abc import Callable, Iterator
from decimal import Decimal
from pathlib import Path
from typing import Any
from uuid import UUID

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from audiencekit.errors import SourceRefused, UsageError
from audiencekit.pipeline import check
from audiencekit.reporting.report import Plan

EMAILS = ["ann@larchpost.example", "bob@larchpost.example", None, "cid@larchpost.example"]
FILE = b"mail,note\nann@larchpost.example,1\nbob@larchpost.example,2\n,3\ncid@larchpost.example,4\n"
MAIL = {"email": "mail"}


class Cursor:
    """A cursor of DB-API 2.0, with no more than the standard asks for."""

    def __init__(self, rows: list[tuple[Any, ...]], *names: str) -> None:
        self.description: Any = [(name, None, None, None, None, None, None) for name in names] or None
        self._rows = iter(rows)

    def fetchmany(self, size: int = 1) -> list[tuple[Any, ...]]:
        return [row for _, row in zip(range(min(size, 3)), self._rows, strict=False)]


class AdbcCursor:
    """A cursor as those of ADBC: it gives its result as Arrow."""

    description = (("mail", None), ("note", None))

    def fetch_record_batch(self) -> pa.RecordBatchReader:
        return pa.table({"mail": EMAILS, "note": [1, 2, 3, 4]}).to_reader(max_chunksize=2)

    def fetchmany(self, size: int = 1) -> list[tuple[Any, ...]]:
        raise AssertionError("Arrow is quicker")


def _batches() -> Iterator[pa.RecordBatch]:
    yield from pa.table({"mail": EMAILS, "note": [1, 2, 3, 4]}).to_batches(max_chunksize=3)


def _sqlite() -> sqlite3.Cursor:
    base = sqlite3.connect(":memory:")
    base.execute("CREATE TABLE people (mail TEXT, note)")
    base.executemany("INSERT INTO people VALUES (?, ?)", list(zip(EMAILS, [1, "2", None, 4.5], strict=True)))
    return base.execute("SELECT mail, note FROM people ORDER BY rowid")


def _duckdb() -> Any:
    duckdb = pytest.importorskip("duckdb")
    rows = "(1, 'ann@larchpost.example'), (2, 'bob@larchpost.example'), (3, NULL), (4, 'cid@larchpost.example')"
    return duckdb.connect().execute(f"SELECT * FROM (VALUES {rows}) AS t(note, mail) ORDER BY note")


def _in_a_temporary_file() -> Any:
    file = tempfile.NamedTemporaryFile()  # noqa: SIM115
    file.write(FILE)
    file.seek(0)
    return file


SOURCES: dict[str, Callable[[], Any]] = {
    "series of pandas": lambda: pd.Series(EMAILS, name="mail"),
    "series of Polars": lambda: pl.Series("mail", EMAILS),
    "index of pandas": lambda: pd.Index(EMAILS, name="mail"),
    "generator of batches": _batches,
    "iterator of tables": lambda: iter([pa.table({"mail": EMAILS[:2]}), pa.table({"mail": EMAILS[2:]})]),
    "iterator with an empty table": lambda: iter(
        [pa.table({"mail": pa.array([], pa.string())}), pa.table({"mail": EMAILS})]
    ),
    "iterator of frames": lambda: iter([pl.DataFrame({"mail": EMAILS[:1]}), pl.DataFrame({"mail": EMAILS[1:]})]),
    "ADBC": AdbcCursor,
    "DuckDB": _duckdb,
    "DB-API": lambda: Cursor([(mail, 1) for mail in EMAILS], "mail", "note"),
    "sqlite3": _sqlite,
    "file in memory": lambda: io.BytesIO(FILE),
    "temporary file": _in_a_temporary_file,
    "unpacked file": lambda: gzip.GzipFile(fileobj=io.BytesIO(gzip.compress(FILE))),
    "packed file": lambda: io.BytesIO(gzip.compress(FILE)),
}


def _emails(plan: Plan) -> tuple[int, int]:
    return plan.rows.read, plan.identifiers["email"]["valid"]


@pytest.mark.parametrize("name", SOURCES)
def test_rows_are_taken_as_they_are(name: str) -> None:
    """With the name of their column. A blank row of a file of one column would be none."""
    assert _emails(check(SOURCES[name](), columns=MAIL)) == (4, 3)


def test_an_open_file_of_the_disk_is_read_from_where_it_stands(tmp_path: Path) -> None:
    """As any reader would."""
    path = tmp_path / "list.csv"
    path.write_bytes(b"# made by hand\n" + FILE)
    with path.open("rb") as file:
        file.readline()
        assert _emails(check(file)) == (4, 3)


@pytest.mark.parametrize("made", [pd.Series, lambda emails: pl.Series(values=emails), pa.array])
def test_a_column_without_a_name_is_recognised_by_its_cells(made: Callable[[Any], Any]) -> None:
    """It is called as the first column of a file without a header."""
    plan = check(made(EMAILS))
    assert (plan.columns, *_emails(plan)) == ({"email": ["column1"]}, 4, 3)


@pytest.mark.parametrize(
    ("cell", "is_valid"),
    [
        ("+14155552671", True),
        (14155552671, True),
        (14155552671.0, True),
        (Decimal("14155552671.00"), True),
        (b"+14155552671", True),
        (14155552671.5, False),
        (2.0**60, False),
        (float("nan"), None),
        (None, None),
        (UUID(int=7), False),
    ],
    ids=repr,
)
def test_a_driver_may_give_any_object(cell: object, is_valid: bool | None) -> None:
    """Numbers keep their digits, or do not qualify; the same for text in the row above."""
    plan = check(Cursor([("+14155552672",), (cell,)], "phone"), columns={"phone_number": "phone"}, country="US",
                 max_rejected_share=1, max_rejected_column_share=1)  # fmt: skip
    counts = plan.identifiers["phone_number"]
    assert (counts["present"], counts["valid"]) == (1 + (is_valid is not None), 1 + (is_valid is True))


def test_several_sources_of_any_sort_are_one(tmp_path: Path) -> None:
    """In their order."""
    (tmp_path / "list.csv").write_bytes(FILE)
    plan = check([io.BytesIO(FILE), tmp_path / "list.csv", pd.Series(EMAILS, name="mail")], columns=MAIL)
    assert _emails(plan) == (12, 9)
    assert [source["name"] for source in plan.sources][::2] == ["open file", "data frame"]


def test_dicts_have_the_columns_of_all_rows() -> None:
    """A column that the first row lacks is read, too; numbers keep their digits, a list holds several values."""
    rows = [
        {"note": 1, "mail": "ann@larchpost.example"},
        {"mail": ["bob@larchpost.example", "cid@larchpost.example"], "id": 90000000007},
        {"mail": None, "id": 7.0},
        {},
    ]
    plan = check(rows, columns={"email": "mail", "platform_id": "id"})
    assert (plan.rows.read, plan.rows.rejected, plan.records) == (4, 1, 3)
    assert {kind: found["valid"] for kind, found in plan.identifiers.items()} == {"email": 3, "platform_id": 2}
    assert check(tuple(rows), columns=MAIL).rows.read == 4


@pytest.mark.parametrize("cell", [b"\xffann@larchpost.example", "ann\ud800@larchpost.example"])
def test_dicts_that_hold_no_text_are_refused_without_a_value(cell: object) -> None:
    """Arrow and codecs quote what they cannot take."""
    with pytest.raises(SourceRefused, match="no values are shown") as caught:
        check([{"mail": cell}], columns=MAIL)
    assert caught.value.__context__ is None


@pytest.mark.parametrize(
    ("source", "told"),
    [
        (io.StringIO("email\n"), "open as text"),
        ({"email": EMAILS}, "a path, rows, or a list"),
        (7, "a path, rows, or a list"),
    ],
    ids=lambda given: type(given).__name__,
)
def test_an_object_without_rows_is_a_usage_error(source: Any, told: str) -> None:
    """With what would."""
    with pytest.raises(UsageError, match=told):
        check(source)


@pytest.mark.parametrize(
    ("source", "told"),
    [
        (lambda: iter([{"email": "ann@larchpost.example"}]), "no batch of Arrow"),
        (lambda: iter(()), "it has no batch"),
        (lambda: Cursor([]), "no result"),
        (lambda: iter([pa.table({"a": [1]}), pa.table({"b": ["ann@larchpost.example"]})]), "no values are shown"),
        (lambda: Cursor([("ann@larchpost.example",), ("ann@larchpost.example", 2)], "mail"), "no values are shown"),
        (lambda: Cursor([(b"\xff ann@larchpost.example",)], "mail"), "no values are shown"),
    ],
)
def test_rows_that_cannot_be_read_are_refused_without_a_value(source: Callable[[], Any], told: str) -> None:
    """Whatever the error of their maker says."""
    with pytest.raises(SourceRefused, match=told) as caught:
        check(source())
    assert "@" not in str(caught.value) + caught.value.hint


async def test_nothing_is_fetched_before_the_run_reads() -> None:
    """Wrapping a generator runs none of it."""
    begun: list[int] = []

    def batches() -> Iterator[pa.RecordBatch]:
        begun.append(1)
        yield from _batches()

    source = batches()
    with pytest.raises(UsageError):
        check(source, country="Atlantis")
    assert begun == []
    assert _emails(check(source, columns=MAIL)) == (4, 3)
