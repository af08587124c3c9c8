"""A notification as it is sent: the JSON document, its text forms, and its signature. Pure.

It holds counts, times and words of ours: no value, no name of a column or a file, no message of an error. A count below
ten is not told, and the others are rounded, so that neither a sum nor the message of the day before gives it away.
"""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, Final, Literal, TypeAlias

import orjson

from audiencekit.destinations.audience_names import find_in_name
from audiencekit.notifications.notices import BAD, Ending, notice_id, people_of
from audiencekit.personal import Secret
from audiencekit.records.plan_times import format_time
from audiencekit.reporting.page.privacy import FLOOR, FlooredCounts, in_tens

Form: TypeAlias = Literal["json", "slack", "teams"]
VERSION: Final = 1
SIGNATURE: Final = "Audiencekit-Signature"
ROWS: Final = ("read", "sent", "rejected", "duplicate", "superseded", "suppressed", "unchanged", "pending")
_WORDS: Final = {
    "failed": "it failed: a part may be missing",
    "refused": "it was refused",
    "killed": "its process was killed, or the machine stopped",
    "warnings": "it is complete, with warnings of large losses that differ from those before",
    "recovered": "it is complete, after a run that failed",
    "rejected": "a larger share of the rows was rejected than the rule allows",
    "fewer": "the list has fewer people than the one before",
    "match-rate": "the match rate of the audience is lower than before",
    "minutes": "it took longer than the rule allows",
    "empty": "the list was empty",
    "expiry": "entries of the audience expire soon",
}
_OTHER: Final = " "


def compose(
    ending: Ending,
    notices: Sequence[str],
    *,
    run_id: str | None,
    identity: str,
    command: str,
    error: str | None = None,
    exit_code: int | None = None,
    place: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """Return the document of docs/nightly.md, "The notification".

    `identity` is hashed into the ids of the notices: the id of the run, or for a command without a run anything that
    is new. `error` is the name of a class, `place` has the `kind`, `id` and `name` of an audience or list.
    """
    report = ending.report
    told = FlooredCounts(report)
    document: dict[str, Any] = {
        "version": VERSION,
        "notices": [{"id": notice_id(identity, name), "rule": name} for name in notices],
        "run_id": run_id,
        "command": command,
        "state": ending.state,
        "exit_code": exit_code,
        "error": error,
        "target": _target(place or {}),
        "rows": told.rows,
        "people": told.people(people_of(report)),
        "people_before": None if ending.before is None else in_tens(people_of(ending.before)),
        "expiring": in_tens(ending.expiring),
        "rounded_to": told.step,
        "started_at": report.get("started_at"),
        "finished_at": report.get("finished_at"),
        "seconds": ending.seconds,
        "expires_at": report.get("expires_at"),
        "composed_at": format_time(ending.now),
    }
    return {**document, "text": text_of(document)}


def text_of(document: Mapping[str, Any]) -> str:
    """Return the notification in a few words, for people."""
    target, rules = document["target"], [each["rule"] for each in document["notices"]]
    where = "" if target is None else f" of {target['kind'].replace('_', ' ')} {target['name'] or target['id']}"
    why = "; ".join(_WORDS[rule] for rule in rules)
    named = f" (run {document['run_id']})" if document["run_id"] else ""
    parts = [f"audiencekit {document['command']}{where}{named}: {why}."]
    if document["error"]:
        parts.append(f"{document['error']}, exit code {document['exit_code']}.")
    if rows := document["rows"]:
        shown = [f"{name} {_in_words(rows[name], document['rounded_to'])}" for name in ROWS if rows.get(name, 0) != 0]
        parts.append(f"Rows: {', '.join(shown)}." if shown else "")
    if document["people_before"] is not None:
        step = document["rounded_to"] or FLOOR
        people, before = (_in_words(document[name], step) for name in ("people", "people_before"))
        parts.append(f"People: {people}, before {before}.")
    if document["run_id"] and any(rule in BAD for rule in rules):
        parts.append(f"See: audiencekit report {document['run_id']}")
    return " ".join(filter(None, parts))


def body_of(document: Mapping[str, Any], form: Form) -> bytes:
    """Return the body of the POST in the form of the receiver."""
    text = "".join(letter if letter.isalnum() or letter in " -_.,;:()" else _OTHER for letter in document["text"])
    if form == "slack":
        return orjson.dumps({"text": text})
    if form == "teams":
        card = {
            "$schema": "http://adaptivecards.io/schemas/adaptive-card.json",
            "type": "AdaptiveCard",
            "version": "1.2",
            "body": [{"type": "TextBlock", "text": text, "wrap": True}],
        }
        attached = {"contentType": "application/vnd.microsoft.card.adaptive", "contentUrl": None, "content": card}
        return orjson.dumps({"type": "message", "attachments": [attached]})
    return orjson.dumps(document)


def sign(body: bytes, secret: Secret, at: datetime) -> str:
    """Return the value of the header SIGNATURE: `t=SECONDS,v1=HEX`, the HMAC-SHA-256 of `SECONDS.BODY`."""
    seconds = str(int(at.timestamp()))
    digest = hmac.new(secret.unwrap().encode(), f"{seconds}.".encode() + body, hashlib.sha256)
    return f"t={seconds},v1={digest.hexdigest()}"


def _target(place: Mapping[str, Any]) -> dict[str, str | None] | None:
    """Return kind, id and name; a name only when nothing in it may be of a person."""
    name = place.get("name")
    name = str(name) if name and not find_in_name(str(name)) else None
    if not place.get("id") and name is None:
        return None
    return {"kind": str(place.get("kind", "audience")), "id": place.get("id"), "name": name}


def _in_words(count: int | None, step: int | None) -> str:
    return f"fewer than {max(FLOOR, step or FLOOR)}, or unknown" if count is None else f"{count:,}"
