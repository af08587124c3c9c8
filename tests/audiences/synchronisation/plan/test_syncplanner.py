"""The plan of a sync: what it counts, and where every row is."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from audiencekit.audiences.synchronisation.preview import plan_sync
from audiencekit.reporting.report import Plan
from tests.audiences.synchronisation.service import AUDIENCE, Owner, Person

OLD: list[Person] = [(str(number), str(number)) for number in range(20)]


@pytest.fixture
async def owner(tmp_path: Path) -> Owner:
    """Whose audience was synced once."""
    owner = Owner(tmp_path)
    await owner.sync(OLD)
    return owner


def _plan(owner: Owner, text: str, **keywords: Any) -> Plan:
    source = owner.directory / "next.csv"
    source.write_text("email,handle\n" + text)
    given = {"columns": {"email": "email", "handle": "handle"}, **keywords}
    return plan_sync(source, audience_id=AUDIENCE, settings=replace(owner.settings, concurrency=1), **given)


def _lines(people: list[Person]) -> str:
    return "".join(f"person{mail}@example.com,handle_{name}\n" for mail, name in people)


async def test_people_are_counted(owner: Owner) -> None:
    """New, gone, as before, and before and after it; a row that is there twice is no second person."""
    plan = _plan(owner, _lines([*OLD[1:], ("90", ""), ("91", ""), ("91", "")]).replace("handle_\n", "\n"))
    assert plan.verdict == "ready"
    changes = plan.changes
    assert (changes["additions"], changes["removals"], changes["unchanged"]) == (2, 1, 19)
    assert (changes["members"], changes["members_after"], changes["waves"]) == (20, 21, [2, 1])
    rows = plan.rows
    assert (rows.read, rows.pending, rows.unchanged, rows.duplicate) == (22, 2, 19, 1)


async def test_a_data_frame_is_a_source(owner: Owner) -> None:
    """As of everything that takes one."""
    emails = [f"person{mail}@example.com" for mail, _ in OLD]
    frame = pa.table({"email": emails, "handle": [f"handle_{name}" for _, name in OLD]})
    plan = plan_sync(frame, audience_id=AUDIENCE, settings=replace(owner.settings, concurrency=1))
    assert (plan.changes["unchanged"], plan.records) == (20, 0)


async def test_members_put_back_are_told(owner: Owner) -> None:
    """A person goes by a key that another holds."""
    plan = _plan(owner, _lines([*OLD[:-1], ("19", "new"), ("new", "19")]))
    assert plan.changes["waves"] == [1, 1, 1], "who is struck is put in after it"
    assert any("these are put back right after it" in note for note in plan.notes)
    assert any("must know 100 people" in note for note in plan.notes)


async def test_an_unchanged_source_sends_nothing(owner: Owner) -> None:
    """And says so; it is no refusal."""
    plan = _plan(owner, _lines(OLD))
    assert (plan.verdict, plan.requests, plan.refusals) == ("empty", 0, ())
    assert any("nothing to send" in note for note in plan.notes)


@pytest.mark.parametrize(
    ("people", "words"), [([], "left empty"), (OLD[:15], "shrink"), ([(str(n), str(n)) for n in range(50, 70)], "list")]
)
async def test_a_source_that_cannot_be_it_is_refused(owner: Owner, people: list[Person], words: str) -> None:
    """With the reason among the refusals; the counts are there all the same."""
    plan = _plan(owner, _lines(people))
    assert plan.verdict == "refused"
    assert any(words in str(refusal) for refusal in plan.refusals)
    assert plan.changes["members"] == 20
