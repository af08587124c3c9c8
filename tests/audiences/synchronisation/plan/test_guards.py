"""Checks that stop a sync before it sends, and its warnings."""

from __future__ import annotations

from pathlib import Path

import pytest

from audiencekit.audiences.synchronisation.plan.guards import judge_size, warn_of_few, warn_of_pace
from audiencekit.errors import PlanRefused
from audiencekit.snapshots.facts import SnapshotFacts
from tests.audiences.synchronisation.service import Owner

NOW = 1_795_000_000.0


@pytest.mark.parametrize(
    ("wanted", "members", "lost", "allowed", "refused"),
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


@pytest.mark.parametrize(
    ("hours", "additions", "removals", "words"),
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


@pytest.mark.parametrize(
    "people",
    [
        pytest.param([], id="nothing"),
        pytest.param([("", "")], id="no key"),
        pytest.param([("1", "1")], id="one"),
        pytest.param([(str(number), "") for number in range(70, 90)], id="few"),
        pytest.param([(str(number), str(number)) for number in range(70, 120)], id="others"),
    ],
)
async def test_a_source_that_is_not_whole_sends_nothing(tmp_path: Path, people: list[tuple[str, str]]) -> None:
    """Empty, cut off upstream, or of other people: refused, and the next whole one finds everything as it was."""
    owner = Owner(tmp_path)
    members = [(str(number), str(number)) for number in range(50)]
    await owner.sync(members)
    owner.service.log.clear()
    with pytest.raises(PlanRefused) as caught:
        await owner.sync(people, allow_shrink=0.2)
    assert caught.value.exit_code == 3
    assert not owner.service.log
    report = await owner.sync(members, allow_shrink=0.2)
    assert report.changes["unchanged"] == 50
    assert not owner.service.log


async def test_one_more_key_for_all_members_is_no_other_list(tmp_path: Path) -> None:
    """All entries change, and no member is lost."""
    owner = Owner(tmp_path)
    await owner.sync([(str(number), "") for number in range(50)])
    report = await owner.sync([(str(number), str(number)) for number in range(50)], allow_shrink=0.2)
    assert (report.state, report.changes["removals"]) == ("complete", 50)
