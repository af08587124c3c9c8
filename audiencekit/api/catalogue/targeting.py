"""The targets of line items, and how many people they are (specification part 1, sections 4.3 and 4.11)."""

from __future__ import annotations

from typing import Final

from audiencekit.api.catalogue.conventions import NAMED
from audiencekit.api.catalogue.endpoint import Section
from audiencekit.api.catalogue.parameters import (
    ACCOUNT_ID,
    COUNT,
    CURSOR,
    IDENTIFIER,
    SORT_BY,
    WITH_DELETED,
    WITH_TOTAL_COUNT,
    array,
    ids,
    in_path,
    json_object,
    one_of,
    text,
)
from audiencekit.api.catalogue.rules import CURSOR_OR_TOTAL, RequiredIn
from audiencekit.limits import MAX_CRITERIA_OPERATIONS
from audiencekit.servicewords import TARGETING_OPERATORS

_TARGETING: Final = Section("targeting", part=1, section="4.11")

ENDPOINTS: Final = (
    Section("audience_estimate", part=1, section="4.3").post(
        "estimate_audience",
        "/12/accounts/{account_id}/audience_estimate",
        ACCOUNT_ID,
        array("targeting_criteria", "object", place="body", required=True, at=("top",), note="one primary at least"),
        one_of(
            "operator_type",
            "EQ",
            "NE",
            place="body",
            default="EQ",
            at=("top", "criterion"),
            note="NE is for people that the criterion does not describe",
        ),
        body="json_object",
        ambiguities=(
            "the shape of criteria is not shown: each is sent as it is given; an empty list is refused",
            "the place of operator_type is not stated: it is checked at the top and in each criterion",
            "which criteria are primary is not stated: that one of them is, is left to the service",
        ),
    ),
    _TARGETING.get(
        "list_targeting_criteria",
        "/12/accounts/{account_id}/targeting_criteria",
        ACCOUNT_ID,
        ids("line_item_ids", required=True),
        ids("targeting_criterion_ids"),
        COUNT,
        CURSOR,
        SORT_BY,
        WITH_DELETED,
        WITH_TOTAL_COUNT,
        rules=(CURSOR_OR_TOTAL,),
        ambiguities=(
            "the usual parameters of lists are not named: ids of its own, sort_by, with_deleted and with_total_count",
        ),
    ),
    _TARGETING.post(
        "create_targeting_criterion",
        "/12/accounts/{account_id}/targeting_criteria",
        ACCOUNT_ID,
        text("line_item_id", required=True, pattern=IDENTIFIER),
        text("targeting_type", required=True, known=("CUSTOM_AUDIENCE", "IAB_CATEGORY", "LOCATION")),
        text("targeting_value", required=True, note="of an audience its id"),
        one_of("operator_type", *TARGETING_OPERATORS, required=True),
        shown=False,
        ambiguities=(NAMED,),
        notes=("an audience must be targetable",),
    ),
    _TARGETING.post(
        "batch_targeting_criteria",
        "/12/batch/accounts/{account_id}/targeting_criteria",
        ACCOUNT_ID,
        one_of("operation_type", "Create", "Delete", place="body", required=True, at=("item",)),
        json_object("params", place="body", required=True, at=("item",), note="as for one criterion"),
        shown=False,
        body="json_array_of_operations",
        operations=MAX_CRITERIA_OPERATIONS,
        rules=(RequiredIn("Delete", ("targeting_criterion_id",), at="params"),),
        params_of=(("Create", "create_targeting_criterion"),),
        ambiguities=(NAMED,),
    ),
    _TARGETING.delete(
        "delete_targeting_criterion",
        "/12/accounts/{account_id}/targeting_criteria/{targeting_criterion_id}",
        ACCOUNT_ID,
        in_path("targeting_criterion_id"),
        shown=False,
        ambiguities=(NAMED,),
    ),
)
