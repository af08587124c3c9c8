"""A local ads API for tests, demos and rehearsals, written from the specification alone."""

from audiencekit.emulator.encryption import AuthorityError
from audiencekit.emulator.options import EmulatorOptions
from audiencekit.emulator.server import Emulator, serve
from audiencekit.emulator.store import StateError

__all__ = ["AuthorityError", "Emulator", "EmulatorOptions", "StateError", "serve"]
