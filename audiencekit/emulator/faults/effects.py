"""Effects of faults. Seconds here are those of a real clock: they pass on the wire."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from audiencekit.emulator.envelope import Answer


@dataclass(frozen=True, slots=True)
class Wait:
    """Everything goes on, later."""

    seconds: float


@dataclass(frozen=True, slots=True)
class Cut:
    """The connection is reset once so many bytes of the body were taken in."""

    after_bytes: int = 0


@dataclass(frozen=True, slots=True)
class Hold:
    """Nothing more comes, and the connection stays; after `seconds`, when there are any, it is reset."""

    seconds: float | None = None
    after_bytes: int = 0


@dataclass(frozen=True, slots=True)
class Throttle:
    """The body is taken in slowly."""

    bytes_per_second: float


@dataclass(frozen=True, slots=True)
class Reply:
    """This is answered."""

    answer: Answer


@dataclass(frozen=True, slots=True)
class Outage:
    """Every connection is reset and new ones are refused; `lost` empties the lists, too."""

    seconds: float
    lost: bool = False


@dataclass(frozen=True, slots=True)
class Skew:
    """The emulator claims another time, in what it prints and in what it checks."""

    seconds: float


@dataclass(frozen=True, slots=True)
class Late:
    """The body is applied `seconds` later on the emulator's clock; `reply` None holds the connection till then.

    `cut` resets the connection instead of replying.
    """

    seconds: float
    reply: Answer | None = None
    cut: bool = False


@dataclass(frozen=True, slots=True)
class Unannounced:
    """100 Continue is never said."""


@dataclass(frozen=True, slots=True)
class Reword:
    """Change the answer, whatever its status is: `change` gets it, and the Authorization header and body of the
    request."""

    change: Callable[[Answer, bytes], Answer]


@dataclass(frozen=True, slots=True)
class Handshake:
    """The outcome of the handshake at the https address: another certificate, or a TLS alert."""

    certificate: str | None = None
    alert: int | None = None


@dataclass(frozen=True, slots=True)
class Detour:
    """The answer of the proxy to a call: a status, or None for a certificate of its own."""

    status: int | None


Effect = Wait | Cut | Hold | Throttle | Reply | Outage | Skew | Late | Unannounced | Reword | Handshake | Detour
