"""`audiencekit.audiences.flexible.wire`."""

from __future__ import annotations

from audiencekit.audiences.flexible.tree import Comparator, FlexibleAudience, Group, Leaf, Operator
from audiencekit.audiences.flexible.wire import to_operations


def test_every_disputed_default_is_written_out() -> None:
    """`negate`, `frequency` and the comparator stand in every segment, groups included."""
    root = Group(
        operator=Operator.AND,
        segments=(
            Leaf(audience_id="abc1", lookback_days=30),
            Group(
                operator=Operator.OR,
                segments=(
                    Leaf(audience_id="abc2", lookback_days=7, frequency=3, comparator=Comparator.LESS_THAN),
                    Leaf(audience_id="abc3", lookback_days=1, negated=True),
                ),
                negated=True,
            ),
        ),
    )
    (operation,) = to_operations([FlexibleAudience(name="two of three", root=root)])
    assert operation["operation_type"] == "Create"
    assert operation["params"]["name"] == "two of three"
    assert operation["params"]["audience_type"] == "FLEXIBLE"
    assert operation["params"]["segments"] == {
        "boolean_operator": "AND",
        "frequency": 1,
        "frequency_comparator": "NUM_GTE",
        "negate": False,
        "child_segments": [
            {
                "custom_audience_id": "abc1",
                "lookback_window": 30,
                "frequency": 1,
                "frequency_comparator": "NUM_GTE",
                "negate": False,
                "child_segments": [],
            },
            {
                "boolean_operator": "OR",
                "frequency": 1,
                "frequency_comparator": "NUM_GTE",
                "negate": True,
                "child_segments": [
                    {
                        "custom_audience_id": "abc2",
                        "lookback_window": 7,
                        "frequency": 3,
                        "frequency_comparator": "NUM_LT",
                        "negate": False,
                        "child_segments": [],
                    },
                    {
                        "custom_audience_id": "abc3",
                        "lookback_window": 1,
                        "frequency": 1,
                        "frequency_comparator": "NUM_GTE",
                        "negate": True,
                        "child_segments": [],
                    },
                ],
            },
        ],
    }
