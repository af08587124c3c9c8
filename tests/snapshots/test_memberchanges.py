"""The members that a run has changed, by part: each comes back with the mark that orders them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from audiencekit.machine.spool import Spool
from audiencekit.selection.partitions import part_of
from audiencekit.selection.tags import tags_of_sets
from audiencekit.snapshots import memberchanges as module
from audiencekit.snapshots.marks import Marks
from audiencekit.snapshots.memberchanges import Effects
from audiencekit.snapshots.members import joined_members
from audiencekit.snapshots.partsfile import PARTS
from tests.audiences.synchronisation.people import TAGGER, days, members
from tests.audiences.synchronisation.service import Person

PEOPLE: dict[Person, int] = {(f"{number}", "" if number % 3 else f"n{number}"): 400 + number for number in range(600)}


@pytest.mark.parametrize("put_aside", [1, 3, 1_000])
def test_each_member_comes_back_in_its_part(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, put_aside: int) -> None:
    """With their day and their mark, whether they were put aside or not; and all are counted."""
    monkeypatch.setattr(module, "_PUT_ASIDE", put_aside)
    monkeypatch.setattr(module, "_GATHERED", 100)
    found: dict[Person, int] = {}
    with Spool(tmp_path) as aside:
        effects = Effects(aside, TAGGER)
        for start in range(0, 600, 60):
            effects.add(members(dict(list(PEOPLE.items())[start : start + 60])))
        effects.close()
        for part in range(PARTS):
            own = effects.of_parts(range(part, part + 1))
            tags = tags_of_sets(own.members, TAGGER)
            assert (part_of(tags) == part).all()
            assert np.array_equal(own.marks.high, Marks.of(tags).high)
            assert np.array_equal(own.marks.low, Marks.of(tags).low)
            found |= days(own.members, list(PEOPLE))
        several = effects.of_parts(range(7, 11))
        alone = [effects.of_parts(range(part, part + 1)) for part in range(7, 11)]
        assert several.members == joined_members([each.members for each in alone])
        assert several.marks.high.tolist() == [high for each in alone for high in each.marks.high.tolist()]
    assert found == PEOPLE
    assert (effects.members, effects.identifiers) == (600, 800)
