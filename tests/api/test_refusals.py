"""Answers that say no: the class, the outcome, the codes, and nothing of what the service says in words."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from email.utils import format_datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, strategies as st

from audiencekit.api.exchange import ApiResponse
from audiencekit.api.refusals import read_operation_errors, read_refusal
from audiencekit.errors import (
    AudiencekitError,
    MalformedAnswer,
    NotFound,
    Outcome,
    RateLimited,
    Redirected,
    RequestRefused,
    ServiceError,
    TemporarilyUnavailable,
    Unauthorized,
)

CODES = Path(__file__).resolve().parents[2].parent / "shared" / "corpora" / "retry" / "x_ads_error_codes.json"
NOW = 1_700_000_000.0


def _response(status: int, document: Any = None, *, headers: dict[str, str] | None = None) -> ApiResponse:
    body = document if isinstance(document, bytes) else json.dumps(document).encode()
    return ApiResponse(status=status, headers=headers or {}, body=body, received_at=NOW)


def _error(**members: Any) -> dict[str, Any]:
    return {"errors": [members], "request": {"params": {}}}


# Status, class of the error, whether the service's own words prove that the request was not applied, whether any other
# body proves it.
STATUSES: list[tuple[int, type[AudiencekitError], bool, bool]] = [
    *((status, Redirected, True, True) for status in (301, 307, 308)),
    *((status, Redirected, False, False) for status in (300, 302, 303, 304)),  # may be where the result lies
    (413, RequestRefused, True, True),  # no gateway passes on a part
    *((status, RequestRefused, True, False) for status in (400, 402, 405, 407, 409, 410, 411, 412, 414)),
    *((status, RequestRefused, True, False) for status in (415, 417, 418, 422, 425, 426, 428, 431, 451, 499)),
    *((status, Unauthorized, True, False) for status in (401, 403)),
    (404, NotFound, True, False),
    (429, RateLimited, True, False),
    *((status, TemporarilyUnavailable, False, False) for status in (408, 423, 500, 501, 502, 503, 504, 507, 599)),
    *((status, MalformedAnswer, False, False) for status in (0, 100, 101, 199, 600, 999)),
]
BODIES = {
    "json": _error(code="SOME_CODE", message="words"),
    "html": b"<html>canary</html>",
    "empty": b"",
    "truncated": b'{"errors": [{"code": "SOME_',
    "list": [1],
    "errors as object": {"errors": {"code": "SOME_CODE"}},
    "errors as text": {"errors": "canary"},
    "errors of everything": {"errors": [None, 1, "canary", [], {}, {"code": None}, {"code": ["canary"]}]},
    "operation_errors of everything": {"operation_errors": [None, 1, "canary", [None, 1], {"code": {}}, [[[]]]]},
}
OF_THE_SERVICE = frozenset({"json", "errors of everything", "operation_errors of everything"})  # lists of objects


@pytest.mark.parametrize(("status", "kind", "own", "other"), STATUSES)
def test_status_and_form_decide(status: int, kind: type[AudiencekitError], own: bool, other: bool) -> None:
    """The class follows from the status. The body proves something only in the form in which the service refuses."""
    for name, body in BODIES.items():
        error = read_refusal(_response(status, body))
        assert type(error) is kind, name
        is_refused = own if name in OF_THE_SERVICE else other
        assert error.outcome is (Outcome.REFUSED if is_refused else Outcome.UNKNOWN), name
        if isinstance(error, ServiceError):
            assert error.is_of_service is (name in OF_THE_SERVICE), name
        assert str(status) in str(error), name
        assert "canary" not in str(error) + repr(error), name


@pytest.mark.skipif(not CODES.exists(), reason="no shared corpora here")
def test_every_published_code_is_kept() -> None:
    """Each pair of status and code that the service publishes is reported with that code."""
    cases = json.loads(CODES.read_text())["cases"]
    assert len(cases) == 77
    for case in cases:
        error = read_refusal(_response(case["status"], _error(code=case["code"], message="words")))
        assert not isinstance(error, MalformedAnswer)
        assert error.codes == (case["code"],)
        assert case["code"] in str(error)


@pytest.mark.parametrize("code", [32, 89, 135, 215])
def test_legacy_codes_are_kept_and_explained(code: int) -> None:
    """The numbers of the OAuth layer are codes too, each with advice (specification part 0, section 7)."""
    error = read_refusal(_response(401, _error(code=code, message="words")))
    assert isinstance(error, Unauthorized)
    assert error.codes == (str(code),)
    assert error.hint


@pytest.mark.parametrize(
    ("code", "behind", "words"),
    [
        (135, 3_600, "the clock of this machine is 3,600 s behind the service's: set it"),
        (32, -3_600, "the clock of this machine is 3,600 s ahead of the service's: set it"),
        (135, 29, "the clock of this machine is off: set it"),
        (32, 0, "check all four credentials"),
        (89, 3_600, "make a new one"),
    ],
)
def test_a_clock_that_is_off_is_told_with_its_seconds(code: int, behind: int, words: str) -> None:
    """By the `Date` of an answer that refuses a signature; a token that is revoked stays revoked."""
    date = format_datetime(datetime.fromtimestamp(NOW + behind, UTC), usegmt=True)
    assert words in read_refusal(_response(401, _error(code=code), headers={"date": date})).hint


NO_CODES: dict[str, Any] = {
    "address": "canary@example.com",
    "phone": "+12025550123",
    "phone as number": 12025550123,
    "lower case": "lower_case",
    "space": "WITH SPACE",
    "empty": "",
    "64 letters": "A" * 64,
    "upper-case hash": "ABCDEF0123456789" * 4,
    "negative": -1,
    "boolean": True,
    "fraction": 1.5,
    "null": None,
    "list": ["A"],
    "object": {"A": 1},
}


@pytest.mark.parametrize("code", NO_CODES.values(), ids=NO_CODES.keys())
def test_a_code_of_another_form_is_dropped(code: Any) -> None:
    """A code that could be a value, a hash or a number of a person is not kept."""
    error = read_refusal(_response(400, _error(code=code, message="words")))
    assert isinstance(error, RequestRefused)
    assert error.codes == ()


def test_words_and_values_of_the_service_are_dropped() -> None:
    """Message, details, value and unknown parameter names are not repeated; a known parameter name is."""
    quoted = {"message": 'Expected time, got "canary"', "details": "canary", "value": "canary"}
    document = {
        "errors": [
            {"code": "INVALID_PARAMETER", "parameter": "expires_at", **quoted},
            {"code": "INVALID_PARAMETER", "parameter": "canary", **quoted},
            {"code": "MISSING_PARAMETER", "parameter": "users[0].canary", **quoted},
        ],
        "request": {"params": {"account_id": "canary"}},
    }
    error = read_refusal(_response(400, document))
    assert isinstance(error, RequestRefused)
    assert error.codes == ("INVALID_PARAMETER", "MISSING_PARAMETER")
    assert "expires_at" in str(error)
    assert "canary" not in f"{error} {error!r} {vars(error)}"


@pytest.mark.parametrize(
    ("given_", "expected"),
    [
        ([[], [{"code": "MISSING_PARAMETER", "parameter": "users"}]], {1: ("MISSING_PARAMETER",)}),
        ([[{"code": "A"}, {"code": "B"}, {"code": "A"}], [], [{"code": "C"}]], {0: ("A", "B"), 2: ("C",)}),
        ([{"code": "A"}, None, {"code": "B"}], {0: ("A",), 2: ("B",)}),
        ([{}, {"code": "B"}], {1: ("B",)}),
        ([[], {"code": "B"}], {1: ("B",)}),
        ([[{"message": "words"}]], {0: ()}),
        ([[], []], {}),
        ([], {}),
        (None, {}),
        ("words", {}),
        ({"0": [{"code": "A"}]}, {}),
        ([3, "words", [None, 3]], {}),
    ],
)
def test_operation_errors_in_both_shapes(given_: Any, expected: dict[int, tuple[str, ...]]) -> None:
    """A list of lists and a flat list give the index of each operation that failed, with its codes."""
    assert read_operation_errors({"operation_errors": given_}) == expected


def test_codes_of_operations_are_codes_of_the_request() -> None:
    """A refusal with operation errors reports their indexes and their codes."""
    document = {
        "operation_errors": [[], [{"code": "MISSING_PARAMETER", "message": "words", "parameter": "users"}]],
        "request": [{"params": {"account_id": "abc1"}, "operation_type": "Update"}] * 2,
    }
    error = read_refusal(_response(400, document))
    assert isinstance(error, RequestRefused)
    assert error.operation_errors == {1: ("MISSING_PARAMETER",)}
    assert error.codes == ("MISSING_PARAMETER",)


def test_many_codes_make_a_short_message() -> None:
    """A request with thousands of bad operations is described in one line, with all codes as facts."""
    document = {"operation_errors": [[{"code": f"CODE_{number}"}] for number in range(2_500)]}
    error = read_refusal(_response(400, document))
    assert isinstance(error, RequestRefused)
    assert len(error.codes) == len(error.operation_errors) == 2_500
    assert len(str(error)) < 200


@pytest.mark.parametrize(
    ("headers", "reset_at", "answered_at"),
    [
        ({}, None, None),
        ({"x-rate-limit-reset": "1700000060"}, 1_700_000_060, None),
        ({"x-rate-limit-reset": "1", "x-account-rate-limit-reset": "1700000030"}, 1_700_000_030, None),
        ({"x-rate-limit-reset": "soon"}, None, None),
        ({"retry-after": "30"}, 1_700_000_030, None),
        ({"retry-after": "30", "x-rate-limit-reset": "1700000060"}, 1_700_000_060, None),
        ({"retry-after": "30", "date": "Sun, 06 Nov 1994 08:49:37 GMT"}, 784_111_807, 784_111_777),
        (
            {"x-rate-limit-reset": "784111787", "date": "Sun, 06 Nov 1994 08:49:37 GMT"},
            784_111_787,
            784_111_777,
        ),
    ],
)
def test_rate_limited_knows_the_reset(headers: dict[str, str], reset_at: float | None, answered_at: int | None) -> None:
    """A 429 carries the reset as the service gave it, and the service's time to compare it with."""
    error = read_refusal(_response(429, _error(code="TOO_MANY_REQUESTS"), headers=headers))
    assert isinstance(error, RateLimited)
    assert error.reset_at == reset_at
    assert vars(error)["answered_at"] == answered_at


@pytest.mark.parametrize(
    ("headers", "told"),
    [
        ({"x-rate-limit-reset": "784111837", "date": "Sun, 06 Nov 1994 08:49:37 GMT"}, ", until 08:50:37 UTC"),
        ({"retry-after": "30", "date": "Sun, 06 Nov 1994 08:49:37 GMT"}, ", until 08:50:07 UTC"),
        ({"x-rate-limit-reset": "784111777000", "date": "Sun, 06 Nov 1994 08:49:37 GMT"}, "asks to wait"),
        ({}, "asks to wait"),
    ],
)
def test_a_429_says_until_when(headers: dict[str, str], told: str) -> None:
    """By the clock of the service, unless it gave no time or a mistake."""
    message = str(read_refusal(_response(429, _error(code="TOO_MANY_REQUESTS"), headers=headers)))
    assert told in message
    assert ("until" in message) == ("date" in headers and "784111777000" not in headers.values())


@pytest.mark.parametrize(
    ("status", "value", "seconds"),
    [(503, "120", 120.0), (503, "Tue, 14 Nov 2023 22:13:50 GMT", 30.0), (500, "0", 0.0), (503, "soon", None)],
)
def test_unavailable_knows_how_long(status: int, value: str, seconds: float | None) -> None:
    """A 503 carries its Retry-After in seconds, counted from our clock when the answer has no date."""
    error = read_refusal(_response(status, b"", headers={"retry-after": value}))
    assert isinstance(error, TemporarilyUnavailable)
    assert error.retry_after == seconds


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["code", "message", "parameter", "value"]), inner, max_size=3)
    ),
    max_leaves=10,
)


@given(st.integers(300, 599), json_values, json_values)
def test_any_body_makes_an_error_of_ours(status: int, errors: Any, operation_errors: Any) -> None:
    """Whatever a service puts into its error members, the result is one of our errors."""
    error = read_refusal(_response(status, {"errors": errors, "operation_errors": operation_errors}))
    assert isinstance(error, AudiencekitError)
