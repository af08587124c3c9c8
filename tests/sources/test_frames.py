"""Data frames of every library: the same rows as a file of them, or a refusal that shows no cell."""

from __future__ import annotations

import gzip
import io
import sqlite3
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from decimal import Decimal
from pathlib import Path
from typing import Any
from uuid import UUID

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from audiencekit.errors import MappingRefused, SourceRefused, UsageError
from audiencekit.identifiers.kinds import Kind
from audiencekit.limits import BATCH_ROWS, MAX_CELL_BYTES, SAMPLE_ROWS
from audiencekit.personal import RawColumns
from audiencekit.pipeline import check
from audiencekit.reporting.report import Plan
from audiencekit.sources import frames as frametable
from audiencekit.sources.frames import Frame, is_frame, refuse_unsound
from audiencekit.sources.options import SourceOptions
from audiencekit.sources.source import Source, open_source
from tests.cases import each_case
from tests.shortened import shortened

Rows = Callable[[Source], list[dict[str, Any]]]
EMAILS = ["ann@example.com", None, "bob@example.com"]
PHONES = [["+493012345601", "+493012345602"], None, []]
PEOPLE = {"email": EMAILS, "phones": PHONES, "twitter_id": [2**53 + 1, None, 3], "n": [1.5, 2.5, None]}
EXPECTED = [
    {"row": 1, "c0": "ann@example.com", "c1": ["+493012345601", "+493012345602"], "c2": str(2**53 + 1)},
    {"row": 2, "c0": None, "c1": None, "c2": None},
    {"row": 3, "c0": "bob@example.com", "c1": [], "c2": "3"},
]


def _pandas(columns: dict[str, Any]) -> Any:
    pandas = pytest.importorskip("pandas")
    integers = {name: pandas.array(cells, "Int64") for name, cells in columns.items() if name == "twitter_id"}
    return pandas.DataFrame({**columns, **integers})


def _polars(columns: dict[str, Any]) -> Any:
    return pytest.importorskip("polars").DataFrame(columns)


def _duckdb(columns: dict[str, Any]) -> Any:
    duckdb = pytest.importorskip("duckdb")
    people = pa.table(columns)
    return duckdb.from_arrow(people)


LIBRARIES: dict[str, Callable[[dict[str, Any]], Any]] = {
    "table": pa.table,
    "record batch": pa.record_batch,
    "reader": lambda columns: pa.table(columns).to_reader(),
    "pandas": _pandas,
    "polars": _polars,
    "duckdb": _duckdb,
}
ALL = pytest.mark.parametrize("library", LIBRARIES)


def _open(frame: Any, **options: Any) -> Source:
    return open_source(frame, SourceOptions(**options))


@ALL
def test_rows_are_those_of_a_file(library: str, rows_of: Rows) -> None:
    """Text, lists and whole numbers, null as null, columns recognised; and it cannot be read again later."""
    source = _open(LIBRARIES[library](PEOPLE))
    assert source.mapping.names_by_kind() == {
        "email": ["email"], "phone_number": ["phones"], "platform_id": ["twitter_id"]
    }  # fmt: skip
    assert rows_of(source) == EXPECTED
    assert (source.rows_read, source.repeatable) == (3, False)
    assert source.description == {"format": "data frame", "columns": 4}


@ALL
def test_columns_that_are_missing_or_have_lost_digits_are_told(library: str) -> None:
    """Before a row is read."""
    with pytest.raises(MappingRefused, match="data frame: there is no column 'mail'"):
        _open(LIBRARIES[library](PEOPLE), columns=((Kind.EMAIL, "mail"),))
    with pytest.raises(SourceRefused, match="data frame: the column n holds floating-point numbers"):
        _open(LIBRARIES[library](PEOPLE), columns=((Kind.PLATFORM_ID, "n"),))


def test_categories_of_every_library_are_their_values(rows_of: Rows) -> None:
    """However the library writes a dictionary."""
    column = pa.array(EMAILS).dictionary_encode()
    frames = [pa.table({"email": column})]
    frames.append(_pandas({"email": EMAILS}).astype("category"))
    polars = pytest.importorskip("polars")
    frames.append(_polars({"email": EMAILS}).with_columns(polars.col("email").cast(polars.Categorical)))
    for frame in frames:
        assert [row["c0"] for row in rows_of(_open(frame))] == EMAILS


def test_objects_of_several_types_are_text_each(rows_of: Rows) -> None:
    """In pandas a column may hold anything."""
    frame = _pandas(
        {"email": ["ann@example.com", 7, 3.5, None, float("nan")], "phone": [493012345601, "1", 2.0, "", 0]}
    )
    columns = ((Kind.EMAIL, "email"), (Kind.PHONE_NUMBER, "phone"))
    assert [(row["c0"], row["c1"]) for row in rows_of(_open(frame, columns=columns))] == [
        ("ann@example.com", "493012345601"),
        ("7", "1"),
        ("3.5", "2"),
        (None, ""),
        (None, "0"),
    ]


def test_objects_that_are_no_cells_are_refused() -> None:
    """Which cells a column holds is not said."""
    frame = _pandas({"email": ["ann@example.com", 7, object()], "phone": ["+493012345601"] * 3})
    with pytest.raises(SourceRefused, match="the cells of column email are of a type that is not read") as caught:
        _open(frame, columns=((Kind.EMAIL, "email"),))
    assert "ann@" not in str(caught.value)
    assert _open(frame, columns=((Kind.PHONE_NUMBER, "phone"),)).rows_read == 0


def test_a_column_of_missing_cells_is_no_number(rows_of: Rows) -> None:
    """To pandas it is one of floating-point numbers, though none has lost a digit."""
    frame = _pandas({"email": EMAILS, "phone": [float("nan")] * 3})
    kinds = ((Kind.EMAIL, "email"), (Kind.PHONE_NUMBER, "phone"))
    rows = rows_of(_open(frame, columns=kinds))
    assert [(row["c0"], row["c1"]) for row in rows] == [(email, None) for email in EMAILS]
    frame.loc[2, "phone"] = 493012345601.0
    rows = rows_of(_open(frame, columns=kinds))
    assert [row["c1"] for row in rows] == [None, None, "493012345601"]


@ALL
def test_whole_numbers_with_a_gap_are_read(library: str, rows_of: Rows) -> None:
    """Integers with a missing cell are floating-point numbers to pandas, and have lost no digit."""
    gap = float("nan") if library in ("pandas", "polars") else None
    source = _open(LIBRARIES[library]({"phone": [493012345601.0, gap, 493012345603.0], "n": [1.5, 2.0, 3.0]}))
    assert source.mapping.names_by_kind() == {"phone_number": ["phone"]}
    assert [row["c0"] for row in rows_of(source)] == ["493012345601", None, "493012345603"]


@ALL
@pytest.mark.parametrize("last", [0.5, 2.0**53, float("inf")])
def test_numbers_that_are_not_whole_are_refused_wherever_they_stand(library: str, last: float, rows_of: Rows) -> None:
    """Also after the cells that are looked at; before anything is sent."""
    cells = [493012345601.0] * (SAMPLE_ROWS + 5)
    with pytest.raises(SourceRefused, match="data frame: the column phone holds floating-point numbers") as caught:
        rows_of(_open(LIBRARIES[library]({"phone": [*cells, last]})))
    assert caught.value.column == "phone"
    with pytest.raises(SourceRefused, match="data frame: the column phone holds floating-point numbers"):
        _open(LIBRARIES[library]({"phone": [last, *cells]}))


def test_numbers_of_fewer_digits_are_held_to_them() -> None:
    """A float32 has seven digits."""
    with pytest.raises(SourceRefused, match="floating-point numbers"):
        _open(pa.table({"phone": pa.array([493012345601.0], pa.float32())}))


def test_pandas_frames_keep_index_and_odd_names_out(rows_of: Rows) -> None:
    """An index is no column; names that are no text are written out; of equal names both are taken."""
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame([["ann@example.com", 5]], columns=["email", 7], index=["bob@example.com"])
    assert rows_of(_open(frame)) == [{"row": 1, "c0": "ann@example.com"}]
    twice = pandas.DataFrame([["ann@example.com", "bob@example.com"]], columns=["email", "email"])
    assert rows_of(_open(twice)) == [{"row": 1, "c0": "ann@example.com", "c1": "bob@example.com"}]


@each_case("name", [None, "email"])
def test_an_index_with_a_name_is_told(name: str | None) -> None:
    """As after `set_index` or `groupby`: it was a column, and its identifiers are not sent."""
    pandas = pytest.importorskip("pandas")
    index = pandas.Index(["ann@example.com", "bob@example.com"], name=name)
    notes = _open(pandas.DataFrame({"phone": ["+493012345601", "+493012345602"]}, index=index)).notes
    assert any("the index of the frame has a name, and is not read" in note for note in notes) == (name is not None)


def test_a_reader_is_read_once(rows_of: Rows) -> None:
    """A second pass would see no rows, and say so instead."""
    source = _open(pa.table({"email": EMAILS}).to_reader())
    assert len(rows_of(source)) == 3
    with pytest.raises(SourceRefused, match="it can be read only once"):
        rows_of(source)


@each_case("library", ["table", "pandas", "polars"])
def test_a_frame_in_memory_is_read_again(library: str, rows_of: Rows) -> None:
    """From its first row."""
    source = _open(LIBRARIES[library]({"email": EMAILS}))
    assert rows_of(source) == rows_of(source)


def _of_many_batches(count: int) -> pa.Table:
    return pa.Table.from_batches([pa.record_batch({"email": [f"p{number}@example.com"]}) for number in range(count)])


@each_case("rows", [0, 1, 200, BATCH_ROWS + 1])
def test_batches_are_neither_many_nor_large(rows: int) -> None:
    """However the frame is divided."""
    whole = pa.table({"email": [f"p{number}@example.com" for number in range(rows)]})
    for frame in (whole, _of_many_batches(rows) if 0 < rows < BATCH_ROWS else whole):
        sizes = [batch.columns.unwrap().num_rows for batch in _open(frame).batches()]
        assert sum(sizes) == rows
        assert len(sizes) == -(-rows // BATCH_ROWS)


def test_cells_that_are_too_large_reject_their_rows(faults_of: Callable[[Source], Any]) -> None:
    """As in a file."""
    source = _open(pa.table({"email": ["a@example.com", "x" * (MAX_CELL_BYTES + 1)]}))
    assert faults_of(source) == [(2, "email", "too_large")]


def test_a_frame_that_its_maker_cannot_read_is_refused_without_its_words(rows_of: Rows) -> None:
    """Errors of other libraries quote cells."""
    duckdb = pytest.importorskip("duckdb")
    broken = duckdb.sql("SELECT CAST(t AS INT) AS twitter_id FROM (SELECT 'ann@example.com' AS t)")
    with pytest.raises(SourceRefused, match="data frame: it could not be read") as caught:
        _open(broken)

    def batches() -> Iterator[pa.RecordBatch]:
        for number in range(20):
            yield pa.record_batch({"email": [f"p{number}-{row}@example.com" for row in range(100)]})
        raise ValueError("ann@example.com")

    reader = pa.RecordBatchReader.from_batches(pa.schema([("email", pa.string())]), batches())
    late = _open(reader)
    with pytest.raises(SourceRefused, match="data frame: it could not be read") as later:
        rows_of(late)
    for error in (caught.value, later.value):
        assert "ann" not in f"{error} {error.hint} {error.__cause__} {error.__context__}"


def test_frames_and_files_are_one_source(rows_of: Rows, write: Callable[..., Any]) -> None:
    """One after the other; the same frame twice is a slip."""
    table = pa.table({"email": EMAILS})
    path = write(b"email\ncleo@example.com\n")
    source = open_source([table, path, pa.table({"email": ["dan@example.com"]})], SourceOptions())
    assert [row["row"] for row in rows_of(source)] == [1, 2, 3, 4, 5]
    assert [part.name for part in source.parts] == ["data frame", "people.csv", "data frame 2"]
    with pytest.raises(SourceRefused, match="given twice"):
        open_source([table, table], SourceOptions())


NO_FRAMES = [7, None, [], "", [7], {"email": EMAILS}]


@each_case("other", NO_FRAMES)
def test_an_object_that_is_no_frame_is_no_source(other: Any) -> None:
    """Neither numbers nor dictionaries."""
    with pytest.raises((UsageError, SourceRefused)):
        _open(other)


@each_case("option", [{"encoding": "cp1252"}, {"delimiter": ";"}, {"header": False}])
def test_options_about_text_are_not_for_frames(option: dict[str, Any]) -> None:
    """They would have no effect, and the user expects one."""
    with pytest.raises(UsageError, match="is for"):
        _open(pa.table({"email": EMAILS}), **option)


def test_a_wrapped_frame_shows_nothing() -> None:
    """Nor does the source that reads it."""
    frame = Frame(pa.table({"email": EMAILS}))
    source = _open(frame)
    assert "ann" not in repr(frame) + repr(source) + repr(source._table) + repr(RawColumns(frame.unwrap()))
    assert is_frame(frame.unwrap())


def test_a_panic_of_what_made_the_frame_shows_no_cell() -> None:
    """Libraries in Rust raise it, and it is no Exception."""
    panic = type("PanicException", (BaseException,), {"__module__": "pyo3_runtime"})

    class Panics:
        def __arrow_c_stream__(self, requested_schema: object = None) -> object:
            raise panic("ada@canarymail.com")

    with pytest.raises(SourceRefused, match="PanicException") as caught:
        _open(Panics())
    assert "canarymail" not in str(caught.value)


def test_the_look_takes_the_first_rows_of_a_large_batch(monkeypatch: pytest.MonkeyPatch) -> None:
    """A table is one batch, however many rows it has."""
    seen: list[int] = []
    sampled = frametable.sample_texts
    monkeypatch.setattr(frametable, "sample_texts", lambda array: seen.append(len(array)) or sampled(array))
    _open(pa.table({"email": [f"p{number}@example.com" for number in range(5 * SAMPLE_ROWS)]}))
    assert sum(seen) == SAMPLE_ROWS


EMAILS_ROWOBJECTS = ["ann@larchpost.example", "bob@larchpost.example", None, "cid@larchpost.example"]
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
        return pa.table({"mail": EMAILS_ROWOBJECTS, "note": [1, 2, 3, 4]}).to_reader(max_chunksize=2)

    def fetchmany(self, size: int = 1) -> list[tuple[Any, ...]]:
        raise AssertionError("Arrow is quicker")


def _batches() -> Iterator[pa.RecordBatch]:
    yield from pa.table({"mail": EMAILS_ROWOBJECTS, "note": [1, 2, 3, 4]}).to_batches(max_chunksize=3)


def _sqlite() -> sqlite3.Cursor:
    base = sqlite3.connect(":memory:")
    base.execute("CREATE TABLE people (mail TEXT, note)")
    base.executemany("INSERT INTO people VALUES (?, ?)", list(zip(EMAILS_ROWOBJECTS, [1, "2", None, 4.5], strict=True)))
    return base.execute("SELECT mail, note FROM people ORDER BY rowid")


def _rowobjects_duckdb() -> Any:
    duckdb = pytest.importorskip("duckdb")
    rows = "(1, 'ann@larchpost.example'), (2, 'bob@larchpost.example'), (3, NULL), (4, 'cid@larchpost.example')"
    return duckdb.connect().execute(f"SELECT * FROM (VALUES {rows}) AS t(note, mail) ORDER BY note")


def _in_a_temporary_file() -> Any:
    file = tempfile.NamedTemporaryFile()  # noqa: SIM115
    file.write(FILE)
    file.seek(0)
    return file


SOURCES: dict[str, Callable[[], Any]] = {
    "series of pandas": lambda: pd.Series(EMAILS_ROWOBJECTS, name="mail"),
    "series of Polars": lambda: pl.Series("mail", EMAILS_ROWOBJECTS),
    "index of pandas": lambda: pd.Index(EMAILS_ROWOBJECTS, name="mail"),
    "generator of batches": _batches,
    "iterator of tables": lambda: iter(
        [pa.table({"mail": EMAILS_ROWOBJECTS[:2]}), pa.table({"mail": EMAILS_ROWOBJECTS[2:]})]
    ),
    "iterator with an empty table": lambda: iter(
        [pa.table({"mail": pa.array([], pa.string())}), pa.table({"mail": EMAILS_ROWOBJECTS})]
    ),
    "iterator of frames": lambda: iter(
        [pl.DataFrame({"mail": EMAILS_ROWOBJECTS[:1]}), pl.DataFrame({"mail": EMAILS_ROWOBJECTS[1:]})]
    ),
    "ADBC": AdbcCursor,
    "DuckDB": _rowobjects_duckdb,
    "DB-API": lambda: Cursor([(mail, 1) for mail in EMAILS_ROWOBJECTS], "mail", "note"),
    "sqlite3": _sqlite,
    "file in memory": lambda: io.BytesIO(FILE),
    "temporary file": _in_a_temporary_file,
    "unpacked file": lambda: gzip.GzipFile(fileobj=io.BytesIO(gzip.compress(FILE))),
    "packed file": lambda: io.BytesIO(gzip.compress(FILE)),
}


def _emails(plan: Plan) -> tuple[int, int]:
    return plan.rows.read, plan.identifiers["email"]["valid"]


@each_case("name", SOURCES)
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


@each_case("made", [pd.Series, lambda emails: pl.Series(values=emails), pa.array])
def test_a_column_without_a_name_is_recognised_by_its_cells(made: Callable[[Any], Any]) -> None:
    """It is called as the first column of a file without a header."""
    plan = check(made(EMAILS_ROWOBJECTS))
    assert (plan.columns, *_emails(plan)) == ({"email": ["column1"]}, 4, 3)


@each_case(
    "cell, is_valid",
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
    plan = check([io.BytesIO(FILE), tmp_path / "list.csv", pd.Series(EMAILS_ROWOBJECTS, name="mail")], columns=MAIL)
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


@each_case("cell", [b"\xffann@larchpost.example", "ann\ud800@larchpost.example"])
def test_dicts_that_hold_no_text_are_refused_without_a_value(cell: object) -> None:
    """Arrow and codecs quote what they cannot take."""
    with pytest.raises(SourceRefused, match="no values are shown") as caught:
        check([{"mail": cell}], columns=MAIL)
    assert caught.value.__context__ is None


@each_case(
    "source, told",
    [
        (io.StringIO("email\n"), "open as text"),
        ({"email": EMAILS_ROWOBJECTS}, "a path, rows, or a list"),
        (7, "a path, rows, or a list"),
    ],
)
def test_an_object_without_rows_is_a_usage_error(source: Any, told: str) -> None:
    """With what would."""
    with pytest.raises(UsageError, match=told):
        check(source)


@each_case(
    "source, told",
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


DATA = pa.py_buffer(b"ann@example.com" * 3)
LARGEST = 2**31 - 1


def _texts(*places: int, kind: Any = None, width: Any = np.int32) -> Any:
    offsets = pa.py_buffer(np.array(places, dtype=width))
    return pa.Array.from_buffers(kind or pa.string(), len(places) - 1, [None, offsets, DATA])


def _list(inner: Any, *places: int) -> Any:
    offsets = pa.py_buffer(np.array(places, dtype=np.int32))
    return pa.Array.from_buffers(pa.list_(inner.type), len(places) - 1, [None, offsets], children=[inner])


def _dictionary(places: list[int], values: Any) -> Any:
    return pa.DictionaryArray.from_arrays(pa.array(places, pa.int32()), values, safe=False)


LYING: dict[str, Callable[[], Any]] = {
    "beyond the data": lambda: _texts(0, LARGEST, 30, 45),
    "negative": lambda: _texts(0, -5, 30, 45),
    "descending": lambda: _texts(0, 40, 15, 45),
    "of bytes": lambda: _texts(0, LARGEST, 30, 45, kind=pa.binary()),
    "of large texts": lambda: _texts(0, 2**60, 30, 45, kind=pa.large_string(), width=np.int64),
    "of a list": lambda: _list(_texts(0, 15, 30, 45), 0, 2**30, 3),
    "in a list": lambda: _list(_texts(0, LARGEST, 30, 45), 0, 3),
    "in a list of fixed size": lambda: pa.Array.from_buffers(
        pa.list_(pa.string(), 3), 1, [None], children=[_texts(0, LARGEST, 30, 45)]
    ),
    "of a dictionary": lambda: _dictionary([0, 10**6], _texts(0, 15, 30, 45)),
    "in a dictionary": lambda: _dictionary([0, 1], _texts(0, LARGEST, 30, 45)),
    "of a view": lambda: pa.Array.from_buffers(
        pa.string_view(), 1, [None, pa.py_buffer(np.array([100, 0, 7, 0], dtype=np.int32)), DATA]
    ),
}


@each_case("name", LYING)
def test_an_array_that_contradicts_itself_is_refused(name: str) -> None:
    """Also as one chunk of several."""
    with pytest.raises(SourceRefused, match="contradicts itself"):
        refuse_unsound(LYING[name]())
    column = LYING[name]()
    whole = pa.chunked_array([pa.array([], column.type), column])
    with pytest.raises(SourceRefused, match="contradicts itself"):
        refuse_unsound(whole)


@each_case(
    "column",
    [
        pa.array(["a", None, "ü"]),
        pa.array(["a", None], pa.string_view()),
        pa.array([["a"], None, []]),
        pa.array([["a", "b"]], pa.list_(pa.string(), 2)),
        pa.array([["a"]], pa.large_list(pa.large_string())),
        pa.array(["a", "b", "a", None]).dictionary_encode(),
        pa.array([1, None]),
        pa.array([1.5]),
        pa.array([{"a": "b"}]),
        pa.nulls(3),
        pa.array(["a", "b", "c"]).slice(1, 1),
        pa.chunked_array([["a"], ["b"]]),
        _texts(0, 15, 15, 45).slice(2),
        pa.Array.from_buffers(
            pa.string(), 1, [None, pa.py_buffer(np.array([0, 1], dtype=np.int32)), pa.py_buffer(b"\xff")]
        ),
    ],
)
def test_a_sound_array_passes(column: Any) -> None:
    """Bytes that are no text are a fault of their row, and none here."""
    refuse_unsound(column)


FRAME = """
import sys, numpy, pyarrow, audiencekit
from audiencekit.errors import SourceRefused
offsets = pyarrow.py_buffer(numpy.array([0, 2**31 - 1, 30, 45], dtype=numpy.int32))
data = pyarrow.py_buffer(b"ann@example.com" * 3)
emails = pyarrow.Array.from_buffers(pyarrow.string(), 3, [None, offsets, data])
frame = pyarrow.table({"email": emails})
if sys.argv[1] == "pandas":
    import pandas
    frame = pandas.DataFrame({"email": pandas.arrays.ArrowExtensionArray(emails)})
try:
    audiencekit.check(frame)
except SourceRefused as error:
    print(error)
"""


@pytest.mark.parametrize("library", shortened(["table", "pandas"], 1))
def test_a_frame_that_lies_does_not_end_the_process(library: str) -> None:
    """In a process of its own, since it would."""
    if library == "pandas":
        pytest.importorskip("pandas")
    done = subprocess.run([sys.executable, "-c", FRAME, library], capture_output=True, text=True, check=False)
    assert done.returncode == 0
    assert done.stdout.startswith("data frame: a column contradicts itself")
