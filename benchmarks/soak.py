"""Everything that proves delivery, again and again, with other chances every time.

    python -m benchmarks.soak --hours 8

Simulated runs, pairs of faults, processes that are killed, the limiter among kills and restarts, every fault over a
real socket: in turn, until the time is over. What each found is a line on the terminal and a line of JSON in the file
(`--out`), with the command that repeats it; what a step that failed has printed is in the file, too. Ends with 1 when
any did. A step that has begun is finished.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from benchmarks.trials import ROOT

_PYTEST: Final = ("-m", "pytest", "-n0", "-q", "-p", "no:cacheprovider")
_SEEDS, _KILLS, _LIMITER_MINUTES = 2_000, 40, 5
_TOLD_LETTERS: Final = 4_000  # of what a step has printed last


@dataclass(frozen=True, slots=True)
class Step:
    """One proof: arguments of Python, what the environment adds, and a name."""

    name: str
    arguments: tuple[str, ...]
    environment: Mapping[str, str] = field(default_factory=dict)

    @property
    def command(self) -> str:
        """Return the shell command that repeats it."""
        return " ".join([*(f"{name}={value}" for name, value in self.environment.items()), "python", *self.arguments])


def steps_of(turn: int) -> tuple[Step, ...]:
    """The steps of a turn, from 0; no two turns simulate the same runs or kill at the same places."""
    first, kills = str(turn * _SEEDS), {"CRASH_FIRST": str(turn * _KILLS), "CRASH_TRIALS": str(_KILLS)}
    return (
        Step("simulated runs", ("-m", "tests.simulator", "--first", first, "--count", str(_SEEDS))),
        Step("pairs of faults", ("-m", "tests.simulator", "--pairs", "--first", str(turn * 10_000))),
        Step("kills", (*_PYTEST, "tests/crashes/test_kills.py"), kills),
        Step("limiter", ("-m", "benchmarks.limiter_soak", "--minutes", str(_LIMITER_MINUTES), "--kill-every", "5")),
        Step("live faults", (*_PYTEST, "-m", "live_matrix", "tests/live_faults")),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """The result of a step."""

    turn: int
    step: Step
    seconds: float
    exit_code: int
    said: str  # the end of what it printed: its last line when all was well

    def to_json(self) -> dict[str, Any]:
        """One line of the file."""
        return {
            "ended_at": f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%SZ}",
            "turn": self.turn,
            "step": self.step.name,
            "command": self.step.command,
            "seconds": round(self.seconds, 1),
            "exit_code": self.exit_code,
            "said": self.said,
        }


def take(step: Step, turn: int, monotonic: Callable[[], float] = time.monotonic) -> Found:
    """Run one step to its end, in a process of its own."""
    began = monotonic()
    done = subprocess.run(
        [sys.executable, *step.arguments], cwd=ROOT, env={**os.environ, "PYTHONPATH": str(ROOT), **step.environment},
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False,
    )  # fmt: skip
    lines = done.stdout.strip().splitlines() or [""]
    said = done.stdout[-_TOLD_LETTERS:] if done.returncode else lines[-1]
    return Found(turn=turn, step=step, seconds=monotonic() - began, exit_code=done.returncode, said=said)


def soak(
    hours: float,
    out: Path,
    *,
    steps: Callable[[int], Sequence[Step]] = steps_of,
    first_turn: int = 0,
    monotonic: Callable[[], float] = time.monotonic,
) -> list[Found]:
    """Turn after turn until the time is over; what every step came to, written down as it ends."""
    end, found, turn = monotonic() + hours * 3_600, [], first_turn
    while monotonic() < end:
        for step in steps(turn):
            if monotonic() >= end:
                break
            found.append(take(step, turn))
            _write_down(found[-1], out)
        turn += 1
    return found


def _write_down(found: Found, out: Path) -> None:
    with out.open("a", encoding="utf-8") as file:
        file.write(f"{json.dumps(found.to_json())}\n")
    verdict = "holds" if not found.exit_code else f"FAILED: {found.step.command}"
    print(f"turn {found.turn}: {found.step.name}: {verdict} ({found.seconds:.0f} s)", flush=True)


def main(arguments: Sequence[str] | None = None) -> int:
    """0 when every step held, and there was one."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.soak", description="Prove delivery, for hours.")
    parser.add_argument("--hours", type=float, required=True)
    parser.add_argument("--first-turn", type=int, default=0, help="other chances than those of turn 0")
    parser.add_argument("--out", type=Path, default=Path("soak.jsonl"), help="one line of JSON a step is added to it")
    given = parser.parse_args(arguments)
    found = soak(given.hours, given.out, first_turn=given.first_turn)
    failed = sum(bool(one.exit_code) for one in found)
    print(f"{len(found)} steps in {sum(one.seconds for one in found) / 3_600:.2f} hours, {failed} failed")
    return 0 if found and not failed else 1


if __name__ == "__main__":
    sys.exit(main())
