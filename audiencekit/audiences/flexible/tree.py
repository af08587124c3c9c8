"""Flexible audiences: a name and a tree of segments (specification part 2, sections 2 and 4.3)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import Final, TypeAlias

LOOKBACK_DAYS: Final = (1, 7, 14, 30)  # specification part 2, section 4.3


class Operator(StrEnum):
    """How the members of a group are joined, as the service writes it."""

    AND = "AND"
    OR = "OR"


class Comparator(StrEnum):
    """How often a person was active, against `frequency`, as the service writes it."""

    AT_LEAST = "NUM_GTE"
    MORE_THAN = "NUM_GT"
    EXACTLY = "NUM_EQ"
    AT_MOST = "NUM_LTE"
    LESS_THAN = "NUM_LT"


@dataclass(frozen=True, slots=True, kw_only=True)
class Leaf:
    """People of one custom audience who were active `comparator` `frequency` times in the last `lookback_days`."""

    audience_id: str
    lookback_days: int
    frequency: int = 1
    comparator: Comparator = Comparator.AT_LEAST
    negated: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """At least one segment, joined by `operator`."""

    operator: Operator
    segments: tuple[Segment, ...]
    negated: bool = False


Segment: TypeAlias = Leaf | Group


@dataclass(frozen=True, slots=True, kw_only=True)
class FlexibleAudience:
    """One flexible audience to be. It cannot be changed once it is created."""

    name: str
    root: Group


def leaves(segment: Segment) -> Iterator[Leaf]:
    """Every leaf below `segment`, from left to right."""
    if isinstance(segment, Leaf):
        yield segment
    else:
        for one in segment.segments:
            yield from leaves(one)
