"""Calls one after the other in a process that may die of them, and what they came to."""

from __future__ import annotations

import ctypes
import mmap
import multiprocessing
import os
import random
import resource
import signal
import struct
import time
import traceback
from dataclasses import dataclass, field
from typing import Final

from audiencekit.kernels.library import find_library
from tests.kernelfuzz.calls import CALLS
from tests.kernelfuzz.drawing import Draw
from tests.kernelfuzz.layouts import STOPPED, Called
from tests.kernelfuzz.memory import Memory, TouchedError

MOST_FAULTS: Final = 20  # after which no more are looked for
FUZZER_FAILED: Final = 2
SILENCE_SECONDS: Final = 60.0  # without another call: one does not end
_NOTES: Final = struct.Struct("=qqqqq")  # the next seed, calls, texts, panics, and 1 for a call that is under way
_POLL_SECONDS: Final = 0.2


@dataclass
class Total:
    """Of all calls. A fault is a call that the process did not survive, or that answered wrongly, by its seed."""

    calls: int = 0
    texts: int = 0
    panics: int = 0
    faults: list[str] = field(default_factory=list)


class WrongError(Exception):
    """A kernel answered with something else than it should."""


def library() -> ctypes.CDLL:
    """The kernels of this installation. Raises RuntimeError where there are none."""
    found = find_library()
    if found is None:
        raise RuntimeError("there are no kernels to be fuzzed: see kernels/README.md")
    return found


def name_of(seed: int) -> str:
    """The export that is called with this seed."""
    return random.Random(seed).choice(sorted(CALLS))


def repeat(seed: int) -> Called:
    """The one call of a seed. Raises WrongError and TouchedError."""
    chance = random.Random(seed)
    call, memory = CALLS[chance.choice(sorted(CALLS))], Memory(chance)
    try:
        called = call(Draw(chance, memory), library())
        memory.check()
    finally:
        memory.free()
    if not called.is_sound:
        raise WrongError
    return called


def fuzz(seed: int, seconds: float) -> Total:
    """Return the totals of all calls from `seed` on, for so many seconds. Raises RuntimeError when the fuzzer fails."""
    total, until = Total(), time.monotonic() + seconds
    library()
    with mmap.mmap(-1, _NOTES.size) as notes:
        while time.monotonic() < until and len(total.faults) < MOST_FAULTS:
            notes[:] = _NOTES.pack(seed, 0, 0, 0, 0)
            seed = _watch(notes, until, total)
    return total


def _watch(notes: mmap.mmap, until: float, total: Total) -> int:
    """One process until it ends or is ended; the seed that comes next."""
    process = multiprocessing.get_context("fork").Process(target=_call_on, args=(notes, until))
    process.start()
    before, heard = -1, time.monotonic()
    while process.is_alive():
        process.join(_POLL_SECONDS)
        seed, now = _NOTES.unpack(notes[:])[0], time.monotonic()
        before, heard = (before, heard) if seed == before else (seed, now)
        if now - heard > SILENCE_SECONDS:
            process.kill()
    seed, calls, texts, panics, failed = _NOTES.unpack(notes[:])
    total.calls, total.texts, total.panics = total.calls + calls, total.texts + texts, total.panics + panics
    if not failed:
        return int(seed)
    if process.exitcode == FUZZER_FAILED:
        raise RuntimeError(f"the fuzzer itself failed at seed {seed}, {name_of(seed)}")
    total.faults.append(f"seed {seed}, {name_of(seed)}: {_ending(process.exitcode or 0)}")
    return int(seed) + 1


def _ending(code: int) -> str:
    if code >= 0:
        return "answered wrongly, or wrote beside a buffer"
    return "did not end" if -code == signal.SIGKILL else f"ended the process with signal {-code}"


def _call_on(notes: mmap.mmap, until: float) -> None:
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))  # a death is expected, and told
    seed, calls, texts, panics, _ = _NOTES.unpack(notes[:])
    while time.monotonic() < until:
        notes[:] = _NOTES.pack(seed, calls, texts, panics, 1)
        try:
            called = repeat(seed)
        except (WrongError, TouchedError):
            os._exit(1)
        except Exception:  # of the fuzzer itself
            traceback.print_exc()
            os._exit(FUZZER_FAILED)
        seed, calls, texts, panics = seed + 1, calls + 1, texts + called.texts, panics + (called.code == STOPPED)
        notes[:] = _NOTES.pack(seed, calls, texts, panics, 0)
    os._exit(0)
