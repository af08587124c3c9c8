"""A line of NDJSON: an object with each key once, and values as they are written."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, strategies as st

from audiencekit.identifiers.kinds import Reason
from audiencekit.sources.jsonlines import jsonobjects
from audiencekit.sources.jsonlines.jsonobjects import NotText, read_object, texts_of


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        (b'{"a": "x"}', {"a": "x"}),
        (b"{}", {}),
        (b'{"a" :1, "b":{"a":2, "a b": [{"c":3}]}}', {"a": 1, "b": {"a": 2, "a b": [{"c": 3}]}}),
        (b'{"a":"\\":"}', {"a": '":'}),
        (b'{"a":1,"a":2}', Reason.RAGGED),
        (b'{"a":1,"\\u0061":2}', Reason.RAGGED),
        (b'{"a"\t:1,"b":2,"a" :1}', Reason.RAGGED),
        (b'["a"]', Reason.RAGGED),
        (b'"a"', Reason.RAGGED),
        (b"null", Reason.RAGGED),
        (b'{"a":1} {"b":2}', Reason.RAGGED),
        (b'{"a":1},', Reason.RAGGED),
        (b'{"a":NaN}', Reason.RAGGED),
        (b'{"a":01}', Reason.RAGGED),
        (b"{'a':1}", Reason.RAGGED),
        (b'{"a":"\\ud800"}', Reason.RAGGED),
        (b'{"a":"x\0"}', Reason.RAGGED),
        (b"[" * 2000, Reason.RAGGED),
        (b'{"a":"\xff"}', Reason.ENCODING),
        (b'{"a":"\xed\xa0\x80"}', Reason.ENCODING),
        (b'{"a":"\xc0\xaf"}', Reason.ENCODING),
    ],
)
def test_a_line_is_one_object_or_a_fault(line: bytes, expected: Any) -> None:
    """With a reason of the closed list."""
    assert read_object(line) == expected


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ('"x"', "x"),
        ('""', ""),
        ("null", None),
        ("12", "12"),
        ("0", "0"),
        ("-0", "-0"),
        ("1.0", "1.0"),
        ("1.10", "1.10"),
        ("1.41556E+10", "1.41556E+10"),
        ("9007199254740993", "9007199254740993"),
        ("18446744073709551617", "18446744073709551617"),
        ("123456789012345678901234567890", "123456789012345678901234567890"),
        ('["x", "y"]', ["x", "y"]),
        ('[1.0, null, "x"]', ["1.0", None, "x"]),
        ("[]", []),
        ('"a\\u0000b"', "a\0b"),
    ],
)
def test_values_are_as_they_are_written(written: str, expected: Any) -> None:
    """No digit is lost, and none is won."""
    line = f'{{"b": 1, "k": {written}}}'.encode()
    found = read_object(line)
    assert isinstance(found, dict)
    assert texts_of(found, "k", line) == expected


@pytest.mark.parametrize(
    "written", ["true", "false", "{}", '{"a": 1}', "[[1]]", '[{"a": 1}]', "[true]", '{"a":1,"a":2}']
)
def test_a_value_that_is_no_text_is_no_identifier(written: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Truth values, objects, and lists of more than values. The line is not read again for each, as for digits."""
    line = f'{{"k": {written}}}'.encode()
    found = read_object(line)
    assert isinstance(found, dict)
    monkeypatch.setattr(jsonobjects, "_exactly", pytest.fail)
    with pytest.raises(NotText):
        texts_of(found, "k", line)


@given(st.dictionaries(st.text(max_size=5), st.none() | st.text(max_size=8) | st.integers(), max_size=5), st.booleans())
def test_objects_written_by_json_are_read(record: dict[str, Any], is_ascii: bool) -> None:
    """Every text and whole number comes back, whatever the keys."""
    try:
        line = json.dumps(record, ensure_ascii=is_ascii).encode()
    except UnicodeEncodeError:
        return
    found = read_object(line)
    if isinstance(found, Reason):
        assert "\\ud" in line.decode()
        return
    for key, value in record.items():
        assert texts_of(found, key, line) == (value if value is None or isinstance(value, str) else str(value))
