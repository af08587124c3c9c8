"""Erasures that are killed at every place between two durable steps, by SIGKILL, and finished afterwards."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from audiencekit.api.opening import open_client
from audiencekit.emulator import Emulator
from audiencekit.pipeline import upload_async
from audiencekit.process.crash_points import ERASURE_POINTS
from audiencekit.settings import Settings
from tests.audiences.members import members_of
from tests.crashes.killing import Driver
from tests.shortened import shortened

SIGKILL = -9
PEOPLE = 6
# Where it is killed, at which time of passing, and what finishes it.
PLACES = [
    *((point, 1, "forget") for point in ERASURE_POINTS),
    ("before begin", 1, "forget"),
    ("after begin", 1, "resume"),
    ("before send", 1, "forget"),
    ("after send", 2, "resume"),
    ("before acknowledgement", 1, "resume"),
    ("after acknowledgement", 2, "forget"),
    ("before finish", 1, "forget"),
    ("after finish", 1, "resume"),
]
# Those that the short suite kills at: before and after people are asked to be taken out.
SOME = [("after begin", 1, "resume"), ("before acknowledgement", 1, "resume"), ("after witness", 1, "forget")]


@pytest.mark.parametrize(
    ("point", "nth", "again"), shortened(sorted(set(PLACES), key=lambda place: (place not in SOME, place)), len(SOME))
)
async def test_whatever_ended_it_the_same_command_finishes_it(
    point: str, nth: int, again: str, driver: Driver, emulator: Emulator, settings: Settings, tmp_path: Path
) -> None:
    """Or its id, once it has one; then no member is left, and no sealed file."""
    (tmp_path / "all.csv").write_text("email\n" + "".join(f"p{number}@example.org\n" for number in range(PEOPLE)))
    (tmp_path / "asked.csv").write_text("email\np1@example.org\np4@example.org\n")
    async with open_client(settings) as client:
        other = (await client.create_custom_audience(name="Other")).data["id"]
    for audience_id in (emulator.audience_id, other):
        await upload_async(tmp_path / "all.csv", audience=audience_id, settings=settings)
    env = {**emulator.env, "AUDIENCEKIT_STATE_DIR": str(settings.state_dir)}
    forget = ("forget", "--from", "asked.csv", "--json", "--concurrency", "1")

    killed = await driver.run(tmp_path, env, *forget, kill={"point": point, "nth": nth})
    assert killed.code == SIGKILL, killed.err
    checked = await driver.run(tmp_path, env, "check", "all.csv")
    assert checked.code == 0, checked.err  # a kill leaves no memory that is refused
    command = forget if again == "forget" else ("resume", "forget-", "--json")
    ended = await driver.run(tmp_path, env, *command)

    assert (ended.code, json.loads(ended.out)["state"]) == (0, "complete"), ended.err
    assert len(list(settings.state_dir.glob("erasures/forget-*"))) == 1
    assert list(settings.state_dir.rglob("keys.sealed")) == []
    for audience_id in (emulator.audience_id, other):
        assert len(await members_of(emulator, audience_id)) == PEOPLE - 2
