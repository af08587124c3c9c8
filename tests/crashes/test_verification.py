"""A proof of erasures looks into every file that a kill leaves."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from audiencekit.emulator import Emulator
from tests.crashes.killing import Driver
from tests.crashes.scenario import environment

KILLED = -9
PERSON = "person1@example.com"
LEFT = {
    "spool": (("upload", "list.csv", "--keep-spool"), "after send"),
    "changes": (("sync", "list.csv"), "after send"),
}


async def _verified(driver: Driver, directory: Path, env: dict[str, str]) -> tuple[int, dict[str, Any]]:
    ended = await driver.run(directory, env, "erasure", "verify", "--json")
    return ended.code, json.loads(ended.out)


@pytest.mark.slow
@pytest.mark.parametrize("kind", LEFT)
async def test_the_files_of_a_killed_run_are_verified(
    kind: str, driver: Driver, emulator: Emulator, tmp_path: Path
) -> None:
    """A person that another host has erased since is found in it."""
    env, (command, point) = environment(emulator, tmp_path), LEFT[kind]
    command = (*command, "--audience", emulator.audience_id)
    people = "".join(f"person{number}@example.com\n" for number in range(40))
    (tmp_path / "list.csv").write_text("email\n" + people)
    assert (await driver.run(tmp_path, env, *command, kill={"point": point, "nth": 1})).code == KILLED
    await _remember_elsewhere(driver, emulator, tmp_path, env)
    code, found = await _verified(driver, tmp_path, env)
    assert code == 3
    assert (kind, 40, 1) in [(file["kind"], file["records"], file["erased"]) for file in found["files"]]


async def test_an_erasure_that_was_killed_is_not_verified(driver: Driver, emulator: Emulator, tmp_path: Path) -> None:
    env = environment(emulator, tmp_path)
    (tmp_path / "gone.csv").write_text(f"email\n{PERSON}\n")
    command = ("forget", "--from", "gone.csv")
    assert (await driver.run(tmp_path, env, *command, kill={"point": "before finish", "nth": 1})).code == KILLED
    code, found = await _verified(driver, tmp_path, env)
    assert (code, found["verified"], len(found["erasures"]["unfinished"])) == (3, False, 1)
    assert (await driver.run(tmp_path, env, *command)).code == 0
    code, found = await _verified(driver, tmp_path, env)
    assert (code, found["verified"], found["erasures"]) == (0, True, {"complete": 1, "unfinished": [], "changed": []})


async def _remember_elsewhere(driver: Driver, emulator: Emulator, directory: Path, env: dict[str, str]) -> None:
    """Erase the person on another host, whose memory this one imports."""
    elsewhere = {**env, "AUDIENCEKIT_STATE_DIR": str(directory / "elsewhere"), "AUDIENCEKIT_KEY": "e1" * 32}
    (directory / "gone.csv").write_text(f"email\n{PERSON}\n")
    assert (await driver.run(directory, elsewhere, "forget", "--from", "gone.csv")).code == 0
    recipient = (await driver.run(directory, env, "forgotten", "recipient")).out.strip()
    export = ("forgotten", "export", "people.forgotten", "--to", recipient)
    assert (await driver.run(directory, elsewhere, *export)).code == 0
    sender = (await driver.run(directory, elsewhere, "forgotten", "sender")).out.strip()
    assert (await driver.run(directory, env, "forgotten", "import", "people.forgotten", "--from", sender)).code == 0
