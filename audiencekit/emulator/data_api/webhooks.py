"""Webhooks: linked to the rules of the filtered stream, and asked to repeat (specification part 0, sections 4.9 and 9).

How webhooks are made is not shown, so any number can be linked; events go to those that the emulator has a receiver
for. The parameters of a replay are not shown: they are the public service's, in the query or a JSON object, and each
may be left out.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import Any, Final

import orjson

from audiencekit.emulator.bodies import parse_json
from audiencekit.emulator.calls import Call
from audiencekit.emulator.data_api.fields import read_wish
from audiencekit.emulator.data_api.query import Query, invalid
from audiencekit.emulator.envelope import Answer, refuse_problem
from audiencekit.emulator.times import format_time

_WEBHOOK_ID: Final = re.compile(r"[0-9]{1,19}", re.ASCII)
_DAY: Final = 86_400.0
_NAMES: Final = ("webhook_id", "from_date", "to_date")


def link_webhook(call: Call) -> Answer:
    """Answer `POST /2/tweets/search/webhooks/:webhook_id`: linked, and the same when it was before."""
    if not _WEBHOOK_ID.fullmatch(call.ids["webhook_id"]):
        raise invalid("Expected 1 to 19 digits for [webhook_id]")
    query = Query(call.query)
    wish = read_wish(query)
    query.finish()
    call.store.webhooks.link(call.ids["webhook_id"], wish)
    return Answer(200, orjson.dumps({"data": {"provisioned": True}}))


def replay(call: Call) -> Answer:
    """Answer `POST /2/webhooks/replay`: the number of the job, which delivers again what happened between two minutes.

    By default that is the last day, to every linked webhook.
    """
    query = Query(call.query)
    given = {name: query.text(name) for name in _NAMES}
    query.finish()
    given |= _read_body(call)
    webhooks, webhook_id = call.store.webhooks, given["webhook_id"]
    if webhook_id is not None and webhook_id not in webhooks.links:
        kind = "https://api.x.com/2/problems/resource-not-found"
        raise refuse_problem(404, "Not Found Error", "The webhook is not linked", kind)
    until = _read_minute("to_date", given["to_date"], call.now)
    since = _read_minute("from_date", given["from_date"], until - _DAY)
    if since > until:
        raise invalid("Expected [from_date] before [to_date]")
    webhooks.replay([*webhooks.links] if webhook_id is None else [webhook_id], since, until)
    job = {"job_id": call.store.make_long_id(call.now), "created_at": format_time(call.now)}
    return Answer(200, orjson.dumps({"data": job}))


def _read_body(call: Call) -> dict[str, Any]:
    if not call.body:
        return {}
    try:
        members = parse_json(call.body)
    except ValueError:
        raise invalid("The body is not valid JSON, or repeats a key") from None
    if not isinstance(members, dict) or not members.keys() <= set(_NAMES):
        raise invalid(f"Expected a JSON object with {', '.join(_NAMES)}")
    if not all(isinstance(text, str) for text in members.values()):
        raise invalid("Expected texts")
    return members


def _read_minute(name: str, text: str | None, default: float) -> float:
    if text is None:
        return default
    try:
        if not re.fullmatch(r"[0-9]{12}", text, re.ASCII):
            raise ValueError
        return datetime.strptime(text, "%Y%m%d%H%M").replace(tzinfo=UTC).timestamp()
    except ValueError:
        raise invalid(f"Expected a minute of UTC as YYYYMMDDHHMM for [{name}]") from None
