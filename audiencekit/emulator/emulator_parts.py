"""The parts of one emulator with a state: clock, store, faults, late bodies, handlers, state file."""

from __future__ import annotations

from audiencekit.emulator.faults.late_answers import LateApplies
from audiencekit.emulator.faults.orders import Register
from audiencekit.emulator.handlers import Handlers
from audiencekit.emulator.options import EmulatorOptions
from audiencekit.emulator.routes import ROUTES
from audiencekit.emulator.routing import EARLIER, Router
from audiencekit.emulator.store import Clock, Store, open_state


class EmulatorParts:
    """The parts, made from the options and the state file. Raises StateError for a file that cannot be restored."""

    def __init__(self, options: EmulatorOptions) -> None:
        self.options = options
        self.clock = Clock(options.clock)
        self.state = open_state(options, self.clock)
        started_at = self.state.fact("started_at", self.clock.now()) if self.state else self.clock.now()
        self.store = Store(options.seed, started_at, options.match_rate, options.processing_seconds, options.outside)
        self.faults = Register(options.faults)
        self.late = LateApplies(self.clock)
        self.router = Router(ROUTES, EARLIER if options.profile == "x" else ())
        self.handlers = Handlers(self.store, options, self.state)
        if self.state is not None:
            self.handlers.restore(self.router, self.state)

    def lose_members(self) -> None:
        """Empty every list, as a service that restarts without its data."""
        self.handlers.lose_members(self.clock.now())

    def close(self) -> None:
        """Drop the bodies to be applied later, and release the state file."""
        self.late.close()
        if self.state is not None:
            self.state.close()
