"""The last count that the service made of a list: sizes lag behind membership.

The public documentation says that a count comes four to eight hours after the one before. Here it is six hours, unless
an option says otherwise, from the creation of the list on. Each count sees the members of its moment.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final

from audiencekit.limits import MIN_TARGETABLE_PEOPLE

PROCESSING_SECONDS: Final = 6 * 3_600.0


@dataclass(slots=True)
class Processing:
    """The counts of one list: the last one, and whether something changed since. Times in epoch seconds."""

    started_at: float
    size: int | None = None
    has_changed: bool = True
    _counted_at: float = field(init=False)

    def __post_init__(self) -> None:
        self._counted_at = self.started_at

    def catch_up(self, now: float, count: Callable[[float], int], every: float = PROCESSING_SECONDS) -> None:
        """Make the last count that lies between the one before and `now`; `count` says how many matched then.

        From one count to the next `every` seconds pass.
        """
        moment = self.started_at + (now - self.started_at) // every * every
        if moment > self._counted_at:
            self.size = count(moment)
            self._counted_at = moment
            self.has_changed = False

    @property
    def is_targetable(self) -> bool:
        """Whether enough people were counted. A list that is stays so while its changes wait for the next count."""
        return self.size is not None and self.size >= MIN_TARGETABLE_PEOPLE

    @property
    def shown_size(self) -> int | None:
        """The size of a targetable list; that of a smaller one would tell too much of too few."""
        return self.size if self.is_targetable else None

    @property
    def reasons(self) -> list[str]:
        """`reasons_not_targetable`: none, or that the list is too small, and whether a count is to come."""
        if self.is_targetable:
            return []
        return ["PROCESSING", "TOO_SMALL"] if self.has_changed else ["TOO_SMALL"]
