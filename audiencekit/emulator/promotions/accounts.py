"""Promoted accounts (specification part 1, section 4.8).

Only the account's own user can be promoted: of a partner it may promote tweets alone. One that the line item promotes
already is not promoted again, and the answer shows the record that there is.
"""

from __future__ import annotations

from audiencekit.emulator.accounts.initialrecords import FULL
from audiencekit.emulator.calls import Call
from audiencekit.emulator.campaigns.kinds import LINE_ITEMS
from audiencekit.emulator.envelope import Answer, success
from audiencekit.emulator.parameters import Parameters
from audiencekit.emulator.people.promotableusers import type_of
from audiencekit.emulator.promotions.kinds import PROMOTED_ACCOUNTS
from audiencekit.emulator.promotions.line_items import FOR_ACCOUNTS, find_line_item, incompatible
from audiencekit.emulator.resources.records import Record


def list_promoted_accounts(call: Call) -> Answer:
    """`GET …/promoted_accounts`: when line items are named, one of them at least must be for promoted accounts."""
    parameters = Parameters(call)
    answer = PROMOTED_ACCOUNTS.list_wanted(call, parameters, lambda promoted: True)
    named = [LINE_ITEMS.all(call).get(each) for each in parameters.echo.get("line_item_ids", ())]
    if named and not any(item and item.fields["product_type"] in FOR_ACCOUNTS for item in named):
        raise incompatible(call, "None of the line items is configured for promoted accounts", "line_item_ids")
    return answer


def create_promoted_account(call: Call) -> Answer:
    """Answer `POST …/promoted_accounts`."""
    parameters = Parameters(call)
    line_item_id = parameters.required_text("line_item_id")
    user_id = parameters.required_long("user_id")
    parameters.finish()
    find_line_item(call, line_item_id, FOR_ACCOUNTS)
    if type_of(call, user_id) != FULL:
        raise parameters.fault("user_id", "You cannot promote someone else's account", "INVALID_USER_ID")
    promoted = _find(call, line_item_id, user_id) or PROMOTED_ACCOUNTS.make(
        call,
        {
            "line_item_id": line_item_id,
            "user_id": str(user_id),
            "entity_status": "ACTIVE",
            "approval_status": "ACCEPTED",
        },
    )
    return success(parameters.echo, promoted.document())


def _find(call: Call, line_item_id: str, user_id: int) -> Record | None:
    wanted = (line_item_id, str(user_id))
    for promoted in PROMOTED_ACCOUNTS.all(call).values():
        if (promoted.fields["line_item_id"], promoted.fields["user_id"]) == wanted and not promoted.deleted:
            return promoted
    return None
