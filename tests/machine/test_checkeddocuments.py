"""Documents with a format and a checksum."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import pytest

from audiencekit.errors import InputOutputFailed
from audiencekit.machine.checkeddocuments import decode_checked, encode_checked, read_json, write_json

FORM, PATH = "audiencekit-trial/1", Path("place.json")
HALF = "K\udcfcnden.csv"  # the byte FC of a name of a file that is not UTF-8


@pytest.mark.parametrize("text", ["Kunden", "Künden", HALF, "\\ud83d", 'K"\udcff\n'])
def test_a_document_is_read_as_it_was_written(text: str) -> None:
    document = {"b": [text, 1, None, True], "a": {text: 1.5}}
    assert read_json(write_json(document)) == document
    assert decode_checked(encode_checked(document, FORM), FORM, PATH) == (document, True)


def test_another_half_of_a_character_is_noticed() -> None:
    content = encode_checked({"path": HALF}, FORM)
    changed = content.replace(b"dcfc", b"dcfb")
    assert decode_checked(changed, FORM, PATH) == ({"path": HALF.replace("\udcfc", "\udcfb")}, False)


@pytest.mark.parametrize("content", [b"", b"{", b'{"a": "\\udcff"', b'"\\udcff" x', b'{"a": \xff}'])
def test_content_that_is_no_json_is_no_document(content: bytes) -> None:
    assert decode_checked(content, FORM, PATH) == (None, False)


@pytest.mark.parametrize("document", [{1: 2}, {"a": object()}, {"a": HALF, "b": object()}])
def test_objects_that_json_does_not_have_are_not_written(document: dict[Any, Any]) -> None:
    with pytest.raises(TypeError):
        encode_checked(document, FORM)


@pytest.mark.parametrize("form", ["audiencekit-trial/2", "audiencekit-other/1"])
def test_another_format_is_named_with_the_one_that_is_read(form: str) -> None:
    told = f"'place.json' is in format {form}, and this version of audiencekit reads {FORM} only"
    with pytest.raises(InputOutputFailed, match=told):
        decode_checked(encode_checked({"a": 1}, form), FORM, PATH)


@pytest.mark.parametrize("form", ["", "audiencekit-trial/2\x1b[2J", "another-program/1"])
def test_words_that_are_no_format_of_ours_are_not_shown(form: str) -> None:
    assert decode_checked(encode_checked({"a": 1}, form), FORM, PATH) == ({"a": 1}, False)


def test_a_number_of_a_format_that_was_changed_is_damage() -> None:
    content = encode_checked({"a": 1}, FORM).replace(b"trial/1", b"trial/3")
    assert decode_checked(content, FORM, PATH) == ({"a": 1}, False)


def test_numbers_are_written_as_before() -> None:
    assert write_json({"a": math.nan}) == b'{"a":null}'
