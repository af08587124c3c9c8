"""Entries that expire: put in again from the snapshot, by a sync, or counted."""

from __future__ import annotations

import asyncio
from contextlib import ExitStack
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from audiencekit.audiences.sync.planner import PlannedSync, plan_renewal
from audiencekit.audiences.sync.run import open_snapshot_run
from audiencekit.audiences.sync.sync import expiry
from audiencekit.delivery.limiter import Unlimited
from audiencekit.destinations.target import Target
from audiencekit.errors import Bug, PlanRefused, ResumeRefused
from audiencekit.pipeline import resume_async
from audiencekit.planning.options import Keywords, plain_keywords
from audiencekit.planning.plan_inputs import PlanResources, PlanTerms
from audiencekit.reporting.report import Report
from audiencekit.runs.beginning import start_run
from audiencekit.runs.journal.facts import RENEW
from audiencekit.runs.keywords import RunOptions
from audiencekit.runs.reports import read_report
from audiencekit.runs.run import RunArguments, RunClock
from tests.audiences.sync.service import AUDIENCE, NEVER, Entry, Owner, entries_of

SOON = [(str(number), str(number)) for number in range(5)]
LATER = [(str(number), str(number)) for number in range(5, 12)]


async def _renew(owner: Owner, before_days: int, memories: Any = ()) -> Report:
    with ExitStack() as stack:
        target, keywords = Target.audience(AUDIENCE), plain_keywords(Keywords())
        options = RunOptions(settings=owner.settings, progress=owner)
        arguments = RunArguments(source=None, target=target, keywords=keywords, options=options, operation=RENEW)
        run = start_run(arguments, stack)
        opened = open_snapshot_run(run, owner.service, stack, time=RunClock(owner.clock), progress=owner)  # type: ignore[arg-type]

        def planner(source: Any, terms: PlanTerms, resources: PlanResources) -> PlannedSync:
            return plan_renewal(opened.snapshot, before_days, source, replace(terms, memories=memories), resources)

        return await opened.carry_out(planner, Unlimited())


@pytest.fixture(scope="module")
def synced(tmp_path_factory: pytest.TempPathFactory) -> Owner:
    owner = Owner(tmp_path_factory.mktemp("synced"))
    asyncio.run(owner.sync(LATER, ttl_days=365))
    asyncio.run(owner.sync(SOON + LATER, ttl_days=20))
    owner.service.log.clear()
    return owner


@pytest.fixture
def owner(synced: Owner, tmp_path: Path) -> Owner:
    """Whose audience has five members that expire in 20 days, and seven that do so in a year."""
    return synced.copied(tmp_path)


def _sent(owner: Owner) -> tuple[set[str], set[Entry]]:
    """Return the verbs and the entries that were sent."""
    return {verb for verb, _ in owner.service.log}, set().union(*(users for _, users in owner.service.log))


async def test_only_what_lapses_soon_is_renewed(owner: Owner) -> None:
    """With a new time; the second renewal finds nothing to do."""
    report = await _renew(owner, 30)
    assert _sent(owner) == ({"Update"}, entries_of(SOON))
    assert (report.operation, report.rows.sent, report.rows.unchanged) == ("renew", 5, 7)
    assert {until[:4] for until in owner.service.entries.values()} == {"2027"}
    assert not any("nothing is sent" in note for note in report.notes)
    again = await _renew(owner, 30)
    assert any("nothing is sent" in note for note in again.notes)
    assert (again.requests_planned, again.rows.unchanged) == (0, 12)


async def test_a_renewal_that_failed_is_made_again(owner: Owner) -> None:
    """The snapshot was not advanced by what was not confirmed."""
    owner.service.fates = [NEVER]
    with pytest.raises(Bug) as caught:
        await _renew(owner, 30)
    assert "audiencekit renew" in caught.value.hint
    assert (await _renew(owner, 30)).rows.sent == 5


async def test_an_erased_member_is_not_renewed(owner: Owner) -> None:
    """A memory that holds one of the keys suppresses the member."""

    class AllErased:
        note = "all members were erased"

        def holds(self, kind: Any, hashes: Any) -> Any:
            import numpy as np

            return np.ones(len(hashes), dtype=bool)

    report = await _renew(owner, 30, memories=(AllErased(),))
    assert (report.rows.suppressed, report.rows.sent) == (5, 0)
    assert AllErased.note in report.notes
    assert not owner.service.log


async def test_a_sync_renews_what_lapses_soon(owner: Owner) -> None:
    """Although nothing in the source has changed."""
    report = await owner.sync(SOON + LATER)
    assert (report.changes["renewals"], report.changes["unchanged"]) == (5, 7)
    assert _sent(owner) == ({"Update"}, entries_of(SOON))


async def test_short_lives_are_not_renewed_each_time(tmp_path: Path) -> None:
    """Entries of 20 days are renewed in their second half."""
    owner = Owner(tmp_path)
    await owner.sync(SOON, ttl_days=20)
    assert (await owner.sync(SOON, ttl_days=20)).changes["renewals"] == 0


async def test_expiry_counts_the_days(owner: Owner) -> None:
    """Within 7, 30 and 90 days, and by day."""
    found = expiry(audience=AUDIENCE, settings=owner.settings)
    assert (found.members, found.doubtful, found.lapsed, found.unsettled) == (12, 0, 0, False)
    assert found.within == {7: 0, 30: 5, 90: 5}
    assert sorted(found.days.values()) == [5, 7]
    later = datetime.now(UTC) + timedelta(days=40)
    assert expiry(audience=AUDIENCE, settings=owner.settings, now=later).lapsed == 5
    assert found.to_json()["days"][0]["members"] == 5


async def test_an_audience_that_is_not_under_sync(tmp_path: Path) -> None:
    """Has nothing that could be renewed or counted."""
    owner = Owner(tmp_path)
    with pytest.raises(PlanRefused, match="not under sync"):
        expiry(audience=AUDIENCE, settings=owner.settings)
    with pytest.raises(PlanRefused, match="not under sync") as caught:
        await _renew(owner, 30)
    assert "first sync of the audience" not in str(caught.value.document)
    assert not any("first sync of the audience" in each for each in owner.told)


async def test_resume_refuses_a_sync(owner: Owner) -> None:
    """And says which command goes on, with the report that `report` shows."""
    owner.service.fates = [NEVER]
    with pytest.raises(Bug) as failed:
        await owner.sync([*SOON, *LATER, ("99", "")])
    assert failed.value.document is not None
    with pytest.raises(ResumeRefused) as caught:
        await resume_async(failed.value.document["run_id"], settings=owner.settings)
    assert caught.value.reason == "changes"
    assert f"audiencekit sync SOURCE --audience {AUDIENCE}" in caught.value.hint
    document = read_report(owner.settings.state_dir, "last")
    assert document["requests"]["confirmed"] is not None
    assert caught.value.document == document
