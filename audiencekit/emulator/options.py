"""The options of the emulator at its start."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from audiencekit.emulator.encryption import check_encryption
from audiencekit.emulator.endpoints.accounts import GATES
from audiencekit.emulator.endpoints.custom_audiences import PROCESSING_SECONDS
from audiencekit.emulator.endpoints.stream_rules import TRACKS
from audiencekit.emulator.endpoints.users import FIRST_NAME, USER_NAMES
from audiencekit.emulator.endpoints.webhooks import WAITS_SECONDS, read_receivers
from audiencekit.emulator.faults.effects import Fault

DEFAULT_MATCH_RATE: Final = 0.6


@dataclass(frozen=True, slots=True, kw_only=True)
class EmulatorOptions:
    """The options of one emulator.

    `rate` overrides the window of the users endpoints: requests and seconds. `sink` counts users and applies nothing.
    `match_rate` is the share of identifiers that users of the platform have, `processing_seconds` the time from one
    count of a list to the next. `accept_upper_case` takes hashes in either case. `clock` gives epoch seconds; `POST
    /__clock` moves it. `faults` are set from the start. Raises ValueError for an invalid setting.
    """

    port: int = 0  # of `ads_url`; 0 lets the system choose, as it always does for the other two addresses
    profile: str = "spec"
    seed: int = 0
    rate: tuple[int, float] | None = None
    sink: bool = False
    match_rate: float = DEFAULT_MATCH_RATE
    processing_seconds: float = PROCESSING_SECONDS
    accept_upper_case: bool = False
    outside: frozenset[str] = frozenset()  # names of betas and limited releases that no account is let into
    sign_in: bool = True  # the sign-in setting of the application
    track: str = "standard"  # of the rules of the filtered stream
    webhooks: Mapping[str, str] = field(default_factory=dict)  # addresses of receivers by webhook id
    webhook_hosts: frozenset[str] = frozenset()  # of receivers that are not on loopback
    delivery_waits: tuple[float, ...] = WAITS_SECONDS  # seconds before a delivery is made again
    user: str = FIRST_NAME  # whose token stands in the environment that leads to the emulator
    tls: bool = False  # https at all three addresses
    hosts: tuple[str, ...] = ()  # that the certificate names besides this machine, and that `ads_url` answers to
    authority: Path | None = None  # a directory to keep the certificate authority in
    state: Path | None = None  # a file to continue from; without one everything is in memory
    clock: Callable[[], float] = time.time
    faults: tuple[Fault, ...] = ()

    def __post_init__(self) -> None:
        if self.profile not in ("spec", "x"):
            raise ValueError("the profile is 'spec' or 'x'")
        if not self.outside <= set(GATES):
            raise ValueError(f"an account is outside of: {', '.join(GATES)}")
        if self.track not in TRACKS:
            raise ValueError(f"a track is one of {', '.join(TRACKS)}")
        read_receivers(dict(self.webhooks), self.webhook_hosts)
        if self.user not in USER_NAMES:
            raise ValueError(f"a user is one of {', '.join(USER_NAMES)}")
        check_encryption(self.tls, self.hosts, self.authority)
        if not 0 <= self.port <= 65_535:
            raise ValueError("a port is a number from 0 to 65,535")
        if self.state is not None and self.sink:
            raise ValueError("a sink applies nothing, so it has no state to keep")
        if not 0 <= self.match_rate <= 1:
            raise ValueError("a match rate is a share, from 0 to 1")
        if not 0 < self.processing_seconds < float("inf"):
            raise ValueError("a count takes some time")
        if self.rate is not None and (self.rate[0] < 1 or not 0 < self.rate[1] < float("inf")):
            raise ValueError("a rate is at least one request in a time longer than nothing")
