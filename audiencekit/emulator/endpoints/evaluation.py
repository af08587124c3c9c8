"""How many people a flexible audience holds: its tree is evaluated over the people of its leaves.

A leaf holds the people of its audience who came as often as required within its window. People who are in none of the
audiences of the leaves are not counted: a negated segment means the other people of all these audiences.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import reduce
from operator import and_, or_

from audiencekit.emulator.endpoints.custom_audiences import Audience, Population
from audiencekit.emulator.endpoints.flexible_audiences import Joining, Segment, count_visits, is_often_enough

# The people of an audience, by key set, with the entries that put them there.
People = Mapping[bytes, tuple[Joining, ...]]


def count_matched(root: Segment, audiences: Mapping[str, Audience], population: Population, moment: float) -> int:
    """Return the number of matched people among those who were in the leaves at `moment` (epoch seconds)."""
    return len(_Evaluation(audiences, population, moment).people(root))


class _Evaluation:
    def __init__(self, audiences: Mapping[str, Audience], population: Population, moment: float) -> None:
        self._audiences, self._population, self._moment = audiences, population, moment

    def people(self, root: Segment) -> People:
        """Return the people of a tree, each with the entries that they have in its audiences."""
        ids = {leaf.custom_audience_id for leaf in root.leaves()}
        leaves = {audience_id: self._audience(audience_id) for audience_id in ids}
        universe: dict[bytes, tuple[Joining, ...]] = {}
        for members in leaves.values():
            for key_set, joinings in members.items():
                universe[key_set] = (*universe.get(key_set, ()), *joinings)
        found = self._resolve(root, leaves, frozenset(universe))
        return {key_set: universe[key_set] for key_set in found}

    def _resolve(
        self, segment: Segment, leaves: Mapping[str | None, People], universe: frozenset[bytes]
    ) -> frozenset[bytes]:
        if segment.child_segments:
            join = and_ if segment.boolean_operator == "AND" else or_
            found = reduce(join, (self._resolve(child, leaves, universe) for child in segment.child_segments))
        else:
            found = frozenset(self._frequent(segment, leaves[segment.custom_audience_id]))
        return universe - found if segment.negate else found

    def _frequent(self, leaf: Segment, members: People) -> Iterator[bytes]:
        salt = self._population.salt
        for key_set, joinings in members.items():
            visits = count_visits(key_set, joinings, salt, self._moment, leaf.lookback_window)
            if is_often_enough(leaf, visits):
                yield key_set

    def _audience(self, audience_id: str | None) -> People:
        audience = self._audiences.get(audience_id or "")
        if audience is None or audience.deleted:
            return {}
        if audience.segments is not None:
            return self.people(audience.segments)
        spans = dict(audience.members.members(self._moment))
        matched = self._population.matched(spans.items())
        return {key_set: (Joining(audience.id, spans[key_set].effective_at),) for key_set in matched}
