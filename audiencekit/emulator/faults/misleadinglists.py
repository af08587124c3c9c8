"""Lists that mislead a client: ids that are paths, and pages without an end."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, Final

# In the place of an id: a client that makes a path of it, or an address, comes out elsewhere.
HOSTILE_IDS: Final = (
    "../../../../../../tmp/audiencekit-astray/x", "../../../../audiencekit-astray/x", "..", ".", "", "/etc/x", "a/b",
    "a\\b", "%2e%2e%2fx", "a?b", "a#b", "a b", "a\r\nb", "a\u0000b", "A", "-a", "\u202ea", "\u0661", "a" * 33,
    "a" * 100_000, 7, None, True, ["a"], {"id": "a"},
)  # fmt: skip

Document = dict[str, Any]


def _put_ids(document: Document, chance: random.Random) -> None:
    data = document["data"]
    for entry in data if isinstance(data, list) else [data]:
        entry["id"] = chance.choice(HOSTILE_IDS)


def _rename(document: Document, chance: random.Random) -> None:
    for entry in document["data"]:
        entry["id"] = f"{chance.getrandbits(40):x}"


def _lead_on(document: Document, chance: random.Random) -> None:
    document["next_cursor"] = f"{chance.getrandbits(64):016x}"


def _lead_round(document: Document, chance: random.Random) -> None:
    document["next_cursor"] = "round"


MISLEADING: Final[Mapping[str, tuple[Callable[[Document, random.Random], None], ...]]] = MappingProxyType(
    {
        "hostile_ids": (_put_ids,),
        "endless_pages": (_rename, _lead_on),
        "circular_pages": (_rename, _lead_round),
        "same_page": (_lead_on,),
    }
)


def mislead(kind: str, page: Document | None, chance: random.Random) -> Document:
    """A page that leads astray; made up where there is none, since no list goes on behind a cursor of its own."""
    document = page or {"data": [{"id": "18ce5astray", "name": "Astray", "audience_type": "CRM"}], "next_cursor": None}
    for change in MISLEADING[kind]:
        change(document, chance)
    return document


def can_mislead(kind: str, document: Any) -> bool:
    """Whether it is a page of a list that names what is in it; for hostile ids also a single thing with a name."""
    data = document.get("data") if isinstance(document, dict) else None
    if kind == "hostile_ids" and isinstance(data, dict):
        return "id" in data
    return isinstance(data, list) and bool(data) and all(isinstance(entry, dict) and "id" in entry for entry in data)
