"""Faults of operations and records: a request is refused as a whole because of some of them."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Any, Final

import orjson

from audiencekit.emulator.audiences.operations import users_of
from audiencekit.emulator.envelope import Answer, problem
from audiencekit.emulator.faults.effects import Reply
from audiencekit.emulator.faults.fault import Fault, Situation, Strike

_MESSAGE: Final = "The user is not valid"
_SHARE_BITS: Final = 64


def list_operations(body: bytes) -> list[list[Any]]:
    """Return the users of each operation of a body; nothing when it is no list of operations."""
    try:
        document = orjson.loads(body)
    except ValueError:
        return []
    return [users_of(item) for item in document] if isinstance(document, list) else []


def is_too_large(fault: Fault, situation: Situation) -> bool:
    """19: whether a request is over the limits that the fault sets; without any, each one is."""
    names = ("most_operations", "most_records", "most_bytes")
    most = {name: fault.settings[name] for name in names if fault.settings[name] is not None}
    operations = list_operations(situation.body) if most.keys() - {"most_bytes"} else []
    found = {
        "most_operations": len(operations),
        "most_records": sum(map(len, operations)),
        "most_bytes": len(situation.body),
    }
    return not most or any(found[name] > limit for name, limit in most.items())


def refuse_size(strike: Strike) -> Reply:
    """19: `errors` only."""
    entry = problem("REQUEST_TOO_COMPLEX", "The request is too large")
    document = {"errors": [entry], "request": {"params": dict(strike.situation.ids)}}
    return Reply(Answer(strike["status"], orjson.dumps(document)))


def has_bad_operations(fault: Fault, situation: Situation) -> bool:
    """20: whether any operation is bad."""
    return bool(find_bad_operations(fault, list_operations(situation.body)))


def find_bad_operations(fault: Fault, operations: list[list[Any]]) -> list[int]:
    """Return the indexes of the operations that the fault's rule makes bad."""
    bad = fault.settings["bad"]
    if isinstance(bad, dict):
        return [
            index for index, users in enumerate(operations) if any(_is_bad(user, bad, fault.seed) for user in users)
        ]
    if isinstance(bad, str):
        return list(range(len(operations))) if bad == "all" else [0] * bool(operations)
    indexes = bad if isinstance(bad, list) else [bad]
    return sorted({index for index in indexes if index < len(operations)})


def _is_bad(user: object, rule: Mapping[str, Any], seed: int) -> bool:
    values = sorted(_values(user))
    if "prefix" in rule:
        return any(text.startswith(rule["prefix"]) for text in values)
    digest = hashlib.sha256("\n".join([str(seed), *values]).encode()).digest()
    share: float = rule["share"]
    return int.from_bytes(digest[: _SHARE_BITS // 8], "big") < share * (1 << _SHARE_BITS)


def _values(user: object) -> list[str]:
    lists = user.values() if isinstance(user, dict) else ()
    return [text for texts in lists if isinstance(texts, list) for text in texts if isinstance(text, str)]


def refuse_operations(strike: Strike) -> Reply:
    """20: 400 that names the bad operations, or misnames them."""
    operations = list_operations(strike.situation.body)
    return _refusal(strike, find_bad_operations(strike.fault, operations), operations, strike["bad"])


def has_duplicates(situation: Situation) -> bool:
    """21: whether two users of a request are the same."""
    return bool(_find_duplicates(list_operations(situation.body)))


def refuse_duplicates(strike: Strike) -> Reply:
    """21: 400 that names the operations of every second one."""
    operations = list_operations(strike.situation.body)
    return _refusal(strike, _find_duplicates(operations), operations, None)


def _find_duplicates(operations: list[list[Any]]) -> list[int]:
    seen: set[bytes] = set()
    found = set()
    for index, users in enumerate(operations):
        for user in users:
            key = orjson.dumps(user, option=orjson.OPT_SORT_KEYS)
            if key in seen:
                found.add(index)
            seen.add(key)
    return sorted(found)


def _refusal(strike: Strike, bad: list[int], operations: list[list[Any]], rule: object) -> Reply:
    trouble = problem("INVALID_PARAMETER", _MESSAGE, "users")
    document: dict[str, Any]
    if strike["shape"] == "errors":
        document = {"errors": [trouble]}
    else:
        named: list[Any] = [len(operations) + 7] if rule == "out_of_range" else list(bad)
        if rule == "wrong_type":
            document = {"operation_errors": {str(index): _MESSAGE for index in bad}}
        elif strike["shape"] == "flat":
            document = {"operation_errors": [{"index": index, **trouble} for index in named]}
        else:
            length = max(len(operations), named[-1] + 1)
            document = {"operation_errors": [[trouble] if index in named else [] for index in range(length)]}
    document["request"] = [{"params": dict(strike.situation.ids)} for _ in operations]
    return Reply(Answer(400, orjson.dumps(document)))
