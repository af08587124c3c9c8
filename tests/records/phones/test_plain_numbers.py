"""Numbers are written in E.164."""

from __future__ import annotations

import dataclasses
import random
import re
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import phonenumbers
import pyarrow as pa
import pytest
from hypothesis import given, settings, strategies as st

from audiencekit.identifiers.kinds import DEFAULT_RULES, Reason, Rules
from audiencekit.identifiers.phone_number import normalize_phone_number
from audiencekit.records.columns.arrays import UNDECIDED, VALID, code_of
from audiencekit.records.phones import (
    plain_numbers as digits,
    plain_numbers as e164,
    plain_numbers as phone_column,
    plain_numbers as phone_numbers,
    plans as phone_patterns,
    plans as phone_plans,
    readings as phone_trunks,
    tables as phone_tables,
)
from audiencekit.records.phones.plain_numbers import (
    MAX_WRITTEN_BYTES,
    Digits,
    decide_phone_numbers,
    read_digits,
    write_numbers,
)
from audiencekit.records.phones.readings import AS_WRITTEN
from audiencekit.records.phones.regions import MAX_DIGITS
from benchmarks.values.phone_numbers import FEW, ODD, REGIONS, Numbers, Row
from tests.cases import each_case
from tests.examples import examples

ROWS = [
    # text, written, dropped, calling code, expected digits
    ("0151 1234", True, 1, 49, "491511234"),
    ("no number", False, 0, 0, None),
    ("+1 (415) 555", True, 1, 1, "1415555"),
    ("123", False, 2, 7, None),
    ("", False, 0, 0, None),
    ("0039 06 12", True, 4, 39, "390612"),
    ("00 423 0 55 1", True, 6, 423, "423551"),
    ("800", True, 0, 800, "800800"),
]


@each_case("plus", [True, False])
def test_written_rows(*, plus: bool) -> None:
    """Each written row has its own calling code and digits, and the others are null."""
    texts, written, dropped, codes, expected = zip(*ROWS, strict=True)
    column = write_numbers(
        read_digits(pa.array(texts)),
        np.array(written),
        np.array(dropped, dtype=np.int32),
        np.array(codes, dtype=np.int16),
        plus=plus,
    )
    column.validate(full=True)
    assert column.to_pylist() == [text and ("+" if plus else "") + text for text in expected]


@each_case("count", [0, 3])
def test_nothing_written(count: int) -> None:
    """Without a row that is written all are null."""
    zeros = np.zeros(count, dtype=np.int32)
    digits = read_digits(pa.array(["1234"] * count, pa.string()))
    column = write_numbers(digits, zeros > 0, zeros, zeros.astype(np.int16), plus=True)
    column.validate(full=True)
    assert column.to_pylist() == [None] * count


def _column(rows: Sequence[Row]) -> tuple[Any, Any]:
    return pa.array([text for text, _ in rows], pa.string()), pa.array([country for _, country in rows], pa.string())


def _answers(rows: Sequence[Row], rules: Rules = DEFAULT_RULES) -> list[Any]:
    return [normalize_phone_number(text, country=country, rules=rules) for text, country in rows]


@pytest.fixture(scope="module")
def rows() -> list[Row]:
    """Numbers of every region, and odd texts."""
    return [
        *Numbers(random.Random(1), REGIONS).rows(4_000),
        *((text, country) for text in ODD for country in (None, "DE", "US")),
    ]


@pytest.fixture(scope="module")
def answers(rows: list[Row]) -> list[Any]:
    """Return the answers of the definition for `rows`."""
    return _answers(rows)


def test_same_as_definition(rows: list[Row], answers: list[Any], differing: Callable[..., list[int]]) -> None:
    """Whatever is decided equals the definition, text or reason."""
    assert differing(decide_phone_numbers(*_column(rows), DEFAULT_RULES), answers) == []


def test_same_as_definition_in_odd_texts(differing: Callable[..., list[int]]) -> None:
    """Also in rows of the countries whose old numbers get new digits."""
    rows = [(text, country) for text in ODD for country in ("BR", "BJ", "US", None)]
    assert differing(decide_phone_numbers(*_column(rows), DEFAULT_RULES), _answers(rows)) == []


def test_most_is_decided(rows: list[Row], answers: list[Any]) -> None:
    """Of rows that are mostly damaged most are decided too, and each reason is among the decisions."""
    decisions = decide_phone_numbers(*_column(rows), DEFAULT_RULES)
    assert (decisions.codes != UNDECIDED).mean() > 0.75
    reasons = {answer for answer in answers if isinstance(answer, Reason)}
    assert {code_of(reason) for reason in reasons} <= set(decisions.codes.tolist())


PIECES = [*"+[01 -()./", "00", "\u0664\u0669", "49", "44", "7911", "151", "415", "123456", "555", "0132"]
TEXTS = st.lists(st.sampled_from(PIECES) | st.text(max_size=2), max_size=7).map("".join)


@given(st.lists(st.tuples(TEXTS, st.sampled_from([*FEW, None, "ZZ", "", "Germany"])), max_size=20))
@settings(max_examples=examples(150), deadline=None)
def test_same_as_definition_for_any_text(differing: Callable[..., list[int]], rows: list[Row]) -> None:
    """No text makes the two differ."""
    assert differing(decide_phone_numbers(*_column(rows), DEFAULT_RULES), _answers(rows)) == []


@each_case("country", [None, "US", "GB"])
def test_same_as_definition_in_public_corpora(
    country: str | None, corpus_texts: list[str], differing: Callable[..., list[int]]
) -> None:
    """The inputs of public test suites get the definition's answers."""
    rows = [(text, country) for text in corpus_texts]
    assert differing(decide_phone_numbers(*_column(rows), DEFAULT_RULES), _answers(rows)) == []


@each_case("number", ["+14155550132", "(0301) 23.45-6", "00491511234567"])
def test_every_character_at_every_place(number: str, differing: Callable[..., list[int]]) -> None:
    """One foreign character at any place of a number is judged as the definition does."""
    signs = [*map(chr, range(128)), *"\xa0\xad\u2003\u2010\u2015\u2212\u200b\u3000ー－．／（）［］～＋９٩é"]
    rows = [(number[:at] + sign + number[at:], "DE") for at in range(len(number) + 1) for sign in signs]
    assert differing(decide_phone_numbers(*_column(rows), DEFAULT_RULES), _answers(rows)) == []


def test_tildes_that_are_punctuation(differing: Callable[..., list[int]]) -> None:
    """Behind two digits and a plus, or before more than an extension has; the others are left."""
    texts = [
        *("+95~92661752", "+687~75.12.34", "+49 30~9018-20", "+49~3090182012"),
        *("+49 30~901820", "030~901820", "+1~~2"),
    ]
    rows = [(text, "DE") for text in texts]
    decisions = decide_phone_numbers(*_column(rows), DEFAULT_RULES)
    assert differing(decisions, _answers(rows)) == []
    assert decisions.undecided.tolist() == [4, 5, 6]


@pytest.mark.slow
def test_every_state_of_some_regions(differing: Callable[..., list[int]]) -> None:
    """One text for each of many states of the table gets the definition's answer."""
    regions = random.Random(3).sample(REGIONS, 12)
    tables = phone_tables.PhoneTables().covering(regions, ())
    rows = [(text, region) for region in regions for text in _ways(tables, tables.national[region], 500)]
    assert differing(decide_phone_numbers(*_column(rows), DEFAULT_RULES), _answers(rows)) == []


def _ways(tables: Any, start: int, most: int) -> list[str]:
    """A text of digits to each state behind `start`, `most` of them at random."""
    found, row = {start: ""}, [start]
    for state in row:
        for digit in range(10):
            following = int(tables.following[state + digit])
            if following not in found:
                found[following] = found[state] + str(digit)
                row.append(following)
    texts = sorted(found.values())
    return random.Random(len(texts)).sample(texts, min(most, len(texts)))


@each_case(
    "rules",
    [
        Rules(phone_form="digits"),
        Rules(default_country="DE"),
        Rules(default_country="United Kingdom", phone_form="digits"),
        Rules(default_country="AQ"),
        Rules(phone_validity="possible", default_country="US"),
        Rules(phone_validity="possible", phone_form="digits"),
    ],
)
def test_same_as_definition_under_other_rules(rules: Rules, differing: Callable[..., list[int]]) -> None:
    """The rules of the run mean the same on both paths."""
    rows = [*Numbers(random.Random(5), FEW).rows(600), *((text, None) for text in ODD)]
    assert differing(decide_phone_numbers(*_column(rows), rules), _answers(rows, rules)) == []


def _clean(count: int) -> list[Row]:
    """Example numbers of every region in the usual spellings, with the right country."""
    chance, rows = random.Random(9), []
    while len(rows) < count:
        region = chance.choice(REGIONS)
        kind = chance.choice([phonenumbers.PhoneNumberType.MOBILE, phonenumbers.PhoneNumberType.FIXED_LINE])
        example = phonenumbers.example_number_for_type(region, kind)
        if example is None:
            continue
        number = phonenumbers.national_significant_number(example)
        changed = number[:-4] + f"{chance.randrange(10_000):04}"
        parsed = phonenumbers.parse(f"+{example.country_code}{changed}")
        if phonenumbers.is_valid_number(parsed):
            forms = phonenumbers.PhoneNumberFormat
            form = chance.choice([forms.E164, forms.INTERNATIONAL, forms.NATIONAL])
            rows.append((phonenumbers.format_number(parsed, form), region))
    return rows


def test_clean_lists_are_decided() -> None:
    """Of a list of ordinary numbers of the whole world next to nothing is left to the definition."""
    decisions = decide_phone_numbers(*_column(_clean(1_500)), DEFAULT_RULES)
    assert (decisions.codes != UNDECIDED).mean() >= 0.995


@each_case(
    "text, country, expected",
    [
        ("+1 (415) 555-0132", None, "+14155550132"),
        ("4155550132", "US", "+14155550132"),
        ("1 415 555 0132", "US", "+14155550132"),
        ("0151 12345678", "DE", "+4915112345678"),
        ("+49 (0) 151 12345678", None, "+4915112345678"),
        ("0049 151 12345678", "US", "+4915112345678"),
        ("0049 151 12345678", None, "+4915112345678"),
        ("011 49 151 12345678", "US", "+4915112345678"),
        ("06 12345678", "IT", "+390612345678"),
        ("'+4915112345678", None, "+4915112345678"),
        ('="015112345678"', "DE", "+4915112345678"),
        ("tel:+49-151-12345678", None, "+4915112345678"),
        ("p:+4915112345678", None, "+4915112345678"),
        ("P: 0151 12345678", "DE", "+4915112345678"),
        ("＋４９ １５１\u2011１２３４５６７８", None, "+4915112345678"),
        ("++49 151 12345678", None, "+4915112345678"),
        ("[+49] 151 12345678", None, "+4915112345678"),
        ("0055 51 98123-4567", "BR", Reason.NO_COUNTRY),
        ("0055 11 98123-4567", "BR", "+5511981234567"),
        ("0015 49 151 12345678", "BR", "+4915112345678"),
        ("+0049 151 12345678", "DE", "+4915112345678"),
        ("+0049 151 12345678", "US", Reason.NOT_POSSIBLE),
        ("+0149 151 12345678", "DE", Reason.NOT_POSSIBLE),
        ("+011 49 151 12345678", "US", "+4915112345678"),
        ("+\u0664\u0669 \u0661\u0665\u0661 12345678", None, "+4915112345678"),
        ("31.12.1980", "DE", Reason.INVALID_SYNTAX),
        ("'1980\u201112\u201131", "SE", Reason.INVALID_SYNTAX),
        ("1980-13-31", "SE", "+4619801331"),
        ("12/31/1980", "IT", Reason.INVALID_SYNTAX),
        ("1/31/80", "FI", Reason.INVALID_SYNTAX),
        ("1.5.1980", "FI", Reason.INVALID_SYNTAX),
        ("31. 12. 1980.", "AT", Reason.INVALID_SYNTAX),
        ("'1980／1\u201131", "FI", Reason.INVALID_SYNTAX),
        ("26.08.97", "NC", "+687260897"),
        ("31 12 1980", "HT", "+50931121980"),
        ("+52 1 55 1234 5678", None, "+525512345678"),
        ("5215512345678", "MX", "+525512345678"),
        ("044 55 1234 5678", "MX", "+525512345678"),
        ("1 415 555 0132", "MX", Reason.NOT_POSSIBLE),
        ("+52 1 55 5555 5555", None, Reason.NOT_POSSIBLE),
        ("+33 6 12 34 56 78 33612345679", "FR", Reason.NOT_POSSIBLE),
        ("0612345678-0612345679-0612345670", "FR", Reason.NOT_POSSIBLE),
        ("4915112345678", "DE", Reason.NO_COUNTRY),
        ("015112345678", None, Reason.NO_COUNTRY),
        ("1234567", "US", Reason.PLACEHOLDER),
        ("+49 151", None, Reason.NOT_POSSIBLE),
        ("+1 000 555 0132", None, Reason.NOT_VALID),
        ("14155550132.0", None, Reason.EXCEL_MANGLED),
        ("call me", "US", Reason.INVALID_SYNTAX),
        ("a" * 64, "US", Reason.ALREADY_HASHED),
        ("n/a", "US", Reason.PLACEHOLDER),
    ],
)
def test_decided(text: str, country: str | None, expected: str | Reason) -> None:
    """Usual spellings are decided here, and not left to the definition."""
    decisions = decide_phone_numbers(*_column([(text, country)]), DEFAULT_RULES)
    if isinstance(expected, Reason):
        assert decisions.reasons.to_pylist() == [code_of(expected)]
    else:
        assert decisions.normalized.to_pylist() == [expected]


def test_null_and_blank_are_empty() -> None:
    """Missing, blank and invisible cells are EMPTY."""
    decisions = decide_phone_numbers(pa.array([None, "", " \t", "\xa0\u2003", "\ufeff\u200b"]), None, DEFAULT_RULES)
    assert set(decisions.reasons.to_pylist()) == {code_of(Reason.EMPTY)}
    assert decisions.normalized.null_count == 5


@each_case("count", [0, 1])
def test_short_columns(count: int) -> None:
    """Columns without values, and with nothing but null, give columns of their length."""
    empty = pa.array([None] * count, pa.string())
    assert len(decide_phone_numbers(empty, empty, DEFAULT_RULES)) == count
    assert len(decide_phone_numbers(empty, None, DEFAULT_RULES).normalized) == count


def test_slices_of_a_column() -> None:
    """A slice is decided as the same values on their own."""
    texts, countries = _column([("x", None), (None, "US"), ("4155550132", "US"), ("0151 12345678", "DE"), ("7", None)])
    decisions = decide_phone_numbers(texts.slice(1, 3), countries.slice(1, 3), DEFAULT_RULES)
    assert decisions.normalized.to_pylist() == [None, "+14155550132", "+4915112345678"]
    decisions.normalized.validate(full=True)


@pytest.mark.slow
def test_several_threads() -> None:
    """Threads that meet new regions at the same time all get right tables."""
    rows = [(text, country) for text, country in Numbers(random.Random(7), FEW).rows(300)]
    expected = decide_phone_numbers(*_column(rows), DEFAULT_RULES)
    fresh = phone_tables.PhoneTables()

    def decide(turn: int) -> Any:
        region = FEW[turn % len(FEW)]
        fresh.covering([region, FEW[0]], [1, 49])
        return decide_phone_numbers(*_column(rows), DEFAULT_RULES).normalized

    with ThreadPoolExecutor(4) as pool:
        assert all(found.equals(expected.normalized) for found in pool.map(decide, range(12)))
    assert set(fresh.covering(FEW, ()).national) == set(FEW)


def _never(*_: Any) -> bool:
    return False


def _rolled(tables: Any) -> Any:
    rows = tables.following.reshape(-1, phone_tables.WIDTH).copy()
    rows[:, [5, 6]] = rows[:, [6, 5]]
    return rows.reshape(-1)


def _opening(found: str, replaced: str) -> Callable[..., None]:
    made = phone_patterns.Opening.__init__

    def init(self: Any, pattern: str | None, *group: Any) -> None:
        made(self, replaced if pattern == found else pattern, *group)

    return init


def _with_tilde() -> Any:
    weights = digits._WEIGHTS.copy()
    weights[ord("~")] = 0
    return weights


def _tables_swapped(self: Any) -> Any:
    tables = TABLES(self)
    return tables if not len(tables.following) else dataclasses.replace(tables, following=_rolled(tables))


TABLES = phone_tables._Places.tables
LENGTHS = phone_plans._lengths
TRUNK, PREFIXED = phone_trunks.Trunk, phone_trunks.Prefixed
NOTHING = phone_trunks.DigitReading(phone_trunks.DigitOutcome.NOT_VALID)

BROKEN: list[tuple[str, Any, str, Any]] = [
    ("two digits swapped in the table", phone_tables._Places, "tables", _tables_swapped),
    ("shortest length forgotten", phone_plans, "_lengths", lambda desc: _shorter(LENGTHS(desc))),
    ("nothing is too long", phone_plans.Lengths, "are_too_long", _never),
    ("a kind of numbers forgotten", phone_plans, "_TYPES", phone_plans._TYPES[:1]),
    ("one digit over and over is a number", phone_plans, "is_repeated", _never),
    ("the trunk prefix is another", phone_patterns.Opening, "__init__", _opening("0", "1")),
    ("no trunk prefix of two digits", phone_patterns.Opening, "__init__", _opening("06", "0")),
    ("the international prefix is another", phone_patterns.Opening, "__init__", _opening("011", "0111")),
    ("what is stripped need not fit", TRUNK, "stripped", lambda self, state: _stripped_always(self, state)),
    ("transformations ignored", phone_patterns.Opening, "ends", lambda self, threads: None),
    ("second reading not asked", PREFIXED, "read_as_plus", lambda self, state: NOTHING),
    ("own calling code stays", PREFIXED, "read", lambda self, state, whole: None),
    ("00 means nothing", phone_column.NumberColumn, "read_behind_zeros", lambda self: None),
    ("no calling code is known", phone_column, "CALLING_CODES", np.zeros(1000, dtype=np.int16)),
    ("runs are numbers", phone_column.NumberColumn, "find_placeholders", lambda self: None),
    ("no digits are placeholders", phone_column, "PLACEHOLDERS", pa.array(["x"])),
    ("a tilde is punctuation", digits, "_WEIGHTS", _with_tilde()),
    ("one cell never holds two numbers", phone_numbers, "_TWO", r"\z."),
    ("a slash never divides", digits, "_TWO_NUMBERS", 99),
    ("a space never divides", phone_numbers, "TWO_GROUPS", 99),
    ("a plus anywhere", digits, "_pluses_in_front", lambda first, second, third: np.uint8(1)),
    ("two digits are a number", digits, "MIN_DIGITS", 1),
    ("any zeros are 00", digits, "_has_zeros_in_front", lambda first, second, third: first >= 0),
    ("rounding not seen", phone_numbers, "_ROUNDED", r"\z."),
    ("one like sign mistaken", phone_numbers, "_like", lambda: LIKE | {ord("／"): "1"}),
    (
        "a digit too many is kept",
        e164,
        "_insides",
        lambda: INSIDES().view(np.bool_).reshape(-1, 24)[:, ::-1].copy().view("V24").ravel(),
    ),
]
INSIDES = e164._insides
LIKE = phone_numbers._like()
# Plans are compiled anew for what is broken in them, which takes its time: only those that one country needs.
WHERE = {
    "two digits swapped in the table": "HU",
    "shortest length forgotten": "HU",
    "nothing is too long": "HU",
    "a kind of numbers forgotten": "DE",
    "one digit over and over is a number": "US",
    "the trunk prefix is another": "DE",
    "no trunk prefix of two digits": "HU",
    "the international prefix is another": "US",
    "what is stripped need not fit": "RU",
    "transformations ignored": "GG",
    "second reading not asked": "DE",
    "own calling code stays": "HU",
}


def _shorter(lengths: Any) -> Any:
    return phone_plans.Lengths(lengths.whole[1:] or lengths.whole, lengths.local)


def _stripped_always(trunk: Any, state: int) -> Any:
    _, number, best = trunk.keys[state]
    return (0, trunk.plan.facts[number], AS_WRITTEN) if best is None else (best[0], trunk.plan.facts[best[1]], best[2])


@pytest.fixture(scope="module")
def few() -> tuple[list[Row], list[Any]]:
    """Rows of a few regions whose plans differ most, and the definition's answers."""
    rows = [
        *Numbers(random.Random(2), FEW).rows(5_000),
        *((text, country) for text in ODD for country in (None, "DE", "US")),
    ]
    return rows, _answers(rows)


@pytest.mark.slow
@pytest.mark.parametrize(("what", "place", "name", "broken"), BROKEN, ids=[case[0] for case in BROKEN])
def test_a_broken_table_pattern_or_bound_is_found(
    what: str,
    place: Any,
    name: str,
    broken: Any,
    few: tuple[list[Row], list[Any]],
    differing: Callable[..., list[int]],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The comparison fails for every table, pattern or bound that is broken on purpose."""
    rows, answers = few
    monkeypatch.setattr(place, name, broken)
    if what in WHERE:
        fresh = phone_tables.PhoneTables()
        monkeypatch.setattr(phone_column, "phone_tables", lambda: fresh)
        there = [index for index, (_, country) in enumerate(rows) if country == WHERE[what]]
        rows, answers = [rows[index] for index in there], [answers[index] for index in there]
    assert differing(decide_phone_numbers(*_column(rows), DEFAULT_RULES), answers)


@pytest.mark.slow
def test_unbroken_is_the_same(few: tuple[list[Row], list[Any]], differing: Callable[..., list[int]]) -> None:
    """The rows of the broken cases find nothing where nothing is broken."""
    rows, answers = few
    decisions = decide_phone_numbers(*_column(rows), DEFAULT_RULES)
    assert differing(decisions, answers) == []
    assert (decisions.codes == VALID).any()


def _texts_of(digits: Digits) -> list[str]:
    spans = zip(digits.starts.tolist(), digits.counts.tolist(), strict=True)
    return ["".join(map(str, digits.values[start : start + count].tolist())) for start, count in spans]


@given(st.lists(st.text("0123456789+-/(). xé", max_size=12), max_size=20), st.integers(0, 3))
def test_all_digits_are_found(texts: list[str], skipped: int) -> None:
    """The digits of every text of a column or a slice of it, whatever stands between them."""
    digits = read_digits(pa.array(texts, pa.string()).slice(skipped))
    assert _texts_of(digits) == [re.sub(r"[^0-9]", "", text) for text in texts[skipped:]]


@each_case(
    "text, is_read",
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


@each_case(
    "text, has_zeros",
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


@each_case(
    "text, may_be_two",
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
