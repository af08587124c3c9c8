"""Targeting criteria of line items, and the line items that target an audience (specification part 1, section 4.11, and
part 2, section 4.3).

Making and deleting criteria, one by one or in batches, are endpoints of the public service. The specification mentions
them without showing them.
"""

from __future__ import annotations

from collections import defaultdict
from typing import Any, Final

from audiencekit.emulator.accounts.limitedreleases import CRITERIA_OF_FEATURES
from audiencekit.emulator.audiences.lifecycle import find_audience
from audiencekit.emulator.calls import Call
from audiencekit.emulator.campaigns.kinds import CAMPAIGNS, LINE_ITEMS, TARGETING_CRITERIA
from audiencekit.emulator.envelope import Answer, success
from audiencekit.emulator.paging import Listing, read_list_query
from audiencekit.emulator.parameters import Parameters
from audiencekit.emulator.reference.categories import CONTENT_IAB_CATEGORIES
from audiencekit.emulator.resources.records import Record
from audiencekit.servicewords import TARGETING_OPERATORS

_CURSOR_ALONE: Final = Listing(
    takes_count=False, takes_sort_by=False, takes_with_deleted=False, takes_with_total_count=False
)
_CUSTOM_AUDIENCE: Final = "CUSTOM_AUDIENCE"
_IAB_CATEGORY: Final = "IAB_CATEGORY"


def list_criteria(call: Call) -> Answer:
    """Answer `GET …/targeting_criteria`: those of some line items, which must be named."""
    parameters = Parameters(call)
    if parameters.given("line_item_ids") is None:
        raise parameters.fault("line_item_ids", '"line_item_ids" is a required parameter', "MISSING_PARAMETER")
    return TARGETING_CRITERIA.list_wanted(call, parameters, lambda criterion: True)


def create_criterion(call: Call) -> Answer:
    """Answer `POST …/targeting_criteria`."""
    parameters = Parameters(call)
    return success(parameters.echo, make_criterion(call, parameters).document())


def make_criterion(call: Call, parameters: Parameters) -> Record:
    """Make a criterion of a line item.

    An audience must be targetable, and one that was shared must still be. An IAB category must be that of a content
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
    """`GET …/custom_audiences/:custom_audience_id/targeted`: the account's campaigns with line items that target it.

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
