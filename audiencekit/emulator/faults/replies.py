"""Answers of a service, or of a gateway in front of it, that differ from the specification."""

from __future__ import annotations

import hashlib
import random
from collections.abc import Callable, Mapping
from dataclasses import replace
from email.utils import formatdate
from http import HTTPStatus
from types import MappingProxyType
from typing import Any, Final
from urllib.parse import parse_qsl, urlencode

import orjson

from audiencekit.emulator.answers import JSON, Answer, problem, success
from audiencekit.emulator.endpoints.audience_users import users_of
from audiencekit.emulator.faults.effects import Fault, Injection, Reply, Reword, Situation

# --- Lists that mislead a client: ids that are paths, and pages without an end ---

# In the place of an id: a client that makes a path of it, or an address, comes out elsewhere.
HOSTILE_IDS: Final = (
    "../../../../../../tmp/audiencekit-astray/x", "../../../../audiencekit-astray/x", "..", ".", "", "/etc/x", "a/b",
    "a\\b", "%2e%2e%2fx", "a?b", "a#b", "a b", "a\r\nb", "a\u0000b", "A", "-a", "\u202ea", "\u0661", "a" * 33,
    "a" * 100_000, 7, None, True, ["a"], {"id": "a"},
)  # fmt: skip

Document = dict[str, Any]


def _put_ids(document: Document, chance: random.Random) -> None:
    data = document["data"]
    for entry in data if isinstance(data, list) else [data]:
        entry["id"] = chance.choice(HOSTILE_IDS)


def _rename(document: Document, chance: random.Random) -> None:
    for entry in document["data"]:
        entry["id"] = f"{chance.getrandbits(40):x}"


def _lead_on(document: Document, chance: random.Random) -> None:
    document["next_cursor"] = f"{chance.getrandbits(64):016x}"


def _lead_round(document: Document, chance: random.Random) -> None:
    document["next_cursor"] = "round"


MISLEADING: Final[Mapping[str, tuple[Callable[[Document, random.Random], None], ...]]] = MappingProxyType(
    {
        "hostile_ids": (_put_ids,),
        "endless_pages": (_rename, _lead_on),
        "circular_pages": (_rename, _lead_round),
        "same_page": (_lead_on,),
    }
)


def mislead(kind: str, page: Document | None, chance: random.Random) -> Document:
    """Return a misleading page, an invented one where there is none: no list continues after a cursor of its own."""
    document = page or {"data": [{"id": "18ce5astray", "name": "Astray", "audience_type": "CRM"}], "next_cursor": None}
    for change in MISLEADING[kind]:
        change(document, chance)
    return document


def can_mislead(kind: str, document: Any) -> bool:
    """Whether it is a page of a list with names; for hostile ids also a single object with a name."""
    data = document.get("data") if isinstance(document, dict) else None
    if kind == "hostile_ids" and isinstance(data, dict):
        return "id" in data
    return isinstance(data, list) and bool(data) and all(isinstance(entry, dict) and "id" in entry for entry in data)


# --- Faults of operations and records: a request is refused as a whole because of some of them ---

_MESSAGE: Final = "The user is not valid"
_SHARE_BITS: Final = 64


def list_operations(body: bytes) -> list[list[Any]]:
    """Return the users of each operation of a body; nothing if it is not a list of operations."""
    try:
        document = orjson.loads(body)
    except ValueError:
        return []
    return [users_of(item) for item in document] if isinstance(document, list) else []


def is_too_large(fault: Fault, situation: Situation) -> bool:
    """19: whether a request exceeds the limits of the fault; without limits each request does."""
    names = ("most_operations", "most_records", "most_bytes")
    most = {name: fault.settings[name] for name in names if fault.settings[name] is not None}
    operations = list_operations(situation.body) if most.keys() - {"most_bytes"} else []
    found = {
        "most_operations": len(operations),
        "most_records": sum(map(len, operations)),
        "most_bytes": len(situation.body),
    }
    return not most or any(found[name] > limit for name, limit in most.items())


def refuse_size(injection: Injection) -> Reply:
    """19: `errors` only."""
    entry = problem("REQUEST_TOO_COMPLEX", "The request is too large")
    document = {"errors": [entry], "request": {"params": dict(injection.situation.ids)}}
    return Reply(Answer(injection["status"], orjson.dumps(document)))


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


def refuse_operations(injection: Injection) -> Reply:
    """20: 400 that names the bad operations, or other ones."""
    operations = list_operations(injection.situation.body)
    return _refusal(injection, find_bad_operations(injection.fault, operations), operations, injection["bad"])


def has_duplicates(situation: Situation) -> bool:
    """21: whether two users of a request are the same."""
    return bool(_find_duplicates(list_operations(situation.body)))


def refuse_duplicates(injection: Injection) -> Reply:
    """21: 400 that names the operations of the second users of each pair."""
    operations = list_operations(injection.situation.body)
    return _refusal(injection, _find_duplicates(operations), operations, None)


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


def _refusal(injection: Injection, bad: list[int], operations: list[list[Any]], rule: object) -> Reply:
    trouble = problem("INVALID_PARAMETER", _MESSAGE, "users")
    document: dict[str, Any]
    if injection["shape"] == "errors":
        document = {"errors": [trouble]}
    else:
        named: list[Any] = [len(operations) + 7] if rule == "out_of_range" else list(bad)
        if rule == "wrong_type":
            document = {"operation_errors": {str(index): _MESSAGE for index in bad}}
        elif injection["shape"] == "flat":
            document = {"operation_errors": [{"index": index, **trouble} for index in named]}
        else:
            length = max(len(operations), named[-1] + 1)
            document = {"operation_errors": [[trouble] if index in named else [] for index in range(length)]}
    document["request"] = [{"params": dict(injection.situation.ids)} for _ in operations]
    return Reply(Answer(400, orjson.dumps(document)))


# --- Faults that look like a success: status 200, and a body that proves nothing ---

_HTML: Final = "text/html;charset=utf-8"
ANOTHER_ID: Final = "18ce5other"


def genuine(situation: Situation) -> Answer:
    """Return the genuine answer; if nothing was applied, the one that would have been sent."""
    if situation.answer is not None:
        return situation.answer
    users = sum(map(len, list_operations(situation.body)))
    return success(situation.ids, {"success_count": users, "total_count": users})


def _content(answer: Answer) -> bytes:
    return answer.body if isinstance(answer.body, bytes) else b"".join(answer.body)


def garble(injection: Injection) -> Reply:
    """16: 200 with other content than the answer."""
    answer, kind = genuine(injection.situation), injection["kind"]
    if kind in MISLEADING:
        page = orjson.loads(_content(answer)) if injection.situation.answer is not None else None
        return Reply(replace(answer, body=orjson.dumps(mislead(kind, page, injection.chance))))
    if kind == "html":
        return Reply(Answer(200, b"<html><body>It works!</body></html>", content_type=_HTML))
    if kind == "large":
        return Reply(replace(answer, body=_content(answer) + b" " * injection["bytes"]))
    if kind == "deep":
        return Reply(replace(answer, body=b"[" * injection["depth"] + b"]" * injection["depth"]))
    return Reply(replace(answer, body=_GARBLED[kind](_content(answer))))


def can_be_garbled(fault: Fault, situation: Situation) -> bool:
    """Whether the fault can be applied to the answer: only lists can mislead."""
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


def miscount(injection: Injection) -> Reply:
    """17: counts that differ from those of the users."""
    answer = genuine(injection.situation)
    document = orjson.loads(_content(answer))
    counted = document["data"][0] if isinstance(document["data"], list) else document["data"]
    operations = len(list_operations(injection.situation.body))
    counted |= _miscounted(injection["kind"], counted["total_count"], operations)
    if injection["kind"] == "missing":
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
    """Whether the answer has counts, or would have: only answers to users requests do."""
    if situation.answer is None:
        return bool(list_operations(situation.body))
    if not is_document(situation):
        return False
    data = orjson.loads(_content(situation.answer)).get("data")
    first = data[0] if isinstance(data, list) and data else data
    return isinstance(first, dict) and "total_count" in first


def is_document(situation: Situation) -> bool:
    """Whether the answer is a JSON object, or would be: pages, pairs and feeds are not."""
    answer = genuine(situation)
    return answer.content_type == JSON and _content(answer).startswith(b"{")


def contradict(injection: Injection) -> Reply:
    """18: a success with errors in it."""
    answer, kind = genuine(injection.situation), injection["kind"]
    document = orjson.loads(_content(answer))
    trouble = problem("INTERNAL_ERROR", "Something went wrong")
    document[kind] = [trouble] if kind == "errors" else [[trouble]]
    return Reply(replace(answer, body=orjson.dumps(document)))


def confuse(injection: Injection) -> Reply:
    """39: the answer to another request, as a broken cache sends it."""
    answer = genuine(injection.situation)
    document = orjson.loads(_content(answer))
    if injection["kind"] == "shape":
        data = document.get("data")
        document["data"] = (data[0] if data else {}) if isinstance(data, list) else [data, data]
    else:
        document = _renamed(document)
    return Reply(replace(answer, body=orjson.dumps(document)))


def _renamed(found: Any, name: str = "") -> Any:
    """Return the same with other ids, also in the echo of the parameters."""
    if isinstance(found, dict):
        return {key: _renamed(value, key) for key, value in found.items()}
    if isinstance(found, list):
        return [_renamed(each, name) for each in found]
    return ANOTHER_ID if isinstance(found, str) and (name == "id" or name.endswith("_id")) else found


# --- Hostile texts: for a terminal, for a log, or repeating what was sent ---

# A title, a cleared screen, colours in one byte (C1), text from right to left, an isolate, forged lines; FORGED must
# never begin a line.
FORGED: Final = "FORGED state: complete"
HOSTILE: Final = (
    f"\x1b]0;owned\x07\x1b[2J\x1b[1;31m\x9b31m\x85\u202e\u2066\u200b\u2028{FORGED}\r\n{FORGED}\r{FORGED}\x08\x7f"
)
_HALF_A_CHARACTER: Final = b"\\ud83d"  # as JSON writes it: orjson would refuse it as text
# Fields that a client puts into its next call, or reads a number from: with these whole, commands come further.
_NEEDED: Final = (
    "id",
    "ids",
    "cursor",
    "oauth_token",
    "oauth_token_secret",
    "oauth_callback_confirmed",
    "access_token",
)
_ECHO_STATUS: Final = 400


def reword(injection: Injection) -> Reword:
    """37: hostile text after every string, or a refusal that repeats all that was sent."""
    if injection["kind"] == "echo":
        return Reword(_echo)
    sparing = injection["kind"] == "shown"
    return Reword(lambda answer, sent: _spoil_answer(answer, sparing=sparing))


def _echo(answer: Answer, sent: bytes) -> Answer:
    said = sent.decode("utf-8", "replace")
    trouble = dict.fromkeys(("code", "message", "parameter", "title", "detail", "type"), said)
    return Answer(_ECHO_STATUS, orjson.dumps({"errors": [trouble], "request": {"params": {said: said}}}))


def _spoil_answer(answer: Answer, *, sparing: bool) -> Answer:
    if not isinstance(answer.body, bytes) or not answer.body:
        return answer
    if answer.body.startswith(b"oauth_token"):
        spoilt = [(name, spoil(text, name, sparing=sparing)) for name, text in parse_qsl(answer.body.decode())]
        return replace(answer, body=urlencode(spoilt).encode())
    if answer.content_type != JSON:
        return answer
    document = orjson.dumps(spoil(orjson.loads(answer.body), sparing=sparing))
    return replace(answer, body=document.replace(b"\x7f", b"\x7f" + _HALF_A_CHARACTER))


def spoil(found: Any, name: str = "", *, sparing: bool = False) -> Any:
    """Return `found` with hostile text after every string in it, and in empty lists of reasons.

    `sparing` leaves out what a client needs for its next call.
    """
    if isinstance(found, dict):
        return {key: spoil(value, key, sparing=sparing) for key, value in found.items()}
    if isinstance(found, list):
        return [spoil(each, name, sparing=sparing) for each in found] or (
            [HOSTILE] if name.startswith("reasons") else []
        )
    if not isinstance(found, str) or (sparing and _is_needed(name)):
        return found
    return found + HOSTILE


def _is_needed(name: str) -> bool:
    return name in _NEEDED or name.rpartition("_")[2] in _NEEDED


# --- Faults that send another answer: statuses, codes and headers ---

_CODES: Final[Mapping[int, str]] = MappingProxyType(
    {408: "CANCELLED_REQUEST", 423: "LOCK_ACQUISITION_TIMEOUT", 429: "TOO_MANY_REQUESTS"}
)
_FAR_FUTURE_SECONDS: Final = 3_155_760_000  # a hundred years
_REVOKED: Final = (89, "Invalid or expired token.")


def plain_status(status: int, body: str, code: str = "", headers: Mapping[str, str] | None = None) -> Answer:
    """Return an error answer whose body is JSON, HTML or nothing; `code` is by default that of the status."""
    phrase = HTTPStatus(status).phrase
    if body == "empty":
        return Answer(status, b"", headers or {})
    if body == "html":
        page = f"<html><head><title>{status} {phrase}</title></head><body><h1>{phrase}</h1></body></html>"
        return Answer(status, page.encode(), headers or {}, _HTML)
    return _errors(status, code or _CODES.get(status, "INTERNAL_ERROR"), phrase, headers)


def _errors(status: int, code: str | int, message: str, headers: Mapping[str, str] | None = None) -> Answer:
    document: dict[str, Any] = {"errors": [{"code": code, "message": message}]}
    if isinstance(code, str):
        document["request"] = {"params": {}}
    return Answer(status, orjson.dumps(document), headers or {}, JSON)


def fail(injection: Injection) -> Reply:
    """8, 9 and 11: a status."""
    return Reply(plain_status(injection["status"], injection["body"]))


def overload(injection: Injection) -> Reply:
    """10: 503 with or without `retry-after`."""
    given = injection["retry_after"]
    headers = {}
    if isinstance(given, dict):
        headers["retry-after"] = formatdate(injection.situation.now + given["date"], usegmt=True)
    elif given != "missing":
        headers["retry-after"] = given if isinstance(given, str) else f"{given:.12g}"
    return Reply(plain_status(503, injection["body"], injection["code"], headers))


def limit_account(injection: Injection) -> Reply:
    """4: 429 with the headers of the account."""
    return _limited(injection, {"x-account-rate-limit": injection["reset"]})


def limit_token(injection: Injection) -> Reply:
    """5, 6 and 7: 429 with the headers of the token, or with both, which then differ."""
    both = {"x-account-rate-limit": injection["account_reset"]} if injection["account_reset"] is not None else {}
    return _limited(injection, {"x-rate-limit": injection["reset"], **both})


def _limited(injection: Injection, resets: Mapping[str, float | str]) -> Reply:
    headers: dict[str, str] = {}
    for name, reset in resets.items():
        headers |= {f"{name}-limit": "1500", f"{name}-remaining": "0"}
        if reset != "missing":
            headers[f"{name}-reset"] = write_reset(reset, injection.situation.now)
    return Reply(plain_status(429, injection["body"], headers=headers))


def write_reset(reset: float | str, now: float) -> str:
    """Return the text of a reset header: a whole epoch second, or another text that a service may send."""
    wrong = {
        "past": str(int(now) - 3_600),
        "far_future": str(int(now) + _FAR_FUTURE_SECONDS),
        "text": "soon",
        "negative": "-1",
        "float": f"{now + 1.5:.3f}",
        "milliseconds": str(int(1_000 * (now + 2))),
        "huge": "9" * 400,
    }
    return wrong[reset] if isinstance(reset, str) else str(int(now + reset + 0.999))


def revoke_token(injection: Injection) -> Reply:
    """22: 401 with code 89."""
    return Reply(_errors(401, *_REVOKED))


def deny(injection: Injection) -> Reply:
    """24: a signature that is refused, or an account or application without the right."""
    answers: dict[str, tuple[int, int | str, str]] = {
        "signature": (401, 32, "Could not authenticate you."),
        "account": (403, "ACCOUNT_NOT_FOUND", "The account was not found"),
        "application": (
            403,
            "UNAUTHORIZED_CLIENT_APPLICATION",
            "The client application making this request does not have access to this API",
        ),
    }
    return Reply(_errors(*answers[injection["kind"]]))


def lose_audience(injection: Injection) -> Reply:
    """25: the audience is gone, or belongs to another account now."""
    if injection["kind"] == "permission":
        return Reply(_errors(403, "INSUFFICIENT_USER_AUTHORIZED_PERMISSION", "The user may not do this"))
    found = _errors(404, "NOT_FOUND", "The Custom Audience was not found")
    document = orjson.loads(bytes(found.body))  # type: ignore[arg-type]
    document["errors"][0]["parameter"] = "custom_audience_id"
    return Reply(Answer(404, orjson.dumps(document)))


def redirect(injection: Injection) -> Reply:
    """30: 3xx to `location`."""
    return Reply(Answer(injection["status"], b"", {"Location": injection["location"]}))
