"""Effects of faults. Seconds here are real time, on the network."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from fnmatch import fnmatchcase
from typing import Any

from audiencekit.emulator.answers import Answer

# --- Effects of faults. Seconds here are real time, on the network ---


@dataclass(frozen=True, slots=True)
class Wait:
    """Everything continues, later."""

    seconds: float


@dataclass(frozen=True, slots=True)
class Cut:
    """The connection is reset after so many bytes of the body were read."""

    after_bytes: int = 0


@dataclass(frozen=True, slots=True)
class Hold:
    """Nothing more is sent, and the connection stays open; after `seconds`, if given, it is reset."""

    seconds: float | None = None
    after_bytes: int = 0


@dataclass(frozen=True, slots=True)
class Throttle:
    """The body is read slowly."""

    bytes_per_second: float


@dataclass(frozen=True, slots=True)
class Reply:
    """This answer is sent."""

    answer: Answer


@dataclass(frozen=True, slots=True)
class Outage:
    """Every connection is reset and new ones are refused; `lost` empties the lists, too."""

    seconds: float
    lost: bool = False


@dataclass(frozen=True, slots=True)
class Skew:
    """The emulator uses a wrong time in its answers and its checks."""

    seconds: float


@dataclass(frozen=True, slots=True)
class Late:
    """The body is applied `seconds` later on the emulator's clock; `reply` None holds the connection until then.

    `cut` resets the connection instead of replying.
    """

    seconds: float
    reply: Answer | None = None
    cut: bool = False


@dataclass(frozen=True, slots=True)
class Unannounced:
    """100 Continue is not sent."""


@dataclass(frozen=True, slots=True)
class Reword:
    """The answer is changed, whatever its status.

    `change` gets the answer, and the Authorization header and body of the request.
    """

    change: Callable[[Answer, bytes], Answer]


@dataclass(frozen=True, slots=True)
class Handshake:
    """The result of the handshake at the https address: another certificate, or a TLS alert."""

    certificate: str | None = None
    alert: int | None = None


@dataclass(frozen=True, slots=True)
class Detour:
    """The answer of the proxy to a call: a status, or None for a certificate of its own."""

    status: int | None


Effect = Wait | Cut | Hold | Throttle | Reply | Outage | Skew | Late | Unannounced | Reword | Handshake | Detour


# --- A fault as it was ordered, and the situation in which it may take effect ---


class Place(StrEnum):
    """The place in the life of a request at which a fault takes effect, in the order in which requests pass them."""

    CONNECT = "connect"
    HEADERS = "headers"
    BODY = "body"
    BEFORE_APPLY = "before_apply"
    LATE_APPLY = "late_apply"
    AFTER_APPLY = "after_apply"


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """One order: kind, place, calls and frequency. `settings` has every setting of its kind."""

    number: int
    place: Place
    method: str | None = None
    path: str | None = None  # exact, or with * for any text
    nth: int | None = None  # the first matching call that is struck, from 1; None with `share`
    share: float | None = None  # the probability with which each matching call is struck
    times: int | None = 1  # None for ever
    seed: int = 0
    settings: Mapping[str, Any] = field(default_factory=dict)

    def concerns(self, method: str, path: str) -> bool:
        """Whether the fault is for this call."""
        return self.method in (None, method) and (self.path is None or fnmatchcase(path, self.path))

    def document(self) -> dict[str, Any]:
        """Return the order as JSON, with its defaults."""
        match = {name: text for name, text in (("method", self.method), ("path", self.path)) if text is not None}
        often = {"nth": self.nth} if self.share is None else {"p": self.share}
        return {
            "fault": self.number,
            "where": self.place.value,
            **({"match": match} if match else {}),
            **often,
            "times": self.times,
            "seed": self.seed,
            **self.settings,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Situation:
    """The facts of a call when it reaches a place. `now` is the time that the emulator shows.

    `served` counts the earlier requests of its connection; `answer` is None until the call was applied.
    """

    place: Place
    method: str = ""
    path: str = ""
    ids: Mapping[str, str] = field(default_factory=dict)
    body: bytes = field(default=b"", repr=False)
    answer: Answer | None = None
    now: float = 0.0
    served: int = 0


@dataclass(frozen=True, slots=True)
class Injection:
    """A fault that takes effect now."""

    fault: Fault
    situation: Situation
    chance: random.Random

    def __getitem__(self, name: str) -> Any:
        return self.fault.settings[name]
