"""Hashtags, mentions and addresses in a text, with their places in characters (specification part 0, section 2.4)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

_FOUND: Final = re.compile(r"(?P<url>https?://\S+)|(?<!\w)#(?P<hashtag>\w+)|(?<!\w)@(?P<mention>[A-Za-z0-9_]{1,15})")


@dataclass(frozen=True, slots=True)
class Entity:
    """One entity: `kind` is url, hashtag or mention; `word` is without its sign."""

    kind: str
    word: str
    start: int
    end: int


def find_entities(text: str) -> Iterator[Entity]:
    """Return the entities of a text, in order."""
    for found in _FOUND.finditer(text):
        kind = found.lastgroup or ""
        yield Entity(kind, found[kind], found.start(), found.end())


def show_address(entity: Entity) -> dict[str, Any]:
    """Return the three forms of an address; they are equal, since nothing is shortened here."""
    return {"url": entity.word, "expanded_url": entity.word, "display_url": entity.word.partition("://")[2]}
