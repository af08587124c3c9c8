"""Rows of the catalogue: a kind of fault, and the address at which its faults strike."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from audiencekit.emulator.faults.effects import Effect
from audiencekit.emulator.faults.fault import Fault, Place, Situation, Strike
from audiencekit.emulator.faults.settings import Setting

Act = Callable[[Strike], Effect]
Condition = Callable[[Fault, Situation], bool]


@dataclass(frozen=True, slots=True)
class Kind:
    """One row. The first of `places` is the default; `acts` has an act of its own for some places.

    A fault with `outside` is none of a server's: the text says who brings it about.
    """

    name: str
    does: str
    places: tuple[Place, ...] = ()
    act: Act | None = None
    acts: Mapping[Place, Act] = field(default_factory=dict)
    settings: Mapping[str, Setting] = field(default_factory=dict)
    when: Condition | None = None
    times: int | None = 1
    outside: str | None = None

    def strike(self, strike: Strike) -> Effect:
        """Return the effect of the fault at its place."""
        act = self.acts.get(strike.fault.place, self.act)
        if act is None:
            raise RuntimeError("a fault without an act was let in")
        return act(strike)


class Site(StrEnum):
    """The addresses at which faults strike. Two of them are opened when a fault of theirs is set."""

    PLAIN = "plain"
    HTTPS = "https"
    PROXY = "proxy"


def site_of(fault: Fault) -> Site:
    """Return where a fault strikes."""
    if fault.number == 32 or (fault.number == 12 and fault.settings["kind"] == "tls"):
        return Site.HTTPS
    return Site.PROXY if fault.number == 35 else Site.PLAIN
