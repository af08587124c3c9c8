"""The requests of a sync, wave by wave: the records of the source, then the Deletes."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

from audiencekit.audiences.sync import difference as sentrecords, removals, removals as rarestkeys
from audiencekit.audiences.sync.difference import Horizon, records_at
from audiencekit.audiences.sync.planner import Revision, judge_size, warn_of_few, warn_of_pace
from audiencekit.audiences.sync.sync import plan_sync
from audiencekit.destinations.requests.operations import OperationsForm
from audiencekit.errors import PlanRefused
from audiencekit.planning.reading import BatchResults
from audiencekit.profile import SPEC
from audiencekit.records.plan_times import pin_times
from audiencekit.records.record_bits import Bits
from audiencekit.reporting.report import Plan
from audiencekit.selection.key_sets import KeySets
from audiencekit.selection.selection import Selection, SelectionLayout
from audiencekit.snapshots.facts import SnapshotFacts
from audiencekit.state.spool import Spool
from tests.audiences.sync.people import TAGGER, Known, names, records
from tests.audiences.sync.service import AUDIENCE, Owner, Person
from tests.cases import each_case
from tests.examples import examples

# --- The requests of a sync, wave by wave: the records of the source, then the Deletes ---

FORM = OperationsForm(pin_times(datetime(2026, 11, 21, tzinfo=UTC)), SPEC)
HORIZON = Horizon(lapsed_before=100, renewed_to=130)
Revise = Callable[..., tuple[Revision, Selection]]
ALL_PEOPLE = [(mail, name) for mail in ("", "a", "b", "c") for name in ("", "1", "2") if mail or name]


@pytest.fixture
def revise(tmp_path: Path) -> Iterator[Revise]:
    """The revision of a source, in batches of so many records, and what it selects."""
    with ExitStack() as stack:

        def make(source: list[Person], days: dict[Person, int], records_each: int = 99) -> tuple[Revision, Selection]:
            spool, aside, copies = (stack.enter_context(Spool(tmp_path)) for _ in range(3))
            gathered = BatchResults(spool, aside, KeySets(aside, mixed=False, tagger=TAGGER), FORM)
            for first in range(0, len(source), records_each):
                batch = records(source[first : first + records_each])
                gathered.keysets.add(gathered.keysets.tag(batch))
                gathered.append(batch)
            gathered.tally.rows_read = len(source)
            wanted = Bits.of(len(source), True)
            revision = Revision.of(gathered, wanted, Known(days), HORIZON, TAGGER, copies=copies)
            return revision, revision.select(Selection(wanted, Bits.of(len(source), False)))

        yield make


def _bools(bits: Bits) -> list[bool]:
    return bits.slice(0, len(bits)).tolist()


def test_deleted_members_are_sent_in_the_wave_after(revise: Revise) -> None:
    """As a Delete, behind the records of the source and in rows that it does not have."""
    revision, selection = revise([("a", ""), ("b", "")], {("a", ""): 400, ("c", "1"): 400})
    assert _bools(selection.chosen) == [False, True, True]
    assert _bools(selection.deletes) == [False, False, True]
    assert {wave: found.tolist() for wave, found in selection.later.items()} == {1: [2]}
    gone = revision.whole_records(1, np.arange(1))
    assert names(gone, [("c", "1")]) == [("c", "1")]
    assert gone.unwrap().column("row").to_pylist() == [3]
    assert (revision.returned, revision.lost) == (0, 1)


def test_a_member_struck_by_a_delete_of_another_is_put_back(revise: Revise) -> None:
    """Although nothing about them has changed."""
    revision, selection = revise([("a", "1"), ("b", "")], {("a", "1"): 400, ("b", ""): 400, ("a", ""): 400})
    assert _bools(selection.chosen) == [True, False, True]
    assert {wave: found.tolist() for wave, found in selection.later.items()} == {1: [2], 2: [0]}
    assert (revision.returned, revision.lost) == (1, 0)


def test_without_members_to_delete_there_is_one_wave(revise: Revise) -> None:
    """And the source is all that there is."""
    revision, selection = revise([("a", ""), ("b", "")], {("a", ""): 400})
    assert (_bools(selection.chosen), selection.later) == ([False, True], {})
    assert names(revision.whole_records(0, np.array([1])), [("a", ""), ("b", "")]) == [("b", "")]


@settings(
    max_examples=examples(10), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)  # 256 parts each
@given(
    st.lists(st.sampled_from(ALL_PEOPLE), unique=True, min_size=4),
    st.dictionaries(st.sampled_from(ALL_PEOPLE), st.sampled_from([0, 99, 100, 131]), min_size=6),
    st.integers(1, 4),
    st.sampled_from([-3, 0]),
    st.sampled_from([0, 2, 99]),
)
def test_wherever_holders_stand_the_audience_is_the_source(
    revise: Revise, source: list[Person], days: dict[Person, int], records_each: int, chance: int, in_memory: int
) -> None:
    """Also the holders of a key that seemed safe when their batch was read, so that they were not copied."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sentrecords, "_FEW_SHARE", 1.0)
        patch.setattr(sentrecords, "_IN_MEMORY", in_memory)
        patch.setattr(rarestkeys, "_CHANCE", chance)
        patch.setattr(removals, "cores", lambda: 1)  # with more, few batches are looked at after any was counted
        revision, selection = revise(source, days, records_each)
        audience = {person for person, day in days.items() if day == 0 or day >= 100}
        for wave in selection.waves():
            for batch, people in _sent(revision, selection, wave):
                if batch < revision.first:
                    audience.update(people)
                else:
                    keys = {(place, key) for person in people for place, key in enumerate(person) if key}
                    audience = {person for person in audience if not keys & set(enumerate(person))}
    assert audience == set(source)


def _sent(revision: Revision, selection: Selection, wave: int) -> Iterator[tuple[int, list[Person]]]:
    """Yield the people sent in a wave, batch by batch: of those deleted, only the keys by which they are deleted."""
    layout = SelectionLayout(selection, revision.gathered.batch_records)
    for deletes in (False, True):
        for batch, taken in layout.of_wave((wave, deletes)):
            places = np.flatnonzero(taken)
            found = records_at(revision.gathered.spool.unseal(batch), places)
            if not deletes:
                assert names(revision.whole_records(batch, places), ALL_PEOPLE) == names(found, ALL_PEOPLE)
            yield batch, names(found, ALL_PEOPLE)


# --- Checks that stop a sync before it sends, and its warnings ---

NOW = 1_795_000_000.0


@each_case(
    "wanted, members, lost, allowed, refused",
    [
        (0, 0, 0, 1.0, "left empty"),
        (0, 10, 10, 1.0, "left empty"),
        (1, 0, 0, 0.2, None),
        (80, 100, 20, 0.2, None),
        (79, 100, 21, 0.2, "shrink from 100 members to 79"),
        (40, 100, 60, 0.2, "shrink"),
        (40, 100, 60, 0.6, None),
        (1, 100, 99, 1.0, None),
        (500, 100, 0, 0.0, None),
        (99, 100, 1, 0.0, "shrink"),
        (100, 100, 50, 0.2, None),
        (100, 100, 51, 0.2, "51 of 100 members are not in the source"),
        (500, 100, 51, 0.0, "another list"),
        (100, 100, 60, 0.6, None),
        (100, 100, 100, 1.0, None),
        (3, 3, 2, 0.2, None),
        (2, 3, 1, 0.2, "shrink from 3 members to 2"),
        (10, 10, 10, 0.0, None),
        (11, 11, 11, 0.2, "another list"),
    ],
)
def test_the_size_decides(wanted: int, members: int, lost: int, allowed: float, refused: str | None) -> None:
    """Empty never passes; smaller, or of other people, only as far as it is allowed."""
    found = judge_size(wanted, members, lost=lost, allowed_shrink=allowed)
    assert [refused in str(each) for each in found if refused] == ([True] if refused else [])
    assert bool(found) == bool(refused)


@each_case(
    "hours, additions, removals, words",
    [
        (1, True, False, ["put in 1 h 0 min ago"]),
        (0.5, False, True, ["taken out 30 min ago"]),
        (5.9, True, True, ["put in", "taken out"]),
        (6, True, True, []),
        (1, False, False, []),
        (-1, True, True, []),
    ],
)
def test_runs_that_follow_too_soon(hours: float, additions: bool, removals: bool, words: list[str]) -> None:
    """Of each kind one in six hours; a clock that was put back warns of nothing."""
    then = NOW - hours * 3600
    facts = SnapshotFacts(account_id="a", audience_id="b", additions_at=then, removals_at=then)
    found = warn_of_pace(facts, NOW, additions=additions, removals=removals)
    assert len(found) == len(words)
    assert all(word in sentence for word, sentence in zip(words, found, strict=True))


def test_a_run_that_ended_within_the_second_is_the_last_one() -> None:
    """Runs start in whole seconds, and end between them."""
    facts = SnapshotFacts(account_id="a", audience_id="b", additions_at=NOW + 0.9)
    assert "0 min ago" in warn_of_pace(facts, NOW, additions=True, removals=False)[0]


def test_an_audience_that_is_too_small_is_told() -> None:
    """Under a hundred people the service targets no member."""
    assert warn_of_few(100) == ()
    assert "99 members" in warn_of_few(99)[0]


async def test_a_source_that_is_not_whole_sends_nothing(tmp_path: Path) -> None:
    """Empty, cut off upstream, or of other people: refused, and the next whole one finds everything as it was."""
    owner = Owner(tmp_path)
    members = [(str(number), str(number)) for number in range(50)]
    await owner.sync(members)
    owner.service.log.clear()
    few, others = members[:15], [(str(number), str(number)) for number in range(70, 120)]
    for people in ([], [("", "")], [("1", "1")], few, others):
        with pytest.raises(PlanRefused) as caught:
            await owner.sync(people, allow_shrink=0.2)
        assert caught.value.exit_code == 3
    report = await owner.sync(members, allow_shrink=0.2)
    assert report.changes["unchanged"] == 50
    assert not owner.service.log


async def test_one_more_key_for_all_members_is_no_other_list(tmp_path: Path) -> None:
    """All entries change, and no member is lost."""
    owner = Owner(tmp_path)
    await owner.sync([(str(number), "") for number in range(50)])
    report = await owner.sync([(str(number), str(number)) for number in range(50)], allow_shrink=0.2)
    assert (report.state, report.changes["removals"]) == ("complete", 50)


# --- The plan of a sync: what it counts, and where every row is ---

OLD: list[Person] = [(str(number), str(number)) for number in range(20)]


@pytest.fixture(scope="module")
def owner(tmp_path_factory: pytest.TempPathFactory) -> Owner:
    """Whose audience was synced once; plans change nothing of it."""
    owner = Owner(tmp_path_factory.mktemp("synced"))
    asyncio.run(owner.sync(OLD))
    return owner


def _plan(owner: Owner, text: str, **keywords: Any) -> Plan:
    source = owner.directory / "next.csv"
    source.write_text("email,handle\n" + text)
    given = {"columns": {"email": "email", "handle": "handle"}, **keywords}
    return plan_sync(source, audience=AUDIENCE, settings=replace(owner.settings, concurrency=1), **given)


def _lines(people: list[Person]) -> str:
    return "".join(f"person{mail}@example.com,handle_{name}\n" for mail, name in people)


def test_people_are_counted(owner: Owner) -> None:
    """New, gone, as before, and before and after it; a row that is there twice is no second person."""
    plan = _plan(owner, _lines([*OLD[1:], ("90", ""), ("91", ""), ("91", "")]).replace("handle_\n", "\n"))
    assert plan.verdict == "ready"
    changes = plan.changes
    assert (changes["additions"], changes["removals"], changes["unchanged"]) == (2, 1, 19)
    assert (changes["members"], changes["members_after"], changes["waves"]) == (20, 21, [2, 1])
    rows = plan.rows
    assert (rows.read, rows.pending, rows.unchanged, rows.duplicate) == (22, 2, 19, 1)


def test_a_data_frame_is_a_source(owner: Owner) -> None:
    """As of everything that takes one."""
    emails = [f"person{mail}@example.com" for mail, _ in OLD]
    frame = pa.table({"email": emails, "handle": [f"handle_{name}" for _, name in OLD]})
    plan = plan_sync(frame, audience=AUDIENCE, settings=replace(owner.settings, concurrency=1))
    assert (plan.changes["unchanged"], plan.records) == (20, 0)


@pytest.mark.parametrize("next_list", ["no values", "no column"])
def test_a_list_without_a_kind_that_members_have_is_warned_of(owner: Owner, next_list: str) -> None:
    """They are the same people, by the other kind; the match rate would fall, and no one would know why."""
    plan = _plan(owner, _lines([(mail, "") for mail, _ in OLD]).replace("handle_\n", "\n"))
    if next_list == "no column":
        source = owner.directory / "bare.csv"
        source.write_text("email\n" + "".join(f"person{mail}@example.com\n" for mail, _ in OLD))
        plan = plan_sync(source, audience=AUDIENCE, settings=replace(owner.settings, concurrency=1))
    (warning,) = [loss for loss in plan.warnings if loss.code == "lost_kind"]
    assert (warning.count, warning.share) == (20, 1.0)
    assert "20 of 20 members lose their handle" in warning.message
    assert plan.verdict == "ready_with_warnings"
    strict = _plan(owner, _lines([(mail, "") for mail, _ in OLD]).replace("handle_\n", "\n"), fail_on_warnings=True)
    assert any("lose their handle" in str(refusal) for refusal in strict.refusals)


def test_members_put_back_are_told(owner: Owner) -> None:
    """A person goes by a key that another holds."""
    plan = _plan(owner, _lines([*OLD[:-1], ("19", "new"), ("new", "19")]))
    assert plan.changes["waves"] == [1, 1, 1], "who is struck is put in after it"
    assert any("these are put back right after it" in note for note in plan.notes)
    assert any("must know 100 people" in note for note in plan.notes)


def test_an_unchanged_source_sends_nothing(owner: Owner) -> None:
    """And says so; it is no refusal."""
    plan = _plan(owner, _lines(OLD))
    assert (plan.verdict, plan.requests, plan.refusals) == ("empty", 0, ())
    assert any("nothing to send" in note for note in plan.notes)


@each_case(
    "people, words",
    [([], "left empty"), (OLD[:15], "shrink"), ([(str(n), str(n)) for n in range(50, 70)], "list")],
)
def test_a_source_that_cannot_be_it_is_refused(owner: Owner, people: list[Person], words: str) -> None:
    """With the reason among the refusals; the counts are there all the same."""
    plan = _plan(owner, _lines(people))
    assert plan.verdict == "refused"
    assert any(words in str(refusal) for refusal in plan.refusals)
    assert plan.changes["members"] == 20
