"""However runs end, and whatever becomes of their requests: the next sync that completes leaves the audience exact.

SYNC_EXAMPLES raises the number of histories (6) for a longer run.
"""

from __future__ import annotations

import asyncio
import os
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings, strategies as st

from audiencekit.destinations.requests.request_plan import BodyLimits
from audiencekit.errors import AudiencekitError, Bug
from audiencekit.machine.crashpoints import SYNC_POINTS, set_hook
from tests.audiences.synchronisation.service import FINE, LATE, LOST, NEVER, Owner, Person, entries_of

EXAMPLES = int(os.environ.get("SYNC_EXAMPLES", "6"))

NUMBERS = st.sampled_from(["", "0", "1", "2", "3", "4"])
PEOPLE = st.lists(st.tuples(NUMBERS, NUMBERS).filter(any), min_size=1, max_size=7, unique=True)
FATES = st.lists(st.sampled_from([FINE, FINE, LOST, NEVER, LATE]), max_size=4)
STEPS = st.lists(st.tuples(PEOPLE, FATES, st.sampled_from([None, *SYNC_POINTS])), min_size=1, max_size=4)


class Killed(BaseException):
    """Ends a run in the middle, without clean-up."""


@pytest.fixture
def owner(tmp_path: Path) -> Owner:
    return Owner(tmp_path)


async def _attempt(owner: Owner, people: list[Person], fates: list[str], point: str | None) -> bool:
    """Whether one sync completed that is killed at `point`, if it comes there."""

    def kill(passed: str) -> None:
        if passed == point:
            raise Killed

    owner.service.fates = list(fates)
    set_hook(kill)
    try:
        await owner.sync(people)
    except (AudiencekitError, Killed):
        return False
    finally:
        set_hook(None)
        owner.service.fates = []
    return True


@settings(max_examples=EXAMPLES, deadline=None)
@given(STEPS, PEOPLE)
def test_the_audience_ends_as_the_last_source(
    steps: list[tuple[list[Person], list[str], str | None]], last: list[Person]
) -> None:
    """Through lost answers, requests applied late, and kills; with people who share keys with one another."""

    async def live() -> None:
        with TemporaryDirectory() as directory:
            owner = Owner(Path(directory))
            for people, fates, point in steps:
                if await _attempt(owner, people, fates, point):
                    owner.service.arrive_late()
                    assert set(owner.service.entries) == entries_of(people)
            await owner.sync(last)
            owner.service.arrive_late()
            assert set(owner.service.entries) == entries_of(last)
            requests = len(owner.service.log)
            await owner.sync(last)
            assert len(owner.service.log) == requests, "there was nothing left to send"

    asyncio.run(live())


async def test_confirmed_changes_are_not_sent_again(owner: Owner, monkeypatch: pytest.MonkeyPatch) -> None:
    """After a run that ended early, only the rest is."""
    _small_requests(monkeypatch)
    people = [(str(number), str(number)) for number in range(30)]
    owner.service.fates = [FINE, FINE, NEVER]
    with pytest.raises(Bug):
        await owner.sync(people)
    sent = set().union(*(users for _, users in owner.service.log))
    owner.service.log.clear()
    report = await owner.sync(people)
    again = set().union(*(users for _, users in owner.service.log))
    assert sent
    assert again == entries_of(people) - sent
    assert report.rows.unchanged == len(sent)


async def test_a_request_in_doubt_is_waited_for_before_its_opposite(owner: Owner) -> None:
    """A late Update must not put back who was taken out since."""
    await owner.sync([("1", ""), ("2", "")])
    owner.service.fates = [LATE]
    with pytest.raises(Bug):
        await owner.sync([("1", ""), ("2", ""), ("3", "")])
    assert not owner.clock.waited
    await owner.sync([("1", ""), ("2", "")])
    assert owner.clock.waited == 900
    assert any(message.startswith("waiting 900 s") for message in owner.told)
    assert set(owner.service.entries) == entries_of([("1", ""), ("2", "")])


async def test_a_request_in_doubt_that_is_only_repeated_waits_for_nothing(owner: Owner) -> None:
    """The same Update once more cannot be undone by the first."""
    owner.service.fates = [LATE]
    with pytest.raises(Bug):
        await owner.sync([("1", "")])
    await owner.sync([("1", "")])
    assert not owner.clock.waited


async def test_a_run_of_another_day_needs_no_wait(owner: Owner) -> None:
    """A quarter of an hour after it was last in doubt, nothing can be applied any more."""
    await owner.sync([("1", ""), ("2", "")])
    owner.service.fates = [NEVER]
    with pytest.raises(Bug):
        await owner.sync([("1", ""), ("2", ""), ("3", "")])
    owner.clock.time += 86_400
    await owner.sync([("1", ""), ("2", "")])
    assert not owner.clock.waited


async def test_updates_come_before_deletes(owner: Owner, monkeypatch: pytest.MonkeyPatch) -> None:
    """So that no member of both the old and the new list is missing at any moment."""
    _small_requests(monkeypatch)
    old = [(str(number), str(number)) for number in range(40)]
    new = [(str(number), str(number)) for number in range(20, 60)]
    await owner.sync(old)
    shared = entries_of(old) & entries_of(new)

    def watch() -> None:
        live = set(owner.service.entries)
        assert shared <= live
        assert live >= entries_of(new) or live >= entries_of(old)

    owner.service.watch = watch
    owner.service.log.clear()
    await owner.sync(new)
    verbs = [verb for verb, _ in owner.service.log]
    assert verbs == sorted(verbs, reverse=True)
    assert set(verbs) == {"Update", "Delete"}
    assert set(owner.service.entries) == entries_of(new)


async def test_a_wider_key_set_never_empties_the_audience(owner: Owner) -> None:
    """When every person gets one key more, all entries change; they do so a small share at a time."""
    numbers = [str(number) for number in range(60)]
    await owner.sync([(number, "") for number in numbers])
    fewest = 60

    def watch() -> None:
        nonlocal fewest
        fewest = min(fewest, len(owner.service.entries))

    owner.service.watch = watch
    await owner.sync([(number, number) for number in numbers])
    assert fewest >= 60 * 0.9
    assert set(owner.service.entries) == entries_of((number, number) for number in numbers)


def _small_requests(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(BodyLimits, "within", lambda _: BodyLimits(max_body_bytes=1_500))
