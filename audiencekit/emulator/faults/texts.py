"""Texts that act: on a terminal, in a log, or by saying what was sent."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Final
from urllib.parse import parse_qsl, urlencode

import orjson

from audiencekit.emulator.envelope import JSON, Answer
from audiencekit.emulator.faults.effects import Reword
from audiencekit.emulator.faults.fault import Strike

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


def reword(strike: Strike) -> Reword:
    """37: hostile text behind every string, or a refusal that says all that was sent."""
    if strike["kind"] == "echo":
        return Reword(_echo)
    sparing = strike["kind"] == "shown"
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
    """`found` with hostile text behind every string of it, and in lists of reasons that are empty.

    `sparing` leaves what a client needs for its next call.
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
