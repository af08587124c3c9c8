"""How many people a flexible audience holds: its tree, worked out over the people of its leaves.

Uploaded lists have no visits, so `frequency` and `lookback_window` are kept and change nothing. Who is in none of the
leaves is in no audience: a negated segment means the others among the people of all leaves.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import reduce
from operator import and_, or_

from audiencekit.emulator.audiences.flexible.segments import Segment
from audiencekit.emulator.audiences.population import Population
from audiencekit.emulator.audiences.records import Audience

People = frozenset[bytes]


def count_matched(root: Segment, audiences: Mapping[str, Audience], population: Population, moment: float) -> int:
    """The number of matched people, of those who were in the leaves at `moment` (epoch seconds)."""
    return len(_Evaluation(audiences, population, moment).people(root))


class _Evaluation:
    def __init__(self, audiences: Mapping[str, Audience], population: Population, moment: float) -> None:
        self._audiences, self._population, self._moment = audiences, population, moment

    def people(self, root: Segment) -> People:
        ids = {leaf.custom_audience_id for leaf in root.leaves()}
        leaves = {audience_id: self._audience(audience_id) for audience_id in ids}
        universe: People = frozenset().union(*leaves.values())
        return self._resolve(root, leaves, universe)

    def _resolve(self, segment: Segment, leaves: Mapping[str | None, People], universe: People) -> People:
        if segment.child_segments:
            join = and_ if segment.boolean_operator == "AND" else or_
            found = reduce(join, (self._resolve(child, leaves, universe) for child in segment.child_segments))
        else:
            found = leaves[segment.custom_audience_id]
        return universe - found if segment.negate else found

    def _audience(self, audience_id: str | None) -> People:
        audience = self._audiences.get(audience_id or "")
        if audience is None or audience.deleted:
            return frozenset()
        if audience.segments is not None:
            return self.people(audience.segments)
        return frozenset(self._population.matched(audience.members.members(self._moment)))
