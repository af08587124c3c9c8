"""Digits are read from Arrow buffers, and how they were written is known."""

from __future__ import annotations

import re

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, strategies as st

from audiencekit.preparation.columnar.phones.digits import MAX_DIGITS, MAX_WRITTEN_BYTES, Digits, read_digits


def _texts_of(digits: Digits) -> list[str]:
    spans = zip(digits.starts.tolist(), digits.counts.tolist(), strict=True)
    return ["".join(map(str, digits.values[start : start + count].tolist())) for start, count in spans]


@given(st.lists(st.text("0123456789+-/(). xé", max_size=12), max_size=20), st.integers(0, 3))
def test_all_digits_are_found(texts: list[str], skipped: int) -> None:
    """The digits of every text of a column or a slice of it, whatever stands between them."""
    digits = read_digits(pa.array(texts, pa.string()).slice(skipped))
    assert _texts_of(digits) == [re.sub(r"[^0-9]", "", text) for text in texts[skipped:]]


@pytest.mark.parametrize(
    ("text", "is_read"),
    [
        ("123", True),
        ("12", True),
        ("1", False),
        ("1-2", False),
        ("", False),
        ("+1 (415) 555-0132", True),
        ("[1] 4.1/5", True),
        ("(+49) 151", True),
        ("1+2345", False),
        ("++1234", True),
        ("[++1234", True),
        ("[+1] 234", True),
        ("+++1234", False),
        ("(+++1234", False),
        ("((+1234", False),
        ("+1+234", False),
        ("[+1+234", False),
        ("-+1234", False),
        ("1~2345", False),
        ("1\t2345", False),
        ("1234x", False),
        ("1234é", False),
        ("1" * MAX_DIGITS, True),
        ("1" * (MAX_DIGITS + 1), False),
        ("1234" + "-" * (MAX_WRITTEN_BYTES - 4), True),
        ("1234" + "-" * (MAX_WRITTEN_BYTES - 3), False),
    ],
)
def test_is_read(text: str, *, is_read: bool) -> None:
    """Only known ways of writing are read, wherever the text stands in the column."""
    found = read_digits(pa.array(["", text, "+9", text, ""])).is_read
    assert found.tolist() == [False, is_read, False, is_read, False]


@pytest.mark.parametrize(
    ("text", "has_zeros"),
    [
        ("00491", True),
        ("(00)491", True),
        ("(0049)1", True),
        ("000", True),
        ("0-0491", False),
        ("[00]491", False),
        ("10049", False),
        ("-00491", False),
        ("+00491", False),
        ("0491", False),
    ],
)
def test_zeros_in_front(text: str, *, has_zeros: bool) -> None:
    """00 in front is seen where the definition reads it as a plus."""
    assert read_digits(pa.array(["7", text])).has_zeros.tolist() == [False, has_zeros]


@pytest.mark.parametrize(
    ("text", "may_be_two"),
    [
        ("0301234567/0301234568", True),
        ("030/1234567", False),
        ("0301234567 0301234568", True),
        ("030 1234567 1234", True),
        ("030 1234567 123", False),
        ("0301234567-0301234568", False),
    ],
)
def test_two_numbers(text: str, *, may_be_two: bool) -> None:
    """A slash or a space may divide two numbers, from 14 digits on."""
    assert read_digits(pa.array([text])).may_be_two.tolist() == [may_be_two]


def test_digits_as_texts() -> None:
    """The digits of some rows are written out, in the order asked for."""
    digits = read_digits(pa.array(["+1 (23)", "x", "00-49", "7"]))
    assert digits.texts(np.array([2, 0, 1])).to_pylist() == ["0049", "123", ""]


def test_no_texts() -> None:
    """A column without rows has no digits, and a look ahead from its end stays inside."""
    digits = read_digits(pa.array([], pa.string()))
    assert len(digits.counts) == len(digits.is_read) == 0
    assert not np.any(digits.values)


def test_long_texts_do_not_shift_the_others() -> None:
    """A cell of thousands of digits is not read, and leaves the digits of its neighbours where they are."""
    digits = read_digits(pa.array(["123", "7" * 70_000, "456"]))
    assert digits.counts.tolist() == [3, 0, 3]
    assert _texts_of(digits)[2] == "456"
    assert digits.is_read.tolist() == [True, False, True]


def test_repr_shows_no_digits() -> None:
    """The repr holds nothing of the values."""
    assert "4155550132" not in re.sub(r"\D", "", repr(read_digits(pa.array(["4155550132"]))))
