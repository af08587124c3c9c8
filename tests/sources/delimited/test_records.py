"""Records are read and counted, and refused where the two could part."""

from __future__ import annotations

import csv
import tracemalloc
from collections.abc import Iterator

import pytest

from audiencekit.errors import SourceRefused
from audiencekit.limits import MAX_LINE_BYTES
from audiencekit.sources.delimited.counting import RecordCounter
from audiencekit.sources.delimited.records import FIELD_LIMIT, Records, field_limit


def read(data: bytes, *, step: int = 1_000, leading: int = 0) -> list[list[str]]:
    """All records of `data`, cut into blocks."""
    blocks = iter([data[start : start + step] for start in range(0, len(data), step)])
    return list(Records(blocks, ",", leading=leading))


@pytest.mark.parametrize(
    ("data", "records"),
    [
        (b"", []),
        (b"\n\r\n", []),
        (b"a,b\n\nc,d", [["a", "b"], ["c", "d"]]),
        (b"a\rb\r\nc\n", [["a"], ["b"], ["c"]]),
        (b'"a\r\nb","c\rd"\r\n', [["a\r\nb", "c\rd"]]),
        (b'"a ""b"" c"\n', [['a "b" c']]),
        (b'a"b,c"\n', [['a"b', 'c"']]),
        (b" a , b \n", [[" a ", " b "]]),
        (b"a\x00b\n", [["a\x00b"]]),
        (b"a\xe2\x80\xa8b\x0bc\n", [["a\u2028b\x0bc"]]),
        (b"a\xffb\n", [["a\udcffb"]]),
        ("\U0001f600,é\n".encode(), [["\U0001f600", "é"]]),
    ],
    ids=range(12),
)
@pytest.mark.parametrize("step", [1, 3, 1_000])
def test_cells_are_as_they_stand(data: bytes, records: list[list[str]], step: int) -> None:
    """Nothing is trimmed, unified or guessed; a broken byte is a lone surrogate."""
    assert read(data, step=step) == records


@pytest.mark.parametrize(
    ("data", "row", "rows_read", "message"),
    [
        (b'h\na\n"b\nc\nd\n', 2, 1, "row 2 or later and never closed"),
        (b'h\n"a', 1, 0, "never closed"),
        (b'"h\na\n', 1, 0, "the header or later"),
        (b'h\na\n"b"c\nd\n', 2, 3, "row 2 has letters after a closing quote"),
        (b'h\na\n"b" \nd\n', 2, 3, "row 2"),
        (b"h\na\n" + b"x" * (FIELD_LIMIT + 1) + b"\nb\n", 2, 3, "row 2 has a cell of more than 131,072"),
        (b'h\n"' + b"x\n" * FIELD_LIMIT + b'"\nb\n', 1, 2, "row 1"),
    ],
    ids=range(7),
)
def test_an_ambiguous_file_is_refused(data: bytes, row: int, rows_read: int, message: str) -> None:
    """With the row, the rows that the counter saw in the whole file, and something to do."""
    with pytest.raises(SourceRefused, match=message) as caught:
        read(data, leading=1)
    assert (caught.value.row, caught.value.rows_read) == (row, rows_read)
    assert caught.value.hint


@pytest.mark.parametrize("limit", [FIELD_LIMIT, 1_000_000_000])
def test_a_record_without_end_does_not_fill_memory(limit: int) -> None:
    """A quote opened at the beginning of a large file is given up early, whatever limit the process has."""
    before = csv.field_size_limit(limit)

    def endless() -> Iterator[bytes]:
        yield b'a,b\n"'
        for _ in range(200):
            yield b"x,y\n" * 65_536

    tracemalloc.start()
    try:
        with pytest.raises(SourceRefused, match="never closed"):
            list(Records(endless(), ",", leading=1))
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
        csv.field_size_limit(before)
    assert peak < 30 * MAX_LINE_BYTES


def test_a_limit_that_others_raised_changes_nothing() -> None:
    """The field limit of `csv` belongs to the process; ours is our own."""
    before = csv.field_size_limit(10_000_000)
    try:
        with pytest.raises(SourceRefused, match="cell of more"):
            read(b"a\n" + b"x" * (FIELD_LIMIT + 1) + b"\n")
        with pytest.raises(SourceRefused, match="never closed"):
            read(b'a\n"' + b"x\n" * MAX_LINE_BYTES)
    finally:
        csv.field_size_limit(before)


def test_a_limit_that_others_lowered_is_lifted_for_a_while() -> None:
    """The earlier limit of the process is restored afterwards, also after an error."""
    before = csv.field_size_limit(10)
    try:
        with field_limit():
            assert csv.field_size_limit() == FIELD_LIMIT
        with pytest.raises(KeyError), field_limit():
            raise KeyError
        assert csv.field_size_limit() == 10
    finally:
        csv.field_size_limit(before)


def test_a_counter_that_counts_otherwise_refuses_the_file(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two readings are none."""
    finish = RecordCounter.finish

    def one_more(counter: RecordCounter) -> None:
        finish(counter)
        counter.records += 1

    monkeypatch.setattr(RecordCounter, "finish", one_more)
    with pytest.raises(SourceRefused, match="found 2 rows and the counter 3"):
        read(b"a\nb\n")


def test_refusals_quote_nothing() -> None:
    """`csv` puts cells and characters into its messages; ours do not, and nothing is chained."""
    with pytest.raises(SourceRefused) as caught:
        read(b'a\n"marker"marker\n')
    assert "marker" not in str(caught.value)
    assert caught.value.__context__ is None
    assert caught.value.__cause__ is None
