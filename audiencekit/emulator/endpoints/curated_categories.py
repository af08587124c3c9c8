"""Curated categories: collections of publishers, each for some countries (specification part 1, section 4.2).

They are invented, and the same for every account.
"""

from __future__ import annotations

import re
from typing import Final

from audiencekit.emulator.answers import Answer, success
from audiencekit.emulator.calls import Call
from audiencekit.emulator.endpoints.campaigns import LINE_ITEMS
from audiencekit.emulator.paging import Listing, read_list_query
from audiencekit.emulator.parameters import Parameters
from audiencekit.emulator.resources import Record, Resource

# --- Curated categories ---

_MADE_AT: Final = 1_530_230_400.0  # 2018-06-29
_COUNTRY: Final = re.compile("[A-Z]{2}", re.ASCII)
_CURSOR_ALONE: Final = Listing(
    takes_count=False, takes_sort_by=False, takes_with_deleted=False, takes_with_total_count=False
)


def _make(category_id: str, name: str, country_codes: list[str], publisher_user_ids: list[str]) -> Record:
    fields = {
        "name": name,
        "description": f"Videos about {name.lower()}",
        "country_codes": country_codes,
        "publisher_user_ids": publisher_user_ids,
        "videos_monetized_in_last_thirty_days": 421,
    }
    return Record(category_id, _MADE_AT, _MADE_AT, fields)


CATEGORIES: Final = {
    record.id: record
    for record in (
        _make("9ddrgesiap6o", "Soccer", ["BR", "DE", "GB", "US"], ["4000000002", "1353868435021721603"]),
        _make("7op29tp2jzeo", "Comedy", ["GB", "US"], ["4000000001"]),
        _make("5xq0p1c7n2ty", "Science", ["DE", "FR"], ["1353868435021721603"]),
    )
}


def list_categories(call: Call) -> Answer:
    """Answer `GET …/curated_categories` for any of the countries, which must be named."""
    parameters = Parameters(call)
    query = read_list_query(parameters, _CURSOR_ALONE)
    countries = parameters.required_words("country_codes")
    if not all(map(_COUNTRY.fullmatch, countries)):
        raise parameters.fault("country_codes", "Expected comma-separated codes of two letters for country_codes")
    parameters.finish()

    def wanted(category: Record) -> bool:
        return not set(countries).isdisjoint(category.fields["country_codes"])

    page = query.page(parameters, list(CATEGORIES.values()), wanted)
    return success(parameters.echo, [category.document() for category in page.records], **page.members())


def show_category(call: Call) -> Answer:
    """Answer `GET …/curated_categories/:curated_category_id`."""
    parameters = Parameters(call)
    parameters.finish()
    return success(parameters.echo, find_category(call, call.ids["curated_category_id"]).document())


def find_category(call: Call, category_id: str) -> Record:
    """Return the category with this id. Raises RefusalError (404)."""
    if category_id not in CATEGORIES:
        message = f"Curated Category {category_id} was not found for Account {call.account.id}"
        raise call.refuse(404, "NOT_FOUND", message, "curated_category_id")
    return CATEGORIES[category_id]


# --- Line items that are shown with a curated category (specification part 1, section 4.6) ---

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
    """Answer `PUT …/line_item_curated_categories/:line_item_curated_category_id`: one of the fields, or both."""
    parameters = Parameters(call)
    given = {name: parameters.text(name) for name in _NAMES}
    parameters.finish()
    record = LINE_ITEM_CURATED_CATEGORIES.find(call, call.ids[LINE_ITEM_CURATED_CATEGORIES.id_name])
    changes = {name: text for name, text in given.items() if text is not None}
    _check(call, changes)
    record.change(changes, call.now)
    return success(parameters.echo, record.document())


def _check(call: Call, fields: dict[str, str]) -> None:
    """Refuse an unknown category or line item."""
    if "curated_category_id" in fields:
        find_category(call, fields["curated_category_id"])
    if "line_item_id" in fields:
        LINE_ITEMS.find(call, fields["line_item_id"])
