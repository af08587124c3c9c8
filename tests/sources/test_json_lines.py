"""NDJSON is recognised, its keys are columns, and its faulty lines are rows like any other's."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

from audiencekit.errors import SourceRefused, UsageError
from audiencekit.identifiers.kinds import Kind, Reason
from audiencekit.limits import MAX_CELL_BYTES, MAX_LINE_BYTES
from audiencekit.sources import json_lines as jsonlines, json_lines as jsonobjects, json_lines as rowreading
from audiencekit.sources.json_lines import NotText, ObjectKernels, read_object, texts_of
from audiencekit.sources.options import SourceOptions
from audiencekit.sources.source import Source, open_source
from tests.cases import each_case
from tests.examples import examples
from tests.kernels.installed import installed
from tests.sources.drawnlines import CHANGED, LINE, PARTS

Open = Callable[..., Source]
Write = Callable[..., Path]
Rows = Callable[[Source], list[dict[str, Any]]]
Faults = Callable[[Source], list[tuple[int, str | None, str]]]

LINES = b'{"email":"ann@example.com","id":1}\n\n{"id":2,"phone":"+493012345601","email":null}\r\n  {"extra":{"a":[1]}}'


@each_case("pack", [bytes, gzip.compress])
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


@each_case(
    "name, data, expected",
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


@each_case(
    "name, data, message",
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
    (b'{"email":{"work":"x@example.com"}}', "email", "not_text"),
    (b'{"email":true}', "email", "not_text"),
    (b'{"email":[["x@example.com"]]}', "email", "not_text"),
    (b'{"email":"\xe9@example.com"}', None, "encoding"),
    (b'{"email":"' + b"x" * (MAX_CELL_BYTES + 1) + b'"}', "email", "too_large"),
    (b'{"email":["' + b"x" * (MAX_CELL_BYTES + 1) + b'"]}', "email", "too_large"),
    (b'{"email":"a@example.com","note":"' + b"x" * MAX_LINE_BYTES + b'"}', None, "too_large"),
]


def test_a_faulty_line_costs_its_row_and_a_faulty_cell_itself(
    open_bytes: Open, rows_of: Rows, faults_of: Faults
) -> None:
    """Each with its number, its reason, and the column where one is at fault."""
    lines = [b'{"email":"a@example.com"}']
    for line, _, _ in FAULTY:
        lines += [line, b'{"email":"b@example.com"}']
    source = open_bytes(b"\n".join(lines))
    assert faults_of(source) == [(2 * n + 2, column, reason) for n, (_, column, reason) in enumerate(FAULTY)]
    whole = {2 * n + 2 for n, (_, column, _) in enumerate(FAULTY) if column is None}
    assert [row["row"] for row in rows_of(source)] == [n for n in range(1, source.rows_read + 1) if n not in whole]
    assert source.rows_read == 2 * len(FAULTY) + 1


def test_too_many_faults_refuse_the_file(open_bytes: Open, rows_of: Rows) -> None:
    """By the bound of all sources, with the first row, and with words of its own."""
    good = b'{"email":"a@example.com"}\n'
    source = open_bytes(good * 100 + b'{"email":{}}\n' * 11)
    with pytest.raises(SourceRefused, match=r"11 of 111 rows hold true or an object.*row 101") as caught:
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
    assert faults_of(open_bytes(data, country_column="land")) == [(2, "land", "not_text")]


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
    monkeypatch.setattr("audiencekit.sources.bytes.byte_stream.LineCounter.lines", 4)
    with pytest.raises(SourceRefused, match="found 3 rows and the counter 4"):
        rows_of(source)


@each_case("options", [{"delimiter": ","}, {"header": False}])
def test_options_of_delimited_text_are_not_silently_ignored(write: Write, options: dict[str, Any]) -> None:
    """A delimiter makes the file delimited; a header there is none of."""
    path = write(LINES, "people.ndjson")
    if "delimiter" in options:
        assert open_source(path, SourceOptions(**options)).description["format"] == "delimited"
    else:
        with pytest.raises(UsageError, match="`header=False` is for delimited text"):
            open_source(path, SourceOptions(**options))


@each_case("lines, row", [(1_000, 0), (1_500, 1_409), (4_096 + 1_401, 1_409)])
def test_keys_that_come_late_are_told(open_bytes: Open, rows_of: Rows, lines: int, row: int) -> None:
    """They are not read; of some lines one is looked at, and the first that has such a key is named."""
    late = {"phone": "+493012345601"}
    data = [{"email": f"ann{number}@example.com"} | (late if number > 1_400 else {}) for number in range(1, lines + 1)]
    source = open_bytes("\n".join(map(json.dumps, data)).encode())
    assert len(rows_of(source)) == lines
    told = [note for note in source.notes if "has a key that the first 1,000 lines do not have" in note]
    assert [note.partition(" has")[0] for note in told] == ([f"row {row:,}"] if row else [])
    assert not any("phone" in note for note in told)


@each_case(
    "line, expected",
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


@each_case(
    "written, expected",
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


@pytest.mark.parametrize("written", ["true", "{}", '{"a": 1}', "[[1]]", '[{"a": 1}]', "[true]", '{"a":1,"a":2}'])
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


@settings(max_examples=examples(250), deadline=None)
@given(
    lines=st.lists(
        (LINE | CHANGED | PARTS | PARTS.map("{{{}}}".format)).map(str.encode)
        | st.tuples(LINE.map(str.encode), st.integers(0, 30), st.binary(max_size=3)).map(
            lambda drawn: drawn[0][: drawn[1]] + drawn[2] + drawn[0][drawn[1] :]
        ),
        min_size=1,
        max_size=6,
    )
)
def test_kernels_read_objects_as_python_reads_them(lines: list[bytes]) -> None:
    """Whatever stands in a line; the lines of plain objects are not apart."""
    lines = [line.replace(b"\n", b"") for line in lines]
    columns, apart = installed(ObjectKernels).read_objects(lines, ["email", "y"])
    texts = [column.to_pylist() for column in columns]
    for column in columns:
        column.validate(full=True)
    for number, line in enumerate(lines):
        found = read_object(line)
        if not apart[number]:
            assert isinstance(found, dict)
            assert [texts_of(found, key, line) for key in ("email", "y")] == [column[number] for column in texts]
        elif isinstance(found, dict) and b"\\" not in line:
            values = [value for value in found.values() if not isinstance(value, str | None)]
            assert values


@settings(max_examples=examples(50), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(lines=st.lists(LINE, max_size=12), batch_rows=st.integers(1, 5))
def test_whole_columns_and_single_cells_give_the_same_rows(tmp_path: Path, lines: list[str], batch_rows: int) -> None:
    """Whatever stands in a line; also across batches."""
    path = tmp_path / "people.jsonl"
    path.write_text("\n".join(['{"email":"a@example.com","y":"u1"}', *lines]))
    columns = ((Kind.EMAIL, "email"), (Kind.PARTNER_USER_ID, "y"))

    def read() -> tuple[list[Any], list[Any]]:
        source = open_source(path, SourceOptions(columns=columns))
        batches = list(source.batches())
        rows = [row for batch in batches for row in batch.columns.unwrap().to_pylist()]
        # Within a batch single values become lists beside a list.
        single = [
            [cell[0] if isinstance(cell, list) and len(cell) == 1 else cell for cell in row.values()] for row in rows
        ]
        return single, [fault for batch in batches for fault in batch.faults.to_pylist()]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("audiencekit.sources.unreadable_rows.tolerated_fault_rows", lambda rows: rows)
        expected = read()
        patch.setattr(jsonlines, "BATCH_ROWS", batch_rows)
        assert read() == expected
        patch.setattr(jsonlines, "PIECE_LINES", 2)
        assert read() == expected
        patch.setattr(rowreading, "OBJECT_LOOPS", None)
        assert read() == expected


def test_false_is_no_value(
    open_bytes: Callable[..., Source], rows_of: Callable[[Source], list[dict[str, Any]]]
) -> None:
    """Odoo gives it where one is missing: the rest of the row counts, with kernels and without."""
    lines = b'{"email":"a@example.com","phone":"+493012345601"}\n{"email":"b@example.com","phone":false}\n' * 20
    source = open_bytes(lines)
    rows = rows_of(source)
    assert [row["row"] for row in rows] == list(range(1, 41))
    assert {row["c1"] for row in rows} == {"+493012345601", "n/a"}
