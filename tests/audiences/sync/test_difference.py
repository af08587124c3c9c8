"""A source against a snapshot: new, gone and due members, for any lists."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from audiencekit.audiences.sync import difference, difference as module
from audiencekit.audiences.sync.difference import Difference, Horizon, SentRecords, find_difference, records_at
from audiencekit.personal import HashedRecords
from audiencekit.records.record_bits import Bits
from audiencekit.selection.key_sets import KeySets
from audiencekit.selection.tag_arrays import ENTRY, TAG
from audiencekit.snapshots import marks
from audiencekit.snapshots.files import Index
from audiencekit.snapshots.marks import Marks
from audiencekit.snapshots.members import DOUBTFUL, DROPPED, MemberChunk, day_of, from_bytes
from audiencekit.snapshots.plain_marks import PlainMarks
from audiencekit.state.spool import Spool
from tests.audiences.sync.people import TAGGER, Known, names, records
from tests.audiences.sync.service import Person
from tests.cases import each_case
from tests.examples import examples

# --- A source against a snapshot: new, gone and due members, for any lists ---

NOW = datetime(2026, 11, 21, 12, tzinfo=UTC)
HORIZON = Horizon(lapsed_before=100, renewed_to=130)
ALL_PEOPLE = [(mail, name) for mail in ("", "a", "b", "c") for name in ("", "1", "2") if mail or name]
DAYS = st.sampled_from([DOUBTFUL, 99, 100, 130, 131, 400])
MEMBERS = st.dictionaries(st.sampled_from(ALL_PEOPLE), DAYS)
SOURCE = st.lists(st.sampled_from(ALL_PEOPLE), unique=True)


def _find(
    source: list[Person], days: dict[Person, int], horizon: Horizon = HORIZON, wanted: list[bool] | None = None
) -> tuple[Difference, list[Person]]:
    """The difference, and who is to go."""
    with Spool(Path("/tmp")) as aside:
        keysets = KeySets(aside, mixed=False, tagger=TAGGER)
        keysets.add(keysets.tag(records(source)))
        bits = Bits()
        bits.append(np.array([True] * len(source) if wanted is None else wanted, dtype=bool))
        found = find_difference(keysets, bits, Known(days), horizon, scratch=aside)
        gone = [from_bytes(MemberChunk(aside.read(number))) for number, _ in found.removed]
        return found, [person for batch in gone for person in names(batch, ALL_PEOPLE)]


@settings(max_examples=examples(10), deadline=None)  # 256 parts each
@given(SOURCE, MEMBERS)
def test_it_is_what_the_sets_say(source: list[Person], days: dict[Person, int]) -> None:
    """Additions, renewals and unchanged are of the source; a member that left it and may be in the audience goes."""
    found, gone = _find(source, days)
    with pytest.MonkeyPatch.context() as patch:
        for module in (difference, marks):
            patch.setattr(module, "MARK_LOOPS", PlainMarks())
        assert repr(_find(source, days)) == repr((found, gone))
    live = {person for person, day in days.items() if day == DOUBTFUL or day >= 100}
    known = {person for person in live if days[person] != DOUBTFUL}
    assert sorted(gone) == sorted(live - set(source))
    assert found.removals == len(gone)
    assert found.additions == len(set(source) - known)
    assert found.renewals == sum(days[person] <= 130 for person in known & set(source))
    sent = found.sent.slice(0, len(source)).tolist()
    assert sent == [person not in known or days[person] <= 130 for person in source]
    assert found.unchanged == sent.count(False)


HALVES = st.tuples(st.integers(0, 2), st.integers(0, 2))


@settings(max_examples=examples(100))
@given(
    st.lists(st.lists(st.tuples(HALVES, st.integers(0, 19)), max_size=8), min_size=1, max_size=3),
    st.lists(st.booleans(), min_size=20, max_size=20),
    st.dictionaries(HALVES, DAYS | st.just(DROPPED), max_size=8),
    st.booleans(),
)
def test_kernels_compare_alike(
    pieces: list[list[tuple[tuple[int, int], int]]],
    wanted: list[bool],
    days: dict[tuple[int, int], int],
    all_members: bool,
) -> None:
    """Also entries of one mark, marks that share their first half, and bits beyond a mark."""
    given = [np.array([(high << 62, low << 48 | n, n) for (high, low), n in piece], dtype=ENTRY) for piece in pieces]
    bits = Bits()
    bits.append(np.array(wanted))
    tags = np.array([(high << 62, low << 48) for high, low in sorted(days)], dtype=TAG)
    own_days = np.array([days[key] for key in sorted(days)], dtype=np.int16)
    index = Index(Marks.of(tags), own_days, np.arange(len(days)), len(days))
    horizon = replace(HORIZON, all_members=all_members)
    compared = difference._compare_marks(given, bits, index, horizon)
    with pytest.MonkeyPatch.context() as patch:
        for module in (difference, marks):
            patch.setattr(module, "MARK_LOOPS", PlainMarks())
        expected = difference._compare_marks(given, bits, index, horizon)
    assert (compared.wanted, compared.additions) == (expected.wanted, expected.additions)
    assert compared.sent.tolist() == expected.sent.tolist()
    assert compared.gone.tolist() == expected.gone.tolist()


@each_case(
    "day, counts", [(DOUBTFUL, (1, 0, 0)), (99, (1, 0, 0)), (100, (0, 1, 0)), (130, (0, 1, 0)), (131, (0, 0, 1))]
)
def test_the_day_decides(day: int, counts: tuple[int, int, int]) -> None:
    """In doubt or lapsed is as good as new; what expires soon is renewed."""
    found, _ = _find([("a", "")], {("a", ""): day})
    assert (found.additions, found.renewals, found.unchanged) == counts


def test_a_member_that_is_not_wanted_goes() -> None:
    """Although the source has them: a duplicate is no second person, and a suppressed one is none."""
    found, gone = _find([("a", ""), ("b", "")], {("a", ""): 400, ("b", ""): 400}, wanted=[True, False])
    assert (gone, found.unchanged, found.additions) == ([("b", "")], 1, 0)


def test_all_records_are_sent_when_the_snapshot_is_not_relied_on() -> None:
    """Known ones count as renewals."""
    found, _ = _find([("a", ""), ("b", "")], {("a", ""): 400}, Horizon(100, 130, all_members=True))
    assert (found.additions, found.renewals, found.unchanged) == (1, 1, 0)


@each_case("days, renewed_within", [(390, 30), (60, 30), (59, 29), (20, 10), (1, 0)])
def test_half_of_a_short_life_is_left_alone(days: int, renewed_within: int) -> None:
    """30 days before its end an entry is renewed, or in its second half."""
    horizon = Horizon.of(NOW, NOW + timedelta(days=days), all_members=False)
    today = day_of(NOW)
    assert (horizon.lapsed_before, horizon.renewed_to) == (today - 1, today + renewed_within)


# --- Copies of the records that are sent: the same records, of a batch that is unsealed once ---

BATCHES = 8
PEOPLE: list[list[Person]] = [[(f"{batch}-{number}", "") for number in range(40)] for batch in range(BATCHES)]
ALL_PEOPLE_SENTRECORDS = [person for batch in PEOPLE for person in batch]
PLACES = st.lists(st.integers(0, 39), unique=True, max_size=12).map(sorted)


class Source:
    """Batches that count how often they are unsealed."""

    def __init__(self) -> None:
        self._records = [records(batch) for batch in PEOPLE]
        self.unsealed: list[int] = []

    def __call__(self, batch: int) -> HashedRecords:
        """The records of one batch."""
        self.unsealed.append(batch)
        return self._records[batch]


Make = Callable[[], tuple[Source, SentRecords]]


@pytest.fixture(params=[0, 4, 65_536], ids=["aside", "some aside", "in memory"])
def make(tmp_path: Path, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[Make]:
    """A source, and what is sent of it."""
    monkeypatch.setattr(module, "_IN_MEMORY", request.param)
    spools: list[Spool] = []

    def made() -> tuple[Source, SentRecords]:
        source = Source()
        spools.append(Spool(tmp_path))
        return source, SentRecords(source, spools[-1])

    yield made
    for spool in spools:
        spool.close()


def _people(batch: int, places: list[int]) -> list[Person]:
    return [PEOPLE[batch][place] for place in places]


def test_a_copied_batch_is_not_unsealed_again(make: Make) -> None:
    """Whichever of the copied records are asked for."""
    source, sent = make()
    sent.store(0, source(0), np.array([3, 7, 30]))
    for places in ([3, 7, 30], [7], [3, 30]):
        assert names(sent.at(0, np.array(places)), ALL_PEOPLE_SENTRECORDS) == _people(0, places)
    assert source.unsealed == [0]


def test_a_batch_asked_for_once_is_copied(make: Make) -> None:
    """Also after others were unsealed."""
    source, sent = make()
    for batch in (*range(BATCHES), 0):
        assert names(sent.at(batch, np.array([5, 6])), ALL_PEOPLE_SENTRECORDS) == _people(batch, [5, 6])
    assert source.unsealed == list(range(BATCHES))


def test_of_many_there_is_no_copy(make: Make) -> None:
    """The batch is unsealed again when others were looked at in between."""
    source, sent = make()
    for batch in (*range(BATCHES), 0):
        assert names(sent.at(batch, np.arange(30)), ALL_PEOPLE_SENTRECORDS) == _people(batch, list(range(30)))
    assert source.unsealed == [*range(BATCHES), 0]


@given(st.lists(st.tuples(st.integers(0, 1), PLACES), max_size=6), PLACES, st.integers(0, 10))
def test_whatever_was_copied_the_records_are_right(
    asked: list[tuple[int, list[int]]], first: list[int], in_memory: int
) -> None:
    """Those that are in no copy come from the batch."""
    with (
        TemporaryDirectory() as directory,
        Spool(Path(directory)) as copies,
        pytest.MonkeyPatch.context() as patch,
    ):
        patch.setattr(module, "_IN_MEMORY", in_memory)
        source = Source()
        sent = SentRecords(source, copies)
        sent.store(0, source(0), np.array(first, dtype=np.int64))
        for batch, places in asked:
            wanted = np.array(places, dtype=np.int64)
            found, at = sent.find(batch, wanted)
            assert names(records_at(found, at), ALL_PEOPLE_SENTRECORDS) == _people(batch, places)


def test_threads_may_ask_side_by_side(make: Make) -> None:
    """For the same batch, each for other records of it."""
    _, sent = make()
    with ThreadPoolExecutor(8) as pool:
        asked = [(number % 2, [number, number + 1]) for number in range(30)]
        found = pool.map(lambda one: names(sent.at(one[0], np.array(one[1])), ALL_PEOPLE_SENTRECORDS), asked)
        assert list(found) == [_people(*one) for one in asked]


def test_repr_shows_no_person(make: Make) -> None:
    """Neither records nor places."""
    source, sent = make()
    sent.store(0, source(0), np.array([3]))
    assert repr(sent) == "<SentRecords with copies of 1 batches>"
