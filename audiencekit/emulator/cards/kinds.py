"""Cards that are made of components: the kind, and how one is shown (specification part 2, sections 2 and 4.7)."""

from __future__ import annotations

from typing import Any, Final

from audiencekit.emulator.paging import Listing
from audiencekit.emulator.resources.records import Record
from audiencekit.emulator.resources.resource import Resource

MAX_NAME: Final = 80  # characters; specification part 2, section 8


def show_card(record: Record) -> dict[str, Any]:
    """Return a card, with the one of components and slides that it has."""
    return {name: value for name, value in record.document().items() if value is not None}


CARDS: Final = Resource(
    kind="cards",
    noun="Card",
    id_name="card_id",
    listing=Listing(
        sortable=("name", "created_at", "updated_at", "deleted"),
        default_count=100,
        max_count=200,
        takes_with_total_count=False,
    ),
    show=show_card,
)


def card_uri(number: str) -> str:
    """Return the address by which a tweet takes a card with it."""
    return f"card://{number}"
