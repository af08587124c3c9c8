"""The match rate: the service's people over those that were provided."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from audiencekit.api.answers import Answer
from audiencekit.audiences import match_rate as matchrate
from audiencekit.audiences.erasure.forgetting import forget_async
from audiencekit.audiences.erasure.receipt import ErasureStore
from audiencekit.audiences.match_rate import (
    Health,
    Provided,
    Readiness,
    count_provided,
    explain,
    find_in_history,
    list_history,
    read_readiness,
    size_history,
    wait_until_targetable,
)
from audiencekit.audiences.sync.sync import sync_async
from audiencekit.destinations.audience_sizes import AudienceSizes
from audiencekit.destinations.target import Target
from audiencekit.emulator import Emulator
from audiencekit.errors import (
    AudiencekitError,
    NotFinished,
    NotFound,
    Refused,
    SnapshotRefused,
    TemporarilyUnavailable,
    TransportFailed,
    UsageError,
)
from audiencekit.pipeline import upload_async
from audiencekit.runs.store import BEGUN, RunStore, TargetLock, new_run_id
from audiencekit.selection.erased_people import RECEIPT
from audiencekit.settings import Settings, load_settings
from tests.audiences.stepclock import StepClock
from tests.cases import each_case
from tests.runs.started import create_begun

# --- The match rate: the service's people over those that were provided ---


def _health(size: int | None, provided: Provided | None) -> Health:
    readiness = Readiness(audience_id="1a2b", is_targetable=True, reasons=(), size=size)
    return Health(readiness=readiness, provided=provided)


@each_case(
    "size, provided, rate, words",
    [
        (620, Provided(least=1_000, most=1_000, source="snapshot"), (0.62, 0.62), "62 %: users active"),
        (600, Provided(least=1_000, most=1_500, source="runs"), (0.4, 0.6), "40 % to 60 %"),
        (1_200, Provided(least=1_000, most=1_000, source="runs"), (1.0, 1.0), "100 %"),
        (None, Provided(least=10, most=10, source="runs"), None, "the service does not say"),
        (600, None, None, "no run of this machine"),
        (5, Provided(least=0, most=0, source="snapshot"), None, "not known"),
        (99, Provided(least=200, most=200, source="snapshot"), (0.495, 0.495), "100 are needed before"),
        (499, Provided(least=998, most=998, source="snapshot"), (0.5, 0.5), "show a size from 500 on"),
    ],
)
def test_the_rate(size: int | None, provided: Provided | None, rate: Any, words: str) -> None:
    """As an interval where what was provided is one; never more than everyone."""
    health = _health(size, provided)
    assert health.rate == rate
    assert words in health.to_text()
    document = health.to_json()
    assert document["match_rate"] == (rate and {"least": rate[0], "most": rate[1]})


def test_floors_that_are_reached_are_not_told() -> None:
    """From 500 people on there is nothing to note."""
    assert "note:" not in _health(500, None).to_text()


def _list(tmp_path: Path, people: range) -> Path:
    path = tmp_path / "list.csv"
    path.write_text("email\n" + "".join(f"p{number}@example.com\n" for number in people))
    return path


async def test_the_people_provided_are_counted_by_runs_or_by_the_snapshot(tmp_path: Path) -> None:
    """Nothing at first; by runs an interval; by a snapshot the very number, whatever the runs before it."""
    async with Emulator() as emulator:
        settings: Settings = load_settings(emulator.env, directory=tmp_path, state_dir=tmp_path / "state")
        audience: dict[str, Any] = {"audience": emulator.audience_id, "settings": settings}
        assert count_provided(audience["audience"], settings) is None
        await upload_async(_list(tmp_path, range(300)), **audience)
        assert count_provided(audience["audience"], settings) == Provided(least=300, most=300, source="runs")
        await upload_async(_list(tmp_path, range(200, 400)), **audience)
        assert count_provided(audience["audience"], settings) == Provided(least=300, most=500, source="runs")
        await upload_async(_list(tmp_path, range(50)), operation="delete", **audience)
        assert count_provided(audience["audience"], settings) == Provided(least=250, most=500, source="runs")
        await sync_async(_list(tmp_path, range(120)), replace=True, **audience)
        assert count_provided(audience["audience"], settings) == Provided(least=120, most=120, source="snapshot")


async def test_a_run_of_both_operations(tmp_path: Path) -> None:
    """How many of its records were put in is not told: it may be all, or none."""
    async with Emulator() as emulator:
        settings = load_settings(emulator.env, directory=tmp_path, state_dir=tmp_path / "state")
        audience: dict[str, Any] = {"audience": emulator.audience_id, "settings": settings}
        await upload_async(_list(tmp_path, range(300)), **audience)
        lines = [f"p{number}@example.com,{'delete' if number % 2 else 'update'}" for number in range(300, 340)]
        (tmp_path / "mixed.csv").write_text("\n".join(["email,what", *lines, ""]))
        await upload_async(tmp_path / "mixed.csv", operation_column="what", **audience)
        assert count_provided(audience["audience"], settings) == Provided(least=260, most=340, source="runs")


async def test_entries_that_have_expired(tmp_path: Path) -> None:
    """Runs whose entries are over count no more."""
    async with Emulator() as emulator:
        settings = load_settings(emulator.env, directory=tmp_path, state_dir=tmp_path / "state")
        await upload_async(_list(tmp_path, range(300)), audience=emulator.audience_id, settings=settings, ttl_days=2)
        later = datetime.fromtimestamp(emulator.clock.now() + 3 * 86_400, UTC)
        assert count_provided(emulator.audience_id, settings, later) is None


def test_a_snapshot_that_cannot_be_trusted_says_nothing(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """After hours of waiting, too, the service's own numbers are told."""

    def refuse(audience_id: str, settings: Settings) -> Provided | None:
        raise SnapshotRefused("damaged")

    monkeypatch.setattr(matchrate, "count_provided", refuse)
    readiness = Readiness(audience_id="1a2b", is_targetable=True, reasons=(), size=600)
    health = Health.of(readiness, load_settings({}, directory=tmp_path))
    assert (health.provided, health.to_json()["audience_size"]) == (None, 600)
    assert "not known" in health.to_text()


async def test_the_rate_over_time(tmp_path: Path) -> None:
    """Each size with the members that the sync before had left; before the first there is no rate."""
    async with Emulator() as emulator:
        settings = load_settings(emulator.env, directory=tmp_path, state_dir=tmp_path / "state")
        sizes = AudienceSizes(settings.state_dir, settings.account_id)
        sizes.note(emulator.audience_id, 90, "2020-01-01T00:00:00Z")
        await sync_async(_list(tmp_path, range(120)), audience=emulator.audience_id, settings=settings)
        sizes.note(emulator.audience_id, 60, "2099-01-01T00:00:00Z")
        sizes.note(emulator.audience_id, 500, "2099-01-02T00:00:00Z")
        history = size_history(emulator.audience_id, settings)
    assert history == [
        {"seen_at": "2020-01-01T00:00:00Z", "audience_size": 90, "members": None, "match_rate": None},
        {"seen_at": "2099-01-01T00:00:00Z", "audience_size": 60, "members": 120, "match_rate": 0.5},
        {"seen_at": "2099-01-02T00:00:00Z", "audience_size": 500, "members": 120, "match_rate": 1.0},
    ]


def test_the_size_of_a_look_is_noted(tmp_path: Path) -> None:
    """So that the next page has a point more."""
    settings = load_settings({"AUDIENCEKIT_ACCOUNT_ID": "acc1"}, directory=tmp_path, state_dir=tmp_path / "state")
    Health.of(Readiness(audience_id="1a2b", is_targetable=True, reasons=(), size=620), settings)
    assert list(AudienceSizes(settings.state_dir, "acc1").of("1a2b").values()) == [620]


# --- Runs and erasures of one machine, as one list ---


async def test_runs_and_erasures_are_one_list(tmp_path: Path, emulator: Emulator, settings: Settings) -> None:
    """Newest first; `last` is the newest of both, and an id says which of them it is."""
    source = tmp_path / "people.csv"
    source.write_text("email\nada@example.org\n")
    run = await upload_async(source, audience=emulator.audience_id, settings=settings, run_id="zz-contacts")
    held = TargetLock(
        settings.state_dir, settings.require_account(), Target.audience(emulator.audience_id), "20261121-1"
    )
    with held, pytest.raises(NotFinished):
        await forget_async(["ada@example.org"], settings=settings)
    store = ErasureStore(settings.state_dir)
    (erasure_id,) = store.ids()
    receipt = store.receipt(erasure_id)
    receipt.started_at = "2001-01-01T00:00:00Z"
    store.store(receipt)
    erased, uploaded = list_history(settings.state_dir)
    assert (uploaded["run_id"], uploaded["state"]) == (run.run_id, "complete")
    assert erased == {
        "run_id": erasure_id, "operation": "forget", "state": "incomplete", "account_id": settings.account_id,
        "started_at": "2001-01-01T00:00:00Z", "finished_at": None, "audiences": {"known": 1, "settled": 0},
        "resumable": True, "running": False,
    }  # fmt: skip
    for asked in ("last", erasure_id, "forget-"):
        assert find_in_history(settings.state_dir, asked) == (erasure_id, True)
    assert find_in_history(settings.state_dir, "zz") == (run.run_id, False)
    for asked, noun in (("", "run"), ("nothing", "run"), ("forget-x", "erasure")):
        with pytest.raises(UsageError, match=f"there is no such {noun}"):
            find_in_history(settings.state_dir, asked)
    with store.locked() as note:
        note(erasure_id)
        (at_work, _) = list_history(settings.state_dir)
        assert (at_work["running"], at_work["resumable"]) == (True, False)
    source.write_text("email\nbo@example.org\n")
    later = await upload_async(source, audience=emulator.audience_id, settings=settings)
    assert find_in_history(settings.state_dir, "last") == (later.run_id, False)
    assert [one["run_id"] for one in list_history(settings.state_dir)] == [later.run_id, erasure_id, run.run_id]


def test_of_one_second_the_last_one_is_last(tmp_path: Path) -> None:
    """Without the list of what was begun, runs that said nothing are told apart by their ids."""
    store, ids = RunStore(tmp_path), [new_run_id(1_795_224_600 + moment / 100) for moment in (12, 47, 83)]
    for run_id in (ids[1], ids[2], ids[0]):
        create_begun(store, run_id)
    (tmp_path / BEGUN).unlink()
    assert [one["run_id"] for one in list_history(tmp_path)] == ids[::-1]
    assert find_in_history(tmp_path, "last") == (ids[2], False)


def test_ids_that_callers_chose_tell_no_time(tmp_path: Path) -> None:
    """Of one second the one that changed last is last; one that was killed before it said anything has its place."""
    store, second = RunStore(tmp_path), 1_795_224_601
    own = [new_run_id(second + fraction) for fraction in (0.5, 0.9)]
    ids = ["the-first-list", "a-second-list", own[0], "0-killed-at-once", own[1]]
    for run_id, fraction in zip(ids, (0.2, 0.3, 0.0, 0.7, 0.0), strict=True):
        directory = create_begun(store, run_id)
        if run_id.endswith("list"):
            store.write(run_id, {"state": "complete", "started_at": "2026-11-21T01:30:01Z"})
        os.utime(directory, (second + fraction, second + fraction))
    (tmp_path / BEGUN).unlink()
    assert [one["run_id"] for one in list_history(tmp_path)] == ids[::-1]
    assert find_in_history(tmp_path, "last") == (own[1], False)


def test_an_erasure_that_cannot_be_read_hides_no_other(tmp_path: Path) -> None:
    """It is told as what it is."""
    store = ErasureStore(tmp_path)
    directory = store.directory("forget-20261121-013000-1f3a9c00")
    directory.mkdir(parents=True)
    (directory / RECEIPT).write_text("{")
    (found,) = list_history(tmp_path)
    assert (found["state"], found["started_at"], found["resumable"]) == ("unreadable", "2026-11-21T01:30:00Z", False)


def test_nothing_was_done_yet(tmp_path: Path) -> None:
    """An empty list, and no `last`."""
    assert list_history(tmp_path) == []
    with pytest.raises(UsageError, match="there is no such run"):
        find_in_history(tmp_path, "last")


PROCESSING = {"targetable": False, "reasons_not_targetable": ["PROCESSING", "TOO_SMALL"], "audience_size": None}
READY = {"targetable": True, "reasons_not_targetable": [], "audience_size": 61_204}


class Service:
    """Gives the answers it was made with, one a call; the last one for ever. An error is raised."""

    def __init__(self, *answers: dict[str, Any] | AudiencekitError) -> None:
        self._answers: Iterator[dict[str, Any] | AudiencekitError] = iter(answers)
        self._last: dict[str, Any] | AudiencekitError = answers[-1]
        self.calls = 0

    async def get_custom_audience(self, audience_id: str, *, with_deleted: bool | None = None) -> Answer:
        self.calls += 1
        answer = next(self._answers, self._last)
        if isinstance(answer, AudiencekitError):
            raise answer
        return Answer(status=200, data={"id": audience_id, "deleted": False, **answer})


def _wait(service: Service, clock: StepClock, **keywords: Any) -> Readiness:
    return asyncio.run(wait_until_targetable(service, "abc1", clock=clock, **keywords))


def test_waiting_ends_with_the_first_answer_that_says_targetable() -> None:
    """Every answer is told, at the interval that was asked for."""
    told: list[Readiness] = []
    clock = StepClock()
    service = Service(PROCESSING, PROCESSING, READY)
    ready = _wait(service, clock, interval=timedelta(minutes=5), on_state=told.append)
    assert ready.is_targetable
    assert [one.is_targetable for one in told] == [False, False, True]
    assert clock.slept == [300.0, 300.0]


def test_waiting_ends_when_its_time_is_over() -> None:
    """After one last look at the very end, as something that can go on."""
    clock = StepClock()
    with pytest.raises(NotFinished, match="abc1"):
        _wait(Service(PROCESSING), clock, interval=timedelta(minutes=4), timeout=timedelta(minutes=10))
    assert clock.slept == [240.0, 240.0, 120.0]


def test_a_service_that_is_away_for_a_while_is_asked_again() -> None:
    """And one that stays away is not asked for ever."""
    away: list[AudiencekitError] = [TransportFailed("gone", sent=False), TemporarilyUnavailable("busy", status=503)]
    assert _wait(Service(*away, *away, READY), StepClock()).is_targetable
    service = Service(TransportFailed("gone", sent=False))
    with pytest.raises(TransportFailed):
        _wait(service, StepClock())
    assert service.calls == 6


def test_other_errors_end_the_wait_at_once() -> None:
    """An audience that does not exist will not come to exist."""
    service = Service(NotFound("not there", status=404))
    with pytest.raises(NotFound):
        _wait(service, StepClock())
    assert service.calls == 1


def test_a_deleted_audience_is_not_waited_for() -> None:
    """It says so."""
    with pytest.raises(Refused, match="deleted"):
        asyncio.run(read_readiness(Service({**PROCESSING, "deleted": True}), "abc1"))


@each_case(
    "size, words",
    [
        (61_204, "; 61,204 users active in 90 days"),
        (None, "the service does not say how many users are active"),
        ("61204", "the service does not say how many users are active"),
    ],
)
def test_the_size_is_told_in_words_of_the_service(size: Any, words: str) -> None:
    """A number that is none is not told."""
    readiness = asyncio.run(read_readiness(Service({**READY, "audience_size": size}), "abc1"))
    assert readiness.to_text().endswith(words)
    assert readiness.to_json()["audience_size"] == (size if isinstance(size, int) else None)


@each_case("reason, word", [("PROCESSING", "hours"), ("TOO_SMALL", "100"), ("SOMETHING_NEW", "SOMETHING_NEW")])
def test_reasons_are_explained(reason: str, word: str) -> None:
    """One that is not known is repeated."""
    assert word in explain(reason)


def test_words_of_the_service_are_harmless_in_a_log() -> None:
    """The line goes to terminals and to logs of Airflow: nothing in it acts, or begins another line."""
    hostile = "\x1b]0;x\x07\r\nstate: complete\u202e"
    answer = Service({**READY, "targetable": False, "reasons_not_targetable": [hostile]})
    readiness = asyncio.run(read_readiness(answer, "abc1"))
    assert readiness.to_text().isprintable()
    assert readiness.to_json()["reasons_not_targetable"] == [hostile]
