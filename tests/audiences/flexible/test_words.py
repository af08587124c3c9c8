"""`audiencekit.audiences.flexible.words`."""

from __future__ import annotations

import pytest

from audiencekit.audiences.flexible.tree import Comparator, FlexibleAudience, Group, Leaf, Operator, Segment
from audiencekit.audiences.flexible.words import draw, to_sentence

A = Leaf(audience_id="a1", lookback_days=30)
B = Leaf(audience_id="b2", lookback_days=1, frequency=2, comparator=Comparator.MORE_THAN)
NOT_B = Leaf(audience_id="b2", lookback_days=7, negated=True)


def _audience(*segments: Segment, operator: Operator = Operator.AND) -> FlexibleAudience:
    return FlexibleAudience(name="people", root=Group(operator=operator, segments=segments))


@pytest.mark.parametrize(
    ("audience", "sentence"),
    [
        (_audience(A), "People in a1 (at least once in the last 30 days)."),
        (
            _audience(A, NOT_B),
            "People in a1 (at least once in the last 30 days) and not in b2 (at least once in the last 7 days).",
        ),
        (
            _audience(A, Group(operator=Operator.AND, segments=(B, NOT_B)), operator=Operator.OR),
            (
                "People in a1 (at least once in the last 30 days) or (in b2 (more than 2 times in the last day) and "
                "not in b2 (at least once in the last 7 days))."
            ),
        ),
        (
            _audience(Group(operator=Operator.OR, segments=(A, B), negated=True)),
            "People not (in a1 (at least once in the last 30 days) or in b2 (more than 2 times in the last day)).",
        ),
    ],
)
def test_a_tree_reads_as_one_sentence(audience: FlexibleAudience, sentence: str) -> None:
    """With brackets wherever two operators meet."""
    assert to_sentence(audience) == sentence


def test_a_tree_is_drawn_with_one_line_a_segment() -> None:
    """Children stand behind their group, and the last one closes it."""
    audience = _audience(Group(operator=Operator.OR, segments=(A, NOT_B), negated=True), B)
    assert draw(audience).splitlines() == [
        "people",
        "└── and",
        "    ├── not or",
        "    │   ├── a1: at least once in the last 30 days",
        "    │   └── not b2: at least once in the last 7 days",
        "    └── b2: more than 2 times in the last day",
    ]
