"""Strict JSON: what is not one whole object is none."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, strategies as st

from audiencekit.api.documents import read_document, read_json

NOT_A_DOCUMENT = {
    "empty": b"",
    "space": b"  \n",
    "null": b"null",
    "list": b"[]",
    "number": b"7",
    "string": b'"{}"',
    "truncated": b'{"data": {"success_count": 4, "total_count": 4}',
    "two objects": b"{}{}",
    "text behind": b"{} ok",
    "HTML": b"<html><body>Over capacity</body></html>",
    "duplicate keys": b'{"data": 1, "data": 2}',
    "duplicate keys inside": b'{"data": {"success_count": 1, "success_count": 2}}',
    "duplicate keys by escape": b'{"data": 1, "d\\u0061ta": 2}',
    "NaN": b'{"data": NaN}',
    "Infinity": b'{"data": -Infinity}',
    "number beyond a float": b'{"data": 1e999}',
    "number of 5,000 digits": b'{"data": ' + b"9" * 5_000 + b"}",
    "nested 100,000 deep": b'{"data": ' + b"[" * 100_000 + b"]" * 100_000 + b"}",
    "UTF-16": '{"data": 1}'.encode("utf-16"),
    "latin-1": b'{"data": "\xe9"}',
    "byte order mark": b'\xef\xbb\xbf{"data": 1}',
    "single quotes": b"{'data': 1}",
    "comment": b"{} // fine",
    "trailing comma": b'{"data": 1,}',
    "control character": b'{"data": "\x01"}',
}


@pytest.mark.parametrize("body", NOT_A_DOCUMENT.values(), ids=NOT_A_DOCUMENT.keys())
def test_not_a_document(body: bytes) -> None:
    """Anything but one whole, unambiguous object reads as None and raises nothing."""
    assert read_document(body) is None


@pytest.mark.parametrize(
    ("body", "document"),
    [
        (b"{}", {}),
        (b' {"data": null}\r\n', {"data": None}),
        (b'{"tweet_ids": [822333526255120384]}', {"tweet_ids": [822333526255120384]}),
        (b'{"a": 340282366920938463463374607431768211457}', {"a": 2**128 + 1}),
        ('{"name": "Köln"}'.encode(), {"name": "Köln"}),
    ],
)
def test_document(body: bytes, document: dict[str, Any]) -> None:
    """One object is read, and whole numbers keep every digit."""
    assert read_document(body) == document


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)


@given(st.dictionaries(st.text(max_size=5), json_values, max_size=4))
def test_round_trip(document: dict[str, Any]) -> None:
    """Every object that can be written is read as it was."""
    assert read_document(json.dumps(document).encode()) == document


@given(st.dictionaries(st.text(max_size=5), json_values, max_size=4), st.data())
def test_no_prefix_is_a_document(document: dict[str, Any], data: st.DataObject) -> None:
    """A truncated answer never passes for a whole one."""
    body = json.dumps(document).encode()
    assert read_document(body[: data.draw(st.integers(0, len(body) - 1))]) is None


@given(st.binary(max_size=60))
def test_rubbish_never_raises(body: bytes) -> None:
    """Any bytes give a document or None."""
    assert isinstance(read_document(body), dict | None)


def test_half_of_a_character_is_no_text() -> None:
    """An escape of one half alone is replaced, in keys as well; two halves are a character."""
    assert read_json(rb'{"a\ud83d": ["\udc00x", "\ud83d\ude00", 1, null]}') == {
        "a\ufffd": ["\ufffdx", "\U0001f600", 1, None]
    }
