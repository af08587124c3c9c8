"""What the emulator can be told at its start."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

from .faults.fault import Fault


@dataclass(frozen=True, slots=True, kw_only=True)
class EmulatorOptions:
    """The settings of one emulator.

    `rate` overrides the window of the users endpoints: requests and seconds. `sink` counts users and applies
    nothing. `accept_upper_case` takes hashes in either case. `clock` gives epoch seconds; `POST /__clock` moves
    what it says. `faults` are set from the start. Raises ValueError for a setting that cannot be.
    """

    port: int = 0  # of `ads_url`; 0 lets the system choose, as it always does for the other two addresses
    profile: str = "spec"
    seed: int = 0
    rate: tuple[int, float] | None = None
    sink: bool = False
    accept_upper_case: bool = False
    state: None = None
    clock: Callable[[], float] = time.time
    faults: tuple[Fault, ...] = ()

    def __post_init__(self) -> None:
        if self.profile not in ("spec", "x"):
            raise ValueError("the profile is 'spec' or 'x'")
        if not 0 <= self.port <= 65_535:
            raise ValueError("a port is a number from 0 to 65,535")
        if self.rate is not None and (self.rate[0] < 1 or not 0 < self.rate[1] < float("inf")):
            raise ValueError("a rate is at least one request in a time longer than nothing")
