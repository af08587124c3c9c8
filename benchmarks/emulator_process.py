"""An emulator in a process of its own, as a service would be, whose rate limit nothing here comes near."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Final

from benchmarks.trials import Contestant, Figures, run_trial, start

AUDIENCE: Final = "BENCHMARK_AUDIENCE_ID"  # in the environment of a trial: the audience to fill

_RATE: Final = "1000000/60"
_STOP_SECONDS: Final = 10.0


@contextmanager
def running_emulator(*, sink: bool) -> Iterator[dict[str, str]]:
    """The environment that leads a trial to the emulator and its audience. `sink`: it only counts users."""
    command = [sys.executable, "-m", "audiencekit", "emulator", "--rate", _RATE, *(["--sink"] if sink else [])]
    process = start(command)
    assert process.stdout is not None
    try:
        ready = json.loads(process.stdout.readline())
        yield {**ready["env"], AUDIENCE: ready["audience_id"]}
    finally:
        _stop(process)


def run_with_emulator(contestant: Contestant, *, sink: bool = True) -> Figures:
    """One trial with an emulator of its own, so that no trial finds what another left there."""
    with running_emulator(sink=sink) as environment:
        return run_trial(replace(contestant, environment={**contestant.environment, **environment}))


def _stop(process: subprocess.Popen[bytes]) -> None:
    process.terminate()
    try:
        process.communicate(timeout=_STOP_SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
        process.communicate()
