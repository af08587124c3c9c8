"""Faults that are an answer: statuses, codes and headers, whatever was asked."""

from __future__ import annotations

from collections.abc import Mapping
from email.utils import formatdate
from http import HTTPStatus
from types import MappingProxyType
from typing import Any, Final

import orjson

from audiencekit.emulator.envelope import JSON, Answer
from audiencekit.emulator.faults.effects import Reply
from audiencekit.emulator.faults.fault import Strike

_HTML: Final = "text/html;charset=utf-8"
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


def fail(strike: Strike) -> Reply:
    """8, 9 and 11: a status."""
    return Reply(plain_status(strike["status"], strike["body"]))


def overload(strike: Strike) -> Reply:
    """10: 503 with or without `retry-after`."""
    given = strike["retry_after"]
    headers = {}
    if isinstance(given, dict):
        headers["retry-after"] = formatdate(strike.situation.now + given["date"], usegmt=True)
    elif given != "missing":
        headers["retry-after"] = given if isinstance(given, str) else f"{given:.12g}"
    return Reply(plain_status(503, strike["body"], strike["code"], headers))


def limit_account(strike: Strike) -> Reply:
    """4: 429 with the headers of the account."""
    return _limited(strike, {"x-account-rate-limit": strike["reset"]})


def limit_token(strike: Strike) -> Reply:
    """5, 6 and 7: 429 with the headers of the token, or with both, which then differ."""
    both = {"x-account-rate-limit": strike["account_reset"]} if strike["account_reset"] is not None else {}
    return _limited(strike, {"x-rate-limit": strike["reset"], **both})


def _limited(strike: Strike, resets: Mapping[str, float | str]) -> Reply:
    headers: dict[str, str] = {}
    for name, reset in resets.items():
        headers |= {f"{name}-limit": "1500", f"{name}-remaining": "0"}
        if reset != "missing":
            headers[f"{name}-reset"] = write_reset(reset, strike.situation.now)
    return Reply(plain_status(429, strike["body"], headers=headers))


def write_reset(reset: float | str, now: float) -> str:
    """Return the text of a reset header: a whole epoch second, or what else a service may put there."""
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


def revoke_token(strike: Strike) -> Reply:
    """22: 401 with code 89."""
    return Reply(_errors(401, *_REVOKED))


def deny(strike: Strike) -> Reply:
    """24: a signature that is not taken, or an account or application that may not."""
    answers: dict[str, tuple[int, int | str, str]] = {
        "signature": (401, 32, "Could not authenticate you."),
        "account": (403, "ACCOUNT_NOT_FOUND", "The account was not found"),
        "application": (
            403,
            "UNAUTHORIZED_CLIENT_APPLICATION",
            "The client application making this request does not have access to this API",
        ),
    }
    return Reply(_errors(*answers[strike["kind"]]))


def lose_audience(strike: Strike) -> Reply:
    """25: the audience is gone, or is another's now."""
    if strike["kind"] == "permission":
        return Reply(_errors(403, "INSUFFICIENT_USER_AUTHORIZED_PERMISSION", "The user may not do this"))
    found = _errors(404, "NOT_FOUND", "The Custom Audience was not found")
    document = orjson.loads(bytes(found.body))  # type: ignore[arg-type]
    document["errors"][0]["parameter"] = "custom_audience_id"
    return Reply(Answer(404, orjson.dumps(document)))


def redirect(strike: Strike) -> Reply:
    """30: 3xx to `location`."""
    return Reply(Answer(strike["status"], b"", {"Location": strike["location"]}))
