"""Updates and Deletes that share keys: the waves that they go out in, and Deletes that are sent although superseded."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

from audiencekit.preparation.recordbits import Bits
from audiencekit.selection import conflicts as conflicts_module
from audiencekit.selection.conflicts import find_conflicts
from audiencekit.selection.partitions import Partitions
from audiencekit.selection.tags import TAG

Store = Callable[[], Any]
SENT, OVERRULED, LEFT_OUT = "sent", "overruled", "left out"


class Record(NamedTuple):
    """One record: `+ab` is an Update of the keys a and b, `-a` a Delete; and whether it is sent."""

    text: str
    state: str = SENT

    @property
    def is_delete(self) -> bool:
        return self.text.startswith("-")

    @property
    def keys(self) -> str:
        return self.text[1:]


def _bits(values: list[bool]) -> Bits:
    bits = Bits()
    bits.append(np.array(values, dtype=bool))
    return bits


def _found(chunks: Store, records: list[Record]) -> tuple[list[int], dict[int, list[int]]]:
    """The far-reaching ones, and the records of each later wave. Keys lie in parts all over."""
    owned = [(record, key) for record, each in enumerate(records) for key in each.keys]
    tags = np.array([((ord(key) * 0x9E3779B97F4A7C15) % 2**64, ord(key)) for _, key in owned], dtype=TAG)
    keys = Partitions(chunks(), bits=2, buffer_bytes=80)
    keys.add(keys.sort(tags, np.array([record for record, _ in owned], dtype=np.int64)), 0)
    states = [each.state for each in records]
    deletes = _bits([each.is_delete for each in records])
    sent, overruled = _bits([each == SENT for each in states]), _bits([each == OVERRULED for each in states])
    found = find_conflicts(keys, sent, overruled, deletes)
    return found.far_reaching.tolist(), {wave: found.later[wave].tolist() for wave in found.later}


@pytest.mark.parametrize(
    ("records", "far_reaching", "later"),
    [
        (["+a", "+ab", "+b"], [], {}),
        (["-a", "-ab"], [], {}),
        (["+a", "-b"], [], {}),
        (["+a", "-a"], [], {1: [1]}),
        (["-a", "+a"], [], {1: [1]}),
        (["+a", "-ab", "+b"], [], {1: [1], 2: [2]}),
        (["+a", "+b", "-ab", "+c"], [], {1: [2]}),
        (["+a", "+ab", "-b", "+b", "-a"], [], {1: [2, 4], 2: [3]}),
        (["+b", "-b", "+ab", "+a", "-a"], [], {1: [1], 2: [2], 3: [4]}),
        (["+a", ("-ab", OVERRULED), "+ab"], [1], {1: [1], 2: [2]}),
        (["+c", ("-ab", OVERRULED), "+ab"], [], {}),
        ([("-ab", OVERRULED), "+a", "+ab"], [], {}),
        (["+a", "-a", ("-ab", OVERRULED), "+ab"], [], {1: [1], 2: [3]}),
        (["+a", ("-ab", OVERRULED), ("-ab", OVERRULED), "+ab"], [1], {1: [1], 2: [3]}),
        ([("+a", LEFT_OUT), "-a"], [], {}),
        (["+a", ("-a", LEFT_OUT)], [], {}),
        ([("+a", OVERRULED), "-a"], [], {}),
    ],
)  # fmt: skip
def test_the_waves_and_the_deletes_that_reach_far(
    records: list[str | tuple[str, str]], far_reaching: list[int], later: dict[int, list[int]], memory_chunks: Store
) -> None:
    """A record that is left out, and an Update that was overruled, hold no other back."""
    made = [Record(each) if isinstance(each, str) else Record(*each) for each in records]
    assert _found(memory_chunks, made) == (far_reaching, later)


RECORDS = st.lists(
    st.builds(
        lambda verb, keys, state: Record(verb + "".join(sorted(keys)), state),
        st.sampled_from("+-"),
        st.sets(st.sampled_from("abcdef"), min_size=1, max_size=3),
        st.sampled_from([SENT, SENT, OVERRULED, LEFT_OUT]),
    ),
    max_size=12,
)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(RECORDS, st.integers(1, 5))
def test_opposite_records_that_share_a_key_never_go_out_at_once(
    memory_chunks: Store, monkeypatch: pytest.MonkeyPatch, records: list[Record], block: int
) -> None:
    """The later one goes in a later wave, and no later than it must; however few keys are looked at in one go."""
    monkeypatch.setattr(conflicts_module, "_BLOCK", block)
    far_reaching, later = _found(memory_chunks, records)
    assert all(records[each].is_delete and records[each].state == OVERRULED for each in far_reaching)
    sent = [each for each, record in enumerate(records) if record.state == SENT or each in far_reaching]
    wave_of = dict.fromkeys(sent, 0) | {each: wave for wave, members in later.items() for each in members}
    assert sorted(wave_of) == sent
    for place, each in enumerate(sent):
        shares = [other for other in sent[:place] if set(records[other].keys) & set(records[each].keys)]
        before = [other for other in shares if records[other].is_delete != records[each].is_delete]
        assert wave_of[each] == max((wave_of[other] + 1 for other in before), default=0)
