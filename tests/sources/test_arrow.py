"""Parquet's types become text by stated rules, or are refused."""

from __future__ import annotations

import tracemalloc
import uuid
from decimal import Decimal
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.types as pt
import pytest
from hypothesis import given, settings, strategies as st

from audiencekit.identifiers.kinds import Kind
from audiencekit.limits import MAX_CELL_BYTES
from audiencekit.personal import RawColumns
from audiencekit.records.batches import REJECTION_SCHEMA, ColumnMapping, MappedColumn, TextBatch
from audiencekit.sources import arrow as batchmerging, arrow as types
from audiencekit.sources.arrow import (
    as_digits,
    as_text,
    column_names,
    divided,
    gathered,
    gathered_columns,
    refusal_of,
    sample_texts,
    sampled_objects,
    split_texts,
    text_columns,
    used_positions,
    whole_numbers,
)
from audiencekit.sources.options import is_one_value
from tests.cases import each_case

ID = "6d92078a-8246-4ba4-ae5b-76104861e7dc"


def _listed(values: pa.Array) -> pa.Array:
    """A list of all of `values`, and a null."""
    return pa.ListArray.from_arrays(pa.array([0, None, len(values)]), values).take(pa.array([0, 1]))


TEXTS: list[tuple[pa.Array, list[Any]]] = [
    (pa.array(["a", "", None]), ["a", "", None]),
    (pa.array(["a", None], pa.large_string()), ["a", None]),
    (pa.array(["a", None], pa.string_view()), ["a", None]),
    (pa.array(["a", "b", "a", None]).dictionary_encode(), ["a", "b", "a", None]),
    (pa.array([b"a", None], pa.binary()), ["a", None]),
    (pa.array([b"ab"], pa.binary(2)), ["ab"]),
    (pa.array([b"a"], pa.large_binary()), ["a"]),
    (pa.array([441234567890, -1, None], pa.int64()), ["441234567890", "-1", None]),
    (pa.array([2**64 - 1], pa.uint64()), ["18446744073709551615"]),
    (pa.array([1, 2], pa.int8()), ["1", "2"]),
    (pa.array([None, None], pa.null()), [None, None]),
    (pa.array([Decimal("14155550132.00"), Decimal("0.50"), None], pa.decimal128(20, 2)), ["14155550132", "0.50", None]),
    (pa.array([Decimal(1200), None], pa.decimal128(20, 0)), ["1200", None]),
    (pa.array([["a", "b"], [], None, [None]]), [["a", "b"], [], None, [None]]),
    (pa.array([["a"], None], pa.large_list(pa.large_string())), [["a"], None]),
    (pa.array([["a", "b"]], pa.list_(pa.string(), 2)), [["a", "b"]]),
    (pa.array([[12, None], None], pa.list_(pa.int64())), [["12", None], None]),
    (pa.array([[b"a"], None], pa.list_(pa.binary())), [["a"], None]),
    (pa.array([b"a", None], pa.binary_view()), ["a", None]),
    (pa.array([[b"a"], None], pa.list_(pa.binary_view())), [["a"], None]),
    (_listed(pa.array(["a", "b"]).dictionary_encode()), [["a", "b"], None]),
    (_listed(pa.DictionaryArray.from_arrays(pa.array([0, 0]), pa.array(["a"], pa.string_view()))), [["a", "a"], None]),
]


@each_case("array, texts", TEXTS)
def test_types_have_one_text(array: pa.Array, texts: list[Any]) -> None:
    """Null stays null and is not the empty text; slices count from their own beginning."""
    assert refusal_of(array.type) is None
    column = as_text(array)
    assert column.array.to_pylist() == texts
    assert column.array.type in (pa.string(), pa.list_(pa.string()))
    assert not column.broken.any()
    assert not column.too_large.any()
    assert as_text(array.slice(1)).array.to_pylist() == texts[1:]


@pytest.mark.skipif(not hasattr(pa, "uuid"), reason="this Arrow has no UUID type")
def test_uuids_are_written_as_usual() -> None:
    """They are kept as sixteen bytes."""
    array = pa.array([uuid.UUID(ID).bytes, None], pa.uuid())
    assert refusal_of(array.type) is None
    assert as_text(array).array.to_pylist() == [ID, None]


@each_case(
    "kind, why",
    [
        (pa.float64(), "lost digits"),
        (pa.float32(), "lost digits"),
        (pa.float16(), "lost digits"),
        (pa.list_(pa.float64()), "lost digits"),
        (pa.struct([("secretname", pa.string())]), "nested"),
        (pa.map_(pa.string(), pa.string()), "nested"),
        (pa.list_(pa.struct([("secretname", pa.string())])), "nested"),
        (pa.bool_(), "neither"),
        (pa.date32(), "neither"),
        (pa.timestamp("us"), "neither"),
        (pa.duration("s"), "neither"),
    ],
)
def test_other_types_are_refused_in_words(kind: pa.DataType, why: str) -> None:
    """Without the names of fields inside."""
    reason = refusal_of(kind)
    assert reason is not None
    assert why in reason
    assert "secretname" not in reason


def broken(values: list[bytes]) -> pa.Array:
    """Text that is not UTF-8, as a careless writer makes it."""
    offsets = pa.array([0, *(sum(map(len, values[: end + 1])) for end in range(len(values)))], pa.int32())
    return pa.StringArray.from_buffers(len(values), offsets.buffers()[1], pa.py_buffer(b"".join(values)))


@each_case("kind", ["binary", "string", "list"])
def test_bytes_that_are_no_text_break_their_row(kind: str) -> None:
    """The other rows are read."""
    values = [b"a", b"caf\xe9", b"\xc3\xa9"]
    array = pa.array(values) if kind == "binary" else broken(values)
    if kind == "list":
        array = pa.ListArray.from_arrays(pa.array([0, 2, 3], pa.int32()), array)
    column = as_text(array)
    if kind == "list":
        assert column.array.to_pylist() == [None, ["é"]]
        assert column.broken.tolist() == [True, False]
    else:
        assert column.array.to_pylist() == ["a", None, "é"]
        assert column.broken.tolist() == [False, True, False]


@pytest.mark.parametrize("kind", [pa.binary(), pa.large_binary(), pa.binary(2), pa.list_(pa.binary())], ids=str)
def test_bytes_are_not_read_one_by_one(kind: pa.DataType, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where all are text: a column of them costs what one of texts does."""
    monkeypatch.delattr(types, "_one_by_one")
    cells = [[b"ab", None], None] if pt.is_list(kind) else [b"ab", None]
    assert as_text(pa.array(cells, kind)).array.to_pylist() == (
        [["ab", None], None] if pt.is_list(kind) else ["ab", None]
    )


@given(st.lists(st.none() | st.binary(max_size=3) | st.text(max_size=2).map(str.encode), max_size=6))
@settings(deadline=None)
def test_bytes_are_read_as_each_by_itself_is(values: list[bytes | None]) -> None:
    """Whatever they are, and those beside them."""
    whole = as_text(pa.array(values, pa.binary()))
    cells = [as_text(pa.array([value], pa.binary())) for value in values]
    assert whole.array.to_pylist() == [text for cell in cells for text in cell.array.to_pylist()]
    assert whole.broken.tolist() == [bad for cell in cells for bad in cell.broken.tolist()]


@each_case(
    "values",
    [
        [b"a", b"\xc3", b"\xa9", b"b"],
        [b"\xe2\x82", b"\xac"],
        [b"\xc3\xa9", b"", b"\xf0\x9f\x98\x80", b"\x80"],
        [b"", b"\xff", b""],
        [b"\xed\xa0\x80", "é".encode()],
    ],
)
def test_a_cell_is_text_by_itself(values: list[bytes]) -> None:
    """Also where all cells together are text."""
    column = as_text(broken([b"x", *values]).slice(1))
    are_broken = [_has_no_text(value) for value in values]
    assert column.broken.tolist() == are_broken
    assert any(are_broken)
    texts = [None if bad else value.decode() for value, bad in zip(values, are_broken, strict=True)]
    assert column.array.to_pylist() == texts


def _has_no_text(value: bytes) -> bool:
    try:
        value.decode()
    except UnicodeDecodeError:
        return True
    return False


def test_bytes_under_a_null_do_not_matter() -> None:
    """Writers leave there what they want."""
    bare = broken([b"a", b"\xc3", "é".encode()])
    _, offsets, data = bare.buffers()
    validity = pa.array([True, False, True]).buffers()[1]
    column = as_text(pa.StringArray.from_buffers(3, offsets, data, validity))
    assert column.array.to_pylist() == ["a", None, "é"]
    assert not column.broken.any()


@each_case("several", [False, True])
def test_cells_too_large_are_seen(several: bool) -> None:
    """Measured in bytes; in lists the largest value counts."""
    cells: list[Any] = ["x" * MAX_CELL_BYTES, "x" * (MAX_CELL_BYTES - 1) + "é", "y"]
    column = as_text(pa.array([["", cell] for cell in cells] if several else cells))
    assert column.too_large.tolist() == [False, True, False]


@each_case(
    "array, texts",
    [
        (pa.array(["a", None]), ["a", ""]),
        (pa.array([1.5, None]), ["1.5", ""]),
        (pa.array([493012345601.0, None, float("nan")]), ["493012345601", "", ""]),
        (pa.array([["a", "b"], [], None]), ["a", "", ""]),
        (pa.array([{"a": 1}]), [""]),
        (pa.array([[{"a": 1}]]), [""]),
        (pa.array([True]), ["True"]),
    ],
)
def test_samples_show_what_a_column_holds(array: pa.Array, texts: list[str]) -> None:
    """Of any type, so that a column can be recognised and then refused by its type."""
    assert sample_texts(array) == texts


NAN, INFINITE = float("nan"), float("inf")
WHOLE: list[tuple[list[float | None], pa.DataType, list[int | None] | None]] = [
    ([493012345601.0, None, NAN, -5.0, 0.0, -0.0], pa.float64(), [493012345601, None, None, -5, 0, 0]),
    ([None, None], pa.float64(), [None, None]),
    ([NAN], pa.float64(), [None]),
    ([], pa.float64(), []),
    ([2.0**53 - 1, 1 - 2.0**53], pa.float64(), [2**53 - 1, 1 - 2**53]),
    ([2.0**53], pa.float64(), None),
    ([-(2.0**53)], pa.float64(), None),
    ([1.0, 1.5], pa.float64(), None),
    ([1.0, 2.0**52 + 0.5, None], pa.float64(), [1, 2**52, None]),  # no such double: it is whole
    ([2.0**51 + 0.5], pa.float64(), None),
    ([5e-324], pa.float64(), None),
    ([INFINITE], pa.float64(), None),
    ([1.0, -INFINITE], pa.float64(), None),
    ([2.0**24 - 1, None, NAN], pa.float32(), [2**24 - 1, None, None]),
    ([2.0**24], pa.float32(), None),
    ([493012345601.0], pa.float32(), None),
    ([2047.0, None], pa.float16(), [2047, None]),
    ([2048.0], pa.float16(), None),
]


@each_case("values, kind, expected", WHOLE)
def test_whole_floating_point_numbers_have_all_their_digits(
    values: list[float | None], kind: pa.DataType, expected: list[int | None] | None
) -> None:
    """Below the power of two from which on a whole number may stand for its neighbour."""
    array = pa.array([None, *values], pa.float64(), from_pandas=False).cast(kind).slice(1)
    found = whole_numbers(array)
    assert (None if found is None else found.to_pylist()) == expected


NUMBERS = st.integers(1, 2**40)


def _batch(rows: list[int], faults: list[int]) -> TextBatch:
    columns = pa.record_batch([pa.array(rows, pa.int64())], names=["row"])
    told: dict[str, Any] = {"row": faults, "column": [None] * len(faults), "reason": ["ragged"] * len(faults)}
    return TextBatch(RawColumns(columns), pa.RecordBatch.from_pydict(told, schema=REJECTION_SCHEMA))


@pytest.fixture(autouse=True)
def _few_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(batchmerging, "BATCH_ROWS", 5)


@settings(deadline=None)
@given(st.lists(st.tuples(st.lists(NUMBERS, max_size=4), st.lists(NUMBERS, max_size=1))))
def test_rows_stay_in_order(sizes: list[tuple[list[int], list[int]]]) -> None:
    """In batches of no more than the limit, and hardly more of them than there must be."""
    batches = list(gathered(_batch(*size) for size in sizes))
    rows = [batch.columns.unwrap().num_rows + batch.faults.num_rows for batch in batches]
    assert [row for batch in batches for row in batch.columns.unwrap().column(0).to_pylist()] == [
        row for size in sizes for row in size[0]
    ]
    assert sum(rows) == sum(len(good) + len(bad) for good, bad in sizes)
    assert all(count <= 5 for count in rows)
    assert len(batches) <= 1 + 2 * sum(rows) // 5


@settings(deadline=None)
@given(st.lists(st.lists(NUMBERS, max_size=5)))
def test_columns_stay_in_order(sizes: list[list[int]]) -> None:
    """The same of columns that are not read yet."""
    batches = list(gathered_columns((_batch(rows, []).columns for rows in sizes), most_rows=5))
    found = [batch.unwrap().column(0).to_pylist() for batch in batches]
    assert [row for rows in found for row in rows] == [row for rows in sizes for row in rows]
    assert all(len(rows) <= 5 for rows in found)
    assert len(batches) <= 1 + 2 * sum(map(len, found)) // 5


def test_large_cells_make_batches_of_fewer_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    """A column of Arrow holds no more than 2 GB; a batch that is larger by itself stays as it came."""
    monkeypatch.setattr(batchmerging, "_MOST_BYTES", 100)
    cells = ["a" * 40, "b" * 40, "c" * 200, "d"]
    batches = [RawColumns(pa.record_batch([pa.array([cell])], names=["c1"])) for cell in cells]
    found = [batch.unwrap().column(0).to_pylist() for batch in gathered_columns(batches, most_rows=5)]
    assert found == [cells[:2], cells[2:3], cells[3:]]


ONE, OTHER = bytes(range(128, 160)), bytes(range(32))
RAW = b"0123456789abcdef" * 2


@each_case("kind", [pa.binary(), pa.binary(32), pa.large_binary(), pa.binary_view()])
def test_each_type_of_bytes_becomes_text(kind: Any) -> None:
    """Null stays null, and a slice is as good as a whole."""
    cells = pa.array([OTHER, ONE, None, OTHER], kind)
    assert as_digits(cells.slice(1)).equals(pa.array([ONE.hex(), None, OTHER.hex()]))


def test_dictionaries_are_their_values() -> None:
    """As Arrow keeps cells that are often the same."""
    cells = pa.array([ONE, None, ONE]).dictionary_encode()
    assert as_digits(cells).equals(pa.array([ONE.hex(), None, ONE.hex()]))


@each_case("lists", [pa.list_(pa.binary()), pa.large_list(pa.binary(32))])
def test_lists_stay_lists(lists: Any) -> None:
    """Of no value there is no list."""
    cells = pa.array([[ONE, OTHER], None, [], [None, ONE]], lists)
    assert as_digits(cells).to_pylist() == [[ONE.hex(), OTHER.hex()], None, None, [None, ONE.hex()]]


@given(st.lists(st.none() | st.binary(min_size=32, max_size=32) | st.binary(max_size=40) | st.just(RAW)))
def test_bytes_are_their_digits_unless_they_can_be_read(values: list[bytes | None]) -> None:
    """So that no readable text passes for a hash."""
    texts = as_digits(pa.array(values, pa.binary())).to_pylist()
    for value, text in zip(values, texts, strict=True):
        assert text in ((None,) if value is None else (value.hex(), value.decode("ascii", "replace")))
        if value is not None and all(0x20 <= byte < 0x7F for byte in value):
            assert text == value.decode("ascii")


def test_no_rows_are_no_texts() -> None:
    """Of the type of texts all the same."""
    assert as_digits(pa.array([], pa.binary())).equals(pa.array([], pa.string()))


EMAIL = MappedColumn(kind=Kind.EMAIL, position=4, name="email")
MAPPING = ColumnMapping(columns=(EMAIL,), country=1, country_name="land", operation=0, operation_name="what")


def test_used_columns_are_named() -> None:
    """Identifiers, country and operation."""
    assert used_positions(MAPPING) == [0, 1, 4]
    assert column_names(MAPPING) == {0: "what", 1: "land", 4: "email"}
    assert used_positions(ColumnMapping(columns=())) == []


def test_fields_follow_the_contract() -> None:
    """Row, country, operation, then a field for each mapped column."""
    cells = {place: pa.array([str(place)]) for place in (0, 1, 4)}
    batch = text_columns(pa.array([7], pa.int64()), cells, MAPPING)
    assert batch.to_pylist() == [{"row": 7, "country": "1", "operation": "0", "c4": "4"}]


def test_cells_are_split_at_the_separator_only() -> None:
    """Parts stay as they stand, blank ones are none, a missing cell stays missing."""
    parts = split_texts(pa.array(["a; b", "", None, ";;", "c", ";\u2003;\x1c"]), ";")
    assert parts.type == pa.list_(pa.string())
    assert parts.to_pylist() == [["a", " b"], [], None, [], ["c"], []]


@given(
    st.lists(st.none() | st.text('a;= \n"x:').map(lambda text: text.replace("x", " ::: "))),
    st.sampled_from([";", " ::: ", "\n"]),
    st.integers(0, 3),
)
def test_columns_are_divided_as_their_cells_are(cells: list[str | None], separator: str, start: int) -> None:
    """All at once, also a part of a column; but for cells that are one value."""
    array = pa.array([*["skipped"] * start, *cells], pa.string()).slice(start)
    found = divided(array, separator)
    found.validate(full=True)
    assert found.type == pa.list_(pa.string())
    for cell, parts in zip(cells, found.to_pylist(), strict=True):
        if cell is not None and is_one_value(cell, separator):
            assert parts == [cell]
        else:
            expected = None if cell is None else [part for part in cell.split(separator) if part.strip()]
            assert parts == split_texts(pa.array([cell], pa.string()), separator).to_pylist()[0] == expected


@each_case("hidden", [b"a;", b";ab", b"abc", b"   "])
def test_a_missing_cell_holds_nothing(hidden: bytes) -> None:
    """Whatever bytes stand where its text would."""
    offsets = pa.array([0, 1, 1 + len(hidden), 3 + len(hidden)], pa.int32()).buffers()[1]
    data = pa.py_buffer(b"q" + hidden + b";z")
    cells = pa.StringArray.from_buffers(3, offsets, data, pa.py_buffer(b"\x05"), 1)
    for separator in (";", "\n"):
        found = divided(cells, separator)
        found.validate(full=True)
        assert found.to_pylist() == [["q"], None, ["z"] if separator == ";" else [";z"]]
        assert np.diff(found.offsets.to_numpy()).tolist() == [1, 0, 1]


def test_columns_without_a_separator_stay_as_they_are() -> None:
    """Columns without a separator, and lists."""
    texts, lists = pa.array(["a;b"]), pa.array([["a;b"]])
    assert divided(texts, None) is texts
    assert divided(lists, ";") is lists


def _orders(rows: int, each: int) -> pa.Array:
    """A column of lists of objects."""
    values = pa.StructArray.from_arrays([pa.array(["bea@example.com"] * rows * each)], ["email"])
    return pa.ListArray.from_arrays(pa.array(np.arange(0, rows * each + 1, each, dtype=np.int32)), values)


def test_columns_that_hold_objects_are_sampled_by_their_first_cells() -> None:
    """Those of other columns are no objects; a column may come in pieces."""
    orders = _orders(150, 1)
    found = sampled_objects([[pa.array(["1"])], [orders, orders], [pa.array([["a"]])]])
    assert list(found) == [1]
    assert found[1] == [[{"email": "bea@example.com"}]] * 200


def test_large_cells_are_sampled_in_little_memory() -> None:
    """As few of them as are small together; one that is large by itself is not looked at."""
    orders = _orders(20, 20_000)
    tracemalloc.start()
    try:
        found = sampled_objects([[orders], [_orders(1, 200_000)]])
        texts = sample_texts(orders)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert (list(found), texts) == ([0], [""] * 20)
    assert 0 < len(found[0]) < 5
    assert peak < 40_000_000
