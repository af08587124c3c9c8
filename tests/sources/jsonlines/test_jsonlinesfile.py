"""NDJSON is recognised, its keys are columns, and its faulty lines are rows like any other's."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from audiencekit.errors import SourceRefused, UsageError
from audiencekit.identifiers.kinds import Kind
from audiencekit.limits import MAX_CELL_BYTES, MAX_LINE_BYTES
from audiencekit.sources.jsonlines import jsonlinesfile as jsonlines
from audiencekit.sources.options import SourceOptions
from audiencekit.sources.source import Source
from audiencekit.sources.sourceopening import open_source

Open = Callable[..., Source]
Write = Callable[..., Path]
Rows = Callable[[Source], list[dict[str, Any]]]
Faults = Callable[[Source], list[tuple[int, str | None, str]]]

LINES = b'{"email":"ann@example.com","id":1}\n\n{"id":2,"phone":"+493012345601","email":null}\r\n  {"extra":{"a":[1]}}'


@pytest.mark.parametrize("pack", [bytes, gzip.compress])
def test_keys_are_columns(open_bytes: Open, rows_of: Rows, pack: Callable[[bytes], bytes]) -> None:
    """In the order in which they appear; a key that a line lacks, and null, are missing cells."""
    source = open_bytes(pack(LINES), country="DE")
    assert [(column.kind, column.position) for column in source.mapping.columns] == [
        (Kind.EMAIL, 0),
        (Kind.PHONE_NUMBER, 2),
    ]
    assert rows_of(source) == [
        {"row": 1, "c0": "ann@example.com", "c2": None},
        {"row": 2, "c0": None, "c2": "+493012345601"},
        {"row": 3, "c0": None, "c2": None},
    ]
    assert (source.rows_read, source.description["format"]) == (3, "ndjson")


@pytest.mark.parametrize(
    ("name", "data", "expected"),
    [
        ("a.csv", b'{"email":"a@example.com"}\n', "ndjson"),
        ("a", b' \n{"email" \n{"email":"a@example.com"}\n', "ndjson"),
        ("a.jsonl", b'email\n{"email":"a@example.com"}\n', "ndjson"),
        ("A.NDJSON.GZ", gzip.compress(b'x\n{"email":"a@example.com"}\n', mtime=0), "ndjson"),
        ("a.csv", b'\xef\xbb\xbf{"email":"a@example.com"}\n', "ndjson"),
        ("a.csv", '\ufeff{"email":"ä@example.com"}\n'.encode("utf-16-le"), "ndjson"),
        ("a.csv", b"{id},email\n{B1},a@example.com\n", "delimited"),
        ("a.csv", b'email,json\na@example.com,"{""a"":1}"\n', "delimited"),
    ],
)
def test_the_format_shows_in_content_and_name(write: Write, name: str, data: bytes, expected: str) -> None:
    """Either is enough; what only begins like an object is delimited."""
    assert open_source(write(data, name), SourceOptions()).description["format"] == expected


@pytest.mark.parametrize(
    ("name", "data", "message"),
    [
        ("a.json", b'[{"email":"markerson@example.com"}]', "not one object a line"),
        ("a.json", b' [\n {"email":"markerson@example.com"}]', "not one object a line"),
        ("a.json", b'{\n "email":"markerson@example.com"\n}', "not one object a line"),
        ("a.jsonl", b"email\nmarkerson@example.com\n", "none of its first lines"),
        ("a.jsonl", b"\n \n", "empty"),
    ],
)
def test_other_json_is_refused(write: Write, name: str, data: bytes, message: str) -> None:
    """With a hint, and without a word of it."""
    with pytest.raises(SourceRefused, match=message) as caught:
        open_source(write(data, name), SourceOptions())
    assert "markerson" not in str(caught.value) + caught.value.hint


FAULTY = [
    (b'{"email":"x@example.com"', None, "ragged"),
    (b"[1]", None, "ragged"),
    (b'{"email":"x@example.com","email":"y@example.com"}', None, "ragged"),
    (b'{"email":{"work":"x@example.com"}}', "email", "ragged"),
    (b'{"email":true}', "email", "ragged"),
    (b'{"email":[["x@example.com"]]}', "email", "ragged"),
    (b'{"email":"\xe9@example.com"}', None, "encoding"),
    (b'{"email":"' + b"x" * (MAX_CELL_BYTES + 1) + b'"}', "email", "too_large"),
    (b'{"email":["' + b"x" * (MAX_CELL_BYTES + 1) + b'"]}', "email", "too_large"),
    (b'{"email":"a@example.com","note":"' + b"x" * MAX_LINE_BYTES + b'"}', None, "too_large"),
]


def test_a_faulty_line_costs_its_row(open_bytes: Open, rows_of: Rows, faults_of: Faults) -> None:
    """Each with its number, its reason, and the column where one is at fault."""
    lines = [b'{"email":"a@example.com"}']
    for line, _, _ in FAULTY:
        lines += [line, b'{"email":"b@example.com"}']
    source = open_bytes(b"\n".join(lines))
    assert faults_of(source) == [(2 * n + 2, column, reason) for n, (_, column, reason) in enumerate(FAULTY)]
    assert [row["row"] for row in rows_of(source)] == [2 * n + 1 for n in range(len(FAULTY) + 1)]
    assert source.rows_read == 2 * len(FAULTY) + 1


def test_too_many_faults_refuse_the_file(open_bytes: Open, rows_of: Rows) -> None:
    """By the bound of all sources, with the first row, and with words of its own."""
    good = b'{"email":"a@example.com"}\n'
    source = open_bytes(good * 100 + b'{"email":{}}\n' * 11)
    with pytest.raises(SourceRefused, match=r"11 of 111 rows are not one JSON object.*row 101") as caught:
        rows_of(source)
    assert (caught.value.row, caught.value.rows_read) == (101, 111)


def test_a_list_is_several_values(open_bytes: Open, rows_of: Rows) -> None:
    """Also beside single ones, and with a declared separator only the texts are divided."""
    data = b'{"email":["a@example.com","b;c@example.com"]}\n{"email":"d@example.com;e@example.com"}\n{"email":null}\n'
    assert [row["c0"] for row in rows_of(open_bytes(data))] == [
        ["a@example.com", "b;c@example.com"],
        ["d@example.com;e@example.com"],
        None,
    ]
    assert [row["c0"] for row in rows_of(open_bytes(data, split_cells=";"))][1] == ["d@example.com", "e@example.com"]


def test_a_country_has_one_value(open_bytes: Open, faults_of: Faults) -> None:
    """So has an operation."""
    data = b'{"email":"a@example.com","land":"DE"}\n{"email":"b@example.com","land":["DE","FR"]}\n'
    assert faults_of(open_bytes(data, country_column="land")) == [(2, "land", "ragged")]


@pytest.mark.parametrize("batch_rows", [1, 7, 32_768])
def test_rows_are_the_same_in_any_batches(
    open_bytes: Open, monkeypatch: pytest.MonkeyPatch, batch_rows: int, rows_of: Rows
) -> None:
    """And each batch is no larger than allowed."""
    monkeypatch.setattr(jsonlines, "BATCH_ROWS", batch_rows)
    source = open_bytes(b"".join(json.dumps({"email": f"p{n}@example.com"}).encode() + b"\n" for n in range(50)))
    assert rows_of(source) == [{"row": n + 1, "c0": f"p{n}@example.com"} for n in range(50)]
    assert max(batch.columns.unwrap().num_rows for batch in source.batches()) <= batch_rows


def test_a_counter_that_counts_otherwise_refuses_the_file(
    open_bytes: Open, rows_of: Rows, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whichever of the two is wrong."""
    source = open_bytes(LINES)
    monkeypatch.setattr("audiencekit.sources.bytes.lines.LineCounter.lines", 4)
    with pytest.raises(SourceRefused, match="found 3 rows and the counter 4"):
        rows_of(source)


@pytest.mark.parametrize("options", [{"delimiter": ","}, {"header": False}])
def test_options_of_delimited_text_are_not_silently_ignored(write: Write, options: dict[str, Any]) -> None:
    """A delimiter makes the file delimited; a header there is none of."""
    path = write(LINES, "people.ndjson")
    if "delimiter" in options:
        assert open_source(path, SourceOptions(**options)).description["format"] == "delimited"
    else:
        with pytest.raises(UsageError, match="`header=False` is for delimited text"):
            open_source(path, SourceOptions(**options))


@pytest.mark.parametrize(("lines", "row"), [(1_000, 0), (1_500, 1_409), (4_096 + 1_401, 1_409)])
def test_keys_that_come_late_are_told(open_bytes: Open, rows_of: Rows, lines: int, row: int) -> None:
    """They are not read; of some lines one is looked at, and the first that has such a key is named."""
    late = {"phone": "+493012345601"}
    data = [{"email": f"ann{number}@example.com"} | (late if number > 1_400 else {}) for number in range(1, lines + 1)]
    source = open_bytes("\n".join(map(json.dumps, data)).encode())
    assert len(rows_of(source)) == lines
    told = [note for note in source.notes if "has a key that the first 1,000 lines do not have" in note]
    assert [note.partition(" has")[0] for note in told] == ([f"row {row:,}"] if row else [])
    assert not any("phone" in note for note in told)
