"""Documents with a checksum."""

from __future__ import annotations

import math
from typing import Any

import pytest

from audiencekit.machine.checkeddocuments import decode_checked, encode_checked, read_json, write_json

HALF = "K\udcfcnden.csv"  # the byte FC of a name of a file that is not UTF-8


@pytest.mark.parametrize("text", ["Kunden", "Künden", HALF, "\\ud83d", 'K"\udcff\n'])
def test_a_document_is_read_as_it_was_written(text: str) -> None:
    document = {"b": [text, 1, None, True], "a": {text: 1.5}}
    assert read_json(write_json(document)) == document
    assert decode_checked(encode_checked(document)) == (document, True)


def test_another_half_of_a_character_is_noticed() -> None:
    content = encode_checked({"path": HALF})
    assert decode_checked(content.replace(b"dcfc", b"dcfb")) == ({"path": HALF.replace("\udcfc", "\udcfb")}, False)


@pytest.mark.parametrize("content", [b"", b"{", b'{"a": "\\udcff"', b'"\\udcff" x', b'{"a": \xff}'])
def test_content_that_is_no_json_is_no_document(content: bytes) -> None:
    assert decode_checked(content) == (None, False)


@pytest.mark.parametrize("document", [{1: 2}, {"a": object()}, {"a": HALF, "b": object()}])
def test_objects_that_json_does_not_have_are_not_written(document: dict[Any, Any]) -> None:
    with pytest.raises(TypeError):
        encode_checked(document)


def test_numbers_are_written_as_before() -> None:
    assert write_json({"a": math.nan}) == b'{"a":null}'
