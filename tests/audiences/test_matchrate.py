"""The match rate: the service's people over those that were provided."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from audiencekit.audiences import matchrate
from audiencekit.audiences.matchrate import Health, Provided, count_provided, size_history
from audiencekit.audiences.readiness import Readiness
from audiencekit.audiences.synchronisation.sync import sync_async
from audiencekit.destinations.audience_sizes import AudienceSizes
from audiencekit.emulator import Emulator
from audiencekit.errors import SnapshotRefused
from audiencekit.pipeline import upload_async
from audiencekit.settings import Settings, load_settings


def _health(size: int | None, provided: Provided | None) -> Health:
    readiness = Readiness(audience_id="1a2b", is_targetable=True, reasons=(), size=size)
    return Health(readiness=readiness, provided=provided)


@pytest.mark.parametrize(
    ("size", "provided", "rate", "words"),
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
        audience: dict[str, Any] = {"audience_id": emulator.audience_id, "settings": settings}
        assert count_provided(**audience) is None
        await upload_async(_list(tmp_path, range(300)), **audience)
        assert count_provided(**audience) == Provided(least=300, most=300, source="runs")
        await upload_async(_list(tmp_path, range(200, 400)), **audience)
        assert count_provided(**audience) == Provided(least=300, most=500, source="runs")
        await upload_async(_list(tmp_path, range(50)), operation="delete", **audience)
        assert count_provided(**audience) == Provided(least=250, most=500, source="runs")
        await sync_async(_list(tmp_path, range(120)), replace=True, **audience)
        assert count_provided(**audience) == Provided(least=120, most=120, source="snapshot")


async def test_a_run_of_both_operations(tmp_path: Path) -> None:
    """How many of its records were put in is not told: it may be all, or none."""
    async with Emulator() as emulator:
        settings = load_settings(emulator.env, directory=tmp_path, state_dir=tmp_path / "state")
        audience: dict[str, Any] = {"audience_id": emulator.audience_id, "settings": settings}
        await upload_async(_list(tmp_path, range(300)), **audience)
        lines = [f"p{number}@example.com,{'delete' if number % 2 else 'update'}" for number in range(300, 340)]
        (tmp_path / "mixed.csv").write_text("\n".join(["email,what", *lines, ""]))
        await upload_async(tmp_path / "mixed.csv", operation_column="what", **audience)
        assert count_provided(**audience) == Provided(least=260, most=340, source="runs")


async def test_entries_that_have_expired(tmp_path: Path) -> None:
    """Runs whose entries are over count no more."""
    async with Emulator() as emulator:
        settings = load_settings(emulator.env, directory=tmp_path, state_dir=tmp_path / "state")
        await upload_async(_list(tmp_path, range(300)), audience_id=emulator.audience_id, settings=settings, ttl_days=2)
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
        await sync_async(_list(tmp_path, range(120)), audience_id=emulator.audience_id, settings=settings)
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
