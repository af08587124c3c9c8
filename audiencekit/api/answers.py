"""Bytes of an answer -> a result or a typed error. No I/O, and no quotation of what the service says about people."""

from __future__ import annotations

import codecs
import json
import math
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any, Final, NoReturn, TypeAlias

from audiencekit.api.catalogue import PARAMETER_NAMES
from audiencekit.api.exchange import ApiResponse
from audiencekit.api.oauth import seconds_behind, skew_in_words
from audiencekit.errors import (
    CountMismatch,
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
from audiencekit.limits import FARTHEST_RESET_SECONDS, MAX_CURSOR_LENGTH
from audiencekit.service_words import is_service_id
from audiencekit.text import shown

# --- The numbers in headers: rate limits, Retry-After, Date. Garbage gives None and never raises ---

_DIGITS: Final = re.compile(r"[0-9]{1,18}", re.ASCII)
_EPOCH_SECONDS: Final = re.compile(r"[0-9]{1,10}", re.ASCII)  # eleven digits and more are milliseconds, or noise
_MONTHS: Final = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
_MONTH: Final = f"(?P<month>{'|'.join(_MONTHS)})"
_TIME: Final = r"(?P<hour>[0-9]{2}):(?P<minute>[0-9]{2}):(?P<second>[0-9]{2})"
_SHORT_DAY: Final = "(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)"
_LONG_DAY: Final = "(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day"

# RFC 9110, section 5.6.7: the form of today and the two old ones; nothing else.
_HTTP_DATES: Final = tuple(
    re.compile(pattern, re.ASCII)
    for pattern in (
        rf"{_SHORT_DAY}, (?P<day>[0-9]{{2}}) {_MONTH} (?P<year>[0-9]{{4}}) {_TIME} GMT",
        rf"{_LONG_DAY}, (?P<day>[0-9]{{2}})-{_MONTH}-(?P<year>[0-9]{{2}}) {_TIME} GMT",
        rf"{_SHORT_DAY} {_MONTH} (?P<day>[0-9 ][0-9]) {_TIME} (?P<year>[0-9]{{4}})",
    )
)
_FIRST_YEAR: Final = 1970
_CENTURY_TURN: Final = 70  # two-digit years from here on are of the last century


@dataclass(frozen=True, slots=True, kw_only=True)
class RateLimit:
    """The window that an answer names: `limit` and `remaining` in requests, `reset_at` in epoch seconds."""

    limit: int | None = None
    remaining: int | None = None
    reset_at: int | None = None


def read_rate_limit(headers: Mapping[str, str]) -> RateLimit:
    """Return the window of the account if the answer names one, else that of the user's token.

    Source: the public service's page on rate limiting; the specification names no headers.
    """
    account = _read_window(headers, "x-account-rate-limit-")
    return account if account != RateLimit() else _read_window(headers, "x-rate-limit-")


def _read_window(headers: Mapping[str, str], prefix: str) -> RateLimit:
    return RateLimit(
        limit=_whole(_DIGITS, headers.get(f"{prefix}limit")),
        remaining=_whole(_DIGITS, headers.get(f"{prefix}remaining")),
        reset_at=_whole(_EPOCH_SECONDS, headers.get(f"{prefix}reset")),
    )


def read_retry_after(headers: Mapping[str, str], *, received_at: float) -> float | None:
    """Return the seconds to wait, 0 or more, from `Retry-After` in seconds or as a date; None if it is unusable.

    A date counts from the `Date` of the same answer, so that a wrong clock on our side does not matter.
    """
    text = headers.get("retry-after", "").strip(" \t")
    seconds = _whole(_DIGITS, text)
    if seconds is not None:
        return float(seconds)
    moment = read_http_date(text)
    if moment is None:
        return None
    answered_at = read_date(headers)
    return max(0.0, moment - (received_at if answered_at is None else answered_at))


def read_date(headers: Mapping[str, str]) -> int | None:
    """Return the epoch seconds of the `Date` header: the clock of the service."""
    return read_http_date(headers.get("date", "").strip(" \t"))


def read_http_date(text: str) -> int | None:
    """Return the epoch seconds of a date in a form of RFC 9110, section 5.6.7; None for anything else."""
    match = next(filter(None, (form.fullmatch(text) for form in _HTTP_DATES)), None)
    if match is None:
        return None
    year = int(match["year"])
    if len(match["year"]) == 2:
        year += 1900 if year >= _CENTURY_TURN else 2000
    clock = (int(match["hour"]), int(match["minute"]), int(match["second"]))
    try:
        moment = datetime(year, _MONTHS.index(match["month"]) + 1, int(match["day"]), *clock, tzinfo=UTC)
    except ValueError:
        return None
    return int(moment.timestamp()) if year >= _FIRST_YEAR else None


def _whole(pattern: re.Pattern[str], text: str | None) -> int | None:
    text = (text or "").strip(" \t")
    return int(text) if pattern.fullmatch(text) else None


# --- Bytes of an answer -> a result or a typed error. No I/O, and nothing that the service says is quoted ---

_ACCEPTED: Final = 202
_CURSOR: Final = re.compile(rf"[!-~]{{1,{MAX_CURSOR_LENGTH}}}")  # visible ASCII: it goes into an address
_UNDONE: Final = ("", "identity", "gzip", "deflate")  # content codings that the transport has undone
_CODING: Final = re.compile(r"[a-z0-9-]{1,16}(, ?[a-z0-9-]{1,16}){0,3}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """A success. `data` is as the service gave it, None without any; `request` is its echo of the parameters.

    `next_cursor` is None on the last page; `total_count` is None unless requested; `answered_at` is the clock of the
    service in epoch seconds. `includes` and `problems` are of the v2 data API: related objects, and objects that were
    not found. `message` is in the answers of some calls in place of data. `access_level` is that of the token, such as
    `read`, if the service gives it.
    """

    status: int
    data: Any = field(default=None, repr=False)
    next_cursor: str | None = field(default=None, repr=False)
    total_count: int | None = None
    request: Any = field(default=None, repr=False)
    includes: Any = field(default=None, repr=False)
    problems: Any = field(default=None, repr=False)
    message: str | None = field(default=None, repr=False)
    rate_limit: RateLimit = field(default_factory=RateLimit)
    answered_at: int | None = None
    access_level: str | None = None


@dataclass(frozen=True, slots=True)
class Counts:
    """The counts of the service for an upload: records received, and records in the request. They are not matches."""

    success_count: int
    total_count: int


def read_answer(response: ApiResponse, *, v2: bool = False) -> Answer:
    """Return the answer to a request that succeeded; raise the ExchangeError of any other answer.

    MalformedAnswer: the status is a success, but the body is not one whole JSON object or reports errors. If it reports
    errors of operations, RequestRefused of unknown outcome. With `v2`, errors beside data are `problems` (specification
    part 0, section 2.2).
    """
    document = read_success(response)
    if not _is_silent(document.get("operation_errors")):
        raise read_operation_refusal(response, document)
    problems = document.get("errors") if v2 and document.get("data") is not None else None
    if not problems and not _is_silent(document.get("errors")):
        raise _malformed(response.status, "reports errors")
    message = document.get("message")
    return Answer(
        status=response.status,
        data=document.get("data"),
        next_cursor=_read_cursor(document, response.status),
        total_count=_read_total(document, response.status),
        request=document.get("request"),
        includes=document.get("includes"),
        problems=problems,
        message=message if isinstance(message, str) else None,
        rate_limit=read_rate_limit(response.headers),
        answered_at=read_date(response.headers),
        access_level=response.headers.get("x-access-level"),
    )


def read_success(response: ApiResponse) -> Document:
    """Return the body of a success as one JSON object; raise the ExchangeError of anything else."""
    if not 200 <= response.status <= 299:
        raise read_refusal(response)
    document = read_document(response.body)
    if document is None:
        raise _malformed(response.status, _why_unread(response))
    return document


def _why_unread(response: ApiResponse) -> str:
    """Return why a body is no document.

    A coding that was not undone, or a byte order mark, is named: a gateway adds them.
    """
    coding = response.headers.get("content-encoding", "").strip().lower()
    if coding not in _UNDONE:
        named = coding if _CODING.fullmatch(coding) else "of another name"
        return f"is in a content coding that is not read ({named})"
    if response.body.startswith(codecs.BOM_UTF8):
        return "begins with a byte order mark, and is no JSON so"
    return "is not one whole JSON object"


def read_counts(answer: Answer) -> Counts:
    """Return both counts of an upload, summed when `data` is a list (part 2, section 4.4; both shapes occur).

    Raises MalformedAnswer unless both are whole numbers of 0 and more.
    """
    entries = answer.data if isinstance(answer.data, list) else [answer.data]
    if not entries or not all(isinstance(entry, dict) for entry in entries):
        raise _malformed(answer.status, "carries no counts")
    return Counts(
        success_count=sum(_read_count(entry, "success_count", answer.status) for entry in entries),
        total_count=sum(_read_count(entry, "total_count", answer.status) for entry in entries),
    )


def confirm_counts(answer: Answer, *, sent: int) -> Counts:
    """Return both counts, which equal the number of records sent. Raises CountMismatch and MalformedAnswer.

    A 202 confirms nothing: it says that the request is not done yet (RFC 9110, section 15.3.3).
    """
    if answer.status == _ACCEPTED:
        raise _malformed(answer.status, "says that the request is not done yet")
    counts = read_counts(answer)
    check_counts(counts, sent=sent)
    return counts


def check_counts(counts: Counts, *, sent: int) -> None:
    """Raise CountMismatch unless the records sent and both counts are equal (part 2, section 4.4)."""
    if not sent == counts.success_count == counts.total_count:
        raise CountMismatch(sent=sent, success_count=counts.success_count, total_count=counts.total_count)


def require_entity(answer: Answer, *, named: bool = False, asked: str | None = None) -> Answer:
    """Return the answer with one object as `data`, also if it came in a list of one; otherwise raise MalformedAnswer.

    Its `id` must be an id of this service, and equal to `asked` if that is given; with `named` it must have an id.
    """
    data = answer.data
    if isinstance(data, list) and len(data) == 1:
        data = data[0]
    if not isinstance(data, dict):
        raise _malformed(answer.status, "does not hold one object")
    _check_id(data, answer.status, named=named)
    if asked is not None and data.get("id", asked) != asked:
        raise _malformed(answer.status, "is about another object than the one asked for")
    return replace(answer, data=data)


def require_list(answer: Answer, *, named: bool = False) -> Answer:
    """Return the answer, whose `data` is a list of objects; otherwise raise MalformedAnswer. The same holds for ids."""
    if not isinstance(answer.data, list) or not all(isinstance(entry, dict) for entry in answer.data):
        raise _malformed(answer.status, "does not hold a list of objects")
    for entry in answer.data:
        _check_id(entry, answer.status, named=named)
    return answer


def _check_id(entry: Mapping[str, Any], status: int, *, named: bool) -> None:
    """Raise MalformedAnswer for an invalid id: an id becomes a part of paths, addresses and files on this disk."""
    if (named or "id" in entry) and not is_service_id(entry.get("id")):
        raise _malformed(status, "contains an invalid id")


def _malformed(status: int, what: str) -> MalformedAnswer:
    return MalformedAnswer(f"the answer has status {status} and {what}", status=status)


def _is_silent(errors: Any) -> bool:
    """Whether a member for errors has none: it is absent, null, empty, or a list of such values."""
    return errors is None or (isinstance(errors, list) and all(_is_silent(entry) for entry in errors))


def _read_cursor(document: Document, status: int) -> str | None:
    cursor = document.get("next_cursor")
    if cursor is not None and not (isinstance(cursor, str) and _CURSOR.fullmatch(cursor)):
        raise _malformed(status, "has a next cursor that cannot be followed")
    return cursor


def _read_total(document: Document, status: int) -> int | None:
    return None if document.get("total_count") is None else _read_count(document, "total_count", status)


def _read_count(entry: Mapping[str, Any], name: str, status: int) -> int:
    count = entry.get(name)
    if type(count) is not int or count < 0:
        raise _malformed(status, f"has a {name} that is no count")
    return count


# --- Strict JSON: bytes -> a value, or None. Ambiguous JSON is refused ---

Document: TypeAlias = dict[str, Any]

_HALF: Final = re.compile("[\ud800-\udfff]")
_HALF_ESCAPED: Final = re.compile(rb"\\u[dD][89a-fA-F]")


def read_document(body: bytes) -> Document | None:
    """Return the whole body as one JSON object in UTF-8; None for anything else.

    Duplicate keys, NaN and infinities, numbers beyond a float, and nesting that is too deep for the reader are refused.
    Whole numbers keep all digits: ids of users do not fit into a double (public service, examples of echoes).
    """
    document = read_json(body)
    return document if isinstance(document, dict) else None


def read_json(body: bytes) -> Any:
    """Return the whole body as JSON of any kind, by the same rules; None for invalid bodies and for `null`.

    Half of a surrogate pair, which an escape can write and no text can hold, becomes U+FFFD.
    """
    try:
        found = json.loads(
            body.decode("utf-8"),
            object_pairs_hook=_unique,
            parse_constant=_refuse,
            parse_float=_finite,
        )
        return _mended(found) if _HALF_ESCAPED.search(body) else found
    except (ValueError, RecursionError):
        # The exception quotes the body and ends here.
        return None


def find_break(body: bytes) -> str:
    """Return where `body` stops being JSON in UTF-8, in words; "" for JSON, which may still be refused."""
    try:
        json.loads(body.decode("utf-8"))
    except json.JSONDecodeError as error:
        return f"it breaks in line {error.lineno}, column {error.colno}"
    except UnicodeDecodeError as error:
        return f"byte {error.start + 1} is no UTF-8"
    except (ValueError, RecursionError):
        return "a number in it is too long, or it is nested too deeply"
    return ""


def _mended(found: Any) -> Any:
    match found:
        case str():
            return _HALF.sub("\ufffd", found)
        case list():
            return [_mended(each) for each in found]
        case dict():
            return {_mended(name): _mended(each) for name, each in found.items()}
    return found


def _unique(pairs: list[tuple[str, Any]]) -> Document:
    document = dict(pairs)
    if len(document) != len(pairs):
        raise ValueError
    return document


def _refuse(constant: str) -> NoReturn:
    raise ValueError


def _finite(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise ValueError
    return number


# --- An answer that is not a success -> the error of our tree. Pure ---
#
# The service's messages and values may quote what was sent, so they are dropped here: what stays is the status, codes
# that look like codes, and names of parameters that the catalogue knows. `read_words` reads messages for endpoints that
# carry no people's data. An error page in HTML or an empty one leaves the status alone to decide (public service, page
# on error codes).

# Groups of endpoints whose requests name no people: of these alone the service's own words are kept.
WITHOUT_PEOPLE: Final = frozenset(
    {
        *("account_media", "accounts", "audience_estimate", "campaigns", "cards", "conversation_cards"),
        *("curated_categories", "custom_audience_permissions", "custom_audiences", "features", "funding_instruments"),
        *("keyword_insights", "line_items", "media_creatives", "promoted", "recommendations", "reference"),
        *("tailored_audience_permissions", "targeting", "tracking_tags"),
    }
)
MAX_WORDS: Final = 300  # characters of the service's own words; ours
# A part of a text that may be an address, a phone number, a long id or a hash.
_PERSONAL: Final = re.compile(r"@|%40|\d(?:[\s().+/-]*\d){6}|[0-9A-Fa-f]{32}")
OperationErrors: TypeAlias = dict[int, tuple[str, ...]]

# Shorter than a hash in hex, so that none passes for a code; the longest published code has 58 characters.
_CODE: Final = re.compile(r"[A-Z][A-Z0-9_]{0,59}", re.ASCII)
_MAX_NUMERIC_CODE: Final = 9_999  # legacy codes have up to three digits; phone numbers and ids have more
_MAX_CODES_SHOWN: Final = 5
_MAY_COME_LATER: Final = frozenset({408, 423})  # and all 5xx: applied or not, no one can tell
# "The target is elsewhere, ask there": nothing was done with the request (RFC 9110, sections 15.4.2, 15.4.8, 15.4.9). A
# 302 or 303 may also lead to the result of what was done.
_ELSEWHERE: Final = frozenset({301, 307, 308})
_TOO_LARGE: Final = 413  # a gateway that says so has not passed on the whole, and a part is no JSON

_HINTS: Final = {
    "32": "the signature was not accepted: check all four credentials",
    "89": "the access token is invalid, expired or revoked: make a new one",
    "151": "the text is a command for a direct message, which is not tweeted",
    "135": "the clock of this machine is off: set it",
    "215": "the credentials did not arrive or are incomplete",
    "INSUFFICIENT_USER_AUTHORIZED_PERMISSION": "the token may only read, or is older than the permission",
    "FEATURE_NOT_AVAILABLE": "the account has no access to this beta or limited release: ask its account manager",
    "READONLY_CLIENT_APPLICATION": "the application may only read",
    "UNAUTHORIZED_CLIENT_APPLICATION": "the application has no access to this API",
    "UNAUTHORIZED_ACCESS": "check all four credentials",
}
_TIMELY: Final = frozenset({"32", "135"})  # what a signature is refused with for its time
_ACCESS_HINT: Final = "check the account id, and that the user of the credentials has access to that account"


def read_refusal(response: ApiResponse) -> ServiceError | MalformedAnswer:
    """Return the error of an answer outside 2xx; its outcome says whether the request may have been applied."""
    status, document = response.status, read_document(response.body) or {}
    if not 300 <= status <= 599:
        return MalformedAnswer(f"the service answered with status {status}, which is no answer", status=status)
    entries = [*_entries(document.get("errors")), *_nested_entries(document.get("operation_errors"))]
    codes = tuple(dict.fromkeys(_codes(entries)))
    is_of_service = bool(entries)  # an empty list names no error: any program may have said so
    kind, words = _kind(status)
    error = kind(
        f"{words}: {_facts(status, codes, entries)}",
        status=status,
        codes=codes,
        operation_errors=read_operation_errors(document),
        outcome=Outcome.REFUSED if _proves_refusal(status, is_of_service=is_of_service) else Outcome.UNKNOWN,
        is_of_service=is_of_service,
        hint=_hint(status, codes, response),
    )
    _add_waits(error, response)
    return error


def read_words(response_body: bytes) -> str:
    """Return the service's words for a refusal, in one line of at most MAX_WORDS characters; "" without any.

    A message that may contain an address, a phone number or a hash is left out.
    """
    document = read_document(response_body) or {}
    entries = [*_entries(document.get("errors")), *_nested_entries(document.get("operation_errors"))]
    given = (entry.get("message") for entry in entries)
    kept = dict.fromkeys(
        " ".join(text.split()) for text in given if isinstance(text, str) and not _PERSONAL.search(text)
    )
    words = shown("; ".join(filter(None, kept)))
    return words if len(words) <= MAX_WORDS else f"{words[: MAX_WORDS - 1]}…"


def read_operation_refusal(response: ApiResponse, document: Document) -> RequestRefused:
    """Return the error of a successful answer that names refused operations: its effect is unknown."""
    entries = [*_nested_entries(document.get("operation_errors"))]
    codes = tuple(dict.fromkeys(_codes(entries)))
    return RequestRefused(
        f"the service refuses operations of the request: {_facts(response.status, codes, entries)}",
        status=response.status,
        codes=codes,
        operation_errors=read_operation_errors(document),
        outcome=Outcome.UNKNOWN,
        is_of_service=bool(entries),
    )


def read_operation_errors(document: Document) -> OperationErrors:
    """Return the codes by index of the operation, from either shape: a list of lists, or a flat list in the same order.

    An entry of a flat list may name its index itself. Source of the shapes: models of production clients. The
    specification says only that the index matches the input (part 2, section 7).
    """
    given = document.get("operation_errors")
    if not isinstance(given, list):
        return {}
    found: dict[int, list[Document]] = {}
    for position, entry in enumerate(given):
        for one in _entries(entry if isinstance(entry, list) else [entry]):
            index = one.get("index")
            found.setdefault(index if type(index) is int else position, []).append(one)
    return {index: tuple(dict.fromkeys(_codes(entries))) for index, entries in found.items()}


def _proves_refusal(status: int, *, is_of_service: bool) -> bool:
    """Whether an answer with this status proves that its request was not applied, and will not be."""
    if status in _ELSEWHERE or status == _TOO_LARGE:
        return True
    return is_of_service and 400 <= status < 500 and status not in _MAY_COME_LATER


def _kind(status: int) -> tuple[type[ServiceError], str]:
    if status in (401, 403):
        return Unauthorized, "the service refuses the credentials or the permission"
    if status == 404:
        return NotFound, "not found: the service does not know an id of this request"
    if status == 429:
        return RateLimited, "the service asks to wait"
    if status >= 500 or status in _MAY_COME_LATER:
        return TemporarilyUnavailable, "the service is not available"
    if status < 400:
        return Redirected, "the service points to another address, which is never followed"
    return RequestRefused, "the service refuses the request"


def _add_waits(error: ServiceError, response: ApiResponse) -> None:
    retry_after = read_retry_after(response.headers, received_at=response.received_at)
    if isinstance(error, TemporarilyUnavailable):
        error.retry_after = retry_after
    elif isinstance(error, RateLimited):
        answered_at = read_date(response.headers)
        error.reset_at = read_rate_limit(response.headers).reset_at
        if error.reset_at is None and retry_after is not None:
            error.reset_at = (response.received_at if answered_at is None else answered_at) + retry_after
        # A reset is a time of the service's clock: a wait for it subtracts this.
        error.answered_at = answered_at
        _say_until(error, response.received_at if answered_at is None else answered_at)


def _say_until(error: RateLimited, now: float) -> None:
    """Say until when the service asks to wait, by its clock, unless the time is a mistake."""
    if error.reset_at is not None and 0 < error.reset_at - now <= FARTHEST_RESET_SECONDS:
        error.args = (f"{error}, until {datetime.fromtimestamp(error.reset_at, UTC):%H:%M:%S} UTC",)


def _entries(given: Any) -> Iterator[Document]:
    if isinstance(given, list):
        yield from (entry for entry in given if isinstance(entry, dict) and entry)


def _nested_entries(given: Any) -> Iterator[Document]:
    for entry in given if isinstance(given, list) else ():
        yield from _entries(entry if isinstance(entry, list) else [entry])


def _codes(entries: Iterable[Document]) -> Iterator[str]:
    for entry in entries:
        code = entry.get("code")
        if isinstance(code, str) and _CODE.fullmatch(code):
            yield code
        elif type(code) is int and 0 <= code <= _MAX_NUMERIC_CODE:
            yield str(code)


def _facts(status: int, codes: tuple[str, ...], entries: Iterable[Document]) -> str:
    words = [f"status {status}", *codes[:_MAX_CODES_SHOWN]]
    if len(codes) > _MAX_CODES_SHOWN:
        words.append(f"and {len(codes) - _MAX_CODES_SHOWN} more codes")
    given = (entry.get("parameter") for entry in entries)
    names = dict.fromkeys(name for name in given if isinstance(name, str) and name in PARAMETER_NAMES)
    return ", ".join(words) + (f" (parameter {', '.join(names)})" if names else "")


def _hint(status: int, codes: tuple[str, ...], response: ApiResponse) -> str:
    if status < 400:
        return "check the address of the service in the settings"
    if status == 401 and (not codes or not _TIMELY.isdisjoint(codes)):
        behind = seconds_behind(response.received_at, read_date(response.headers))
        if behind:
            return f"{skew_in_words(behind)}: set it"
    return next((_HINTS[code] for code in codes if code in _HINTS), _ACCESS_HINT if status in (401, 403) else "")
