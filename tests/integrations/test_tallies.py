"""Counts as text come back as they were, and nothing else is read."""

from __future__ import annotations

import json
from collections import Counter
from typing import Any

import pytest
from hypothesis import given, settings, strategies as st

from audiencekit.errors import SourceRefused
from audiencekit.identifiers.kinds import Kind
from audiencekit.integrations.tallies import read_tally, write_tally
from audiencekit.records.tally import BareNumbers, ColumnTally, PaymentNumbers, PersonalShapes, Tally, Trials

WORDS = st.text(max_size=5)
COUNTS = st.integers(0, 2**62)


def counters(keys: Any) -> Any:
    """Counters over some keys."""
    return st.dictionaries(keys, COUNTS, max_size=3).map(Counter)


PAIRS = counters(st.tuples(WORDS, WORDS))
WORDED = counters(WORDS)
TRIALS = st.builds(Trials, WORDED, PAIRS, WORDED, WORDED, PAIRS, PAIRS)
REACH = st.dictionaries(WORDS, st.tuples(COUNTS, COUNTS), max_size=2)
COLUMNS = st.builds(
    ColumnTally, COUNTS, COUNTS, WORDED, counters(st.sampled_from(Kind)), COUNTS,
    bare_numbers=st.builds(BareNumbers, COUNTS, COUNTS, WORDED, WORDED, REACH),
    payment_numbers=st.builds(PaymentNumbers, COUNTS, COUNTS),
    personal_shapes=st.builds(PersonalShapes, COUNTS, WORDED, COUNTS, COUNTS, WORDED),
    trials=st.none() | TRIALS,
)  # fmt: skip
TALLIES = st.builds(
    Tally, COUNTS, COUNTS, COUNTS, st.dictionaries(WORDS, COLUMNS, max_size=2), WORDED, counters(COUNTS),
    st.dictionaries(WORDS, st.booleans(), max_size=2),
)  # fmt: skip


@settings(deadline=None, max_examples=50)
@given(TALLIES)
def test_counts_come_back_as_they_were(tally: Tally) -> None:
    """All of them, of all types."""
    found = read_tally(write_tally(tally))
    assert found == tally
    assert [type(key) for column in found.columns.values() for key in column.likely] == [
        Kind for column in tally.columns.values() for _ in column.likely
    ]


def test_any_other_text_is_refused() -> None:
    """No JSON, a part that is missing or of another type: the counts decide whether a list may be sent."""
    sound = json.loads(write_tally(Tally(rows_read=3, columns={"c0": ColumnTally()})))
    without = {name: value for name, value in sound.items() if name != "records"}
    others: list[Any] = [
        None, 3, [], without, {**sound, "rows_read": "3"}, {**sound, "rows_read": True}, {**sound, "rows_read": 3.0},
        {**sound, "reasons": [["empty"]]}, {**sound, "columns": [["c0", None]]}, {**sound, "consents": [["a", 1]]},
    ]  # fmt: skip
    for other in ["", "{", "[" * 100_000, *map(json.dumps, others)]:
        with pytest.raises(SourceRefused, match="counts of a partition are damaged"):
            read_tally(other)
