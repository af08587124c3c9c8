"""A local ads API for tests, demos and rehearsals, written from the specification alone."""

from .options import EmulatorOptions
from .server import Emulator, serve
from .state import StateError

__all__ = ["Emulator", "EmulatorOptions", "StateError", "serve"]
