"""Line items: what a campaign delivers, and to which people.

The specification names their endpoints (list, create, update, delete) without showing them. They are served in the form
of the public service, with what a client needs to promote, tag and target something.
"""

from __future__ import annotations

from typing import Any, Final

from audiencekit.emulator.accounts.limitedreleases import CPM_BILLING, OBJECTIVES_OF_FEATURES
from audiencekit.emulator.calls import Call
from audiencekit.emulator.campaigns.kinds import CAMPAIGNS, LINE_ITEMS
from audiencekit.emulator.envelope import Answer, success
from audiencekit.emulator.parameters import MAX_LONG, Parameters
from audiencekit.emulator.reference.categories import are_business_categories
from audiencekit.emulator.resources.records import Record
from audiencekit.emulator.times import format_time
from audiencekit.servicewords import OBJECTIVES, PRODUCT_TYPES

_BID_STRATEGIES: Final = ("AUTO", "MAX", "TARGET")
_DAILY, _TOTAL = "daily_budget_amount_local_micro", "total_budget_amount_local_micro"
_AMOUNTS: Final = ("bid_amount_local_micro", _DAILY, _TOTAL)
_TIMES: Final = ("start_time", "end_time")


def list_line_items(call: Call) -> Answer:
    """Answer `GET …/line_items`: drafts only with `with_draft`, as with campaigns."""
    parameters = Parameters(call)
    with_draft = parameters.boolean("with_draft")
    return LINE_ITEMS.list_wanted(call, parameters, lambda item: with_draft or item.fields["entity_status"] != "DRAFT")


def create_line_item(call: Call) -> Answer:
    """Answer `POST …/line_items`."""
    parameters = Parameters(call)
    return success(parameters.echo, make_line_item(call, parameters).document())


def make_line_item(call: Call, parameters: Parameters) -> Record:
    """Return a new line item of a campaign, as the parameters say."""
    campaign_id = parameters.required_text("campaign_id")
    objective = parameters.required_choice("objective", OBJECTIVES)
    fields: dict[str, Any] = {
        **dict.fromkeys((*_AMOUNTS, *_TIMES)),
        "campaign_id": campaign_id,
        "name": None,
        "objective": objective,
        "product_type": parameters.required_choice("product_type", PRODUCT_TYPES),
        "placements": parameters.words("placements") or ["ALL_ON_TWITTER"],
        "entity_status": parameters.choice("entity_status", ("ACTIVE", "DRAFT", "PAUSED"), "ACTIVE"),
        "bid_strategy": None,
        "pay_by": parameters.text("pay_by"),
        "standard_delivery": None,
        "categories": _read_categories(parameters, objective),
        **_read_changes(parameters),
    }
    parameters.finish()
    campaign = CAMPAIGNS.find(call, campaign_id)
    _check_features(call, fields)
    _check(parameters, fields)
    more = {name: campaign.fields[name] for name in ("funding_instrument_id", "currency")}
    return LINE_ITEMS.make(call, {**fields, **more})


def change_line_item(call: Call) -> Answer:
    """Answer `PUT …/line_items/:line_item_id`."""
    parameters = Parameters(call)
    return success(parameters.echo, update_line_item(call, parameters, call.ids["line_item_id"]).document())


def update_line_item(call: Call, parameters: Parameters, line_item_id: str) -> Record:
    """Return the line item, changed as the parameters say; campaign, objective and product type stay."""
    item = LINE_ITEMS.find(call, line_item_id)
    status = parameters.choice("entity_status", ("ACTIVE", "PAUSED"), "")
    changes = _read_changes(parameters)
    if parameters.given("categories") is not None:
        changes["categories"] = _read_categories(parameters, item.fields["objective"])
    parameters.finish()
    if status:
        changes["entity_status"] = status
    _check(parameters, {**item.fields, **changes})
    item.change(changes, call.now, call.user_id)
    return item


def _read_changes(parameters: Parameters) -> dict[str, Any]:
    """Return the given fields among those that both create and update take."""
    changes: dict[str, Any] = {}
    for name in _AMOUNTS:
        if parameters.given(name) is not None:
            changes[name] = parameters.number(name, default=0, least=1, most=MAX_LONG)
    for name in _TIMES:
        moment = parameters.time(name)
        if moment is not None:
            changes[name] = format_time(moment)
    if parameters.given("bid_strategy") is not None:
        changes["bid_strategy"] = parameters.choice("bid_strategy", _BID_STRATEGIES, "")
    if parameters.given("standard_delivery") is not None:
        changes["standard_delivery"] = parameters.boolean("standard_delivery")
    if parameters.given("name") is not None:
        changes["name"] = parameters.text("name", longest=255)
    return changes


def _check(parameters: Parameters, fields: dict[str, Any]) -> None:
    daily, total, start, end = (fields[name] for name in (_DAILY, _TOTAL, *_TIMES))
    if daily is not None and total is not None and daily > total:
        raise parameters.fault(_DAILY, "The daily budget must not exceed the total budget")
    if start is not None and end is not None and end <= start:
        raise parameters.fault("end_time", "end_time must be later than start_time", "INVALID_TIME_WINDOW")


def _check_features(call: Call, fields: dict[str, Any]) -> None:
    """Some objectives, and one way to pay, are in limited release (specification part 1, section 4.12)."""
    if fields["objective"] in OBJECTIVES_OF_FEATURES:
        call.require_feature(OBJECTIVES_OF_FEATURES[fields["objective"]], "objective")
    if (fields["objective"], fields["pay_by"]) == ("WEBSITE_CLICKS", "IMPRESSION"):
        call.require_feature(CPM_BILLING, "pay_by")


def _read_categories(parameters: Parameters, objective: str) -> list[str]:
    """The IAB categories of a line item for prerolls, which stand for one or two advertiser business categories; empty
    for any other line item, which must not have them (specification part 1, section 4.2)."""
    if objective != "PREROLL_VIEWS":
        if parameters.words("categories") is not None:
            message = "categories are for objective PREROLL_VIEWS only"
            raise parameters.fault("categories", message, "EXCLUSIVE_PARAMETERS")
        return []
    categories = parameters.required_words("categories")
    if not are_business_categories(categories):
        message = "Expected the IAB categories of one or two advertiser business categories"
        raise parameters.fault("categories", message, "INVALID_IAB_CATEGORY")
    return categories
