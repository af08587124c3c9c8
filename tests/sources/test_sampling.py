"""The first rows, by record and by column."""

from __future__ import annotations

import csv

from hypothesis import given, strategies as st

from audiencekit.limits import SAMPLE_ROWS
from audiencekit.sources.sampling import Sample, by_column, sample_records, sampled_part, usual_width


def test_records_are_read_up_to_a_number() -> None:
    """A header and SAMPLE_ROWS rows, blank ones left out."""
    text = "email\n\n" + "a@example.com\n" * (SAMPLE_ROWS + 10)
    assert len(sample_records(text, ",", whole=True)) == SAMPLE_ROWS + 1


def test_a_cut_record_is_left_out() -> None:
    """Unless it is the only one."""
    assert sample_records("a,b\nc", ",", whole=False) == [["a", "b"]]
    assert sample_records("a,b\nc", ",", whole=True) == [["a", "b"], ["c"]]
    assert sample_records("a,b", ",", whole=False) == [["a", "b"]]


LINES = ["a,b;c", "a;b", "'x,y'", "\u00fc\tx", "1", "", "x\ry", '"q', 'a "q" b', "\u2028,\x1c", "sep=;", "\r", "\r\r"]


@given(
    st.lists(st.sampled_from(LINES), max_size=4),
    st.integers(SAMPLE_ROWS - 3, SAMPLE_ROWS + 10),
    st.sampled_from(["\n", "\r\n", "\r"]),
    st.lists(st.sampled_from(LINES), max_size=4),
)
def test_a_part_is_enough_for_all_that_is_sampled(first: list[str], rows: int, end: str, last: list[str]) -> None:
    """The same records, whatever the delimiter and whatever comes behind; also behind a first line of Excel's."""
    text = end.join([*first, *["cd,ef;gh"] * rows, *last])
    part = sampled_part(text.encode()).decode()
    assert text.startswith(part)
    for behind in (0, len(text.split(end, 1)[0]) + len(end)):
        for mark in ",;\t|":
            sampled = sample_records(part[behind:], mark, whole=False)
            assert sampled == sample_records(text[behind:], mark, whole=False)
            assert len(part) == len(text) or sampled == sample_records(text[behind:], mark, whole=True)


def test_no_more_is_taken_than_what_is_sampled() -> None:
    """Of a list with short lines, most of what was read is not looked at."""
    assert len(sampled_part(b"a@b.example,DE\n" * 70_000)) == len(b"a@b.example,DE\n") * (SAMPLE_ROWS + 3)
    quoted = b'"a\n",DE\n' * 70_000
    assert sampled_part(quoted) is quoted


def test_an_oversize_field_ends_the_sample() -> None:
    """The rows before it are enough to look at."""
    text = "a,b\nc,d\n" + "x" * (csv.field_size_limit() + 1)
    assert sample_records(text, ",", whole=True) == [["a", "b"], ["c", "d"]]


def test_the_usual_width_is_the_most_frequent() -> None:
    """The larger one of two."""
    assert usual_width([["a"], ["a", "b"], ["a", "b"]]) == 2
    assert usual_width([["a"], ["a", "b"]]) == 2
    assert usual_width([]) == 0


def test_columns_are_as_long_as_there_are_rows() -> None:
    """Short records are filled, long ones cut."""
    assert by_column([["a"], ["b", "c", "d"]], 2) == (("a", "b"), ("", "c"))


def test_a_sample_shows_nothing() -> None:
    """It is personal data."""
    assert "ann" not in repr(Sample(("ann",), (("ann",),)))


def test_countries_come_from_the_row_else_from_the_default() -> None:
    """A cell that is no country leaves the default."""
    sample = Sample(None, (("Germany", "??", ""),))
    assert sample.countries(0, "FR") == ["DE", "FR", "FR"]
    assert sample.countries(0, None) == ["DE", None, None]
    assert sample.countries(None, "FR") == ["FR", "FR", "FR"]
