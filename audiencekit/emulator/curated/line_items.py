"""Line items that are shown with a curated category (specification part 1, section 4.6)."""

from __future__ import annotations

from typing import Final

from audiencekit.emulator.calls import Call
from audiencekit.emulator.campaigns.kinds import LINE_ITEMS
from audiencekit.emulator.curated.categories import find_category
from audiencekit.emulator.envelope import Answer, success
from audiencekit.emulator.parameters import Parameters
from audiencekit.emulator.resources.resource import Resource

LINE_ITEM_CURATED_CATEGORIES: Final = Resource(
    kind="line_item_curated_categories",
    noun="Line Item Curated Category",
    id_name="line_item_curated_category_id",
)
_NAMES: Final = ("curated_category_id", "line_item_id")


def create(call: Call) -> Answer:
    """Answer `POST …/line_item_curated_categories`."""
    parameters = Parameters(call)
    fields = {name: parameters.required_text(name) for name in _NAMES}
    parameters.finish()
    _check(call, fields)
    return success(parameters.echo, LINE_ITEM_CURATED_CATEGORIES.make(call, fields).document())


def change(call: Call) -> Answer:
    """Answer `PUT …/line_item_curated_categories/:line_item_curated_category_id`: either of the two, or both."""
    parameters = Parameters(call)
    given = {name: parameters.text(name) for name in _NAMES}
    parameters.finish()
    record = LINE_ITEM_CURATED_CATEGORIES.find(call, call.ids[LINE_ITEM_CURATED_CATEGORIES.id_name])
    changes = {name: text for name, text in given.items() if text is not None}
    _check(call, changes)
    record.change(changes, call.now)
    return success(parameters.echo, record.document())


def _check(call: Call, fields: dict[str, str]) -> None:
    """Refuse a category or a line item that is not there."""
    if "curated_category_id" in fields:
        find_category(call, fields["curated_category_id"])
    if "line_item_id" in fields:
        LINE_ITEMS.find(call, fields["line_item_id"])
