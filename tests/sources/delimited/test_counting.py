"""The counter knows how many records there are, without the reader."""

from __future__ import annotations

import csv
import io
import random
import re
import time
from typing import Any

import pytest
from hypothesis import given, settings, strategies as st

from audiencekit.limits import MAX_LINE_BYTES
from audiencekit.sources.delimited import counting
from audiencekit.sources.delimited.counting import RecordCounter, count_lines


def count(data: bytes, *, delimiter: str = ",", step: int = 1_000_000) -> RecordCounter:
    """A finished counter that saw `data` in blocks of `step` bytes."""
    counter = RecordCounter(delimiter, scan_bytes=1)
    for start in range(0, len(data), step):
        counter.feed(data[start : start + step])
    counter.finish()
    return counter


@pytest.mark.parametrize(
    ("data", "records"),
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
@pytest.mark.parametrize("step", [1, 2, 3, 1_000])
def test_records_are_counted_wherever_blocks_end(data: bytes, records: int, step: int) -> None:
    """Blank records do not count, line ends inside quotes end nothing, other separators are letters."""
    counter = count(data, step=step)
    assert (counter.records, counter.open_quote) == (records, False)


@pytest.mark.parametrize(
    ("data", "records"),
    [
        (b'"', 0),
        (b'a\n"b', 1),
        (b'a\nb,"c\nd\ne', 1),
        (b'a,"b""\n', 0),
        (b'"a"\n"b""', 1),
        (b'"a"\n"""', 1),
    ],
)
@pytest.mark.parametrize("step", [1, 2, 1_000])
def test_a_quote_left_open_is_seen(data: bytes, records: int, step: int) -> None:
    """The records before it stand, the rest is in doubt."""
    counter = count(data, step=step)
    assert (counter.records, counter.open_quote) == (records, True)


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|", "^", " ", "]", "\\"])
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


@pytest.mark.parametrize("evil", [b'"' * 300_001, b'"a""' * 70_000, b'"a",' * 70_000 + b'"', b'x,"' * 90_000])
def test_hostile_quotes_cost_no_more_than_others(evil: bytes) -> None:
    """No pattern of quotes makes the counter try every way to read them: time grows with size only."""
    start = time.process_time()
    count(evil)
    # Of the processor, and sixty times what it takes: trying every way would be for ever.
    assert time.process_time() - start < 2.0


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
def test_lines_are_counted_alike_without_kernels(data: bytes) -> None:
    """Whatever stands in them."""
    with pytest.MonkeyPatch.context() as patch:
        counted = count_lines(data)
        patch.setattr(counting, "kernels", lambda _: None)
        assert counted == count_lines(data) == len(re.findall(rb"[^\r\n][\r\n]", data))
