"""Real commands, each on an empty machine, killed at any time, with a bucket that loses calls: audiences end exact.

STATE_TRIALS raises the number of trials (1) for a longer run; STATE_FIRST leaves out as many before them.
"""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import json
import os
import random
import subprocess
import urllib.request
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeAlias

import pytest

from audiencekit.emulator import Emulator
from tests.forking import FASTER, SETTLE
from tests.mirror.machines import Machines
from tests.mirror.servers import StateBucket, state_bucket
from tests.moments import PATIENCE_SECONDS
from tests.processes import Commands
from tests.shortened import shortened

pytestmark = pytest.mark.services
TRIALS = int(os.environ.get("STATE_TRIALS", "1"))
FIRST = int(os.environ.get("STATE_FIRST", "0"))
STEPS = 5
MOST_TRIES = 15
MOST_KILLED = 3  # of the tries of a step
BUSY = 75
Note: TypeAlias = Callable[[str, object], None]
KILLED = -9


class Limited(Exception):
    """The service takes no more requests for a quarter of an hour: the trial ends before this step."""


@pytest.fixture
def bucket() -> Iterator[StateBucket]:
    with state_bucket() as found:
        yield found


@dataclass
class Trial:
    """The people that must be in both audiences, one for uploads and one under sync, by the steps that are complete."""

    seed: int
    machines: Machines
    directory: Path
    audiences: dict[str, str]
    chance: random.Random
    members: dict[str, set[str]] = field(default_factory=lambda: {"uploaded": set(), "synced": set()})
    erased: set[str] = field(default_factory=set)
    synced: bool = False

    def draw(self, number: int) -> tuple[str, ...]:
        """Return the arguments of a step, and note its effect."""
        people = {f"p{self.chance.randrange(40)}@example.com" for _ in range(self.chance.randint(5, 25))}
        (self.directory / "list.csv").write_text("\n".join(["email", *sorted(people)]) + "\n")
        kind = self.chance.choice(["upload", "upload", "sync", "sync", "renew", "forget"])
        if kind == "renew" and not self.synced:
            kind = "sync"
        if kind == "upload":
            self.members["uploaded"] |= people - self.erased
            return ("upload", "list.csv", "--audience", self.audiences["uploaded"], "--run-id", f"trial-step-{number}")
        if kind == "sync":
            self.members["synced"], self.synced = people - self.erased, True
            return ("sync", "list.csv", "--audience", self.audiences["synced"], "--replace")
        if kind == "renew":
            return ("renew", "--audience", self.audiences["synced"], "--before", "400d", "--ttl-days", "300")
        asked = {self.chance.choice(sorted(people))}
        (self.directory / "list.csv").write_text("\n".join(["email", *asked]) + "\n")
        self.erased |= asked
        for members in self.members.values():
            members -= asked
        return ("forget", "--from", "list.csv")

    def carry_out(self, arguments: tuple[str, ...]) -> int:
        """Repeat a command until it is complete; return how many of its processes were killed."""
        killed = 0
        for number in range(MOST_TRIES):
            racing = [self.machines.begin(*arguments) for _ in range(self.chance.choice([1, 1, 1, 2]))]
            if number < MOST_KILLED and self.chance.random() < 0.8:
                with contextlib.suppress(subprocess.TimeoutExpired):
                    racing[0].wait(timeout=self.chance.uniform(0.02, 1.5))
                racing[0].kill()
            ended = [(process.communicate(timeout=PATIENCE_SECONDS)[1], process.returncode) for process in racing]
            killed += sum(code == KILLED for _, code in ended)
            bad = [text for text, code in ended if code not in (0, BUSY, KILLED)]
            assert bad == [], f"seed {self.seed}: {arguments[0]}: {bad[0]}"
            if ended[0][1] == 0 or ended[-1][1] == 0:
                return killed
            if any("TOO_MANY_REQUESTS" in text for text, _ in ended):
                raise Limited  # clocks that run fast meet the limits of the service, whose clock does not
        raise AssertionError(f"seed {self.seed}: {arguments[0]} does not end: {ended}")


@pytest.mark.parametrize("seed", shortened(range(FIRST, FIRST + TRIALS), 2))
async def test_killed_commands_on_empty_machines_leave_exact_audiences(
    seed: int, commands: Commands, emulator: Emulator, bucket: StateBucket, tmp_path: Path, record_property: Note
) -> None:
    """No person is missing, none is there by mistake, and no erased person comes back."""
    record_property("killed", await asyncio.to_thread(_carry_out, seed, commands, emulator, bucket, tmp_path))


def _carry_out(seed: int, commands: Commands, emulator: Emulator, bucket: StateBucket, tmp_path: Path) -> int:
    machines = Machines(commands, tmp_path, bucket, {**emulator.env, FASTER: "300", SETTLE: "1"})
    assert machines.run("state", "init").returncode == 0
    audiences = {}
    for name in ("uploaded", "synced"):
        made = machines.run("audiences", "create", name, "--json")
        audiences[name] = json.loads(made.stdout)["id"]
    chance = random.Random(seed)
    bucket.door.chance, bucket.door.losses = random.Random(seed), chance.choice([0.0, 0.02])
    trial = Trial(seed, machines, tmp_path, audiences, chance)
    killed = 0
    for number in range(STEPS):
        arguments = trial.draw(number)
        try:
            killed += trial.carry_out(arguments)
        except Limited:
            break
        for name, audience_id in audiences.items():
            found, wanted = _emails(emulator, audience_id), set(map(_hashed, trial.members[name]))
            assert found == wanted, (
                f"seed {seed}: after step {number} ({arguments[0]}) {len(wanted - found)} people of {name!r} are"
                f" missing, {len(found - wanted)} too many"
            )
    return killed


def _emails(emulator: Emulator, audience_id: str) -> set[str]:
    with urllib.request.urlopen(f"{emulator.env['AUDIENCEKIT_ADS_URL']}/__members/{audience_id}") as answer:
        members = json.loads(answer.read())["members"]
    return {email for member in members for email in member["keys"].get("email", [])}


def _hashed(person: str) -> str:
    return hashlib.sha256(person.encode()).hexdigest()
