"""Updates and Deletes that share keys: the waves that they go out in, and Deletes that are sent although superseded."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

from audiencekit.records.record_bits import Bits
from audiencekit.selection import selection as conflicts_module
from audiencekit.selection.partitions import Partitions
from audiencekit.selection.selection import Selection, SelectionLayout, find_conflicts
from audiencekit.selection.tag_arrays import TAG
from tests.cases import each_case

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


@each_case("records, far_reaching, later", [
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
    ])  # fmt: skip
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


RECORD = st.tuples(st.booleans(), st.booleans(), st.sampled_from([0, 0, 0, 1, 2, 5]))
SelectionRecord = tuple[bool, bool, int]


def _layout(
    batches: list[list[SelectionRecord]],
) -> tuple[SelectionLayout, Selection, dict[tuple[int, bool], list[tuple[int, int]]]]:
    """The layout of records (kept, delete, wave), and what each wave and verb has: batch and place."""
    kept, deletes, later = Bits(), Bits(), {}
    expected: dict[tuple[int, bool], list[tuple[int, int]]] = {}
    first = 0
    for batch, records in enumerate(batches):
        kept.append(np.array([record[0] for record in records], dtype=bool))
        deletes.append(np.array([record[1] for record in records], dtype=bool))
        for place, (is_kept, is_delete, wave) in enumerate(records):
            if is_kept:
                expected.setdefault((wave, is_delete), []).append((batch, place))
                if wave:
                    later.setdefault(wave, []).append(first + place)
        first += len(records)
    selection = Selection(kept, deletes, {wave: np.array(records) for wave, records in later.items()})
    return SelectionLayout(selection, [len(records) for records in batches]), selection, expected


@given(st.lists(st.lists(RECORD, max_size=12), max_size=6), st.data())
def test_waves_are_found_record_by_record(batches: list[list[SelectionRecord]], data: st.DataObject) -> None:
    """All of a wave and verb, any stretch of them, and everything that is kept at all."""
    layout, selection, expected = _layout(batches)
    assert {wave for wave, _ in expected} - {0} == set(selection.waves()) - {0}
    for wave in [(number, verb) for number in selection.waves() for verb in (False, True)]:
        own = expected.get(wave, [])
        found = [(batch, place) for batch, chosen in layout.of_wave(wave) for place in np.flatnonzero(chosen).tolist()]
        assert found == own
        first = data.draw(st.integers(0, len(own)))
        count = data.draw(st.integers(0, len(own) - first))
        stretch = [(batch, place) for batch, places in layout.stretch(wave, first, count) for place in places.tolist()]
        assert stretch == own[first : first + count]
    every = [(batch, place) for batch in layout.batches() for place in np.flatnonzero(layout.sent(batch)).tolist()]
    assert every == sorted(entry for own in expected.values() for entry in own)


def test_no_records_have_no_waves_but_the_first() -> None:
    """An empty source has a layout, too."""
    layout, selection, _ = _layout([])
    assert selection.waves() == [0]
    assert list(layout.of_wave((0, False))) == []
    assert list(layout.stretch((0, True), 0, 0)) == []


def test_neighbouring_stretches_share_what_was_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the records of a batch stand is found once for all requests that share it, whichever asks first."""
    layout, _, expected = _layout([[(True, False, 0)] * 9, [(True, True, 0), (True, False, 0)] * 4])
    assert [batch for batch, _ in layout.of_wave((0, False))] == [0, 1]
    asked: list[int] = []
    chosen = layout.chosen
    monkeypatch.setattr(layout, "chosen", lambda batch, wave: asked.append(batch) or chosen(batch, wave))
    for first in (0, 4, 8):
        (*_, (batch, places)) = layout.stretch((0, False), first, 4)
        assert (batch, int(places[-1])) == expected[0, False][first + 3]
    assert asked == [0, 1]


def test_a_look_at_some_batches_leaves_the_others_to_be_found() -> None:
    """Facts of the first batch of a wave are not taken for those of all of it."""
    layout, _, expected = _layout([[(True, False, 0)] * 3, [(True, False, 0)] * 4])
    assert next(layout.of_wave((0, False)))[0] == 0
    found = [(batch, place) for batch, places in layout.stretch((0, False), 1, 5) for place in places.tolist()]
    assert found == expected[0, False][1:6]


def test_of_one_verb_the_other_is_not_looked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    """No batch is asked for Deletes in a run that has none, nor for Updates in one that has nothing else."""
    for verb in (False, True):
        layout, _, _ = _layout([[(True, verb, 0)] * 3, [(True, verb, 1)] * 3])
        monkeypatch.setattr(layout, "chosen", None)
        assert [list(layout.of_wave((number, not verb))) for number in (0, 1)] == [[], []]
