"""Records are read and counted, and refused where the two could part."""

from __future__ import annotations

import csv
import io
import random
import re
import tracemalloc
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given, settings, strategies as st

from audiencekit.errors import SourceRefused
from audiencekit.limits import MAX_LINE_BYTES
from audiencekit.sources.csv import records as counting
from audiencekit.sources.csv.records import FIELD_LIMIT, RecordCounter, Records, count_lines, field_limit
from tests.cases import each_case


def read(data: bytes, *, step: int = 1_000, leading: int = 0) -> list[list[str]]:
    """All records of `data`, cut into blocks."""
    blocks = iter([data[start : start + step] for start in range(0, len(data), step)])
    return list(Records(blocks, ",", leading=leading))


@each_case(
    "data, records",
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
)
@each_case("step", [1, 3, 1_000])
def test_cells_are_as_they_stand(data: bytes, records: list[list[str]], step: int) -> None:
    """Nothing is trimmed, unified or guessed; a broken byte is a lone surrogate."""
    assert read(data, step=step) == records


@each_case(
    "data, row, rows_read, message",
    [
        (b'h\na\n"b\nc\nd\n', 2, 1, "row 2 or later and never closed"),
        (b'h\n"a', 1, 0, "never closed"),
        (b'"h\na\n', 1, 0, "the header or later"),
        (b'h\na\n"b"c\nd\n', 2, 3, "row 2 has letters after a closing quote"),
        (b'h\na\n"b" \nd\n', 2, 3, "row 2"),
        (b"h\na\n" + b"x" * (FIELD_LIMIT + 1) + b"\nb\n", 2, 3, "row 2 has a cell of more than 131,072"),
        (b'h\n"' + b"x\n" * FIELD_LIMIT + b'"\nb\n', 1, 2, "row 1"),
    ],
)
def test_an_ambiguous_file_is_refused(data: bytes, row: int, rows_read: int, message: str) -> None:
    """With the row, the rows that the counter saw in the whole file, and something to do."""
    with pytest.raises(SourceRefused, match=message) as caught:
        read(data, leading=1)
    assert (caught.value.row, caught.value.rows_read) == (row, rows_read)
    assert caught.value.hint


@each_case("limit", [FIELD_LIMIT, 1_000_000_000])
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


def count(data: bytes, *, delimiter: str = ",", step: int = 1_000_000) -> RecordCounter:
    """A finished counter that saw `data` in blocks of `step` bytes."""
    counter = RecordCounter(delimiter, scan_bytes=1)
    for start in range(0, len(data), step):
        counter.feed(data[start : start + step])
    counter.finish()
    return counter


@each_case(
    "data, records",
    [
        (b"", 0),
        (b"\n\r\n\r\r\n", 0),
        (b"a", 1),
        (b"a\n", 1),
        (b"a\nb", 2),
        (b"a\rb\rc", 3),
        (b"a\r\nb\r\n\r\nc\r\n", 3),
        (b"a\n\n\n\nb\n", 2),
        (b" \n\t\n", 2),
        (b",\n", 1),
        (b'""\n""', 2),
        (b'"a\nb",c\nd,e\n', 2),
        (b'"a\r\n\r\nb"\r\nc', 2),
        (b'"a""\n""b"\nc', 2),
        (b'a"\nb"\n', 2),
        (b'a,b"c\n"d\ne"\n', 2),
        (b'"a","b"\n"c","d\n"\n', 2),
        (b'x,"",""\n"",y\n', 2),
        (b"\x00\n\x1a\n", 2),
        (b"a\x0bb\x0cc\x1cd\xc2\x85e\xe2\x80\xa8f\n", 1),
    ],
)
@each_case("step", [1, 2, 3, 1_000])
def test_records_are_counted_wherever_blocks_end(data: bytes, records: int, step: int) -> None:
    """Blank records do not count, line ends inside quotes end nothing, other separators are letters."""
    counter = count(data, step=step)
    assert (counter.records, counter.open_quote) == (records, False)


@each_case(
    "data, records",
    [
        (b'"', 0),
        (b'a\n"b', 1),
        (b'a\nb,"c\nd\ne', 1),
        (b'a,"b""\n', 0),
        (b'"a"\n"b""', 1),
        (b'"a"\n"""', 1),
    ],
)
@each_case("step", [1, 2, 1_000])
def test_a_quote_left_open_is_seen(data: bytes, records: int, step: int) -> None:
    """The records before it stand, the rest is in doubt."""
    counter = count(data, step=step)
    assert (counter.records, counter.open_quote) == (records, True)


@each_case("delimiter", [",", ";", "\t", "|", "^", " ", "]", "\\"])
def test_quotes_count_only_where_a_field_starts(delimiter: str) -> None:
    """A field starts after this delimiter, and after no other one."""
    mark = delimiter.encode()
    other = b";" if delimiter == "," else b","
    assert count(b"a" + mark + b'"b\nc"\nd\n', delimiter=delimiter).records == 2
    assert count(b"a" + other + b'"b\nc"\nd\n', delimiter=delimiter).records == 3


CELLS = st.text(st.sampled_from('ab,;"\n\r \t\x00é'), max_size=6)
TABLES = st.lists(st.lists(CELLS, min_size=1, max_size=4), max_size=8)


@settings(deadline=None)
@given(
    table=TABLES,
    delimiter=st.sampled_from(",;\t|"),
    quoting=st.sampled_from([csv.QUOTE_ALL, csv.QUOTE_MINIMAL]),
    line_end=st.sampled_from(["\n", "\r\n", "\r"]),
    step=st.integers(1, 20),
)
def test_a_table_written_by_csv_is_counted_row_by_row(
    table: list[list[str]], delimiter: str, quoting: Any, line_end: str, step: int
) -> None:
    """Every table that `csv` can write has as many records as rows."""
    written = io.StringIO()
    # A cell at the front, so that no row is blank; `csv` itself quotes some line ends only since Python 3.13.
    rows = [["x", *cells] for cells in table]
    if any(set("\r\n") & set(cell) for row in rows for cell in row):
        quoting = csv.QUOTE_ALL
    csv.writer(written, delimiter=delimiter, quoting=quoting, lineterminator=line_end).writerows(rows)
    assert count(written.getvalue().encode(), delimiter=delimiter, step=step).records == len(rows)


@settings(deadline=None)
@given(st.text(st.sampled_from('a,"\n\r'), max_size=30), st.integers(1, 7))
def test_the_counter_and_csv_agree_on_what_csv_reads_strictly(text: str, step: int) -> None:
    """Whatever `csv` reads without complaint has the records that are counted."""
    lines = io.StringIO(text, newline="")
    try:
        records = sum(1 for cells in csv.reader(lines, strict=True) if cells)
    except csv.Error:
        return
    counter = count(text.encode(), step=step)
    assert (counter.records, counter.open_quote) == (records, False)


@settings(deadline=None)
@given(st.lists(st.binary(max_size=40), max_size=6))
def test_any_bytes_are_counted_the_same_in_any_blocks(blocks: list[bytes]) -> None:
    """Cutting differently changes nothing."""
    whole, cut = count(b"".join(blocks)), RecordCounter(",", scan_bytes=1)
    for block in blocks:
        cut.feed(block)
    cut.finish()
    assert (whole.records, whole.open_quote) == (cut.records, cut.open_quote)


def test_a_record_without_end_is_given_up() -> None:
    """Nothing larger than MAX_LINE_BYTES is carried along."""
    counter = count(b'a\n"' + b"x\n" * MAX_LINE_BYTES, step=100_000)
    assert counter.overlong
    assert counter.records == 1


def test_tiny_blocks_of_a_long_record_cost_no_more_than_large_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    """Carried bytes are not read again for every byte that comes."""
    looked_at: list[int] = []

    def cut(data: bytes, patterns: counting.Patterns) -> tuple[int, bytes, bool]:
        looked_at.append(len(data))
        return counting_cut(data, patterns)

    counting_cut = counting.cut
    monkeypatch.setattr(counting, "cut", cut)
    counter = RecordCounter(",")
    for _ in range(300_000):
        counter.feed(b'"')
    counter.finish()
    assert 300_000 <= sum(looked_at) < 3 * 300_000


def test_lines_without_quotes_are_counted_by_their_ends() -> None:
    """A line counts when something stands before its end."""
    assert count_lines(b"") == 0
    assert count_lines(b"\n") == 0
    assert count_lines(b"a\n\nb\r\n\rc\r") == 3


@each_case("evil", [b'"' * 300_001, b'"a""' * 70_000, b'"a",' * 70_000 + b'"', b'x,"' * 90_000])
def test_hostile_quotes_are_counted(evil: bytes) -> None:
    """No pattern of quotes makes the counter try every way to read them, which would take for ever."""
    counter = count(evil)
    # Each is one record, counted or judged.
    assert [counter.records, counter.open_quote, counter.overlong].count(True) == 1


def test_large_blocks_equal_small_ones() -> None:
    """A long mixed file has one number of records."""
    rng = random.Random(7)
    kinds = [b"plain,row\n", b'"quoted, row","two"\r\n', b'"multi\nline",x\r', b"\n", b'mid"quote,y\n']
    chosen = [rng.choice(kinds) for _ in range(20_000)]
    expected = sum(kind != b"\n" for kind in chosen)
    data = b"".join(chosen)
    assert [count(data, step=step).records for step in (997, 65_536, len(data))] == [expected] * 3


PIECES = st.lists(
    st.sampled_from([b"a", b"bc", b"\n", b"\r", b"\r\n", b"\0", b"\xff", "é".encode(), b"x" * 300]), max_size=40
)


@given(PIECES.map(b"".join))
def test_lines_are_counted(data: bytes) -> None:
    """Whatever stands in them."""
    assert count_lines(data) == len(re.findall(rb"[^\r\n][\r\n]", data))
