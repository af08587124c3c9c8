"""A batch of text -> records and rejections."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from types import SimpleNamespace
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

from audiencekit.identifiers.kind_table import likely_kind
from audiencekit.identifiers.kinds import DEFAULT_RULES, Kind, Rules
from audiencekit.records.batches import MappedColumn, resolve_countries
from audiencekit.records.by_definition import decide_one_by_one
from audiencekit.records.chunks import to_prepared
from audiencekit.records.columns import certain_values
from audiencekit.records.compiled_values import CompiledValues
from audiencekit.records.phones.tables import PhoneTables, supplied_plans
from audiencekit.records.plain_values import PlainValues
from audiencekit.records.records import ColumnResult, PreparedBatch, likely_kinds, normalize_column, prepare_batch
from benchmarks.contacts import contact_blocks
from tests.cases import each_case
from tests.examples import examples
from tests.kernels.installed import installed
from tests.shortened import shortened

Make = Callable[..., Any]


def _prepare(made: Any, operation_type: str = "Update", rules: Rules | None = None) -> PreparedBatch:
    batch, mapping = made
    return prepare_batch(batch, mapping, rules=rules or Rules(), operation_type=operation_type)


def _records(prepared: PreparedBatch) -> list[dict[str, Any]]:
    every = np.arange(prepared.records.unwrap().num_rows)
    return to_prepared(prepared.records, every).unwrap().to_pylist()  # type: ignore[no-any-return]


def _rejections(prepared: PreparedBatch) -> list[tuple[int, str | None, str]]:
    return [tuple(entry.values()) for entry in prepared.rejections.to_pylist()]


def test_several_columns_of_a_kind_are_several_values_of_one_record(text_batch: Make, sha256: Make) -> None:
    """Distinct values only, sorted, so that equal key sets are equal bytes."""
    prepared = _prepare(
        text_batch((Kind.EMAIL, ["b@example.com", "A@example.com "]), (Kind.EMAIL, ["a@example.com", "a@example.com"]))
    )
    records = _records(prepared)
    assert records[0]["email"] == sorted([sha256("a@example.com"), sha256("b@example.com")])
    assert records[1]["email"] == [sha256("a@example.com")]
    assert records[0]["phone_number"] is None


def test_whole_values_of_a_cell_are_divided(text_batch: Make, sha256: Make) -> None:
    """Where each part is valid alone; such a cell is no rejection, in a list of one cell or of several."""
    addresses = ["a@example.com, b@example.com", "a@example.com or nonsense", None, "c@example.com"]
    numbers = ["+14155550132", None, "+14155550132 / +14155550133", "+14155550132, 5550133"]
    for emails in (addresses, [[text] for text in addresses]):
        prepared = _prepare(text_batch((Kind.EMAIL, emails), (Kind.PHONE_NUMBER, numbers), (Kind.HANDLE, ["@a,b"] * 4)))
        records = {record["row"]: record for record in _records(prepared)}
        assert records[1]["email"] == sorted([sha256("a@example.com"), sha256("b@example.com")])
        assert records[3]["phone_number"] == sorted(map(sha256, ("+14155550132", "+14155550133")))
        assert {(row, column) for row, column, _ in _rejections(prepared) if column != "handle2"} == {
            (2, "email0"),
            (4, "phone_number1"),
        }
        assert prepared.tally.columns["0 email"].present == 4


def test_each_cell_of_a_shared_column_is_judged_once(text_batch: Make, sha256: Make) -> None:
    """As an address where it has an at sign, else as a number."""
    batch, mapping = text_batch((Kind.EMAIL, ["a@example.com", "+14155550132", "nonsense", "@", None]))
    columns = tuple(
        MappedColumn(kind=kind, position=0, name="login", is_shared=True) for kind in (Kind.EMAIL, Kind.PHONE_NUMBER)
    )
    prepared = _prepare((batch, replace(mapping, columns=columns)))
    first, second = _records(prepared)
    assert (first["email"], first["phone_number"]) == ([sha256("a@example.com")], None)
    assert (second["email"], second["phone_number"]) == (None, [sha256("+14155550132")])
    assert [row for row, column, _ in _rejections(prepared) if column] == [3, 4]


def test_several_values_of_one_cell_are_several_values_of_one_record(text_batch: Make, sha256: Make) -> None:
    """Lists come from cells with a declared separator and from native lists."""
    made = text_batch((Kind.EMAIL, [["a@example.com", " b@example.com"], None, [], ["", "nonsense"]]))
    prepared = _prepare(made)
    (record,) = _records(prepared)
    assert record["email"] == sorted([sha256("a@example.com"), sha256("b@example.com")])
    assert _rejections(prepared) == [
        (2, None, "no_identifier"),
        (3, None, "no_identifier"),
        (4, "email0", "invalid_syntax"),
    ]


def _columns(*values: str) -> st.SearchStrategy[list[list[list[str]]]]:
    """Up to three columns of up to six rows, each with some of `values`."""
    cells = st.lists(st.sampled_from(values), max_size=3)
    rows = st.integers(1, 6)
    return rows.flatmap(lambda count: st.lists(st.lists(cells, min_size=count, max_size=count), max_size=3))


# Two differ in their last digit alone, two in their first one.
HASHES = ("c0ffee" + "7" * 58, "c0ffee" + "7" * 57 + "8", "00" + "a" * 62, "ff" + "a" * 62)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.tuples(st.just(Kind.PARTNER_USER_ID), _columns("k1", "k2", "k3", "k4"))
    | st.tuples(st.just(Kind.EMAIL), _columns(*HASHES))
)
def test_each_record_has_its_distinct_values_in_order(
    text_batch: Make, given_columns: tuple[Kind, list[list[list[str]]]]
) -> None:
    """Of rows with one value, with several and with the same again, in one column and in more."""
    kind, columns = given_columns
    rows = list(zip(*columns, strict=True))
    made = text_batch(*((kind, column) for column in columns), hashed=frozenset({Kind.EMAIL})) if columns else None
    expected = [sorted({value for values in row for value in values}) for row in rows if any(row)]
    found = _records(_prepare(made)) if made else []
    assert [record[kind.value] for record in found] == expected


def test_a_row_is_sent_with_what_qualified(text_batch: Make, sha256: Make) -> None:
    """One bad value is a rejection of its column; the row is rejected only when nothing is left."""
    made = text_batch(
        (Kind.EMAIL, ["nonsense", "nonsense", "a@example.com"]),
        (Kind.HANDLE, ["@Ada", None, "no handle!"]),
        first_row=7,
    )
    prepared = _prepare(made)
    assert [record["row"] for record in _records(prepared)] == [7, 9]
    assert _rejections(prepared) == [
        (7, "email0", "invalid_syntax"),
        (8, "email0", "invalid_syntax"),
        (9, "handle1", "invalid_syntax"),
    ]
    assert prepared.tally.rows_rejected == 1
    assert prepared.tally.columns["0 email"].present == 3
    assert prepared.tally.columns["0 email"].valid == 1


def test_records_are_counted_by_the_kinds_that_they_have(text_batch: Make) -> None:
    """Two values of a kind count once; a row without any is in no combination."""
    made = text_batch(
        (Kind.EMAIL, ["a@example.com", "b@example.com", "none", "c@example.com"]),
        (Kind.EMAIL, ["d@example.com", None, None, None]),
        (Kind.PARTNER_USER_ID, ["p1", None, "p3", None]),
    )
    tally = _prepare(made).tally
    email, partner = 1 << list(Kind).index(Kind.EMAIL), 1 << list(Kind).index(Kind.PARTNER_USER_ID)
    assert dict(tally.combinations) == {email | partner: 1, email: 2, partner: 1}
    none = _prepare(text_batch((Kind.EMAIL, ["none", None]))).tally
    assert (dict(none.combinations), none.records) == ({}, 0)


def test_the_country_of_the_row_comes_before_the_default(text_batch: Make, sha256: Make) -> None:
    """ISO codes and English names are known; a row without one falls back to the option."""
    made = text_batch(
        (Kind.PHONE_NUMBER, ["020 7946 0958", "(201) 555-0123", "030 123456"]), country=["United Kingdom", "us", " "]
    )
    prepared = _prepare(made, rules=Rules(default_country="DE"))
    numbers = [record["phone_number"] for record in _records(prepared)]
    assert numbers == [[sha256("+442079460958")], [sha256("+12015550123")], [sha256("+4930123456")]]


def test_an_operation_column_says_what_to_do(text_batch: Make) -> None:
    """Any case and white space; what is neither word rejects its row."""
    made = text_batch((Kind.HANDLE, ["a", "b", "c", "d"]), operation=["update", " DELETE ", "remove", None])
    prepared = _prepare(made)
    assert [record["operation"] for record in _records(prepared)] == ["Update", "Delete"]
    assert _rejections(prepared) == [(3, "what", "unknown_operation"), (4, "what", "unknown_operation")]
    assert prepared.tally.rows_read == 4


def test_a_declared_hash_is_passed_on_lower_case(text_batch: Make, sha256: Make) -> None:
    """A hashed column is never hashed again."""
    made = text_batch((Kind.EMAIL, [sha256("ada@example.com").upper()]), hashed=frozenset({Kind.EMAIL}))
    (record,) = _records(_prepare(made))
    assert record["email"] == [sha256("ada@example.com")]


def test_a_hash_in_a_raw_column_is_rejected(text_batch: Make, sha256: Make) -> None:
    """Hashing it again would match no person."""
    made = text_batch((Kind.EMAIL, [sha256("ada@example.com")]))
    assert _rejections(_prepare(made)) == [(1, "email0", "already_hashed")]


def test_a_partner_user_id_leaves_as_it_is(text_batch: Make) -> None:
    """The only kind that is not hashed."""
    (record,) = _prepare(text_batch((Kind.PARTNER_USER_ID, ["Crm-0042"]))).records.unwrap().to_pylist()
    assert record["partner_user_id"] == ["Crm-0042"]


def test_faults_of_the_source_are_rejections_in_row_order(text_batch: Make) -> None:
    """Rows that could not be read count as read and rejected."""
    made = text_batch((Kind.HANDLE, ["a", "no handle!"]), faults=[(9, None, "ragged"), (3, "email", "encoding")])
    prepared = _prepare(made)
    assert _rejections(prepared) == [(2, "handle0", "invalid_syntax"), (3, "email", "encoding"), (9, None, "ragged")]
    assert (prepared.tally.rows_read, prepared.tally.records, prepared.tally.rows_rejected) == (4, 1, 3)


@each_case("operation_type", ["Update", "Delete"])
def test_without_a_column_the_operation_is_that_of_the_run(text_batch: Make, operation_type: str) -> None:
    """Every record carries it."""
    (record,) = _records(_prepare(text_batch((Kind.HANDLE, ["a"])), operation_type))
    assert record["operation"] == operation_type


CELLS = st.lists(
    st.tuples(
        st.one_of(st.none(), st.sampled_from(["ada@example.com", "B@example.com", "nonsense", "null", " ", "x@y"])),
        st.one_of(st.none(), st.sampled_from(["@ada", "bad handle", "", "ada"])),
    ),
    max_size=30,
)


@settings(max_examples=examples(100), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(cells=CELLS)
def test_every_row_is_a_record_or_rejected(text_batch: Make, cells: list[tuple[str | None, str | None]]) -> None:
    """Each row number is in the records, or all that is known of it is in the rejections."""
    emails, handles = [list(part) for part in zip(*cells, strict=True)] if cells else ([], [])
    prepared = _prepare(text_batch((Kind.EMAIL, emails), (Kind.HANDLE, handles)))
    sent = set(prepared.records.unwrap().column("row").to_pylist())
    rejected = {row for row, _, _ in _rejections(prepared)}
    assert sent | rejected == set(range(1, len(cells) + 1))
    assert prepared.tally.rows_read == len(cells)
    assert prepared.tally.records == len(sent)
    assert prepared.tally.rows_rejected == len(cells) - len(sent)
    for column in prepared.tally.columns.values():
        assert column.present == column.valid + sum(column.reasons.values())


NAMES = {Kind.EMAIL: "email", Kind.PHONE_NUMBER: "phone"}


@pytest.fixture(scope="module")
def contacts() -> dict[str, Any]:
    """Columns of a generated contact list, of which every seventh cell is null."""
    lines = io.StringIO("".join(block.decode() for block in contact_blocks(4_000, 7)), newline="")
    rows = list(csv.DictReader(lines, fieldnames=["email", "phone", "country"]))
    return {
        name: pa.array([None if number % 7 == 0 else row[name] for number, row in enumerate(rows)], pa.string())
        for name in ("email", "phone", "country")
    }


def _normalized(texts: Any, kind: Kind, countries: Any) -> ColumnResult:
    column = MappedColumn(kind=kind, position=0, name="values")
    return normalize_column(texts, column, countries=resolve_countries(countries), rules=DEFAULT_RULES)


def _told(result: ColumnResult) -> list[Any]:
    """All of `result` but the number of values that were left to the definition."""
    rows = [result.value_rows.tolist(), result.rejected_rows.tolist(), result.rejected_codes.tolist()]
    return [result.values.to_pylist(), *rows, replace(result.tally, by_definition=0)]


@pytest.mark.parametrize("kind", NAMES, ids=lambda kind: kind.value)
@pytest.mark.parametrize("is_list", [False, True], ids=["text", "list"])
def test_both_ways_decide_alike(
    kind: Kind, is_list: bool, contacts: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Hashes, rows, reasons and counts, of single values and of several a row, and as the definition gives them."""
    texts, countries = contacts[NAMES[kind]], contacts["country"]
    if is_list:
        texts = pa.ListArray.from_arrays(pa.array(range(0, 4_001, 4), pa.int32()), texts)
        countries = countries.slice(0, 1_000)
    found = _each_way(texts, kind, countries, monkeypatch)
    assert found[0] == found[1] == found[2]
    assert len(found[0][0]) > 2_000
    assert len(found[0][2]) > 100


@pytest.mark.parametrize("supplied", shortened([supplied_plans(), None], 1), ids=["supplied", "compiled"])
def test_both_ways_decide_alike_where_no_calling_code_was_met(
    supplied: bytes | None, contacts: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The plan of a country is taken when its first number comes."""
    monkeypatch.setattr(certain_values, "phone_tables", cache(lambda: PhoneTables(supplied=supplied)))
    found = _each_way(contacts["phone"], Kind.PHONE_NUMBER, contacts["country"], monkeypatch)
    assert found[0] == found[1] == found[2]
    assert len(found[0][0]) > 2_000


def _each_way(texts: Any, kind: Kind, countries: Any, monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """All that the kernels, the plain way and the definition decide of `texts`."""
    found = []
    definition = SimpleNamespace(decide=lambda texts, *rest: decide_one_by_one(texts.fill_null(""), *rest))
    for loops in (installed(CompiledValues), PlainValues(), definition):
        monkeypatch.setattr("audiencekit.records.records.VALUE_LOOPS", loops)
        found.append(_told(_normalized(texts, kind, countries)))
    return found


@each_case("kind", NAMES)
def test_declared_hashes_are_not_hashed_again(kind: Kind) -> None:
    """A column of hashes is for the rule of hashes, whatever its kind."""
    column = MappedColumn(kind=kind, position=0, name="values", hashed=True)
    result = normalize_column(
        pa.array(["ab" * 32, "anna@larchpost.example"]), column, countries=None, rules=DEFAULT_RULES
    )
    assert result.values.to_pylist() == [bytes.fromhex("ab" * 32)]
    assert result.rejected_rows.tolist() == [1]


CELLS_RECOGNITION = (
    ("ann@larchpost.example", Kind.EMAIL),
    (" Ann <ann@larchpost.example>", Kind.EMAIL),
    ("ann@b\u00fccher.example", Kind.EMAIL),
    ("ann@localhost", Kind.EMAIL),  # no other kind has that form
    ("n/a@n/a", None),
    ("+49 30 12345678", Kind.PHONE_NUMBER),
    ("+49 30 12", None),
    ("030 12345678", Kind.PHONE_NUMBER),
    ("6D92078A-8246-4BA4-AE5B-76104861E7DC", Kind.DEVICE_ID),
    ("973dfe463ec85785f5f95af5ba3906eedb2d931c24e69824a89ea65dba4e813b", None),
    ("", None),
    ("\udce9@larchpost.example", None),
)


def test_each_of_many_cells_says_its_kind() -> None:
    """In their order, those with bytes of another encoding in them, too."""
    assert likely_kinds([(text, "DE") for text, _ in CELLS_RECOGNITION]) == [kind for _, kind in CELLS_RECOGNITION]


@each_case("country", [None, "", "no such place"])
def test_national_numbers_need_a_country(country: str | None) -> None:
    """One that is known."""
    assert likely_kinds([("030 12345678", country), ("+49 30 12345678", country)]) == [None, Kind.PHONE_NUMBER]


@given(
    st.lists(
        st.tuples(
            st.sampled_from([text for text, _ in CELLS_RECOGNITION]) | st.text(), st.sampled_from([None, "US", "UK"])
        )
    )
)
def test_many_are_judged_as_each_alone(cells: list[tuple[str, str | None]]) -> None:
    """Whatever stands in them."""
    assert likely_kinds(cells) == [likely_kind(text, country=country) for text, country in cells]
