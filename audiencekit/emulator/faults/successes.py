"""Faults that look like a success: status 200, and a body that proves nothing."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Any, Final

import orjson

from audiencekit.emulator.envelope import JSON, Answer, problem, success
from audiencekit.emulator.faults.effects import Reply
from audiencekit.emulator.faults.fault import Fault, Situation, Strike
from audiencekit.emulator.faults.misleadinglists import MISLEADING, can_mislead, mislead
from audiencekit.emulator.faults.records import list_operations

_HTML: Final = "text/html;charset=utf-8"
ANOTHER_ID: Final = "18ce5other"


def genuine(situation: Situation) -> Answer:
    """Return the answer that was given; when nothing was applied, the one that would have been."""
    if situation.answer is not None:
        return situation.answer
    users = sum(map(len, list_operations(situation.body)))
    return success(situation.ids, {"success_count": users, "total_count": users})


def _content(answer: Answer) -> bytes:
    return answer.body if isinstance(answer.body, bytes) else b"".join(answer.body)


def garble(strike: Strike) -> Reply:
    """16: 200 with something else than the answer."""
    answer, kind = genuine(strike.situation), strike["kind"]
    if kind in MISLEADING:
        page = orjson.loads(_content(answer)) if strike.situation.answer is not None else None
        return Reply(replace(answer, body=orjson.dumps(mislead(kind, page, strike.chance))))
    if kind == "html":
        return Reply(Answer(200, b"<html><body>It works!</body></html>", content_type=_HTML))
    if kind == "large":
        return Reply(replace(answer, body=_content(answer) + b" " * strike["bytes"]))
    if kind == "deep":
        return Reply(replace(answer, body=b"[" * strike["depth"] + b"]" * strike["depth"]))
    return Reply(replace(answer, body=_GARBLED[kind](_content(answer))))


def can_be_garbled(fault: Fault, situation: Situation) -> bool:
    """Return whether there is what the fault spoils: a list leads astray, and nothing else."""
    if fault.settings["kind"] not in MISLEADING:
        return True
    if situation.answer is None:
        return situation.method == "GET"
    return is_document(situation) and can_mislead(fault.settings["kind"], orjson.loads(_content(situation.answer)))


_GARBLED: Final[Mapping[str, Callable[[bytes], bytes]]] = MappingProxyType(
    {
        "invalid_json": lambda content: content[:-1] + b",]",
        "empty": lambda content: b"",
        "null": lambda content: b"null",
        "duplicate_keys": lambda content: b'{"data":{"success_count":0,"total_count":0},' + content[1:],
        "nan": lambda content: b'{"data":{"success_count":NaN,"total_count":NaN},"request":{"params":{}}}',
    }
)


GARBLINGS: Final = ("invalid_json", "html", "empty", "null", "duplicate_keys", "nan", "large", "deep", *MISLEADING)


def miscount(strike: Strike) -> Reply:
    """17: counts that are not those of the users."""
    answer = genuine(strike.situation)
    document = orjson.loads(_content(answer))
    counted = document["data"][0] if isinstance(document["data"], list) else document["data"]
    operations = len(list_operations(strike.situation.body))
    counted |= _miscounted(strike["kind"], counted["total_count"], operations)
    if strike["kind"] == "missing":
        counted.clear()
    return Reply(replace(answer, body=orjson.dumps(document)))


def _miscounted(kind: str, total: int, operations: int) -> dict[str, Any]:
    short, long = max(0, total - 1), total + 1
    pairs: dict[str, tuple[Any, Any]] = {
        "success_short": (short, total),
        "both_short": (short, short),
        "both_long": (long, long),
        "success_long": (long, total),
        "operations": (operations, operations),
        "strings": (str(total), str(total)),
        "floats": (total + 0.5, total + 0.5),
        "negative": (-total, -total),
        "booleans": (True, True),
        "huge": (10**18, 10**18),
        "null": (None, None),
        "missing": (0, 0),
    }
    return dict(zip(("success_count", "total_count"), pairs[kind], strict=True))


def has_counts(situation: Situation) -> bool:
    """Return whether the answer has counts, or would have: only those of users requests do."""
    if situation.answer is None:
        return bool(list_operations(situation.body))
    if not is_document(situation):
        return False
    data = orjson.loads(_content(situation.answer)).get("data")
    first = data[0] if isinstance(data, list) and data else data
    return isinstance(first, dict) and "total_count" in first


def is_document(situation: Situation) -> bool:
    """Return whether the answer is a JSON object, or would be: pages, pairs and feeds are none."""
    answer = genuine(situation)
    return answer.content_type == JSON and _content(answer).startswith(b"{")


def contradict(strike: Strike) -> Reply:
    """18: a success with errors in it."""
    answer, kind = genuine(strike.situation), strike["kind"]
    document = orjson.loads(_content(answer))
    trouble = problem("INTERNAL_ERROR", "Something went wrong")
    document[kind] = [trouble] if kind == "errors" else [[trouble]]
    return Reply(replace(answer, body=orjson.dumps(document)))


def confuse(strike: Strike) -> Reply:
    """39: the answer to another request, as a broken cache gives it."""
    answer = genuine(strike.situation)
    document = orjson.loads(_content(answer))
    if strike["kind"] == "shape":
        data = document.get("data")
        document["data"] = (data[0] if data else {}) if isinstance(data, list) else [data, data]
    else:
        document = _renamed(document)
    return Reply(replace(answer, body=orjson.dumps(document)))


def _renamed(found: Any, name: str = "") -> Any:
    """Return the same of something else: another stands for each id, also in the echo of the parameters."""
    if isinstance(found, dict):
        return {key: _renamed(value, key) for key, value in found.items()}
    if isinstance(found, list):
        return [_renamed(each, name) for each in found]
    return ANOTHER_ID if isinstance(found, str) and (name == "id" or name.endswith("_id")) else found
