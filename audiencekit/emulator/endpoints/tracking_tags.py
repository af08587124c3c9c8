"""Tracking tags of line items (specification part 1, section 4.11).

The specification calls the address of a tag a string, so any text is taken. A tag keeps its line item and its type.
"""

from __future__ import annotations

from typing import Final

from audiencekit.emulator.answers import Answer, success
from audiencekit.emulator.calls import Call
from audiencekit.emulator.endpoints.campaigns import LINE_ITEMS
from audiencekit.emulator.parameters import Parameters
from audiencekit.emulator.resources import Resource

TRACKING_TAGS: Final = Resource(
    kind="tracking_tags",
    noun="Tracking Tag",
    id_name="tracking_tag_id",
    filters=("line_item_ids",),
)
_TYPES: Final = ("IMPRESSION_TAG", "CLICK_TRACKER")


def create_tag(call: Call) -> Answer:
    """Answer `POST …/tracking_tags`."""
    parameters = Parameters(call)
    fields = {
        "line_item_id": parameters.required_text("line_item_id"),
        "tracking_tag_url": parameters.required_text("tracking_tag_url"),
        "tracking_tag_type": parameters.required_choice("tracking_tag_type", _TYPES),
    }
    parameters.finish()
    LINE_ITEMS.find(call, fields["line_item_id"])
    return success(parameters.echo, TRACKING_TAGS.make(call, fields).document())


def change_tag(call: Call) -> Answer:
    """Answer `PUT …/tracking_tags/:tracking_tag_id`: a new address."""
    parameters = Parameters(call)
    url = parameters.required_text("tracking_tag_url")
    parameters.finish()
    tag = TRACKING_TAGS.find(call, call.ids["tracking_tag_id"])
    tag.change({"tracking_tag_url": url}, call.now)
    return success(parameters.echo, tag.document())


_TAGS: Final = "/accounts/:account_id/tracking_tags"
_ONE: Final = _TAGS + "/:tracking_tag_id"
