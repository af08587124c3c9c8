"""Campaigns: listed, made, changed (specification part 1, sections 3 and 4.4).

A daily budget is required unless the funding instrument is an insertion order: the specification says "most types".
"""

from __future__ import annotations

from typing import Any

from audiencekit.emulator.calls import Call
from audiencekit.emulator.campaigns.kinds import CAMPAIGNS, FUNDING_INSTRUMENTS, show_campaign
from audiencekit.emulator.envelope import Answer, success
from audiencekit.emulator.parameters import MAX_LONG, Parameters
from audiencekit.emulator.resources.records import Record

_MAX_NAME, _MAX_ORDER_NUMBER = 255, 50
_DAILY, _TOTAL = "daily_budget_amount_local_micro", "total_budget_amount_local_micro"


def list_campaigns(call: Call) -> Answer:
    """Answer `GET …/campaigns`: drafts only with `with_draft`."""
    parameters = Parameters(call)
    with_draft = parameters.boolean("with_draft")
    return CAMPAIGNS.list_wanted(
        call, parameters, lambda campaign: with_draft or campaign.fields["entity_status"] != "DRAFT"
    )


def create_campaign(call: Call) -> Answer:
    """Answer `POST …/campaigns`."""
    parameters = Parameters(call)
    return success(parameters.echo, show_campaign(make_campaign(call, parameters)))


def make_campaign(call: Call, parameters: Parameters) -> Record:
    """Return a new campaign, as the parameters say."""
    instrument_id = parameters.required_text("funding_instrument_id")
    fields: dict[str, Any] = {
        "funding_instrument_id": instrument_id,
        "name": parameters.required_text("name", longest=_MAX_NAME),
        "budget_optimization": "CAMPAIGN",
        "entity_status": parameters.choice("entity_status", ("ACTIVE", "DRAFT", "PAUSED"), "ACTIVE"),
        "purchase_order_number": None,
        "standard_delivery": None,
        _DAILY: None,
        _TOTAL: None,
        **_read_changes(parameters),
    }
    parameters.finish()
    instrument = FUNDING_INSTRUMENTS.find(call, instrument_id)
    if fields[_DAILY] is None and instrument.fields["type"] != "INSERTION_ORDER":
        raise parameters.fault(_DAILY, f'"{_DAILY}" is a required parameter', "MISSING_PARAMETER")
    _check(call, parameters, fields)
    if fields["standard_delivery"] is None and fields["budget_optimization"] == "CAMPAIGN":
        fields["standard_delivery"] = True
    more = {"currency": instrument.fields["currency"], "duration_in_days": None, "frequency_cap": None}
    return CAMPAIGNS.make(call, {**fields, **more})


def change_campaign(call: Call) -> Answer:
    """Answer `PUT …/campaigns/:campaign_id`."""
    parameters = Parameters(call)
    return success(parameters.echo, show_campaign(update_campaign(call, parameters, call.ids["campaign_id"])))


def update_campaign(call: Call, parameters: Parameters, campaign_id: str) -> Record:
    """Return the campaign, changed as the parameters say. A draft can become active or paused, and nothing a draft."""
    campaign = CAMPAIGNS.find(call, campaign_id)
    name = parameters.text("name", longest=_MAX_NAME)
    status = parameters.choice("entity_status", ("ACTIVE", "PAUSED"), "")
    changes = _read_changes(parameters)
    parameters.finish()
    if name:
        changes["name"] = name
    if status:
        changes["entity_status"] = status
    fields = {**campaign.fields, **changes}
    if fields["budget_optimization"] != "CAMPAIGN" and "standard_delivery" not in changes:
        fields["standard_delivery"] = None
    _check(call, parameters, fields, campaign)
    campaign.change(fields, call.now, call.user_id)
    return campaign


def _read_changes(parameters: Parameters) -> dict[str, Any]:
    """Return the given fields among those that both create and update take."""
    changes: dict[str, Any] = {}
    for name in (_DAILY, _TOTAL):
        if parameters.given(name) is not None:
            changes[name] = parameters.number(name, default=0, least=1, most=MAX_LONG)
    if parameters.given("budget_optimization") is not None:
        changes["budget_optimization"] = parameters.choice("budget_optimization", ("CAMPAIGN", "LINE_ITEM"), "")
    if parameters.given("standard_delivery") is not None:
        changes["standard_delivery"] = parameters.boolean("standard_delivery")
    if parameters.given("purchase_order_number") is not None:
        number = parameters.text("purchase_order_number", longest=_MAX_ORDER_NUMBER, empty=True)
        changes["purchase_order_number"] = number or None
    return changes


def _check(call: Call, parameters: Parameters, fields: dict[str, Any], campaign: Record | None = None) -> None:
    daily, total = fields[_DAILY], fields[_TOTAL]
    if daily is not None and total is not None and daily > total:
        raise parameters.fault(_DAILY, "The daily budget must not exceed the total budget")
    if fields["standard_delivery"] is not None and fields["budget_optimization"] != "CAMPAIGN":
        message = "standard_delivery is for budget_optimization CAMPAIGN only"
        raise parameters.fault("standard_delivery", message, "EXCLUSIVE_PARAMETERS")
    others = [each for each in CAMPAIGNS.all(call).values() if each is not campaign and not each.deleted]
    active = sum(each.fields["entity_status"] == "ACTIVE" for each in others)
    if fields["entity_status"] == "ACTIVE" and active >= call.account.max_active_campaigns:
        message = f"The account has at most {call.account.max_active_campaigns} active campaigns"
        raise parameters.fault("entity_status", message, "TOO_MANY_CAMPAIGNS")
