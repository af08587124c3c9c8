"""The tree of a flexible audience: segments that are audiences, or that join others (specification part 2, sections
2 and 4.3)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True, kw_only=True)
class Segment:
    """A leaf with `custom_audience_id`, or children joined by `boolean_operator`; defaults are filled in."""

    boolean_operator: str | None
    child_segments: tuple[Segment, ...]
    custom_audience_id: str | None
    lookback_window: int | None
    frequency: int
    frequency_comparator: str
    negate: bool

    def leaves(self) -> Iterator[Segment]:
        """Return the leaves under this segment, itself when it is one."""
        if not self.child_segments:
            yield self
        for child in self.child_segments:
            yield from child.leaves()

    def document(self) -> dict[str, Any]:
        """Return the segment as `metadata` shows it: a window and an operator only where there is one."""
        shown: dict[str, Any] = {
            "frequency": self.frequency,
            "frequency_comparator": self.frequency_comparator,
            "negate": self.negate,
            "child_segments": [child.document() for child in self.child_segments],
        }
        for name in ("boolean_operator", "custom_audience_id", "lookback_window"):
            if getattr(self, name) is not None:
                shown[name] = getattr(self, name)
        return shown
