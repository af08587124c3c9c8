"""Which line items promote what: that follows from their product type."""

from __future__ import annotations

from typing import Final

from audiencekit.emulator.calls import Call
from audiencekit.emulator.campaigns.kinds import LINE_ITEMS
from audiencekit.emulator.envelope import RefusalError
from audiencekit.emulator.resources.records import Record

FOR_ACCOUNTS: Final = ("PROMOTED_ACCOUNT",)
FOR_TWEETS: Final = ("PROMOTED_ACCOUNT", "PROMOTED_TWEETS")


def find_line_item(call: Call, line_item_id: str, product_types: tuple[str, ...]) -> Record:
    """Return a line item of one of these product types. Raises RefusalError: 404, or 400 for another product type."""
    item = LINE_ITEMS.find(call, line_item_id)
    if item.fields["product_type"] not in product_types:
        raise incompatible(call, f"Line Item {item.id} is not configured for this", "line_item_id")
    return item


def incompatible(call: Call, message: str, parameter: str) -> RefusalError:
    """Return the refusal of line items that were made for something else."""
    return call.refuse(400, "INCOMPATIBLE_LINE_ITEM", message, parameter)
