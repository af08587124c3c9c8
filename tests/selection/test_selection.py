"""Where the chosen records stand."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, strategies as st

from audiencekit.preparation.recordbits import Bits
from audiencekit.selection.selection import Selection, SelectionLayout

RECORD = st.tuples(st.booleans(), st.booleans(), st.sampled_from([0, 0, 0, 1, 2, 5]))
Record = tuple[bool, bool, int]


def _layout(
    batches: list[list[Record]],
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
def test_waves_are_found_record_by_record(batches: list[list[Record]], data: st.DataObject) -> None:
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
