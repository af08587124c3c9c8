"""Parquet's types become text by stated rules, or are refused."""

from __future__ import annotations

import uuid
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pyarrow.types as pt
import pytest
from hypothesis import given, settings, strategies as st

from audiencekit.limits import MAX_CELL_BYTES
from audiencekit.sources.arrow import types
from audiencekit.sources.arrow.types import as_text, refusal_of, sample_texts, whole_numbers

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


@pytest.mark.parametrize(("array", "texts"), TEXTS, ids=[str(array.type) for array, _ in TEXTS])
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


@pytest.mark.parametrize(
    ("kind", "why"),
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
    ids=str,
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


@pytest.mark.parametrize("kind", ["binary", "string", "list"])
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


@pytest.mark.parametrize(
    "values",
    [
        [b"a", b"\xc3", b"\xa9", b"b"],
        [b"\xe2\x82", b"\xac"],
        [b"\xc3\xa9", b"", b"\xf0\x9f\x98\x80", b"\x80"],
        [b"", b"\xff", b""],
        [b"\xed\xa0\x80", "é".encode()],
    ],
    ids=["a letter in two cells", "another", "a lone byte at the end", "no such byte", "half of a pair"],
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


@pytest.mark.parametrize("several", [False, True])
def test_cells_too_large_are_seen(several: bool) -> None:
    """Measured in bytes; in lists the largest value counts."""
    cells: list[Any] = ["x" * MAX_CELL_BYTES, "x" * (MAX_CELL_BYTES - 1) + "é", "y"]
    column = as_text(pa.array([["", cell] for cell in cells] if several else cells))
    assert column.too_large.tolist() == [False, True, False]


@pytest.mark.parametrize(
    ("array", "texts"),
    [
        (pa.array(["a", None]), ["a", ""]),
        (pa.array([1.5, None]), ["1.5", ""]),
        (pa.array([493012345601.0, None, float("nan")]), ["493012345601", "", ""]),
        (pa.array([["a", "b"], [], None]), ["a", "", ""]),
        (pa.array([{"a": 1}]), [""]),
        (pa.array([[{"a": 1}]]), [""]),
        (pa.array([True]), ["True"]),
    ],
    ids=range(7),
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


@pytest.mark.parametrize(("values", "kind", "expected"), WHOLE, ids=range(len(WHOLE)))
def test_whole_floating_point_numbers_have_all_their_digits(
    values: list[float | None], kind: pa.DataType, expected: list[int | None] | None
) -> None:
    """Below the power of two from which on a whole number may stand for its neighbour."""
    array = pa.array([None, *values], pa.float64(), from_pandas=False).cast(kind).slice(1)
    found = whole_numbers(array)
    assert (None if found is None else found.to_pylist()) == expected
