"""The rules of the filtered stream that there are (specification part 0, sections 6 and 8)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from audiencekit.emulator.streamrules.matching import Matcher, Post

# Rules at the same time, None for any number, and characters of a rule; section 8.
TRACKS: Final[Mapping[str, tuple[int | None, int]]] = {
    "standard": (25, 512),
    "academic": (1_000, 1_024),
    "enterprise": (None, 2_048),
}


@dataclass(frozen=True, slots=True)
class Rule:
    """One rule; `tag` is the caller's own word for it."""

    id: str
    value: str
    tag: str | None
    matches: Matcher = field(repr=False, compare=False)

    def document(self) -> dict[str, str]:
        """Return the rule as the service shows it."""
        return {"id": self.id, "value": self.value, **({} if self.tag is None else {"tag": self.tag})}


class StreamRules:
    """All rules that there are, by their numbers."""

    def __init__(self) -> None:
        self.rules: dict[str, Rule] = {}

    def matching(self, post: Post) -> list[Rule]:
        """Return the rules that match a post."""
        return [rule for rule in self.rules.values() if rule.matches(post)]
