"""Answers that say yes, and those that only seem to."""

from __future__ import annotations

import asyncio
import json
import socket
import ssl
from datetime import UTC, datetime
from email.utils import format_datetime
from pathlib import Path
from typing import Any

import aiohttp
import pytest
from aiohttp.client_reqrep import ConnectionKey
from aiohttp.http_exceptions import BadStatusLine
from hypothesis import given, strategies as st
from multidict import CIMultiDict, CIMultiDictProxy
from yarl import URL

from audiencekit.api.answers import (
    Answer,
    Counts,
    RateLimit,
    check_counts,
    confirm_counts,
    read_answer,
    read_counts,
    read_date,
    read_document,
    read_http_date,
    read_json,
    read_operation_errors,
    read_rate_limit,
    read_refusal,
    read_retry_after,
    require_entity,
    require_list,
)
from audiencekit.api.exchange import ApiResponse
from audiencekit.api.failures import describe_failure, proxy_hint
from audiencekit.errors import (
    AudiencekitError,
    Bug,
    CountMismatch,
    CredentialsRefused,
    MalformedAnswer,
    NotFound,
    Outcome,
    RateLimited,
    Redirected,
    RequestRefused,
    ServiceError,
    TemporarilyUnavailable,
    TransportFailed,
    Unauthorized,
    UsageError,
)
from tests.api.vectors import CORPORA, each_vector
from tests.cases import each_case

# --- Answers that say yes, and those that only seem to ---

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


@each_case("status", [200, 201, 202, 206, 299])
@each_case(
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


@each_case("errors", [[[], [{"code": "MISSING_PARAMETER"}]], [{}, {"code": "MISSING_PARAMETER"}]])
@each_case("status", [200, 201])
def test_success_that_blames_operations(status: int, errors: Any) -> None:
    """A 2xx that names operations refuses them, whatever its counts say, and leaves the outcome unknown."""
    document = {"data": {"success_count": 2, "total_count": 2}, "operation_errors": errors}
    with pytest.raises(RequestRefused) as caught:
        read_answer(_response(document, status))
    assert caught.value.operation_errors == {1: ("MISSING_PARAMETER",)}
    assert caught.value.codes == ("MISSING_PARAMETER",)
    assert caught.value.outcome is Outcome.UNKNOWN


@each_case("silent", [{"errors": []}, {"errors": None}, {"operation_errors": [[], []]}, {}])
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


@each_case(
    "data, counts",
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


@each_case(
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


@each_case("data", [{"id": "a"}, [{"id": "a"}]])
def test_entity_in_both_shapes(data: Any) -> None:
    """One entity is an object, also when it came in a list of one."""
    assert require_entity(Answer(status=200, data=data)).data == {"id": "a"}


def test_entity_is_the_one_that_was_asked_for() -> None:
    """Another's answer is none; one without an id says nothing of that."""
    assert require_entity(Answer(status=200, data={"id": "a"}), asked="a").data == {"id": "a"}
    assert require_entity(Answer(status=200, data={}), asked="a").data == {}
    with pytest.raises(MalformedAnswer, match="another object than the one asked for"):
        require_entity(Answer(status=200, data=[{"id": "b"}]), asked="a")


@each_case("data", [None, [], "a", 7, [{"id": "a"}, {"id": "b"}], [None]])
def test_no_entity(data: Any) -> None:
    """Nothing, several, or something else is not one entity."""
    with pytest.raises(MalformedAnswer):
        require_entity(Answer(status=200, data=data))


@each_case("data", [None, {}, "a", [None], [{"id": "a"}, 7]])
def test_no_list(data: Any) -> None:
    """A page that is not a list of objects is malformed."""
    with pytest.raises(MalformedAnswer):
        require_list(Answer(status=200, data=data))


@given(st.binary(max_size=80))
def test_rubbish_is_never_a_confirmed_upload(body: bytes) -> None:
    """Random bytes under status 200 never read as counts."""
    with pytest.raises(MalformedAnswer):
        read_counts(read_answer(_response(body)))


@each_case(
    "body, coding, told",
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


# --- Strict JSON: what is not one whole object is none ---

NOT_A_DOCUMENT = {
    "empty": b"",
    "space": b"  \n",
    "null": b"null",
    "list": b"[]",
    "number": b"7",
    "string": b'"{}"',
    "truncated": b'{"data": {"success_count": 4, "total_count": 4}',
    "two objects": b"{}{}",
    "text behind": b"{} ok",
    "HTML": b"<html><body>Over capacity</body></html>",
    "duplicate keys": b'{"data": 1, "data": 2}',
    "duplicate keys inside": b'{"data": {"success_count": 1, "success_count": 2}}',
    "duplicate keys by escape": b'{"data": 1, "d\\u0061ta": 2}',
    "NaN": b'{"data": NaN}',
    "Infinity": b'{"data": -Infinity}',
    "number beyond a float": b'{"data": 1e999}',
    "number of 5,000 digits": b'{"data": ' + b"9" * 5_000 + b"}",
    "nested 100,000 deep": b'{"data": ' + b"[" * 100_000 + b"]" * 100_000 + b"}",
    "UTF-16": '{"data": 1}'.encode("utf-16"),
    "latin-1": b'{"data": "\xe9"}',
    "byte order mark": b'\xef\xbb\xbf{"data": 1}',
    "single quotes": b"{'data': 1}",
    "comment": b"{} // fine",
    "trailing comma": b'{"data": 1,}',
    "control character": b'{"data": "\x01"}',
}


@each_case("body", NOT_A_DOCUMENT.values())
def test_not_a_document(body: bytes) -> None:
    """Anything but one whole, unambiguous object reads as None and raises nothing."""
    assert read_document(body) is None


@each_case(
    "body, document",
    [
        (b"{}", {}),
        (b' {"data": null}\r\n', {"data": None}),
        (b'{"tweet_ids": [822333526255120384]}', {"tweet_ids": [822333526255120384]}),
        (b'{"a": 340282366920938463463374607431768211457}', {"a": 2**128 + 1}),
        ('{"name": "Köln"}'.encode(), {"name": "Köln"}),
    ],
)
def test_document(body: bytes, document: dict[str, Any]) -> None:
    """One object is read, and whole numbers keep every digit."""
    assert read_document(body) == document


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)


@given(st.dictionaries(st.text(max_size=5), json_values, max_size=4))
def test_round_trip(document: dict[str, Any]) -> None:
    """Every object that can be written is read as it was."""
    assert read_document(json.dumps(document).encode()) == document


@given(st.dictionaries(st.text(max_size=5), json_values, max_size=4), st.data())
def test_no_prefix_is_a_document(document: dict[str, Any], data: st.DataObject) -> None:
    """A truncated answer never passes for a whole one."""
    body = json.dumps(document).encode()
    assert read_document(body[: data.draw(st.integers(0, len(body) - 1))]) is None


@given(st.binary(max_size=60))
def test_rubbish_never_raises(body: bytes) -> None:
    """Any bytes give a document or None."""
    assert isinstance(read_document(body), dict | None)


def test_half_of_a_character_is_no_text() -> None:
    """An escape of one half alone is replaced, in keys as well; two halves are a character."""
    assert read_json(rb'{"a\ud83d": ["\udc00x", "\ud83d\ude00", 1, null]}') == {
        "a\ufffd": ["\ufffdx", "\U0001f600", 1, None]
    }


# --- Failures below HTTP: what is known of them, and nothing of the library's exceptions ---

KEY = ConnectionKey("ads.example.com", 443, True, True, None, None, None)
REFUSED = ConnectionRefusedError(111, "refused")
CERTIFICATE = ssl.SSLCertVerificationError(1, "canary")

NOT_CONNECTED: list[tuple[Exception, str]] = [
    (aiohttp.ClientConnectorError(KEY, REFUSED), "ECONNREFUSED"),
    (aiohttp.ClientConnectorDNSError(KEY, socket.gaierror(-2, "canary")), "name was not resolved"),
    (aiohttp.ClientConnectorCertificateError(KEY, CERTIFICATE), "certificate"),
    (aiohttp.ClientConnectorSSLError(KEY, ssl.SSLError(1, "canary")), "TLS handshake"),
    (aiohttp.ConnectionTimeoutError("canary"), "not opened in time"),
]
CONNECTED: list[tuple[Exception, str]] = [
    (aiohttp.ServerDisconnectedError("canary"), "connection broke"),
    (aiohttp.ClientOSError(104, "canary"), "ECONNRESET"),
    (aiohttp.ClientConnectionError("canary"), "connection broke"),
    (aiohttp.SocketTimeoutError("canary"), "in time"),
    (TimeoutError("canary"), "in time"),
    (aiohttp.ClientPayloadError("canary"), "ended early"),
    (BadStatusLine("canary"), "not HTTP"),
    (ConnectionResetError(104, "canary"), "ECONNRESET"),
    (ssl.SSLError(1, "canary"), "TLS handshake"),
    (OSError("canary"), "connection broke"),
]


@each_case("failure, words", NOT_CONNECTED)
@each_case("body_started", [None, False])
def test_no_connection_means_nothing_was_sent(failure: Exception, words: str, body_started: bool | None) -> None:
    """Without a connection not a byte left: refused, safe to try again."""
    described = describe_failure(failure, host="ads.example.com", body_started=body_started)
    assert isinstance(described, TransportFailed)
    assert (described.sent, described.outcome) == (False, Outcome.REFUSED)
    assert words in str(described)
    assert "ads.example.com" in str(described)
    assert "canary" not in str(described)


@each_case("failure, words", CONNECTED)
@each_case("body_started, sent", [(None, True), (True, True), (False, False)])
def test_after_a_connection_the_body_decides(
    failure: Exception, words: str, body_started: bool | None, sent: bool
) -> None:
    """With a connection the outcome is unknown, unless the request has a body and none of it was handed over."""
    described = describe_failure(failure, host="ads.example.com", body_started=body_started)
    assert isinstance(described, TransportFailed)
    assert described.sent is sent
    assert described.outcome is (Outcome.UNKNOWN if sent else Outcome.REFUSED)
    assert words in str(described)
    assert "canary" not in str(described)


@each_case("failure, words", NOT_CONNECTED)
def test_a_proxy_that_is_not_used_is_named_where_no_connection_was_made(failure: Exception, words: str) -> None:
    """By its variables, never by what they hold. It is not why a certificate is refused."""
    environment = {"https_proxy": "http://canary@10.0.0.1", "ALL_PROXY": "canary", "HTTP_PROXY": "", "PATH": "x"}
    way = proxy_hint(environment, by_proxy=False)
    described = describe_failure(failure, host="ads.example.com", body_started=False, way=way)
    assert ("https_proxy, ALL_PROXY: set" in described.hint) == (words != "certificate")
    assert "canary" not in described.hint


def test_a_proxy_is_no_reason_once_there_was_a_connection() -> None:
    """Then the way to the host is open."""
    failure = aiohttp.ServerDisconnectedError("canary")
    way = proxy_hint({"ALL_PROXY": "canary"}, by_proxy=False)
    assert describe_failure(failure, host="ads.example.com", body_started=True, way=way).hint == ""


def _refusal_of_a_proxy(status: int) -> aiohttp.ClientHttpProxyError:
    url = URL("https://ads.example.com/")
    info = aiohttp.RequestInfo(url, "CONNECT", CIMultiDictProxy(CIMultiDict()), url)
    return aiohttp.ClientHttpProxyError(info, (), status=status, message="canary")


@each_case("status", [403, 502])
def test_a_proxy_that_does_not_connect_is_named(status: int) -> None:
    """By its status, with who can help; nothing was sent, also of a request without a body."""
    way = proxy_hint({"HTTPS_PROXY": "canary"}, by_proxy=True)
    described = describe_failure(_refusal_of_a_proxy(status), host="ads.example.com", body_started=None, way=way)
    assert isinstance(described, TransportFailed)
    assert not described.sent
    assert f"the proxy does not connect to it (status {status})" in str(described)
    assert "AUDIENCEKIT_PROXY" in described.hint
    assert "canary" not in f"{described}{described.hint}"


def test_a_proxy_that_wants_a_name_is_about_credentials() -> None:
    """It says where they belong; trying again does not help."""
    described = describe_failure(_refusal_of_a_proxy(407), host="ads.example.com", body_started=None)
    assert isinstance(described, CredentialsRefused)
    assert "http://user:password@host:port" in described.hint


def test_a_proxy_that_is_away_is_told_from_the_host() -> None:
    """Both are connections that were not made."""
    failure = aiohttp.ClientProxyConnectionError(KEY, REFUSED)
    described = describe_failure(failure, host="ads.example.com", body_started=None)
    assert "the proxy could not be reached (ECONNREFUSED)" in str(described)


def test_certificates_are_explained() -> None:
    """A certificate that is not valid comes with advice, since trying again does not help."""
    failure = aiohttp.ClientConnectorCertificateError(KEY, CERTIFICATE)
    assert "does not help" in describe_failure(failure, host="ads.example.com", body_started=False).hint


@each_case("failure", [ValueError("canary"), KeyError("canary"), RuntimeError("canary")])
def test_the_unforeseen_is_a_bug_without_values(failure: Exception) -> None:
    """An exception that no network raises is a fault of ours, named by type alone."""
    described = describe_failure(failure, host="ads.example.com", body_started=None)
    assert isinstance(described, Bug)
    assert type(failure).__name__ in str(described)
    assert "canary" not in str(described)


def test_errors_of_ours_pass_bare() -> None:
    """An error of this project stays itself, without traceback and context."""
    caught: Any = None
    try:
        try:
            raise ValueError("canary")
        except ValueError:
            raise UsageError("ours")  # noqa: B904
    except UsageError as error:
        caught = describe_failure(error, host="ads.example.com", body_started=None)
    assert isinstance(caught, UsageError)
    assert (caught.__traceback__, caught.__context__, caught.__cause__) == (None, None, None)


def test_timeouts_are_one_class() -> None:
    """asyncio's timeout is the built-in one in every Python that is supported."""
    assert asyncio.TimeoutError is TimeoutError


# --- Numbers in headers: public vectors, and garbage that must not hurt ---

VECTORS = CORPORA / "retry" / "retry_vectors.json"
NOW = 1_696_004_797.0

# Accepted by one lenient client. RFC 9110, section 5.6.7, wants two digits and GMT, as do the 49 date vectors.
LENIENT = {"Mon, 3 Jun 2019 11:00:00 UTC"}


@each_vector(VECTORS, "http_date")
def test_http_date_vectors(case: dict[str, Any]) -> None:
    """Each public date vector gives its second, or nothing where it is not a date."""
    assert read_http_date(case["input"]) == case["expected"].get("epoch")


@each_vector(VECTORS, "retry_after_value")
def test_retry_after_seconds_vectors(case: dict[str, Any]) -> None:
    """Each public vector of Retry-After in seconds gives them, or nothing where it is not a whole number."""
    assert read_retry_after({"retry-after": case["input"]}, received_at=NOW) == case["expected"].get("seconds")


@each_vector(VECTORS, "retry_after_wait")
def test_retry_after_date_vectors(case: dict[str, Any]) -> None:
    """Each public vector of Retry-After as a date gives the seconds until then, 0 for a past one."""
    expected = None if case["input"] in LENIENT else case["expected"]["wait_seconds"]
    assert read_retry_after({"retry-after": case["input"]}, received_at=case["now_epoch"]) == expected


@each_vector(VECTORS, "retry_after_policy")
def test_retry_after_policy_vectors(case: dict[str, Any]) -> None:
    """Where another client follows the header, the same seconds are read; where it does not, none or 0."""
    found = read_retry_after({"retry-after": case["input"]["retry_after"]}, received_at=case["now_epoch"])
    if "wait_seconds" in case["expected"]:
        assert found == case["expected"]["wait_seconds"]
    else:
        assert not found


def test_retry_after_counts_from_the_date_of_the_answer() -> None:
    """A date is compared with the service's own clock, not with ours an hour off."""
    headers = {"retry-after": "Sun, 06 Nov 1994 08:50:07 GMT", "date": "Sun, 06 Nov 1994 08:49:37 GMT"}
    assert read_retry_after(headers, received_at=784111777 + 3600) == 30.0


@each_case(
    "headers, expected",
    [
        ({}, RateLimit()),
        (
            {"x-rate-limit-limit": "2000", "x-rate-limit-remaining": "1999", "x-rate-limit-reset": "1497039241"},
            RateLimit(limit=2000, remaining=1999, reset_at=1497039241),
        ),
        (
            {
                "x-rate-limit-limit": "10000",
                "x-rate-limit-reset": "1705420800",
                "x-account-rate-limit-limit": "1500",
                "x-account-rate-limit-remaining": "0",
                "x-account-rate-limit-reset": "1705420860",
            },
            RateLimit(limit=1500, remaining=0, reset_at=1705420860),
        ),
        (
            {"x-account-rate-limit-reset": "soon", "x-rate-limit-reset": "1705420800"},
            RateLimit(reset_at=1705420800),
        ),
        (
            {"x-account-rate-limit-limit": "1500", "x-rate-limit-reset": "1705420800"},
            RateLimit(limit=1500),
        ),
        ({"x-rate-limit-reset": "4102444800"}, RateLimit(reset_at=4102444800)),
        ({"x-rate-limit-reset": " 1705420800\t"}, RateLimit(reset_at=1705420800)),
    ],
)
def test_rate_limit(headers: dict[str, str], expected: RateLimit) -> None:
    """The account's window wins over the user's, whole; unusable ones read as absent (public service, rate limits)."""
    assert read_rate_limit(headers) == expected


@each_case(
    "reset",
    ["", "-1", "+5", "1.5", "1e9", "0x10", "nan", "inf", "soon", "1705420800000", "٣", "1 2", "1,2", "9" * 5000],
)
def test_unusable_resets_are_none(reset: str) -> None:
    """Text, signs, fractions, milliseconds and noise are no reset."""
    assert read_rate_limit({"x-rate-limit-reset": reset}).reset_at is None


@given(st.text(max_size=40), st.text(max_size=40))
def test_garbage_never_raises(first: str, second: str) -> None:
    """Whatever stands in the headers, reading them gives numbers or None."""
    headers = {"retry-after": first, "date": second, "x-rate-limit-limit": first, "x-rate-limit-reset": second}
    read_rate_limit(headers)
    read_date(headers)
    wait = read_retry_after(headers, received_at=NOW)
    assert wait is None or wait >= 0


@given(st.datetimes(datetime(1970, 1, 1), datetime(9999, 12, 31), timezones=st.just(UTC)))  # noqa: DTZ001
def test_dates_as_servers_write_them(moment: datetime) -> None:
    """Every date in the form that servers send is read to the second."""
    moment = moment.replace(microsecond=0)
    assert read_http_date(format_datetime(moment, usegmt=True)) == int(moment.timestamp())


# --- Answers that say no: the class, the outcome, the codes, and nothing of what the service says in words ---

CODES = Path(__file__).resolve().parents[2].parent / "shared" / "corpora" / "retry" / "x_ads_error_codes.json"
NOW_REFUSALS = 1_700_000_000.0


def _refusals_response(status: int, document: Any = None, *, headers: dict[str, str] | None = None) -> ApiResponse:
    body = document if isinstance(document, bytes) else json.dumps(document).encode()
    return ApiResponse(status=status, headers=headers or {}, body=body, received_at=NOW_REFUSALS)


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


@each_case("status, kind, own, other", STATUSES)
def test_status_and_form_decide(status: int, kind: type[AudiencekitError], own: bool, other: bool) -> None:
    """The class follows from the status. The body proves something only in the form in which the service refuses."""
    for name, body in BODIES.items():
        error = read_refusal(_refusals_response(status, body))
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
        error = read_refusal(_refusals_response(case["status"], _error(code=case["code"], message="words")))
        assert not isinstance(error, MalformedAnswer)
        assert error.codes == (case["code"],)
        assert case["code"] in str(error)


@each_case("code", [32, 89, 135, 215])
def test_legacy_codes_are_kept_and_explained(code: int) -> None:
    """The numbers of the OAuth layer are codes too, each with advice (specification part 0, section 7)."""
    error = read_refusal(_refusals_response(401, _error(code=code, message="words")))
    assert isinstance(error, Unauthorized)
    assert error.codes == (str(code),)
    assert error.hint


@each_case(
    "code, behind, words",
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
    date = format_datetime(datetime.fromtimestamp(NOW_REFUSALS + behind, UTC), usegmt=True)
    assert words in read_refusal(_refusals_response(401, _error(code=code), headers={"date": date})).hint


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


@each_case("code", NO_CODES.values())
def test_a_code_of_another_form_is_dropped(code: Any) -> None:
    """A code that could be a value, a hash or a number of a person is not kept."""
    error = read_refusal(_refusals_response(400, _error(code=code, message="words")))
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
    error = read_refusal(_refusals_response(400, document))
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
    error = read_refusal(_refusals_response(400, document))
    assert isinstance(error, RequestRefused)
    assert error.operation_errors == {1: ("MISSING_PARAMETER",)}
    assert error.codes == ("MISSING_PARAMETER",)


def test_many_codes_make_a_short_message() -> None:
    """A request with thousands of bad operations is described in one line, with all codes as facts."""
    document = {"operation_errors": [[{"code": f"CODE_{number}"}] for number in range(2_500)]}
    error = read_refusal(_refusals_response(400, document))
    assert isinstance(error, RequestRefused)
    assert len(error.codes) == len(error.operation_errors) == 2_500
    assert len(str(error)) < 200


@each_case(
    "headers, reset_at, answered_at",
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
    error = read_refusal(_refusals_response(429, _error(code="TOO_MANY_REQUESTS"), headers=headers))
    assert isinstance(error, RateLimited)
    assert error.reset_at == reset_at
    assert vars(error)["answered_at"] == answered_at


@each_case(
    "headers, told",
    [
        ({"x-rate-limit-reset": "784111837", "date": "Sun, 06 Nov 1994 08:49:37 GMT"}, ", until 08:50:37 UTC"),
        ({"retry-after": "30", "date": "Sun, 06 Nov 1994 08:49:37 GMT"}, ", until 08:50:07 UTC"),
        ({"x-rate-limit-reset": "784111777000", "date": "Sun, 06 Nov 1994 08:49:37 GMT"}, "asks to wait"),
        ({}, "asks to wait"),
    ],
)
def test_a_429_says_until_when(headers: dict[str, str], told: str) -> None:
    """By the clock of the service, unless it gave no time or a mistake."""
    message = str(read_refusal(_refusals_response(429, _error(code="TOO_MANY_REQUESTS"), headers=headers)))
    assert told in message
    assert ("until" in message) == ("date" in headers and "784111777000" not in headers.values())


@each_case(
    "status, value, seconds",
    [(503, "120", 120.0), (503, "Tue, 14 Nov 2023 22:13:50 GMT", 30.0), (500, "0", 0.0), (503, "soon", None)],
)
def test_unavailable_knows_how_long(status: int, value: str, seconds: float | None) -> None:
    """A 503 carries its Retry-After in seconds, counted from our clock when the answer has no date."""
    error = read_refusal(_refusals_response(status, b"", headers={"retry-after": value}))
    assert isinstance(error, TemporarilyUnavailable)
    assert error.retry_after == seconds


refusals_json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["code", "message", "parameter", "value"]), inner, max_size=3)
    ),
    max_leaves=10,
)


@given(st.integers(300, 599), refusals_json_values, refusals_json_values)
def test_any_body_makes_an_error_of_ours(status: int, errors: Any, operation_errors: Any) -> None:
    """Whatever a service puts into its error members, the result is one of our errors."""
    error = read_refusal(_refusals_response(status, {"errors": errors, "operation_errors": operation_errors}))
    assert isinstance(error, AudiencekitError)
