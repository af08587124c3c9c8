"""Flexible audiences as the service takes them: what has a disputed default is always written out."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

from audiencekit.audiences.flexible.tree import Comparator, FlexibleAudience, Leaf, Segment

# The service's example fills these in for groups (public documentation, "flexible audiences").
_GROUP_FREQUENCY: Final = 1
_GROUP_COMPARATOR: Final = Comparator.AT_LEAST


def to_operations(audiences: Iterable[FlexibleAudience]) -> list[dict[str, Any]]:
    """The JSON array of one batch that creates `audiences` (specification part 2, section 4.3)."""
    return [
        {
            "operation_type": "Create",
            "params": {"name": audience.name, "audience_type": "FLEXIBLE", "segments": _to_json(audience.root)},
        }
        for audience in audiences
    ]


def _to_json(segment: Segment) -> dict[str, Any]:
    if isinstance(segment, Leaf):
        return {
            "custom_audience_id": segment.audience_id,
            "lookback_window": segment.lookback_days,
            "frequency": segment.frequency,
            "frequency_comparator": segment.comparator.value,
            "negate": segment.negated,
            "child_segments": [],
        }
    return {
        "boolean_operator": segment.operator.value,
        "frequency": _GROUP_FREQUENCY,
        "frequency_comparator": _GROUP_COMPARATOR.value,
        "negate": segment.negated,
        "child_segments": [_to_json(one) for one in segment.segments],
    }
