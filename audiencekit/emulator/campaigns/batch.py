"""`POST …/batch/accounts/:account_id/campaigns`: at most 40 campaigns at a time, all or nothing (specification part 1,
sections 4.0 and 4.4). Update and Delete name their campaign by `campaign_id`, which the specification leaves open."""

from __future__ import annotations

import copy
from typing import Any, Final

from audiencekit.emulator.audiences.operations import check_array, echo_item, item_problems, missing
from audiencekit.emulator.calls import Call
from audiencekit.emulator.campaigns.campaigns import make_campaign, update_campaign
from audiencekit.emulator.campaigns.kinds import CAMPAIGNS, show_campaign
from audiencekit.emulator.documents import read_document
from audiencekit.emulator.envelope import Answer, Problem, RefusalError, problem, refuse_items, success_of_items
from audiencekit.emulator.parameters import Parameters
from audiencekit.emulator.resources.records import Record

MAX_ITEMS: Final = 40  # specification part 1, section 8
_OPERATION_TYPES: Final = ("Create", "Update", "Delete")


def batch_campaigns(call: Call) -> Answer:
    """The campaigns that were made, changed or deleted, in the order of the items."""
    items = check_array(read_document(call), call.ids, most=MAX_ITEMS)
    before, ids_made = copy.deepcopy(CAMPAIGNS.all(call)), call.store.ids_made
    applied = [_apply(call, item) for item in items]
    records = [found for found in applied if isinstance(found, Record)]
    if len(records) < len(applied):
        call.account.records[CAMPAIGNS.kind], call.store.ids_made = before, ids_made
        problems = [[] if isinstance(found, Record) else found for found in applied]
        raise refuse_items(problems, [echo_item(item, call.ids, _OPERATION_TYPES) for item in items])
    echoes = [{**item, "params": {**item["params"], **call.ids}} for item in items]
    return success_of_items([show_campaign(record) for record in records], echoes)


def _apply(call: Call, item: Any) -> Record | list[Problem]:
    if not isinstance(item, dict):
        return [problem("INVALID_PARAMETER", "Expected object for operation", "operation")]
    problems = item_problems(item, _OPERATION_TYPES)
    if problems:
        return problems
    params = dict(item["params"])
    campaign_id = params.pop("campaign_id", None)
    try:
        if item["operation_type"] == "Create":
            return make_campaign(call, Parameters.of(call, item["params"]))
        if not isinstance(campaign_id, str):
            return [missing("campaign_id")]
        if item["operation_type"] == "Update":
            return update_campaign(call, Parameters.of(call, params), campaign_id)
        return _delete(call, Parameters.of(call, params), campaign_id)
    except RefusalError as refusal:
        return refusal.problems


def _delete(call: Call, parameters: Parameters, campaign_id: str) -> Record:
    parameters.finish()
    campaign = CAMPAIGNS.find(call, campaign_id)
    campaign.delete(call.now, call.user_id)
    return campaign
