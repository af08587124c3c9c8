"""What is sent of all that was read, wave by wave, with those who go behind the source."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import numpy as np
import pytest

from audiencekit.audiences.synchronisation.difference import Horizon
from audiencekit.audiences.synchronisation.revision import Revision
from audiencekit.delivery.spool import Spool
from audiencekit.planning.gathering import Gathered
from audiencekit.preparation.bits import Bits
from audiencekit.preparation.keysets import KeySets
from audiencekit.preparation.selection import Selection
from audiencekit.profile import SPEC

from .people import TAGGER, Known, names, records
from .service import Person

HORIZON = Horizon(lapsed_before=100, renewed_to=130)
Revise = Callable[[list[Person], dict[Person, int]], tuple[Revision, Selection]]


@pytest.fixture
def revise(tmp_path: Path) -> Iterator[Revise]:
    """The revision of a source of one batch, and what it selects."""
    with ExitStack() as stack:

        def make(source: list[Person], days: dict[Person, int]) -> tuple[Revision, Selection]:
            spool, aside, copies = (stack.enter_context(Spool(tmp_path)) for _ in range(3))
            gathered = Gathered(spool, aside, KeySets(aside, mixed=False, tagger=TAGGER), SPEC)
            gathered.keysets.add(gathered.keysets.tag(records(source)))
            gathered.append(records(source))
            gathered.tally.rows_read = len(source)
            wanted = Bits.of(len(source), True)
            revision = Revision.of(gathered, wanted, Known(days), HORIZON, TAGGER, copies=copies)
            return revision, revision.select(Selection(wanted, Bits.of(len(source), False)))

        yield make


def _bools(bits: Bits) -> list[bool]:
    return bits.slice(0, len(bits)).tolist()


def test_who_goes_comes_in_the_wave_after(revise: Revise) -> None:
    """As a Delete, behind the records of the source and in rows that it does not have."""
    revision, selection = revise([("a", ""), ("b", "")], {("a", ""): 400, ("c", "1"): 400})
    assert _bools(selection.kept) == [False, True, True]
    assert _bools(selection.deletes) == [False, False, True]
    assert {wave: found.tolist() for wave, found in selection.later.items()} == {1: [2]}
    gone = revision.whole_records(1, np.arange(1))
    assert names(gone, [("c", "1")]) == [("c", "1")]
    assert gone.unwrap().column("row").to_pylist() == [3]
    assert (revision.returned, revision.lost) == (0, 1)


def test_who_is_struck_as_well_is_put_back(revise: Revise) -> None:
    """Although nothing about them has changed."""
    revision, selection = revise([("a", "1"), ("b", "")], {("a", "1"): 400, ("b", ""): 400, ("a", ""): 400})
    assert _bools(selection.kept) == [True, False, True]
    assert {wave: found.tolist() for wave, found in selection.later.items()} == {1: [2], 2: [0]}
    assert (revision.returned, revision.lost) == (1, 0)


def test_without_anybody_to_go_there_is_one_wave(revise: Revise) -> None:
    """And the source is all that there is."""
    revision, selection = revise([("a", ""), ("b", "")], {("a", ""): 400})
    assert (_bools(selection.kept), selection.later) == ([False, True], {})
    assert names(revision.whole_records(0, np.array([1])), [("a", ""), ("b", "")]) == [("b", "")]
