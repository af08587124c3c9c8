"""Data frames of every library: the same rows as a file of them, or a refusal that shows no cell."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pyarrow as pa
import pytest

from audiencekit.errors import MappingRefused, SourceRefused, UsageError
from audiencekit.identifiers.kinds import Kind
from audiencekit.limits import BATCH_ROWS, MAX_CELL_BYTES, SAMPLE_ROWS
from audiencekit.personal import RawColumns
from audiencekit.sources.frames import frametable
from audiencekit.sources.frames.frames import Frame, is_frame
from audiencekit.sources.options import SourceOptions
from audiencekit.sources.source import Source
from audiencekit.sources.sourceopening import open_source

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


def test_objects_of_several_types_are_refused() -> None:
    """In pandas a column may hold anything; which cells it holds is not said."""
    frame = _pandas({"email": ["ann@example.com", 7, 3.5], "phone": ["+493012345601"] * 3})
    with pytest.raises(SourceRefused, match="the cells of column email are of several types") as caught:
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
    """An index is no column; names that are no text are written out; of equal names neither is taken."""
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame([["ann@example.com", 5]], columns=["email", 7], index=["bob@example.com"])
    assert rows_of(_open(frame)) == [{"row": 1, "c0": "ann@example.com"}]
    twice = pandas.DataFrame([["ann@example.com", "bob@example.com"]], columns=["email", "email"])
    with pytest.raises(MappingRefused, match="have the same name"):
        _open(twice)


@pytest.mark.parametrize("name", [None, "email"])
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


@pytest.mark.parametrize("library", ["table", "pandas", "polars"])
def test_a_frame_in_memory_is_read_again(library: str, rows_of: Rows) -> None:
    """From its first row."""
    source = _open(LIBRARIES[library]({"email": EMAILS}))
    assert rows_of(source) == rows_of(source)


def _of_many_batches(count: int) -> pa.Table:
    return pa.Table.from_batches([pa.record_batch({"email": [f"p{number}@example.com"]}) for number in range(count)])


@pytest.mark.parametrize("rows", [0, 1, 2_000, BATCH_ROWS + 1])
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
        for number in range(2_000):
            yield pa.record_batch({"email": [f"p{number}@example.com"]})
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


@pytest.mark.parametrize("other", NO_FRAMES, ids=lambda other: type(other).__name__)
def test_an_object_that_is_no_frame_is_no_source(other: Any) -> None:
    """Neither numbers nor dictionaries."""
    with pytest.raises((UsageError, SourceRefused)):
        _open(other)


@pytest.mark.parametrize("option", [{"encoding": "cp1252"}, {"delimiter": ";"}, {"header": False}])
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
