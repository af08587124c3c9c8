"""Webhooks: linked to the rules of the filtered stream, and asked to repeat (specification part 0, sections 4.9 and 9).

How webhooks and rules are made is not shown, so any webhook can be linked, and nothing is ever sent to one.
"""

from __future__ import annotations

import re
from typing import Final

import orjson

from audiencekit.emulator.calls import Call
from audiencekit.emulator.data_api.fields import read_wish
from audiencekit.emulator.data_api.query import Query, invalid
from audiencekit.emulator.envelope import Answer
from audiencekit.emulator.times import format_time

_WEBHOOK_ID: Final = re.compile(r"[0-9]{1,19}", re.ASCII)


def link_webhook(call: Call) -> Answer:
    """`POST /2/tweets/search/webhooks/:webhook_id`: linked, and the same when it was before."""
    if not _WEBHOOK_ID.fullmatch(call.ids["webhook_id"]):
        raise invalid("Expected 1 to 19 digits for [webhook_id]")
    query = Query(call)
    read_wish(query)
    query.finish()
    return Answer(200, orjson.dumps({"data": {"provisioned": True}}))


def replay(call: Call) -> Answer:
    """`POST /2/webhooks/replay`: the number of the job. Its parameters are not shown, so none are looked at."""
    job = {"job_id": call.store.make_long_id(call.now), "created_at": format_time(call.now)}
    return Answer(200, orjson.dumps({"data": job}))
