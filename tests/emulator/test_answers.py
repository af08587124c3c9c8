"""Bodies of answers."""

from __future__ import annotations

import json
from datetime import UTC, datetime

from hypothesis import given, strategies as st

from audiencekit.emulator.answers import RefusalError, add_months, format_time, parse_time, problem, refuse, success
from tests.cases import each_case

# --- Bodies of answers ---


def test_a_success_echoes_and_carries() -> None:
    """The envelope of a success: the echo of the parameters, the data, and what else there is."""
    answer = success({"account_id": "a"}, [1], next_cursor=None)
    assert answer.status == 200
    assert isinstance(answer.body, bytes)
    assert json.loads(answer.body) == {"request": {"params": {"account_id": "a"}}, "next_cursor": None, "data": [1]}


def test_a_problem_names_a_parameter_only_when_there_is_one() -> None:
    """`parameter` is left out, not null."""
    assert problem("A", "b") == {"code": "A", "message": "b"}
    assert problem("A", "b", "c") == {"code": "A", "message": "b", "parameter": "c"}


def test_a_refusal_has_errors_and_an_echo() -> None:
    """The envelope of a request-level problem."""
    refusal = refuse(404, "NOT_FOUND", "No such thing", "id", params={"id": "x"}, headers={"Allow": "GET"})
    assert isinstance(refusal, RefusalError)
    assert (refusal.answer.status, refusal.answer.headers) == (404, {"Allow": "GET"})
    assert isinstance(refusal.answer.body, bytes)
    assert json.loads(refusal.answer.body) == {
        "errors": [{"code": "NOT_FOUND", "message": "No such thing", "parameter": "id"}],
        "request": {"params": {"id": "x"}},
    }


# --- Times on the wire ---


def _epoch(*parts: int) -> int:
    return int(datetime(*parts, tzinfo=UTC).timestamp())  # type: ignore[misc,arg-type]


@each_case(
    "text, expected",
    [
        ("2017-07-10T08:00:00-0800", _epoch(2017, 7, 10, 16)),
        ("2017-07-10T08:00:00-08:00", _epoch(2017, 7, 10, 16)),
        ("2017-07-10T08:00:00-08", _epoch(2017, 7, 10, 16)),
        ("2017-07-10T08:00:00+0530", _epoch(2017, 7, 10, 2, 30)),
        ("2018-05-15T00:00:00Z", _epoch(2018, 5, 15)),
        ("2018-05-15T00:00:00.000Z", _epoch(2018, 5, 15)),
        ("2018-05-15T02:00:00.999999+02:00", _epoch(2018, 5, 15)),
        ("2022-06-15", _epoch(2022, 6, 15)),
        ("2024-02-29", _epoch(2024, 2, 29)),
    ],
)
def test_documented_forms_are_read(text: str, expected: int) -> None:
    """Z, three ways of writing an offset, a date alone (public documentation), and fractions, which are cut off."""
    assert parse_time(text) == expected


@each_case(
    "text",
    [
        "",
        "2023-02-29",
        "2018-13-01T00:00:00Z",
        "2018-05-15T24:00:00Z",
        "2018-05-15T00:00:60Z",
        "2018-05-15T00:00:00",
        "2018-05-15T00:00:00.Z",
        "2018-05-15T00:00:00,000Z",
        "2018-05-15T00:00:00.000",
        "2018-05-15t00:00:00z",
        "2018-05-15 00:00:00Z",
        "2018-05-15T00:00Z",
        "2018-05-15T00:00:00-08:",
        "2018-05-15T00:00:00+99:00",
        " 2018-05-15",
        "2018-05-15\n",
        "٢٠١٨-05-15",
        "1526342400",
        "0001-01-01T00:00:00+01:00",
        "9999-12-31T23:59:59-01:00",
        1_526_342_400,
        None,
        True,
        ["2018-05-15"],
    ],
)
def test_other_forms_are_not_times(text: object) -> None:
    """Forms that no document shows are refused."""
    assert parse_time(text) is None


@given(st.integers(min_value=0, max_value=_epoch(9999, 12, 31)))
def test_a_printed_time_reads_as_itself(epoch: int) -> None:
    """Printing and reading are inverse."""
    assert parse_time(format_time(epoch)) == epoch


def test_fractions_are_cut_off() -> None:
    """A printed time is the whole second that has begun."""
    assert format_time(_epoch(2018, 5, 15) + 0.999) == "2018-05-15T00:00:00Z"


@each_case(
    "start, months, expected",
    [
        ((2026, 1, 15, 8, 30), 13, (2027, 2, 15, 8, 30)),
        ((2026, 12, 31), 13, (2028, 1, 31)),
        ((2026, 1, 31), 13, (2027, 2, 28)),
        ((2027, 1, 31), 13, (2028, 2, 29)),
        ((2026, 11, 1), 1, (2026, 12, 1)),
        ((2026, 12, 1), 12, (2027, 12, 1)),
    ],
)
def test_months_are_calendar_months(start: tuple[int, ...], months: int, expected: tuple[int, ...]) -> None:
    """The same day, or the last one of a shorter month."""
    assert add_months(_epoch(*start) + 0.75, months) == _epoch(*expected)
