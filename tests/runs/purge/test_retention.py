"""The setting `retention` at the start of a run."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from audiencekit.emulator import Emulator
from audiencekit.pipeline import upload_async
from audiencekit.runs.purge.purging import only_purge
from audiencekit.runs.purge.receipt import PURGES
from audiencekit.runs.purge.retention import let_expire
from audiencekit.runs.store import RunStore
from audiencekit.settings import Settings
from tests.runs.purge.state import KINDS, NOW, make_run

RETENTION = timedelta(days=30)


def test_an_ended_run_goes_when_it_is_old_enough(tmp_path: Path) -> None:
    """One line says how many; what can be resumed stays for good."""
    for kind in KINDS:
        make_run(tmp_path, kind)
    make_run(tmp_path, "complete", age=timedelta(days=29), name="a-younger-run")
    assert let_expire(tmp_path, RETENTION, now=NOW) == "AUDIENCEKIT_RETENTION: 4 older runs purged"
    assert {*RunStore(tmp_path).ids()} == {"a-resumable-run", "a-damaged-run", "a-younger-run"}
    (receipt,) = (tmp_path / PURGES).iterdir()
    assert b'"by": "retention"' in receipt.read_bytes()


def test_without_anything_to_purge_nothing_is_said_or_kept(tmp_path: Path) -> None:
    """And without the setting nothing goes."""
    make_run(tmp_path, "complete")
    assert let_expire(tmp_path, None, now=NOW) == ""
    assert not (tmp_path / PURGES).exists()
    assert let_expire(tmp_path, timedelta(days=41), now=NOW) == ""
    assert list((tmp_path / PURGES).iterdir()) == []
    assert RunStore(tmp_path).ids() == ["a-complete-run"]


def test_it_takes_a_bounded_time(tmp_path: Path) -> None:
    """By a clock; the rest goes at the next start."""
    for number in range(4):
        make_run(tmp_path, "complete", name=f"run-of-{number:04}")
    ticks = itertools.chain([0.0] * 7, itertools.repeat(2.0))
    assert let_expire(tmp_path, RETENTION, now=NOW, clock=lambda: next(ticks)).endswith(" 3 older runs purged")
    assert let_expire(tmp_path, RETENTION, now=NOW).endswith(" 1 older run purged")


def test_it_fails_no_run(tmp_path: Path) -> None:
    """An obstacle is one line; a purge that is at work already is none."""
    make_run(tmp_path, "complete")
    with only_purge(tmp_path):
        assert let_expire(tmp_path, RETENTION, now=NOW) == ""
    (tmp_path / PURGES).rmdir()
    (tmp_path / PURGES).write_text("in the way")
    line = let_expire(tmp_path, RETENTION, now=NOW)
    assert line.startswith("older runs were not purged: ")
    assert line.endswith("; `audiencekit purge` says what to do")
    assert "\n" not in line


class Told:
    """A listener that keeps what it is told."""

    def __init__(self) -> None:
        self.lines: list[str] = []

    def tell(self, message: str) -> None:
        self.lines.append(message)

    def step(self, stage: str, done: int, total: int, *, unit: str, also: Mapping[str, int] | None = None) -> None:
        pass


@pytest.mark.parametrize("is_in_the_way", [False, True])
async def test_the_start_of_a_run_purges(
    tmp_path: Path, emulator: Emulator, settings: Settings, is_in_the_way: bool
) -> None:
    """And says so; the run goes its way, also when nothing can be purged."""
    (tmp_path / "list.csv").write_text("email\nada@example.org\n")
    settings = replace(settings, retention=RETENTION)
    old = make_run(settings.state_dir, "complete", age=NOW - datetime.now(UTC) + timedelta(days=31))
    if is_in_the_way:
        (settings.state_dir / PURGES).write_text("in the way")
    told = Told()
    report = await upload_async(
        tmp_path / "list.csv", audience_id=emulator.audience_id, settings=settings, progress=told
    )
    assert (report.state, old.exists()) == ("complete", is_in_the_way)
    expected = "older runs were not purged" if is_in_the_way else "AUDIENCEKIT_RETENTION: 1 older run purged"
    assert len([line for line in told.lines if line.startswith(expected)]) == 1
