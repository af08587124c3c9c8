"""The faults that are set, how often each was met and struck, and what they struck."""

from __future__ import annotations

import random
from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from typing import Any, Final

from audiencekit.emulator.faults.catalogue import CATALOGUE
from audiencekit.emulator.faults.effects import Effect
from audiencekit.emulator.faults.fault import Fault, Place, Situation, Strike
from audiencekit.emulator.faults.kinds import Site, site_of

_MOST_FIRED: Final = 100_000  # the oldest are forgotten first


@dataclass(slots=True)
class Fired:
    """One strike. `request` is its number in `/__requests`; None before there was one."""

    seq: int
    fault: int
    where: Place
    request: int | None
    applied: bool = False


class _Active:
    """One fault and its counts."""

    def __init__(self, fault: Fault) -> None:
        self.fault = fault
        self.met = 0
        self.fired = 0
        self.chance = random.Random(fault.seed)

    def strikes(self, situation: Situation) -> bool:
        """Return whether a situation is met by the fault; counts it if it is one that could be."""
        fault, when = self.fault, CATALOGUE[self.fault.number].when
        if fault.place is not situation.place or not fault.concerns(situation.method, situation.path):
            return False
        if self._is_spent() or (when is not None and not when(fault, situation)):
            return False
        self.met += 1
        if fault.share is not None:
            return self.chance.random() < fault.share
        return fault.nth is not None and self.met >= fault.nth

    def _is_spent(self) -> bool:
        return self.fault.times is not None and self.fired >= self.fault.times

    def strike(self, situation: Situation) -> Effect:
        """Return the effect."""
        self.fired += 1
        return CATALOGUE[self.fault.number].strike(Strike(self.fault, situation, self.chance))


class Register:
    """Faults in the order in which they were set; where several could strike, the first does."""

    def __init__(self, faults: Iterable[Fault] = ()) -> None:
        self._active: list[_Active] = []
        self._fired: deque[Fired] = deque(maxlen=_MOST_FIRED)
        self._seq = 0
        self.add(faults)

    def __bool__(self) -> bool:
        return bool(self._active)

    def __iter__(self) -> Iterator[Fault]:
        return (active.fault for active in self._active)

    def add(self, faults: Iterable[Fault]) -> None:
        """Set more faults."""
        self._active += map(_Active, faults)

    def replace(self, faults: Iterable[Fault]) -> None:
        """Set these faults in place of all others; what was struck before stays on record."""
        self._active = list(map(_Active, faults))

    def clear(self) -> None:
        """No faults, and no record of any."""
        self._active.clear()
        self._fired.clear()

    def needs(self, site: Site) -> bool:
        """Return whether a fault is set that strikes there."""
        return any(site_of(fault) is site for fault in self)

    def meet(
        self, situation: Situation, request: int | None = None, site: Site = Site.PLAIN
    ) -> tuple[Effect, Fired] | None:
        """Return the effect of the fault that strikes in a situation, and its record; None when no fault strikes."""
        here = [active for active in self._active if site_of(active.fault) is site]
        # Each fault counts what it could strike, also what another strikes before it.
        struck = [active for active in here if active.strikes(situation)]
        if not struck:
            return None
        fault = struck[0].fault
        self._seq += 1
        fired = Fired(self._seq, fault.number, fault.place, request)
        self._fired.append(fired)
        return struck[0].strike(situation), fired

    def document(self) -> dict[str, Any]:
        """Return the faults with their counts, and what was struck, as JSON."""
        return {
            "faults": [
                {**active.fault.document(), "met": active.met, "fired": active.fired} for active in self._active
            ],
            "fired": [asdict(fired) for fired in self._fired],
        }
