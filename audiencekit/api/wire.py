"""Bytes of an answer -> a result or a typed error. No I/O, and nothing that the service says is quoted."""

from __future__ import annotations

import codecs
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final

from audiencekit.api.documents import Document, read_document
from audiencekit.api.exchange import ApiResponse
from audiencekit.api.rate_limit import RateLimit, read_date, read_rate_limit
from audiencekit.api.refusals import read_operation_refusal, read_refusal
from audiencekit.errors import CountMismatch, MalformedAnswer
from audiencekit.limits import MAX_CURSOR_LENGTH
from audiencekit.serviceids import is_service_id

_ACCEPTED: Final = 202
_CURSOR: Final = re.compile(rf"[!-~]{{1,{MAX_CURSOR_LENGTH}}}")  # visible ASCII: it goes into an address
_UNDONE: Final = ("", "identity", "gzip", "deflate")  # content codings that the transport has undone
_CODING: Final = re.compile(r"[a-z0-9-]{1,16}(, ?[a-z0-9-]{1,16}){0,3}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """A success. `data` is as the service gave it, None if it gave none; `request` is its echo of parameters.

    `next_cursor` is None on the last page; `total_count` is None unless asked for; `answered_at` is the
    clock of the service in epoch seconds. `includes` and `problems` are of the v2 data API: related objects, and
    what was not found; `message` is what some calls answer instead of data. `access_level` is that of the token, such
    as `read`, where the service says so.
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
    """The counts of the service in an upload: records received, and records in the request. Not: matches."""

    success_count: int
    total_count: int


def read_answer(response: ApiResponse, *, v2: bool = False) -> Answer:
    """The answer to a request that succeeded; raises the ExchangeError that any other answer stands for.

    MalformedAnswer: the status says success, the body is not one whole JSON object or reports errors. Where it
    reports errors of operations, RequestRefused of unknown outcome. With `v2`, errors beside data are `problems`
    (specification part 0, section 2.2).
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
    """The body of a success as one JSON object; raises the ExchangeError that anything else stands for."""
    if not 200 <= response.status <= 299:
        raise read_refusal(response)
    document = read_document(response.body)
    if document is None:
        raise _malformed(response.status, _why_unread(response))
    return document


def _why_unread(response: ApiResponse) -> str:
    """Why a body is no document, named where a gateway is the cause: a coding that is not undone, or a mark."""
    coding = response.headers.get("content-encoding", "").strip().lower()
    if coding not in _UNDONE:
        named = coding if _CODING.fullmatch(coding) else "of another name"
        return f"is in a content coding that is not read ({named})"
    if response.body.startswith(codecs.BOM_UTF8):
        return "begins with a byte order mark, and is no JSON so"
    return "is not one whole JSON object"


def read_counts(answer: Answer) -> Counts:
    """Both counts of an upload, summed when `data` is a list (part 2, section 4.4; both shapes occur).

    Raises MalformedAnswer for anything but whole numbers of 0 and more.
    """
    entries = answer.data if isinstance(answer.data, list) else [answer.data]
    if not entries or not all(isinstance(entry, dict) for entry in entries):
        raise _malformed(answer.status, "carries no counts")
    return Counts(
        success_count=sum(_read_count(entry, "success_count", answer.status) for entry in entries),
        total_count=sum(_read_count(entry, "total_count", answer.status) for entry in entries),
    )


def confirm_counts(answer: Answer, *, sent: int) -> Counts:
    """Both counts, which are the number of records sent. Raises CountMismatch and MalformedAnswer.

    A 202 confirms nothing: it says that the request is not done yet (RFC 9110, section 15.3.3).
    """
    if answer.status == _ACCEPTED:
        raise _malformed(answer.status, "says that the request is not done yet")
    counts = read_counts(answer)
    check_counts(counts, sent=sent)
    return counts


def check_counts(counts: Counts, *, sent: int) -> None:
    """Raises CountMismatch unless records sent and both counts are one number (part 2, section 4.4)."""
    if not sent == counts.success_count == counts.total_count:
        raise CountMismatch(sent=sent, success_count=counts.success_count, total_count=counts.total_count)


def require_entity(answer: Answer, *, named: bool = False, asked: str | None = None) -> Answer:
    """The answer with one object as `data`, also when it came in a list of one; raises MalformedAnswer.

    An `id` of it must be one of this service, and where one was `asked` for, that one; when it is `named`, it must have
    one.
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
    """The answer, whose `data` is a list of objects; raises MalformedAnswer. Of ids the same is true."""
    if not isinstance(answer.data, list) or not all(isinstance(entry, dict) for entry in answer.data):
        raise _malformed(answer.status, "does not hold a list of objects")
    for entry in answer.data:
        _check_id(entry, answer.status, named=named)
    return answer


def _check_id(entry: Mapping[str, Any], status: int, *, named: bool) -> None:
    """Raises MalformedAnswer. An id of an answer becomes a part of paths, of addresses and on this disk."""
    if (named or "id" in entry) and not is_service_id(entry.get("id")):
        raise _malformed(status, "contains an invalid id")


def _malformed(status: int, what: str) -> MalformedAnswer:
    return MalformedAnswer(f"the answer has status {status} and {what}", status=status)


def _is_silent(errors: Any) -> bool:
    """Whether a member for errors holds none: absent, null, empty, or a list of such."""
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
