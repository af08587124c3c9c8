"""Answers that say yes, and those that only seem to."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, strategies as st

from audiencekit.api.exchange import ApiResponse
from audiencekit.api.rate_limit import RateLimit
from audiencekit.api.wire import (
    Answer,
    Counts,
    check_counts,
    confirm_counts,
    read_answer,
    read_counts,
    require_entity,
    require_list,
)
from audiencekit.errors import CountMismatch, MalformedAnswer, NotFound, Outcome, Redirected, RequestRefused

FIXTURES = Path(__file__).resolve().parents[2].parent / "shared" / "corpora" / "hash" / "x_sdk_response_fixtures.json"


def _response(document: Any, status: int = 200, headers: dict[str, str] | None = None) -> ApiResponse:
    body = document if isinstance(document, bytes) else json.dumps(document).encode()
    return ApiResponse(status=status, headers=headers or {}, body=body)


def test_list_answer() -> None:
    """A page gives its data, cursor, total, echo and the facts of its headers."""
    answer = read_answer(
        _response(
            {
                "request": {"params": {"account_id": "abc1"}},
                "next_cursor": "c-3y",
                "data": [{"id": "a"}],
                "total_count": 7,
            },
            headers={
                "date": "Sun, 06 Nov 1994 08:49:37 GMT",
                "x-access-level": "read-write",
                "x-rate-limit-limit": "2000",
                "x-rate-limit-remaining": "1999",
                "x-rate-limit-reset": "784112677",
            },
        )
    )
    assert answer == Answer(
        status=200,
        data=[{"id": "a"}],
        next_cursor="c-3y",
        total_count=7,
        request={"params": {"account_id": "abc1"}},
        rate_limit=RateLimit(limit=2000, remaining=1999, reset_at=784112677),
        answered_at=784111777,
        access_level="read-write",
    )


@pytest.mark.skipif(not FIXTURES.exists(), reason="no shared corpora here")
def test_recorded_answers_are_read() -> None:
    """Answers recorded in the public service's own kits are read, with their data as it stands."""
    cases = json.loads(FIXTURES.read_text())["cases"]
    assert len(cases) == 8
    for case in cases:
        answer = read_answer(_response(case["body"]))
        assert answer.data == case["body"]["data"]
        assert answer.total_count == case["body"].get("total_count")


@pytest.mark.parametrize("status", [200, 201, 202, 206, 299])
@pytest.mark.parametrize(
    "document",
    [
        b"",
        b"<html>fine</html>",
        b'{"data": {"success_count": 4',
        b"null",
        b"[]",
        b'{"data": 1, "data": 2}',
        b'{"data": NaN}',
        {"errors": [{"code": "INVALID_PARAMETER"}]},
        {"data": {"success_count": 1, "total_count": 1}, "errors": [{}]},
        {"data": {"success_count": 1, "total_count": 1}, "errors": {"code": "A"}},
        {"data": {"success_count": 1, "total_count": 1}, "errors": ""},
        {"data": [], "next_cursor": 7},
        {"data": [], "next_cursor": ""},
        {"data": [], "next_cursor": ["c"]},
        {"data": [], "total_count": "7"},
        {"data": [], "total_count": -1},
        {"data": [], "total_count": True},
        {"data": [], "total_count": 7.0},
    ],
)
def test_success_that_is_none(status: int, document: Any) -> None:
    """A 2xx whose body is not whole, or reports errors, is malformed, and its outcome unknown."""
    with pytest.raises(MalformedAnswer) as caught:
        read_answer(_response(document, status))
    assert caught.value.status == status
    assert caught.value.outcome is Outcome.UNKNOWN


@pytest.mark.parametrize("errors", [[[], [{"code": "MISSING_PARAMETER"}]], [{}, {"code": "MISSING_PARAMETER"}]])
@pytest.mark.parametrize("status", [200, 201])
def test_success_that_blames_operations(status: int, errors: Any) -> None:
    """A 2xx that names operations refuses them, whatever its counts say, and leaves the outcome unknown."""
    document = {"data": {"success_count": 2, "total_count": 2}, "operation_errors": errors}
    with pytest.raises(RequestRefused) as caught:
        read_answer(_response(document, status))
    assert caught.value.operation_errors == {1: ("MISSING_PARAMETER",)}
    assert caught.value.codes == ("MISSING_PARAMETER",)
    assert caught.value.outcome is Outcome.UNKNOWN


@pytest.mark.parametrize("silent", [{"errors": []}, {"errors": None}, {"operation_errors": [[], []]}, {}])
def test_empty_error_members_are_no_errors(silent: dict[str, Any]) -> None:
    """Members for errors that hold none do not spoil a success."""
    assert read_answer(_response({"data": {"id": "a"}, **silent})).data == {"id": "a"}


def test_other_statuses_raise_what_they_stand_for() -> None:
    """A redirect or a 404 is an error even with a body that would count as success."""
    good = {"data": {"success_count": 4, "total_count": 4}}
    with pytest.raises(Redirected):
        read_answer(_response(good, 307))
    with pytest.raises(NotFound):
        read_answer(_response(good, 404))


def test_answers_are_not_shown() -> None:
    """The repr of an answer holds nothing of its data."""
    answer = read_answer(_response({"data": {"name": "canary"}, "request": {"params": {"q": "canary"}}}))
    assert "canary" not in repr(answer)


@pytest.mark.parametrize(
    ("data", "counts"),
    [
        ({"success_count": 4, "total_count": 4}, Counts(4, 4)),
        ({"success_count": 0, "total_count": 4}, Counts(0, 4)),
        ([{"success_count": 2, "total_count": 2}], Counts(2, 2)),
        ([{"success_count": 2, "total_count": 3}, {"success_count": 5, "total_count": 5}], Counts(7, 8)),
        ({"success_count": 2**70, "total_count": 2**70 + 1}, Counts(2**70, 2**70 + 1)),
    ],
)
def test_counts(data: Any, counts: Counts) -> None:
    """Counts stand in an object, or in a list whose objects are summed; large ones keep every digit."""
    assert read_counts(read_answer(_response({"data": data}))) == counts


BAD_NUMBERS: list[Any] = ["4", None, -1, True, False, 4.0, 4.5, [4], {"n": 4}, ""]
GOOD = {"success_count": 4, "total_count": 4}


@pytest.mark.parametrize(
    "data",
    [
        *({"success_count": bad, "total_count": 4} for bad in BAD_NUMBERS),
        *({"success_count": 4, "total_count": bad} for bad in BAD_NUMBERS),
        {"success_count": 4},
        {"total_count": 4},
        {"successCount": 4, "totalCount": 4},
        {},
        [],
        None,
        4,
        "4 of 4",
        [4, 4],
        [None],
        [[GOOD]],
        [GOOD, {}],
        [GOOD, None],
        [GOOD, {"success_count": "0", "total_count": 0}],
        {"data": GOOD},
    ],
)
def test_an_invalid_count_leaves_the_outcome_unknown(data: Any) -> None:
    """Texts, nulls, booleans, fractions, negatives and missing members are no counts: the outcome stays unknown."""
    with pytest.raises(MalformedAnswer) as caught:
        read_counts(read_answer(_response({"data": data})))
    assert caught.value.outcome is Outcome.UNKNOWN


def test_accepted_is_not_done() -> None:
    """A 202 with right counts confirms nothing: the request may still be applied, or not (RFC 9110, section 15.3.3)."""
    answer = read_answer(_response({"data": {"success_count": 2, "total_count": 2}}, status=202))
    with pytest.raises(MalformedAnswer) as caught:
        confirm_counts(answer, sent=2)
    assert caught.value.outcome is Outcome.UNKNOWN


def test_answer_without_data_has_no_counts() -> None:
    """An answer that leaves data out is read, and has no counts."""
    with pytest.raises(MalformedAnswer):
        read_counts(read_answer(_response({"request": {}})))


@given(st.integers(0, 5), st.integers(0, 5), st.integers(0, 5))
def test_counts_must_be_one_number(sent: int, success: int, total: int) -> None:
    """Only records sent = success_count = total_count passes; a mismatch carries all three (part 2, section 4.4)."""
    if sent == success == total:
        check_counts(Counts(success, total), sent=sent)
        return
    with pytest.raises(CountMismatch) as caught:
        check_counts(Counts(success, total), sent=sent)
    assert (caught.value.sent, caught.value.success_count, caught.value.total_count) == (sent, success, total)


@pytest.mark.parametrize("data", [{"id": "a"}, [{"id": "a"}]])
def test_entity_in_both_shapes(data: Any) -> None:
    """One entity is an object, also when it came in a list of one."""
    assert require_entity(Answer(status=200, data=data)).data == {"id": "a"}


def test_entity_is_the_one_that_was_asked_for() -> None:
    """Another's answer is none; one without an id says nothing of that."""
    assert require_entity(Answer(status=200, data={"id": "a"}), asked="a").data == {"id": "a"}
    assert require_entity(Answer(status=200, data={}), asked="a").data == {}
    with pytest.raises(MalformedAnswer, match="another object than the one asked for"):
        require_entity(Answer(status=200, data=[{"id": "b"}]), asked="a")


@pytest.mark.parametrize("data", [None, [], "a", 7, [{"id": "a"}, {"id": "b"}], [None]])
def test_no_entity(data: Any) -> None:
    """Nothing, several, or something else is not one entity."""
    with pytest.raises(MalformedAnswer):
        require_entity(Answer(status=200, data=data))


@pytest.mark.parametrize("data", [None, {}, "a", [None], [{"id": "a"}, 7]])
def test_no_list(data: Any) -> None:
    """A page that is not a list of objects is malformed."""
    with pytest.raises(MalformedAnswer):
        require_list(Answer(status=200, data=data))


@given(st.binary(max_size=80))
def test_rubbish_is_never_a_confirmed_upload(body: bytes) -> None:
    """Random bytes under status 200 never read as counts."""
    with pytest.raises(MalformedAnswer):
        read_counts(read_answer(_response(body)))


@pytest.mark.parametrize(
    ("body", "coding", "told"),
    [
        (b"\x1f\x8b\x08", "x-gzip", "content coding that is not read (x-gzip)"),
        (b"\x1f\x8b\x08", "GZIP, br", "content coding that is not read (gzip, br)"),
        (b"junk", "ada@example.com", "content coding that is not read (of another name)"),
        (b'\xef\xbb\xbf{"data": {}}', "", "byte order mark"),
        (b"junk", "gzip", "is not one whole JSON object"),
        (b"junk", "", "is not one whole JSON object"),
    ],
)
def test_an_answer_that_a_gateway_has_wrapped_says_so(body: bytes, coding: str, told: str) -> None:
    """The gateway is to be mended: a coding that was not asked for, or a mark before the document."""
    headers = {"content-encoding": coding} if coding else {}
    with pytest.raises(MalformedAnswer) as caught:
        read_answer(ApiResponse(status=200, headers=headers, body=body, received_at=0.0))
    assert told in str(caught.value)
    assert "example.com" not in str(caught.value)
