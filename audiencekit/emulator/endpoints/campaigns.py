"""Campaigns, line items, funding instruments and targeting criteria, alone and in batches (specification part 1,
sections 4.4 to 4.6 and 4.11).
"""

from __future__ import annotations

import copy
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

from audiencekit.emulator.answers import (
    Answer,
    Problem,
    RefusalError,
    format_time,
    problem,
    refuse_items,
    success,
    success_of_items,
)
from audiencekit.emulator.calls import Call
from audiencekit.emulator.endpoints.accounts import CPM_BILLING, CRITERIA_OF_FEATURES, OBJECTIVES_OF_FEATURES, Account
from audiencekit.emulator.endpoints.audience_users import check_array, echo_item, item_problems, missing
from audiencekit.emulator.endpoints.custom_audiences import find_audience
from audiencekit.emulator.endpoints.reference import CONTENT_IAB_CATEGORIES, are_business_categories
from audiencekit.emulator.paging import Listing, read_list_query
from audiencekit.emulator.parameters import Parameters, read_document
from audiencekit.emulator.resources import Record, Resource
from audiencekit.limits import MAX_CAMPAIGN_OPERATIONS, MAX_CRITERIA_OPERATIONS, MAX_PLATFORM_ID
from audiencekit.service_words import FUNDING_TYPES, OBJECTIVES, PRODUCT_TYPES, TARGETING_OPERATORS

# --- The kinds funding instrument, campaign, line item and targeting criterion, and how each is shown ---

_NAMED: Final = Listing(sortable=("name", "created_at", "updated_at", "deleted"))


def show_campaign(record: Record) -> dict[str, Any]:
    """Return a campaign, with the fields that follow from its state."""
    is_active = record.fields["entity_status"] == "ACTIVE"
    return {
        **record.document(),
        "servable": None if record.deleted else is_active,
        "effective_status": "RUNNING" if is_active or record.deleted else "UNKNOWN",
        "reasons_not_servable": [] if is_active or record.deleted else ["PAUSED_BY_ADVERTISER"],
    }


def show_funding_instrument(record: Record) -> dict[str, Any]:
    """Return a funding instrument, with the fields that follow from its state."""
    reasons = ["DELETED"] if record.deleted else []
    return {**record.document(), "able_to_fund": not record.deleted, "reasons_not_able_to_fund": reasons}


FUNDING_INSTRUMENTS: Final = Resource(
    kind="funding_instruments",
    noun="Funding Instrument",
    id_name="funding_instrument_id",
    show=show_funding_instrument,
)
CAMPAIGNS: Final = Resource(
    kind="campaigns",
    noun="Campaign",
    id_name="campaign_id",
    filters=("funding_instrument_ids",),
    listing=_NAMED,
    has_q=True,
    show=show_campaign,
)
LINE_ITEMS: Final = Resource(
    kind="line_items",
    noun="Line Item",
    id_name="line_item_id",
    filters=("campaign_ids", "funding_instrument_ids"),
    listing=_NAMED,
    has_q=True,
)
TARGETING_CRITERIA: Final = Resource(
    kind="targeting_criteria",
    noun="Targeting Criterion",
    id_name="targeting_criterion_id",
    filters=("line_item_ids",),
)


# --- Line items of campaigns ---
#
# The specification names their endpoints (list, create, update, delete) without showing them. They are served in the
# form of the public service, with what a client needs to promote, tag and target something.

_BID_STRATEGIES: Final = ("AUTO", "MAX", "TARGET")
_DAILY, _TOTAL = "daily_budget_amount_local_micro", "total_budget_amount_local_micro"
_AMOUNTS: Final = ("bid_amount_local_micro", _DAILY, _TOTAL)
_TIMES: Final = ("start_time", "end_time")


def make_line_item(call: Call, parameters: Parameters) -> Record:
    """Return a new line item of a campaign, with these parameters."""
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
        **_read_line_item_changes(parameters),
    }
    parameters.finish()
    campaign = CAMPAIGNS.find(call, campaign_id)
    _check_features(call, fields)
    _check_line_item(parameters, fields)
    more = {name: campaign.fields[name] for name in ("funding_instrument_id", "currency")}
    return LINE_ITEMS.make(call, {**fields, **more})


def update_line_item(call: Call, parameters: Parameters, line_item_id: str) -> Record:
    """Return the line item with these changes; campaign, objective and product type stay."""
    item = LINE_ITEMS.find(call, line_item_id)
    status = parameters.choice("entity_status", ("ACTIVE", "PAUSED"), "")
    changes = _read_line_item_changes(parameters)
    if parameters.given("categories") is not None:
        changes["categories"] = _read_categories(parameters, item.fields["objective"])
    parameters.finish()
    if status:
        changes["entity_status"] = status
    _check_line_item(parameters, {**item.fields, **changes})
    item.change(changes, call.now, call.user_id)
    return item


def _read_line_item_changes(parameters: Parameters) -> dict[str, Any]:
    """Return the given fields that both create and update take."""
    changes: dict[str, Any] = {}
    for name in _AMOUNTS:
        if parameters.given(name) is not None:
            changes[name] = parameters.number(name, default=0, least=1, most=MAX_PLATFORM_ID)
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


def _check_line_item(parameters: Parameters, fields: dict[str, Any]) -> None:
    daily, total, start, end = (fields[name] for name in (_DAILY, _TOTAL, *_TIMES))
    if daily is not None and total is not None and daily > total:
        raise parameters.fault(_DAILY, "The daily budget must not exceed the total budget")
    if start is not None and end is not None and end <= start:
        raise parameters.fault("end_time", "end_time must be later than start_time", "INVALID_TIME_WINDOW")


def _check_features(call: Call, fields: dict[str, Any]) -> None:
    """Refuse objectives and a way to pay in limited release without their feature (part 1, section 4.12)."""
    if fields["objective"] in OBJECTIVES_OF_FEATURES:
        call.require_feature(OBJECTIVES_OF_FEATURES[fields["objective"]], "objective")
    if (fields["objective"], fields["pay_by"]) == ("WEBSITE_CLICKS", "IMPRESSION"):
        call.require_feature(CPM_BILLING, "pay_by")


def _read_categories(parameters: Parameters, objective: str) -> list[str]:
    """Return the IAB categories of a line item for prerolls, of one or two advertiser business categories.

    Any other line item must have none (specification part 1, section 4.2).
    """
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


# --- Campaigns: listed, made, changed (specification part 1, sections 3 and 4.4) ---
#
# A daily budget is required unless the funding instrument is an insertion order: the specification says "most types".

_MAX_NAME, _MAX_ORDER_NUMBER = 255, 50


def make_campaign(call: Call, parameters: Parameters) -> Record:
    """Return a new campaign, with these parameters."""
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


def update_campaign(call: Call, parameters: Parameters, campaign_id: str) -> Record:
    """Return the campaign with these changes. A draft can become active or paused, but nothing can become a draft."""
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
    """Return the given fields that both create and update take."""
    changes: dict[str, Any] = {}
    for name in (_DAILY, _TOTAL):
        if parameters.given(name) is not None:
            changes[name] = parameters.number(name, default=0, least=1, most=MAX_PLATFORM_ID)
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


# --- Targeting criteria of line items, and the line items that target an audience (specification part 1, section
# 4.11, and part 2, section 4.3) ---
#
# Making and deleting criteria, one by one or in batches, are endpoints of the public service. The specification
# mentions them without showing them.

_CURSOR_ALONE: Final = Listing(
    takes_count=False, takes_sort_by=False, takes_with_deleted=False, takes_with_total_count=False
)
_CUSTOM_AUDIENCE: Final = "CUSTOM_AUDIENCE"
_IAB_CATEGORY: Final = "IAB_CATEGORY"


def list_criteria(call: Call) -> Answer:
    """Answer `GET …/targeting_criteria` for some line items, which must be named."""
    parameters = Parameters(call)
    if parameters.given("line_item_ids") is None:
        raise parameters.fault("line_item_ids", '"line_item_ids" is a required parameter', "MISSING_PARAMETER")
    return TARGETING_CRITERIA.list_wanted(call, parameters)


def make_criterion(call: Call, parameters: Parameters) -> Record:
    """Make a criterion of a line item.

    An audience must be targetable, and its permission must still be valid. An IAB category must be that of a content
    category.
    """
    fields: dict[str, Any] = {name: parameters.required_text(name) for name in ("line_item_id", "targeting_type")}
    if call.options.profile == "x":  # the client of the public service leaves it out
        fields["operator_type"] = parameters.choice("operator_type", TARGETING_OPERATORS, "EQ")
    else:
        fields["operator_type"] = parameters.required_choice("operator_type", TARGETING_OPERATORS)
    fields["targeting_value"] = parameters.required_text("targeting_value")
    parameters.finish()
    LINE_ITEMS.find(call, fields["line_item_id"])
    if fields["targeting_type"] in CRITERIA_OF_FEATURES:
        call.require_feature(CRITERIA_OF_FEATURES[fields["targeting_type"]], "targeting_type")
    fields["name"] = fields["targeting_value"]
    if fields["targeting_type"] == _IAB_CATEGORY and fields["targeting_value"] not in CONTENT_IAB_CATEGORIES:
        raise parameters.fault("targeting_value", "No content category has this IAB category", "INVALID_IAB_CATEGORY")
    if fields["targeting_type"] == _CUSTOM_AUDIENCE:
        audience = find_audience(call, audience_id=fields["targeting_value"])
        if not audience.processing.is_targetable:
            raise parameters.fault("targeting_value", "The Custom Audience is not targetable")
        fields["name"] = audience.name
    return TARGETING_CRITERIA.make(call, fields)


def list_targeted(call: Call) -> Answer:
    """Answer `GET …/custom_audiences/:custom_audience_id/targeted`: campaigns with line items that target it.

    Line items that are not servable are left out unless `with_active` is false.
    """
    parameters = Parameters(call)
    query = read_list_query(parameters, _CURSOR_ALONE)
    servable_only = parameters.boolean("with_active", default=True)
    parameters.finish()
    targeting = _line_items(call, find_audience(call).id, servable_only=servable_only)
    page = query.page(parameters, [*CAMPAIGNS.all(call).values()], lambda campaign: campaign.id in targeting)
    shown = [
        {
            "campaign_id": campaign.id,
            "campaign_name": campaign.fields["name"],
            "line_items": [
                {"id": item.id, "name": item.fields["name"], "servable": _is_servable(call, item)}
                for item in targeting[campaign.id]
            ],
        }
        for campaign in page.records
    ]
    return success(parameters.echo, shown, **page.members())


def _line_items(call: Call, audience_id: str, *, servable_only: bool) -> dict[str, list[Record]]:
    """Return the line items that target an audience, by campaign."""
    ids = {
        criterion.fields["line_item_id"]
        for criterion in TARGETING_CRITERIA.all(call).values()
        if criterion.fields["targeting_type"] == _CUSTOM_AUDIENCE
        and criterion.fields["targeting_value"] == audience_id
        and not criterion.deleted
    }
    found: dict[str, list[Record]] = defaultdict(list)
    for item in LINE_ITEMS.all(call).values():
        if item.id in ids and not item.deleted and (_is_servable(call, item) or not servable_only):
            found[item.fields["campaign_id"]].append(item)
    return found


def _is_servable(call: Call, item: Record) -> bool:
    campaign = CAMPAIGNS.all(call)[item.fields["campaign_id"]]
    return not campaign.deleted and {item.fields["entity_status"], campaign.fields["entity_status"]} == {"ACTIVE"}


# --- Records that are managed alike: made and changed alone, and in batches, which are applied whole or not at all ---
#
# Specification part 1, sections 4.0 and 4.4. Update and Delete name their record by its id in `params`, which the
# specification leaves open. The batches of line items and criteria are the public service's; recommendations are
# carried out with them (section 4.10).


@dataclass(frozen=True, slots=True)
class Managed:
    """The endpoints of one kind of records, which can be changed only with `update`."""

    kind: Resource
    make: Callable[[Call, Parameters], Record]
    update: Callable[[Call, Parameters, str], Record] | None = None
    most: int = MAX_CAMPAIGN_OPERATIONS

    def list_records(self, call: Call) -> Answer:
        """Answer `GET …`: with drafts only if `with_draft`."""
        parameters = Parameters(call)
        with_draft = parameters.boolean("with_draft")
        return self.kind.list_wanted(
            call, parameters, lambda record: with_draft or record.fields["entity_status"] != "DRAFT"
        )

    def create(self, call: Call) -> Answer:
        """Answer `POST …`."""
        parameters = Parameters(call)
        return success(parameters.echo, self.kind.show(self.make(call, parameters)))

    def change(self, call: Call) -> Answer:
        """Answer `PUT …/:id`."""
        parameters = Parameters(call)
        if self.update is None:
            raise RuntimeError("a kind that is not changed has such an endpoint")
        return success(parameters.echo, self.kind.show(self.update(call, parameters, call.ids[self.kind.id_name])))

    @property
    def operation_types(self) -> tuple[str, ...]:
        """The operations that a batch takes."""
        return ("Create", "Update", "Delete") if self.update else ("Create", "Delete")

    def batch(self, call: Call) -> Answer:
        """Answer `POST /batch…`: the created, changed or deleted records, in the order of the items."""
        items = check_array(read_document(call), call.ids, most=self.most)
        before, ids_made = copy.deepcopy(self.kind.all(call)), call.store.ids_made
        applied = [self._apply(call, item) for item in items]
        records = [found for found in applied if isinstance(found, Record)]
        if len(records) < len(applied):
            call.account.records[self.kind.kind], call.store.ids_made = before, ids_made
            problems = [[] if isinstance(found, Record) else found for found in applied]
            raise refuse_items(problems, [echo_item(item, call.ids, self.operation_types) for item in items])
        echoes = [{**item, "params": {**item["params"], **call.ids}} for item in items]
        return success_of_items([self.kind.show(record) for record in records], echoes)

    def _apply(self, call: Call, item: Any) -> Record | list[Problem]:
        if not isinstance(item, dict):
            return [problem("INVALID_PARAMETER", "Expected object for operation", "operation")]
        problems = item_problems(item, self.operation_types)
        if problems:
            return problems
        params = dict(item["params"])
        record_id = params.pop(self.kind.id_name, None)
        try:
            if item["operation_type"] == "Create":
                return self.make(call, Parameters.of(call, item["params"]))
            if not isinstance(record_id, str):
                return [missing(self.kind.id_name)]
            if item["operation_type"] == "Update" and self.update:
                return self.update(call, Parameters.of(call, params), record_id)
            return self._delete(call, Parameters.of(call, params), record_id)
        except RefusalError as refusal:
            return refusal.problems

    def _delete(self, call: Call, parameters: Parameters, record_id: str) -> Record:
        parameters.finish()
        record = self.kind.find(call, record_id)
        record.delete(call.now, call.user_id)
        return record


MANAGED_CAMPAIGNS: Final = Managed(CAMPAIGNS, make_campaign, update_campaign)
MANAGED_LINE_ITEMS: Final = Managed(LINE_ITEMS, make_line_item, update_line_item)
MANAGED_CRITERIA: Final = Managed(TARGETING_CRITERIA, make_criterion, most=MAX_CRITERIA_OPERATIONS)


# --- Funding instruments: made in the sandbox, at no cost (specification part 1, section 4.5) ---


def create_funding_instrument(call: Call) -> Answer:
    """Answer `POST …/funding_instruments`, in the sandbox.

    The specification shows the first two parameters; the others are from the public documentation.
    """
    parameters = Parameters(call)
    currency = parameters.required_currency("currency")
    start_time = parameters.required_time("start_time")
    kind = parameters.choice("type", FUNDING_TYPES, "CREDIT_CARD")
    parameters.finish()
    fields = _make_fields(call.account.id, currency, start_time, kind)
    return success(parameters.echo, show_funding_instrument(FUNDING_INSTRUMENTS.make(call, fields)))


def seed_funding_instrument(account: Account) -> None:
    """Give `account` a first funding instrument, as accounts of the public service have it (profile `x`)."""
    made = account.created_at
    record = Record(f"fi{account.id}", made, made, _make_fields(account.id, "USD", int(made), "CREDIT_CARD"))
    account.records[FUNDING_INSTRUMENTS.kind] = {record.id: record}


def _make_fields(account_id: str, currency: str, start_time: int, kind: str) -> dict[str, Any]:
    return {
        "account_id": account_id,
        "currency": currency,
        "start_time": format_time(start_time),
        "end_time": None,
        "type": kind,
        "description": "(no payment method has been set up yet)",
        "entity_status": "ACTIVE",
        "credit_limit_local_micro": None,
        "credit_remaining_local_micro": None,
        "funded_amount_local_micro": None,
        "io_header": None,
    }
