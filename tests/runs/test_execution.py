"""A run and those before it: what they left in doubt is waited for where it would undo what is sent now."""

from __future__ import annotations

import functools
import io
import re
from pathlib import Path

import pytest

from audiencekit.delivery.retry import SystemClock
from audiencekit.emulator import Emulator, EmulatorOptions
from audiencekit.emulator.faults.orders import read_faults
from audiencekit.pipeline import upload_async
from audiencekit.reporting.progress import LineProgress
from audiencekit.runs import execution
from audiencekit.runs.run import RunClock
from audiencekit.settings import load_settings
from tests.runs.begun import ROWS, Listener

LATE_SECONDS = 0.2
BROKEN = {
    "fault": 3, "nth": 2, "match": {"path": "*/users"}, "delay_seconds": LATE_SECONDS, "meanwhile": "reset",
}  # fmt: skip


class SoonOver(SystemClock):
    """Waits out what the emulator holds back, and notes how long it should have been, and then is."""

    waited: list[float]
    skipped = 0.0

    def monotonic(self) -> float:
        return super().monotonic() + self.skipped

    async def sleep(self, seconds: float) -> None:
        if seconds > 1:
            self.waited.append(seconds)
            self.skipped += seconds
            seconds = 2 * LATE_SECONDS
        await super().sleep(seconds)


def _members(emulator: Emulator) -> int:
    found = emulator.store.find_list(emulator.audience_id)
    assert found is not None
    return len(list(found.members.members(emulator.clock.now())))


@pytest.mark.parametrize(("operation", "waits"), [("delete", True), ("update", False)])
async def test_a_doubt_that_another_run_left_is_waited_for(
    operation: str, waits: bool, source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, small_requests: None
) -> None:
    """A late Update brings back people that a Delete took out; the same Update once more changes nothing."""
    monkeypatch.setattr(SoonOver, "waited", [], raising=False)
    monkeypatch.setattr(execution, "RunClock", functools.partial(RunClock, SoonOver()))
    async with Emulator(EmulatorOptions(faults=tuple(read_faults([BROKEN])))) as emulator:
        given = {**emulator.env, "AUDIENCEKIT_CONCURRENCY": "1"}
        settings = load_settings(given, directory=tmp_path, state_dir=tmp_path / "state")
        before = await upload_async(source, audience=emulator.audience_id, settings=settings)
        assert (before.rows.sent, before.attempts) == (ROWS, before.requests_confirmed + 1)
        progress = Listener()
        await upload_async(
            source, audience=emulator.audience_id, settings=settings, operation=operation, progress=progress
        )
        await SystemClock().sleep(2 * LATE_SECONDS)
        assert _members(emulator) == (0 if waits else ROWS)
    assert bool(SoonOver.waited) is waits
    assert any(message.startswith("waiting 900 s: a request of an earlier run") for message in progress.told) is waits


async def test_a_wait_within_the_run_is_told_after_a_storm(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, small_requests: None
) -> None:
    """The lines about lost answers, which came just before, do not silence the line that explains the wait."""
    monkeypatch.setattr(SoonOver, "waited", [], raising=False)
    monkeypatch.setattr(execution, "RunClock", functools.partial(RunClock, SoonOver()))
    source, lines = tmp_path / "both.csv", io.StringIO()
    people = [f"person{number}@example.com,+1201555{number:04},update" for number in range(ROWS)]
    overruling = [f"person{number}@example.com,,delete" for number in range(ROWS)]
    source.write_text("\n".join(["email,phone,operation", *people, *overruling]) + "\n")
    faults = [{"fault": 13, "where": "after_apply", "nth": nth, "match": {"path": "*/users"}} for nth in (1, 3)]
    async with Emulator(EmulatorOptions(faults=tuple(read_faults(faults)))) as emulator:
        given = {**emulator.env, "AUDIENCEKIT_CONCURRENCY": "1"}
        settings = load_settings(given, directory=tmp_path, state_dir=tmp_path / "state")
        await upload_async(
            source, audience=emulator.audience_id, settings=settings, operation_column="operation",
            progress=LineProgress(lines, lambda: 0.0),
        )  # fmt: skip
        assert _members(emulator) == 0
    told = lines.getvalue().splitlines()
    assert any(seconds > 800 for seconds in SoonOver.waited)
    assert sum(line.startswith("request ") for line in told) == len(faults)
    assert any(re.match(r"waiting \d+ s before requests that overrule earlier ones", line) for line in told)
