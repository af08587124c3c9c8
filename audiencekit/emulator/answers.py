"""Answers: the bodies of successes and refusals, and the form of times (specification part 1, section 4.0)."""

from __future__ import annotations

import calendar
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta, timezone
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import orjson

if TYPE_CHECKING:
    from audiencekit.emulator.endpoints.activity import Stream

# --- Bodies of answers: what a success and a refusal look like (specification part 1, section 4.0) ---

JSON: Final = "application/json;charset=utf-8"

Problem = dict[str, str]


class Chunk(NamedTuple):
    """Bytes to send, and the pause before them."""

    content: bytes
    pause_seconds: float = 0.0


# Status, all headers and body of an answer, as the bytes of its own kind of HTTP; the connection is closed after them.
Delivery = Callable[[int, Mapping[str, str], bytes], Iterator[Chunk]]


@dataclass(frozen=True, slots=True)
class Answer:
    """Status, body, and additional headers. A body in parts is streamed; `feed` comes after it.

    `delivery` sends the answer in place of the server.
    """

    status: int
    body: bytes | Iterable[bytes]
    headers: Mapping[str, str] = field(default_factory=dict)
    content_type: str = JSON
    delivery: Delivery | None = None
    feed: Stream | None = None


class RefusalError(Exception):
    """Ends a call with an error answer. Nothing was applied."""

    def __init__(self, status: int, document: Mapping[str, Any], headers: Mapping[str, str] | None = None) -> None:
        super().__init__(f"refused with status {status}")
        self.answer = Answer(status, orjson.dumps(document), headers or {})
        self.problems: list[Problem] = document.get("errors", [])


def success(params: Mapping[str, Any], data: object, **more: object) -> Answer:
    """Return 200 with the echo of the parameters, the data, and members such as `next_cursor`."""
    return Answer(200, orjson.dumps({"request": {"params": params}, **more, "data": data}))


def success_of_items(data: list[Any], echoes: list[dict[str, Any]]) -> Answer:
    """Return 200 for a batch: one entry for each item, in the order of the items."""
    return Answer(200, orjson.dumps({"data": data, "request": echoes}))


def refuse_items(problems: list[list[Problem]], echoes: list[dict[str, Any]]) -> RefusalError:
    """Return the refusal of a batch with a list of problems for each item, empty for a good one."""
    return RefusalError(400, {"operation_errors": problems, "request": echoes})


def problem(code: str, message: str, parameter: str | None = None) -> Problem:
    """Return one entry of `errors`, or of an operation's list in `operation_errors`."""
    entry = {"code": code, "message": message}
    if parameter is not None:
        entry["parameter"] = parameter
    return entry


def refuse_legacy(status: int, code: int, message: str) -> RefusalError:
    """Return a refusal by authorization, whose codes are numbers (specification part 0, section 2.2)."""
    return RefusalError(status, {"errors": [{"code": code, "message": message}]})


def refuse_problem(status: int, title: str, detail: str, kind: str = "about:blank") -> RefusalError:
    """Return a refusal by the data API (specification part 0, section 2.2)."""
    return RefusalError(status, {"errors": [show_problem(status, title, detail, kind)]})


def show_problem(status: int, title: str, detail: str, kind: str) -> dict[str, Any]:
    """Return one entry of `errors` in the data API."""
    return {"title": title, "type": kind, "detail": detail, "status": status}


def refuse(
    status: int,
    code: str,
    message: str,
    parameter: str | None = None,
    *,
    params: Mapping[str, Any] | None = None,
    headers: Mapping[str, str] | None = None,
) -> RefusalError:
    """Return a refusal of the request as a whole; `params` is the echo, empty when it comes before parsing."""
    document = {"errors": [problem(code, message, parameter)], "request": {"params": params or {}}}
    return RefusalError(status, document, headers)


# --- Times on the wire: ISO 8601 in UTC, whole seconds ---

# A date alone, or date and time with Z, +HHMM, +HH:MM or +HH (public documentation, "timezones"). A fraction of a
# second is ISO 8601, and cut off. Times without an offset are documented nowhere, so they are not taken.
_FORM: Final = re.compile(
    r"(?P<date>\d{4}-\d\d-\d\d)"
    r"(?:T(?P<time>\d\d:\d\d:\d\d)(?:\.\d{1,9})?(?:Z|(?P<sign>[+-])(?P<hours>\d\d):?(?P<minutes>\d\d)?))?",
    re.ASCII,
)


def parse_time(text: object) -> int | None:
    """Return epoch seconds of an ISO 8601 time, None when `text` is not one."""
    found = _FORM.fullmatch(text) if isinstance(text, str) and not text.endswith(":") else None
    if found is None:
        return None
    try:
        moment = datetime.fromisoformat(f"{found['date']}T{found['time'] or '00:00:00'}")
        offset = timedelta(hours=int(found["hours"] or 0), minutes=int(found["minutes"] or 0))
        zone = timezone(-offset if found["sign"] == "-" else offset)
        return int(moment.replace(tzinfo=zone).astimezone(UTC).timestamp())
    except (ValueError, OverflowError):
        return None


def format_time(epoch: float) -> str:
    """Return `epoch` as the service prints it: UTC, without a fraction."""
    return datetime.fromtimestamp(int(epoch // 1), UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def add_months(epoch: float, months: int) -> int:
    """Return the same day and time `months` calendar months later; at most the last day of that month."""
    start = datetime.fromtimestamp(int(epoch // 1), UTC)
    year, month = divmod(start.year * 12 + start.month - 1 + months, 12)
    day = min(start.day, calendar.monthrange(year, month + 1)[1])
    return int(start.replace(year=year, month=month + 1, day=day).timestamp())
