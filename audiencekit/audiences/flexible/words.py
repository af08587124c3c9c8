"""A flexible audience for people: as one sentence, and as a drawing of its tree."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from audiencekit.audiences.flexible.tree import Comparator, FlexibleAudience, Group, Leaf, Segment
from audiencekit.shown import shown

_COMPARED: Final = {
    Comparator.AT_LEAST: "at least",
    Comparator.MORE_THAN: "more than",
    Comparator.EXACTLY: "exactly",
    Comparator.AT_MOST: "at most",
    Comparator.LESS_THAN: "less than",
}


def to_sentence(audience: FlexibleAudience) -> str:
    """One sentence without the name: `People in A (…), and not in B (…).`"""
    return f"People {_phrase(audience.root)}."


def draw(audience: FlexibleAudience) -> str:
    """The tree in lines, its name first."""
    return "\n".join([shown(audience.name), *_lines(audience.root, "", is_last=True)])


def _phrase(segment: Segment) -> str:
    if isinstance(segment, Leaf):
        return f"{'not ' if segment.negated else ''}in {segment.audience_id} ({_activity(segment)})"
    joined = f" {segment.operator.value.lower()} ".join(map(_part, segment.segments))
    return f"not ({joined})" if segment.negated else joined


def _part(segment: Segment) -> str:
    """A segment inside a group: groups in brackets, so that no reading depends on what binds first."""
    is_bare = isinstance(segment, Leaf) or segment.negated or len(segment.segments) == 1
    return _phrase(segment) if is_bare else f"({_phrase(segment)})"


def _activity(leaf: Leaf) -> str:
    times = "once" if leaf.frequency == 1 else f"{leaf.frequency} times"
    days = "the last day" if leaf.lookback_days == 1 else f"the last {leaf.lookback_days} days"
    return f"{_COMPARED[leaf.comparator]} {times} in {days}"


def _lines(segment: Segment, margin: str, *, is_last: bool) -> Iterator[str]:
    yield f"{margin}{'└── ' if is_last else '├── '}{_label(segment)}"
    children = segment.segments if isinstance(segment, Group) else ()
    for index, child in enumerate(children, 1):
        yield from _lines(child, margin + ("    " if is_last else "│   "), is_last=index == len(children))


def _label(segment: Segment) -> str:
    words = f"{segment.audience_id}: {_activity(segment)}" if isinstance(segment, Leaf) else segment.operator.lower()
    return f"not {words}" if segment.negated else words
