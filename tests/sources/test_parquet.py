"""Parquet files: wanted columns as text, or a refusal."""

from __future__ import annotations

import io
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from audiencekit.errors import InputOutputFailed, MappingRefused, SourceRefused
from audiencekit.identifiers.kinds import Kind
from audiencekit.limits import BATCH_ROWS, INFLATION_GRACE_BYTES, MAX_CELL_BYTES
from audiencekit.sources import parquet, parquet as parquetsizes
from audiencekit.sources.files import parts_of
from audiencekit.sources.options import SourceOptions
from audiencekit.sources.parquet import BATCH_BYTES, Inflation, batch_rows, first_rows, joined, look_rows, piece_rows
from audiencekit.sources.source import Source, open_source
from tests.cases import each_case
from tests.shortened import shortened

Rows = Callable[[Source], list[dict[str, Any]]]
Faults = Callable[[Source], list[tuple[int, str | None, str]]]
OpenTable = Callable[..., Source]


@pytest.fixture
def open_table(tmp_path: Path) -> OpenTable:
    """Writes columns, or a table, as Parquet and opens it; keywords are options."""

    def make(content: dict[str, Any] | pa.Table, *, group: int = 2, **options: Any) -> Source:
        table = content if isinstance(content, pa.Table) else pa.table(content)
        pq.write_table(table, tmp_path / "people.csv", row_group_size=group)
        return open_source(tmp_path / "people.csv", SourceOptions(**options))

    return make


def test_rows_are_numbered_over_row_groups(open_table: OpenTable, rows_of: Rows) -> None:
    """Null is a missing cell, an empty text is not; leading zeros stay."""
    columns = ((Kind.PHONE_NUMBER, "phone"), (Kind.EMAIL, "EMAIL"))
    content = {"phone": ["0049301234567", None, ""], "n": [1, 2, 3], "email": ["a@example.com", "b", None]}
    source = open_table(content, columns=columns)
    assert rows_of(source) == [
        {"row": 1, "c0": "0049301234567", "c2": "a@example.com"},
        {"row": 2, "c0": None, "c2": "b"},
        {"row": 3, "c0": "", "c2": None},
    ]
    assert source.rows_read == 3
    assert source.bytes_read == source.bytes_total
    assert source.description == {"format": "parquet", "columns": 3, "rows": 3}


def test_columns_are_recognised_as_in_text(open_table: OpenTable) -> None:
    """By name and content, integers and lists included."""
    source = open_table(
        {
            "Email": ["a@example.com"],
            "twitter_id": pa.array([1234567890123456789], pa.int64()),
            "phones": pa.array([["+49 30 12345678", "x"]]),
            "land": ["Germany"],
            "when": pa.array([0], pa.timestamp("us")),
        }
    )
    assert source.mapping.names_by_kind() == {
        "email": ["Email"],
        "platform_id": ["twitter_id"],
        "phone_number": ["phones"],
    }
    assert source.mapping.country == 3


def test_numbers_become_their_digits(open_table: OpenTable, rows_of: Rows) -> None:
    """No digit is lost and none is added."""
    source = open_table({"twitter_id": pa.array([2**53 + 1, None], pa.int64())})
    assert [row["c0"] for row in rows_of(source)] == ["9007199254740993", None]


@each_case("hashed", [True, False])
def test_bytes_are_digits_in_columns_of_hashes_alone(
    open_table: OpenTable, rows_of: Rows, faults_of: Faults, hashed: bool
) -> None:
    """Types that cannot be read as text are refused in each format; the others are read in each."""
    cells = pa.array([bytes(range(128, 160)), b"ann@example.com", None])
    source = open_table(
        {"mail": cells}, columns=((Kind.EMAIL, "mail"),), hashed=frozenset([Kind.EMAIL] if hashed else [])
    )
    rows = rows_of(source)
    assert [row["c0"] for row in rows if row["row"] != 1] == ["ann@example.com", None]
    assert [row["c0"] for row in rows if row["row"] == 1] == ([bytes(range(128, 160)).hex() if hashed else None])
    assert len(faults_of(source)) == (0 if hashed else 1)


def test_native_lists_stay_lists(open_table: OpenTable, rows_of: Rows) -> None:
    """Beside text that is split as declared."""
    columns = {"email": [["a@example.com", "b@example.com"], None], "phone": ["+4930123456;+4930123457", None]}
    assert rows_of(open_table(columns, split_cells=";")) == [
        {"row": 1, "c0": ["a@example.com", "b@example.com"], "c1": ["+4930123456", "+4930123457"]},
        {"row": 2, "c0": None, "c1": None},
    ]


@each_case(
    "columns",
    [
        {"phone": pa.array([14155550132.5])},
        {"phones": pa.array([[14155550132.0]])},
        {"twitter_id": pa.array([1.2345678901234567e18])},
        {"phone": pa.array([{"number": "+4930123456"}])},
        {"phones": pa.array([[{"number": "+4930123456"}]])},
    ],
)
def test_columns_that_are_no_text_are_refused(open_table: OpenTable, columns: dict[str, Any]) -> None:
    """With the column's name: digits are lost, or there is no one value."""
    with pytest.raises(SourceRefused, match=f"the column {next(iter(columns))}") as caught:
        open_table({"email": ["a@example.com"], **columns})
    assert caught.value.column == next(iter(columns))


def test_whole_numbers_that_were_written_as_floating_point_are_read(open_table: OpenTable, rows_of: Rows) -> None:
    """As pandas writes integers with a gap; a fraction further down refuses the file."""
    phones = [14155550132.0, None, float("nan")]
    assert [row["c0"] for row in rows_of(open_table({"phone": pa.array(phones)}))] == ["14155550132", None, None]
    with pytest.raises(SourceRefused, match="the column phone holds floating-point numbers") as caught:
        rows_of(open_table({"phone": pa.array([14155550132.0] * 2_000 + [0.5])}))
    assert caught.value.column == "phone"


def test_types_do_not_matter_where_nothing_is_mapped(open_table: OpenTable, rows_of: Rows) -> None:
    """Nested, float and date columns may stand beside the mapped ones."""
    columns = {"email": ["a@example.com"], "score": [1.5], "deep": [{"a": [{"b": 1}]}], "ok": [True]}
    assert rows_of(open_table(columns)) == [{"row": 1, "c0": "a@example.com"}]


def test_a_list_is_no_country(open_table: OpenTable) -> None:
    """One row has one country and one operation."""
    with pytest.raises(SourceRefused, match="several values"):
        open_table({"email": ["a@example.com"], "land": [["DE"]]}, country_column="land")


def twice(name: str, other: str) -> pa.Table:
    """Two columns of texts."""
    return pa.table([pa.array(["a@example.com"]), pa.array(["b@example.com"])], names=[name, other])


def test_a_list_of_objects_is_refused_with_the_way_to_its_values(open_table: Any) -> None:
    """Which of the fields is meant, only its owner knows."""
    with pytest.raises(SourceRefused, match="emails is nested") as caught:
        open_table({"emails": [[{"value": "ada@example.com", "primary": True}]] * 3}, columns=((Kind.EMAIL, "emails"),))
    assert "ARRAY(SELECT value FROM UNNEST(emails))" in caught.value.hint


@each_case(
    "table, options",
    [
        (twice("email", "email"), {}),
        (twice("email", "email"), {"columns": ((Kind.EMAIL, "email"),)}),
        (twice("email", "Email "), {"columns": ((Kind.EMAIL, "email"),)}),
        (twice("email", "email"), {"columns": ((Kind.EMAIL, "column2"),)}),
    ],
)
def test_same_names_are_refused_where_they_are_wanted(
    open_table: OpenTable, table: pa.Table, options: dict[str, Any]
) -> None:
    """Arrow reads columns by name: two of one name cannot be told apart."""
    with pytest.raises(MappingRefused):
        open_table(table, **options)


def test_names_that_differ_in_case_can_be_told_apart_by_place(open_table: OpenTable, rows_of: Rows) -> None:
    """Their exact names differ."""
    source = open_table(twice("email", "EMAIL"), columns=((Kind.EMAIL, "column2"),))
    assert rows_of(source) == [{"row": 1, "c1": "b@example.com"}]


def test_a_dot_in_a_name_is_no_path(open_table: OpenTable, rows_of: Rows) -> None:
    """The column is read, or refused; never another one."""
    table = pa.table({"e.mail": ["a@example.com"], "e": [{"mail": "b@example.com"}]})
    try:
        rows = rows_of(open_table(table, columns=((Kind.EMAIL, "e.mail"),)))
    except SourceRefused:
        return
    assert rows == [{"row": 1, "c0": "a@example.com"}]


def test_broken_and_large_cells_cost_themselves(open_table: OpenTable, rows_of: Rows, faults_of: Faults) -> None:
    """Their rows go on."""
    large = b"x" * (MAX_CELL_BYTES + 1)
    emails = [b"a@example.com", large, b"caf\xe9", b"b@example.com", b"\xff"]
    phones = [b"+493012345", b"\xff", b"", large, b""]
    source = open_table(
        {"email": pa.array(emails), "phone": pa.array(phones)},
        columns=((Kind.EMAIL, "email"), (Kind.PHONE_NUMBER, "phone")),
    )
    assert faults_of(source) == [
        (2, "email", "too_large"),
        (2, "phone", "encoding"),
        (3, "email", "encoding"),
        (4, "phone", "too_large"),
        (5, "email", "encoding"),
    ]
    assert [(row["c0"], row["c1"]) for row in rows_of(source)] == [
        ("a@example.com", "+493012345"),
        (None, None),
        (None, ""),
        ("b@example.com", None),
        (None, ""),
    ]


def test_many_broken_rows_refuse_the_file(open_table: OpenTable, rows_of: Rows) -> None:
    """As in text."""
    source = open_table({"email": pa.array([b"\xff"] * 20)}, columns=((Kind.EMAIL, "email"),))
    with pytest.raises(SourceRefused, match="20 of 20 rows"):
        rows_of(source)


def test_files_without_rows_have_none(open_table: OpenTable, rows_of: Rows) -> None:
    """No row group, or no column that matters."""
    assert rows_of(open_table({"email": pa.array([], pa.string())})) == []
    source = open_table({"a": ["x", "y", "z"]})
    assert rows_of(source) == [{"row": 1}, {"row": 2}, {"row": 3}]
    assert source.mapping.columns == ()


@pytest.mark.parametrize("damage", ["empty footer", "half", "footer", "middle", "magic only"])
def test_damaged_files_are_refused(tmp_path: Path, rows_of: Rows, damage: str) -> None:
    """At the latest when the pages are read; nothing of Arrow's own words is passed on."""
    path = tmp_path / "people.parquet"
    emails = [f"marker{number}@example.com" for number in range(500)]
    pq.write_table(
        pa.table({"email": emails}), path, write_page_checksum=True, compression="none", use_dictionary=False
    )
    data = path.read_bytes()
    middle, footer = data.index(b"marker250"), int.from_bytes(data[-8:-4], "little")
    path.write_bytes(
        {
            "empty footer": data[:-8] + b"\0\0\0\0PAR1",
            "half": data[: len(data) // 2],
            "footer": data[: -8 - footer] + bytes(footer) + data[-8:],
            "middle": data[:middle] + b"x" + data[middle + 1 :],
            "magic only": b"PAR1",
        }[damage]
    )
    with pytest.raises(SourceRefused, match="damaged") as caught:
        rows_of(open_source(path, SourceOptions()))
    assert "marker" not in str(caught.value)
    assert caught.value.__context__ is None


def test_a_file_that_holds_fewer_rows_than_it_says_is_refused(
    open_table: OpenTable, rows_of: Rows, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The footer's number is the independent count."""
    source = open_table({"email": ["a@example.com"] * 5})
    table = source._table
    assert isinstance(table, parquet.ParquetTable)
    monkeypatch.setattr(table, "_rows", 6)
    with pytest.raises(SourceRefused, match="has 6 rows, and 5 were read"):
        rows_of(source)


def test_a_file_that_changes_while_it_is_read_is_refused(tmp_path: Path) -> None:
    """The last batch is followed by another look at the file."""
    path = tmp_path / "people.parquet"
    pq.write_table(pa.table({"email": ["a@example.com"] * 10}), path)
    source = open_source(path, SourceOptions())
    batches = source.batches()
    next(batches)
    with path.open("ab") as file:
        file.write(b"more")
    with pytest.raises(SourceRefused, match="changed"):
        list(batches)


def test_bombs_are_refused(open_table: OpenTable, rows_of: Rows, monkeypatch: pytest.MonkeyPatch) -> None:
    """By what the footer says of the wanted columns."""
    monkeypatch.setattr(parquetsizes, "INFLATION_GRACE_BYTES", 1_000)
    monkeypatch.setattr(parquetsizes, "MAX_INFLATION", 2)
    source = open_table({"email": pa.array([f"{'x' * 500}{n}@example.com" for n in range(100)])}, group=100)
    with pytest.raises(SourceRefused, match="2 times its size"):
        rows_of(source)


def test_large_rows_make_small_batches(open_table: OpenTable, monkeypatch: pytest.MonkeyPatch) -> None:
    """By the average row."""
    monkeypatch.setattr(parquetsizes, "BATCH_BYTES", 10_000)
    monkeypatch.setattr(parquetsizes, "MIN_BATCH_ROWS", 2)
    source = open_table({"email": [f"{n}{'x' * 1_000}@example.com" for n in range(50)]}, group=50)
    sizes = [batch.columns.unwrap().num_rows for batch in source.batches()]
    assert sum(sizes) == 50
    assert max(sizes) < 20


def test_a_read_error_is_an_input_output_failure() -> None:
    """The system's word goes on, Arrow's does not."""

    def failing() -> None:
        raise OSError(5, "Input/output error")

    with pytest.raises(InputOutputFailed, match="Input/output error"):
        parquet._from_arrow(failing)


def test_a_table_shows_no_names(open_table: OpenTable) -> None:
    """Column names may be personal."""
    source = open_table({"Kiyomitsu": ["a@example.com"]})
    assert "Kiyomitsu" not in repr((source, source._table, source.notes, source.mapping))


def _touch(directory: Path, *names: str) -> Path:
    for name in names:
        (directory / name).touch()
    return directory


def test_parts_come_by_name(tmp_path: Path) -> None:
    """Markers and hidden files are no parts."""
    parts = ("part-00001-a.snappy.parquet", "part-00000-a.snappy.parquet")
    _touch(tmp_path, *parts, "_SUCCESS", "._SUCCESS.crc", ".part-00000-a.snappy.parquet.crc")
    assert [Path(part.path).name for part in parts_of(tmp_path)] == sorted(parts)


def test_a_prepared_directory_is_its_records(tmp_path: Path) -> None:
    """Its other files are about them."""
    _touch(tmp_path, "records.parquet", "manifest.json", "rejections.csv")
    (tmp_path / "requests").mkdir()
    assert [Path(part.path).name for part in parts_of(tmp_path)] == ["records.parquet"]


@pytest.mark.parametrize(
    ("names", "message"),
    [
        ((), "a directory without Parquet files"),
        (("_SUCCESS",), "a directory without Parquet files"),
        (("people.csv", "more.csv"), "a directory without Parquet files"),
        (("part-0.parquet", "people.csv", "x"), "beside Parquet files it holds 2 other entries"),
        (("part-0.parquet", "people.csv"), "beside Parquet files it holds 1 other entry"),
        (("part-0.parquet", "_temporary"), "has not finished"),
    ],
)
def test_other_directories_are_refused(tmp_path: Path, names: tuple[str, ...], message: str) -> None:
    """Otherwise rows would be left out without a message."""
    with pytest.raises(SourceRefused, match=message):
        parts_of(_touch(tmp_path, *names))


def test_folders_of_a_partitioned_table_are_given_one_by_one(tmp_path: Path) -> None:
    """The names of folders hold values that are in no file, so nothing is read from below."""
    with pytest.raises(SourceRefused) as caught:
        parts_of(_touch(tmp_path, "day=2026-01-01", "_SUCCESS"))
    assert "DIRECTORY/*/*.parquet" in caught.value.hint


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
    "kind", shortened(["one value", "several groups", "common beginnings", "several values", "list"], 1)
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
