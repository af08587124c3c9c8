"""An answer that is not a success -> the error of our tree. Pure.

The service's messages and values may quote what was sent, so they are dropped here: what stays is the
status, codes that look like codes, and names of parameters that the catalogue knows. `read_words` reads messages for
endpoints that carry no people's data. An error page in HTML
or an empty one leaves the status alone to decide (public service, page on error codes).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from typing import Any, Final, TypeAlias

from audiencekit.api.catalogue import PARAMETER_NAMES
from audiencekit.api.documents import Document, read_document
from audiencekit.api.exchange import ApiResponse
from audiencekit.api.rate_limit import read_date, read_rate_limit, read_retry_after
from audiencekit.api.serviceclock import seconds_behind, skew_in_words
from audiencekit.errors import (
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
from audiencekit.limits import FARTHEST_RESET_SECONDS
from audiencekit.shown import shown

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
    """The error that an answer outside 2xx stands for; its outcome says whether it may have been applied."""
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
    """The service's own words for a refusal, in one line of at most MAX_WORDS characters; "" where there are none.

    A message that holds what may be an address, a phone number or a hash is left out.
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
    """The error of an answer whose status says success and whose body blames operations: its effect is unknown."""
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
    """Codes per index of an operation, from either shape: a list of lists, or a flat list in the same order.

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
    """Whether an answer of this status shows that its request was not applied, and will not be."""
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
    """Say until when the service asks to wait, by its clock, where that is a time and no mistake."""
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
